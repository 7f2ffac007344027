"""The four criteria of the emergence of property, and their null.

A criterion is supported if every sub-measure changes as expected from the first half of a run to
the second, with 10 agents and with 20.
"""

from __future__ import annotations

from typing import Final

from goldrush.kernel.treatments import BASELINE
from goldrush.replay.studies import Criteria, Criterion, Nothing
from goldrush.replay.worlds.mining.theory import MiningResult

NULL: Final = "random"  # the policy that cannot learn
SIZES: Final = (10, 20)  # numbers of agents at which a criterion must hold

STABILITY, EFFICIENCY, CONFLICT, NORMS = "stability", "efficiency", "conflict", "norms"


def _speculated(result: MiningResult) -> bool:
    """Whether plots without an owner were raided: conflict that the raid rate does not count."""
    return bool(result.own.totals.speculative)


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
    null=NULL,
    sizes=SIZES,
    pairs={BASELINE: "agents-20", "scarce": "scarce-20"},
    start="the filling of the map",
)
