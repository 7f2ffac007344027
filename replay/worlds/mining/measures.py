"""The measures of a mining run with their definitions: of rounds, and of spells of ownership.

The functions are in kernel.worlds.mining.measures and replay.worlds.mining.spells. The mean of a
measure is over the rounds in which it is defined.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Final

from goldrush.kernel.measures import Value
from goldrush.kernel.worlds.mining.measures import (
    Counts,
    Land,
    contention,
    defense_trigger,
    efficiency,
    idle,
    raid_rate,
    raid_success,
    reachable_efficiency,
    respect,
    respect_captured,
    respect_claimed,
    share_claim,
    share_defend,
    share_mine,
    share_raid,
    targeting,
    turnover,
    wasted,
)
from goldrush.replay.data.measures import Measure

PER_ROUND: Final[Mapping[str, Callable[[Counts], Value]]] = {
    of.__name__: of
    for of in (
        turnover, raid_rate, defense_trigger, targeting, raid_success, idle, wasted, share_defend,
        share_raid, share_mine, share_claim, respect, respect_claimed, respect_captured, contention,
    )
}  # fmt: skip
PER_LAND: Final[Mapping[str, Callable[[Counts, Land], Value]]] = {
    of.__name__: of for of in (efficiency, reachable_efficiency)
}

HALF_LIFE, SURVIVAL, CONVERGENCE, GINI, HHI = (
    "half_life", "survival", "convergence", "gini", "hhi",
)  # fmt: skip


# Measures of at most 1; none is below 0. The Gini coefficient of a half can exceed both, by fines.
_RATES: Final = (
    "turnover", "defense_trigger", "raid_success", "efficiency", "reachable_efficiency", "idle",
    "wasted", "share_defend", "share_raid", "share_mine", "share_claim", "convergence", GINI, HHI,
    "contention",
)  # fmt: skip


def _measure(name: str, title: str, definition: str) -> Measure:
    return Measure(
        name,
        title,
        definition,
        at_end=name in (GINI, HHI),
        by_unit=name not in (HALF_LIFE, SURVIVAL),
        by_half=name != HALF_LIFE,
        limits=(0.0, 1.0 if name in _RATES else math.inf),
    )


# All measures, in the order in which they are shown.
MEASURES: Final[Mapping[str, Measure]] = {
    measure.name: measure
    for measure in (
        _measure(
            "turnover", "turnover rate",
            "Plots owned at the start of a round that have another owner at its end ÷ plots owned "
            "at the start. 0 to 1.",
        ),
        _measure(
            HALF_LIFE, "property half-life, rounds",
            "Kaplan–Meier median of the lengths of ownership spells: the shortest length that at "
            "most half of them outlast. Undefined if more than half outlast every observed "
            "length, or if there is no spell.",
        ),
        _measure(
            SURVIVAL, "survival of ownership, rounds",
            "Restricted mean of the number of rounds for which a plot keeps its owner: the area "
            "under the Kaplan–Meier curve of ownership over the rounds of the run or half, halves "
            "being compared over the length of the first. The clock counts rounds, not the ages "
            "of spells: spells that begin later enter late, and those that are still running at "
            "the end are censored. From 0 to the number of rounds. Undefined if no plot is owned.",
        ),
        _measure(
            "raid_rate", "raid rate",
            "Raid actions (after pruning) on plots owned at the start of a round ÷ such plots. "
            "Raids on plots without an owner are not counted. 0 or more.",
        ),
        _measure(
            "defense_trigger", "defence trigger rate",
            "Defended plots that were raided ÷ defended plots. 0 to 1.",
        ),
        _measure(
            "targeting", "targeting of defence",
            "The share of defended plots that were raided ÷ the share of owned plots (at the start "
            "of the round) that were raided. About 1 if defence is placed blindly, more if it is "
            "placed where raids come. As a mean of ratios, it should be compared with the null.",
        ),
        _measure(
            "raid_success", "raid success rate",
            "Captures that were not undone ÷ raid actions after pruning. 0 to 1.",
        ),
        _measure(
            "efficiency", "efficiency",
            "Gold mined ÷ the sum over all plots of mining cap × α. 0 to 1.",
        ),
        _measure(
            "reachable_efficiency", "reachable efficiency",
            "Gold mined ÷ the most gold that the stamina of all agents could mine on this map "
            "(filling plots to the mining cap, highest α first). 0 to 1.",
        ),
        _measure(
            "idle", "idle stamina rate",
            "Stamina not spent ÷ the stamina of all agents. 0 to 1.",
        ),
        _measure(
            "wasted", "wasted stamina rate",
            "Stamina spent on claims that another agent won, on raids without a lasting capture, "
            "on mining plots that were lost, and on defending plots that nobody raided ÷ stamina "
            "spent. 0 to 1.",
        ),
        _measure("share_defend", "share of defence", "Share of stamina spent on defence. 0 to 1."),
        _measure("share_raid", "share of raids", "Share of stamina spent on raids. 0 to 1."),
        _measure("share_mine", "share of mining", "Share of stamina spent on mining. 0 to 1."),
        _measure("share_claim", "share of claims", "Share of stamina spent on claims. 0 to 1."),
        _measure(
            CONVERGENCE, "share convergence",
            "Total-variation distance ½ Σ |pₖ − qₖ| between the shares of stamina spent on the "
            "four kinds of actions in one window of 10 rounds and in the next (rounds 1 to 10, 11 "
            "to 20 and so on), recorded at the last round of the second window. 0 (no change) to "
            "1.",
        ),
        _measure(
            GINI, "Gini of gold",
            "Gini coefficient of the agents' gold at the end, Σ over i, j of |xᵢ − xⱼ| ÷ "
            "(2 N² · mean); of a half, of the gold earned in it. 0 if all are equal. Undefined if "
            "the mean is not above 0; in a half, fines may exceed what was mined.",
        ),
        _measure(
            HHI, "HHI of plots",
            "Herfindahl–Hirschman index of plots at the end of a round: the sum over agents of "
            "(plots of the agent ÷ owned plots)². From 1 ÷ N (all equal) up to 1 (one owner).",
        ),
        _measure(
            "respect", "respect for first possession",
            "Raid actions per plot on plots held for 5 rounds or more at the start of a round ÷ "
            "raid actions per plot on the other owned plots. About 1 if raids are blind, less if "
            "stable holders are spared. The mean over rounds exceeds the ratio of all rounds "
            "together, because ratios with small denominators vary mostly upwards; it should be "
            "compared with the null.",
        ),
        _measure(
            "respect_claimed", "respect, held by claim",
            "Respect for first possession, over plots acquired by claim.",
        ),
        _measure(
            "respect_captured", "respect, held by capture",
            "Respect for first possession, over plots acquired by capture.",
        ),
        _measure(
            "contention", "contention rate",
            "Claimed plots with two claimants or more ÷ claimed plots. 0 to 1.",
        ),
    )
}  # fmt: skip
