"""Rates of a round of the mining world, for measures of runs and for tests of seasons' conducts.

The events of a round are counted first. A rate is None, never 0, where its denominator is 0.
Captures that an authority has undone do not count as captures. All measures, with their
definitions, are in replay.worlds.mining.measures.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import msgspec

from goldrush.kernel.measures import Value, ratio
from goldrush.kernel.world import Row
from goldrush.kernel.worlds.mining.config import MiningConfig
from goldrush.kernel.worlds.mining.events import RaidOutcome


class Basics(msgspec.Struct, frozen=True):
    """The counts from which the main rates are computed.

    Attributes:
        owned: plots owned at the start of the round.
        turned: those of them with another owner at its end.
        raids: raid actions on the owned plots.
        mined: gold.
    """

    owned: int
    turned: int
    raids: int
    mined: float


def basics(
    before: Sequence[int | None],
    after: Sequence[int | None],
    raids: Sequence[Row],
    settled: Sequence[Row],
) -> Basics:
    """Count a round.

    Args:
        before, after: the owners of all plots before and after the round.
        raids: its `raid_resolved` rows.
        settled: its `mining_settled` rows.
    """
    turned = actions = 0
    for plot, _, raiders, _, outcome, _, _ in raids:
        owner = before[plot]
        if owner is not None:
            actions += len(raiders)
            turned += outcome == RaidOutcome.CAPTURED and owner != after[plot]
    mined = math.fsum([row[3] for row in settled])
    return Basics(len(before) - before.count(None), turned, actions, mined)


class Land(msgspec.Struct, frozen=True):
    """The yield of the grid in a round, in gold.

    Attributes:
        all: if every plot is mined to its cap.
        reachable: with the stamina of all agents, plots filled to the cap by descending α.
    """

    all: float
    reachable: float


def land_of(config: MiningConfig) -> Land:
    """The yield of a grid."""
    cap, left = config.mining_cap, sum(config.staminas)
    alphas = sorted(config.alphas, reverse=True)
    filled = []
    for alpha in alphas:
        if left <= 0:
            break
        filled.append(min(cap, left) * alpha)
        left -= cap
    return Land(math.fsum(cap * alpha for alpha in alphas), math.fsum(filled))


def turnover(n: Basics) -> Value:
    """Plots owned at round start whose owner differs at round end ÷ plots owned at round start."""
    return ratio(n.turned, n.owned)


def raid_rate(n: Basics) -> Value:
    """Raid actions left after pruning on plots owned at round start ÷ such plots."""
    return ratio(n.raids, n.owned)


def efficiency(n: Basics, land: Land) -> Value:
    """Gold mined ÷ (Σ over plots of mining_cap × α)."""
    return ratio(n.mined, land.all)
