"""The arena `mining`: which policies should miners follow?

A conduct is a policy for most of the miners and optionally another one for the rest, under a
treatment of the mining world. No world imports another: policies and treatments are only names
here, and the bench plays them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import attrs
import msgspec

from goldrush.kernel.errors import BadInput
from goldrush.kernel.settings import choice, integer, setting
from goldrush.kernel.shape import INTEGER, TEXT, optional, record, row
from goldrush.kernel.worlds.competition.arena import (
    DOWN,
    SEEDS_MAX,
    UP,
    Arena,
    ArenaType,
    Rules,
    Subject,
)

# Descriptions, for people and models.
OBJECTIVES: Final = {
    "efficiency": (UP, "the part of the gold that could be mined which is mined"),
    "turnover": (DOWN, "the part of the owned plots that change hands in a round"),
    "gini": (DOWN, "how unequally the gold is divided in the end, from 0 to 1"),
    "raid_rate": (DOWN, "raids on each owned plot in a round"),
}
POLICIES: Final = {
    "random": "does anything, anywhere",
    "greedy-mine": "mines what it owns, then claims, then raids",
    "defend-then-mine": "defends all it owns before it mines",
    "tit-for-tat-raid": "raids who raided it, otherwise mines and claims",
    "claim": "claims plots before anything else",
    "raid": "raids others first",
    "defend": "guards its plots before it mines them",
    "mine": "mines, guards what it mines, claims what it can work",
}
TREATMENTS: Final = {
    "baseline": "the default configuration",
    "truce-0": "claimed plots can be raided in the same round",
    "defense-pointwise": "a defence point stops one raider",
    "stamina-8": "8 stamina a round",
    "stamina-12": "12 stamina a round",
    "cap-2": "2 stamina at most pay on a plot",
    "cap-4": "4 stamina at most pay on a plot",
    "agents-20": "20 agents on the same map",
    "history-1": "agents are shown one past round",
    "history-all": "agents are shown all past rounds",
    "alpha-rich": "a fifth of the plots pays double",
    "stamina-mixed": "6 to 14 stamina, by agent",
    "communication": "agents send messages to all",
    "authority-adjudicate": "captures are undone",
    "authority-punish": "captors are fined",
    "scarce": "5 x 6 plots for 10 agents",
    "scarce-20": "5 x 6 plots for 20 agents",
}
BAR_POLICY: Final = "greedy-mine"
SHARE_MAX: Final = 5  # tenths of the miners

AGENTS_MAX: Final = 1_000
ROUNDS_MAX: Final = 10_000
# Miners x rounds x runs of one test, which are all played again to verify a season.
WORK_MAX: Final = 1_000_000

# The subjects of the default options that are worth a table, as `python -m tests.atlas` finds them:
# between 5% and 60% of all conducts beat the bar, and at most 5% share the optimum.
SCREENED: Final[Mapping[str, Sequence[str]]] = {
    "efficiency": ("alpha-rich",),
    "gini": ("alpha-rich", "stamina-mixed"),
}


@attrs.frozen
class MiningOptions:
    """The options of the arena: in a test `agents` miners play `rounds` rounds, `seeds` times.

    Raises BadInput if agents x rounds x seeds is above WORK_MAX.
    """

    agents: int = setting(10, integer(1, AGENTS_MAX))
    rounds: int = setting(100, integer(1, ROUNDS_MAX))
    seeds: int = setting(5, integer(1, SEEDS_MAX))

    def __attrs_post_init__(self) -> None:
        work = self.agents * self.rounds * self.seeds
        if work > WORK_MAX:
            raise BadInput(
                f"agents x rounds x seeds is {work:,}", f"a test may have at most {WORK_MAX:,}"
            )


def _subjects(options: MiningOptions, assignments: int) -> Sequence[Subject]:
    screened = SCREENED if options == MiningOptions() else dict.fromkeys(OBJECTIVES, TREATMENTS)
    return [
        subject_of(objective, treatment)
        for objective, treatments in screened.items()
        for treatment in treatments
    ]


def subject_of(objective: str, treatment: str) -> Subject:
    """The subject of an objective under a treatment.

    Each is a family of its own, because facts about one tell little about others.
    """
    return Subject(objective, OBJECTIVES[objective][0], treatment, f"{objective} in {treatment}")


def _rules(arena: Arena, options: MiningOptions) -> Rules:
    return Rules(
        arena=arena,
        treatments=tuple(TREATMENTS),
        conduct=_CONDUCT,
        is_canonical=is_canonical,
        distance=lambda a, b: min(2, sum(x != y for x, y in zip(a, b, strict=True))),
        bar=lambda subject: (BAR_POLICY, None, 0, subject.treatment),
        describe=_describe,
        text=_text(options),
    )


# (majority, minority or None, share in tenths, treatment); the treatment is the subject's.
MiningConduct = tuple[str, str | None, int, str]


def is_canonical(conduct: MiningConduct, treatment: str) -> bool:
    """Whether a conduct is valid and canonical for a treatment.

    Its policies must be known and different, and its share 0 exactly if there is no minority.
    """
    majority, minority, share, under = conduct
    if majority not in POLICIES or under != treatment or not 0 <= share <= SHARE_MAX:
        return False
    if minority is None:
        return share == 0
    return minority in POLICIES and minority != majority and share > 0


def _describe(conduct: MiningConduct) -> str:
    majority, minority, share, _ = conduct
    return majority if minority is None else f"{majority} with {share}/10 {minority}"


_POLICY: Final = choice(*POLICIES)
_SCHEMA: Final = record(
    majority=_POLICY, minority=optional(_POLICY), share=integer(0, SHARE_MAX)
).schema
_CONDUCT: Final = msgspec.structs.replace(row(TEXT, optional(TEXT), INTEGER, TEXT), schema=_SCHEMA)


def _text(options: MiningOptions) -> str:
    better = {UP: "more", DOWN: "less"}
    return "\n".join(
        [
            "CONDUCT: how gold miners should play: a policy for most of them (majority); perhaps "
            f"another one (minority) for a share of 1 to {SHARE_MAX} tenths of them, else minority "
            "null and share 0; under the treatment of the subject. The policies:",
            *(f"- {name}: {says}" for name, says in POLICIES.items()),
            f"VALUE: what a simulation of {options.agents} miners over {options.rounds} rounds "
            "gives for the objective. The objectives:",
            *(
                f"- {name}: {says}; {better[direction]} is better"
                for name, (direction, says) in OBJECTIVES.items()
            ),
            "TREATMENTS, variations of the simulation:",
            *(f"- {name}: {says}" for name, says in TREATMENTS.items()),
            f"BAR: all miners play {BAR_POLICY}.",
        ]
    )


ARENA: Final = ArenaType(
    version=2,  # 1: under rules 1 of mining
    description="which policies miners should follow; subjects are screened for the default "
    "options only",
    options=MiningOptions,
    subjects=_subjects,
    rules=_rules,
)
