"""Mining as a subject of studies: baselines, criteria, measures, its own part of a report.

A criterion of the emergence of property is supported if every sub-measure changes as expected from
the first half of a run to the second, with 10 agents and with 20.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from goldrush.agents.worlds.mining.roster import NULL, POLICIES, POLICY_SET
from goldrush.kernel.treatments import BASELINE
from goldrush.kernel.worlds.mining.config import NO_AUTHORITY, config_of
from goldrush.kernel.worlds.mining.events import KINDS
from goldrush.replay.levelled import Settings
from goldrush.replay.studies import MIXED, Criteria, Criterion, Nothing, Studies
from goldrush.replay.worlds.mining.theory import MiningResult, answers, kept

SIZES: Final = (10, 20)  # numbers of agents at which a criterion must hold

STABILITY, EFFICIENCY, CONFLICT, NORMS = "stability", "efficiency", "conflict", "norms"


def _speculated(result: MiningResult) -> bool:
    """Whether plots without an owner were raided: conflict that the raid rate does not count."""
    return bool(result.kept.totals.speculative)


_NO_CONFLICT: Final = Nothing("raid_rate", "no conflict to reduce", _speculated)

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
