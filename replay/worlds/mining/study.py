"""Mining as a subject of studies: baselines, criteria, the trade-off of concentration and
stability.

A criterion of the emergence of property is supported if every sub-measure changes as expected from
the first half of a run to the second, with 10 agents and with 20.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from operator import attrgetter
from typing import Final

import attrs

from goldrush.agents.worlds.mining.roster import NULL, POLICIES, POLICY_SET
from goldrush.kernel.treatments import BASELINE
from goldrush.kernel.worlds.mining.config import NO_AUTHORITY, MiningConfig, config_of
from goldrush.kernel.worlds.mining.events import KINDS
from goldrush.replay.levelled import Settings
from goldrush.replay.studies import MIXED, Criteria, Criterion, Nothing, Studies
from goldrush.replay.study.comparisons import identical_cells
from goldrush.replay.study.inference import Correlation, correlated
from goldrush.replay.study.records import Result
from goldrush.replay.study.results import Results
from goldrush.replay.worlds.mining.measures import MeasuredRun

SIZES: Final = (10, 20)  # numbers of agents at which a criterion must hold

STABILITY, EFFICIENCY, CONFLICT, NORMS = "stability", "efficiency", "conflict", "norms"


@attrs.frozen
class MiningKept:
    """What a study keeps of a run besides its measures.

    Attributes:
        speculated: plots without an owner were raided: conflict that the raid rate does not count.
        lengths: the number of ownership spells by length and by whether they ended.
    """

    speculated: bool
    lengths: Mapping[tuple[int, bool], int]


MiningResult = Result[MiningConfig, MiningKept]
MiningResults = Results[MiningConfig, MiningKept]


def kept(measured: MeasuredRun) -> MiningKept:
    return MiningKept(measured.speculated, measured.lengths)


_NO_CONFLICT: Final = Nothing("raid_rate", "no conflict to reduce", attrgetter("kept.speculated"))

CRITERIA: Final = Criteria(
    (
        Criterion(
            STABILITY,
            "turnover falls and ownership survives longer",
            {"turnover": -1, "survival": +1},
            Nothing("turnover", "no turnover to reduce"),
        ),
        Criterion(
            EFFICIENCY,
            "output rises and idle stamina falls",
            {"efficiency": +1, "idle": -1},
            Nothing("idle", "no idle stamina to reduce"),
        ),
        Criterion(
            CONFLICT,
            "the raid rate falls and defence stands where raids come",
            {"raid_rate": -1, "targeting": +1},
            _NO_CONFLICT,
        ),
        Criterion(
            NORMS,
            "holders of 5 rounds and more are raided less than others",
            {"respect": -1},
            _NO_CONFLICT,
        ),
    ),
    sizes=SIZES,
    pairs={BASELINE: "agents-20", "scarce": "scarce-20"},
    start="the filling of the map",
)


# The four baselines of the world, each alone, and their default mix.
BASELINES: Final = ("random", "greedy-mine", "defend-then-mine", "tit-for-tat-raid", MIXED)
# Scripted policies observe only the last round and the map, and neither send nor read messages.
_UNSEEN: Final = ("visibility", "communication")
_SPECULATORS: Final = ("raid",)  # scripted policies that raid plots without an owner


def same_by_construction(ours: Settings, theirs: Settings, policies: Sequence[str]) -> bool:
    """Whether two runs with these settings, without the seed, have the same derived events for
    equal seeds.

    That can be known for scripted policies only: they observe the last round and no messages, and a
    truce of 1 affects speculative raids alone. Without an authority, its chance of detection and
    its fine have no effect either.
    """
    if not all(policy in POLICIES for policy in policies):
        return False
    idle = {*_UNSEEN}
    if ours["authority"] == theirs["authority"] == NO_AUTHORITY:
        idle |= {"detection", "fine"}
    if {ours["truce"], theirs["truce"]} <= {0, 1} and not set(policies) & set(_SPECULATORS):
        idle.add("truce")
    return all(value == theirs[name] for name, value in ours.items() if name not in idle)


@attrs.frozen
class TradeOff:
    """The concentration–stability trade-off at one horizon, of one roster or (None) of all:
    Spearman's rank correlation, over runs, of the Gini coefficient and of the Herfindahl–Hirschman
    index with turnover.
    """

    roster: str | None
    rounds: int
    gini: Correlation
    hhi: Correlation


def trade_offs(results: MiningResults) -> list[TradeOff]:
    """The trade-off for each horizon, of all rosters together and of each roster.

    Treatments that are identical by construction count once.
    """
    same = identical_cells(results)
    found = []
    for rounds in dict.fromkeys(cell.rounds for cell in results.by_cell):
        cells = [c for c in results.by_cell if c.rounds == rounds and c not in same]
        for roster in (None, *dict.fromkeys(cell.roster for cell in cells)):
            runs = [
                result.run
                for cell in cells
                if roster in (None, cell.roster)
                for result in results.by_cell[cell]
                if result.equal_to is None
            ]
            turnover = [run["turnover"] for run in runs]
            gini, hhi = (
                correlated([run[name] for run in runs], turnover) for name in ("gini", "hhi")
            )
            found.append(TradeOff(roster, rounds, gini, hhi))
    return found


def answers(results: MiningResults) -> dict[str, object]:
    """The trade-off for JSON. Undefined values are None."""
    return {"trade_off": [attrs.asdict(each) for each in trade_offs(results)]}


STUDIES: Final = Studies(
    title="Does property emerge among miners?",
    config=config_of,
    seats=POLICY_SET.names_by_agent,
    baselines=BASELINES,
    null=NULL,
    policies=(  # each with a hue that suits its name: a raider is red
        "greedy-mine", "tit-for-tat-raid", "defend-then-mine", "claim", "mine", "defend", "raid",
    ),
    criteria=CRITERIA,
    same=same_by_construction,
    covariate="pressure",
    kept=kept,
    lasts=lambda config: True,
    answers=answers,
    compared=(
        *CRITERIA.expected, "raid_success", "reachable_efficiency", "wasted", "gini", "hhi",
        *(f"share_{kind}" for kind in KINDS),
    ),
)  # fmt: skip
