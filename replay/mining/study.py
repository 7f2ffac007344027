"""How mining is studied: baselines, criteria, treatments that change nothing, its own chapter."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

import attrs

from goldrush.agents.mining.roster import POLICIES, POLICY_SET
from goldrush.kernel.mining.config import NO_AUTHORITY, MiningConfig, config_of
from goldrush.replay.mining.criteria import CRITERIA
from goldrush.replay.mining.measures import MEASURES
from goldrush.replay.mining.theory import answers, kept, packed, unpacked
from goldrush.replay.studies import MIXED, Covariate, Kept, Studies

if TYPE_CHECKING:
    from goldrush.replay.studies import Chapter

# The source's four baselines, each alone, and the default mix of them.
BASELINES: Final = ("random", "greedy-mine", "defend-then-mine", "tit-for-tat-raid", MIXED)
# Scripted policies look at last round and at the map alone, and say and hear nothing.
_UNSEEN: Final = ("visibility", "communication")
_SPECULATORS: Final = ("raid",)  # the scripted policies that raid nobody's plots


def same_by_construction(ours: MiningConfig, theirs: MiningConfig, policies: Sequence[str]) -> bool:
    """Whether two configurations must lead to the same derived events with these policies, the
    seed being the same.

    Only with scripted policies: what they see of the past is last round, they hear no messages, and
    a truce of 1 keeps off nothing but speculative raids. The chance of an authority that is not
    there, and its fine, change nothing either.
    """
    if not all(policy in POLICIES for policy in policies):
        return False
    idle = {*_UNSEEN}
    if ours.authority == theirs.authority == NO_AUTHORITY:
        idle |= {"detection", "fine"}
    if {ours.truce, theirs.truce} <= {0, 1} and not set(policies) & set(_SPECULATORS):
        idle.add("truce")
    return all(
        getattr(ours, name) == getattr(theirs, name)
        for name in attrs.fields_dict(MiningConfig)
        if name not in idle and name != "seed"
    )


def _pressure(config: MiningConfig) -> float:
    return config.pressure


def _chapter() -> Chapter:
    from goldrush.replay.mining.sections import CHAPTER

    return CHAPTER


STUDIES: Final = Studies(
    title="Does property emerge among miners?",
    config=config_of,
    seats=POLICY_SET.names_by_agent,
    baselines=BASELINES,
    criteria=CRITERIA,
    same=same_by_construction,
    covariate=Covariate("pressure", _pressure),
    kept=Kept(kept, packed, unpacked, lambda config: True),
    answers=answers,
    # The shares of stamina have a figure of their own.
    curves=[
        name
        for name, measure in MEASURES.items()
        if measure.by_unit and not name.startswith("share_")
    ],
    compared=(
        *CRITERIA.expected, "raid_success", "reachable_efficiency", "wasted", "gini", "hhi",
    ),
    chapter=_chapter,
)  # fmt: skip
