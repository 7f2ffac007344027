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

OBJECTIVES: Final = {"efficiency": UP, "turnover": DOWN, "gini": DOWN, "raid_rate": DOWN}
POLICIES: Final = (
    "random", "greedy-mine", "defend-then-mine", "tit-for-tat-raid", "claim", "raid", "defend",
    "mine",
)  # fmt: skip
TREATMENTS: Final = (
    "baseline", "truce-0", "defense-pointwise", "stamina-8", "stamina-12", "cap-2", "cap-4",
    "agents-20", "history-1", "history-all", "alpha-rich", "stamina-mixed", "communication",
    "authority-adjudicate", "authority-punish", "scarce", "scarce-20",
)  # fmt: skip
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
    return Subject(objective, OBJECTIVES[objective], treatment, f"{objective} in {treatment}")


def _rules(arena: Arena, options: MiningOptions) -> Rules:
    return Rules(
        arena=arena,
        treatments=TREATMENTS,
        conduct=_CONDUCT,
        is_canonical=is_canonical,
        distance=lambda a, b: min(2, sum(x != y for x, y in zip(a, b, strict=True))),
        bar=lambda subject: (BAR_POLICY, None, 0, subject.treatment),
        describe=_describe,
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


ARENA: Final = ArenaType(
    version=2,  # 1: under rules 1 of mining
    description="which policies miners should follow; subjects are screened for the default "
    "options only",
    options=MiningOptions,
    subjects=_subjects,
    rules=_rules,
)
