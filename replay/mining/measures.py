"""The measures of a mining run, by name: those of a round, and those of spells of ownership.

What each means stands in its docstring (kernel.mining.measures, replay.mining.spells); a mean is
over the rounds where the measure is defined.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Final

from goldrush.kernel.measures import Value
from goldrush.kernel.mining.measures import (
    Counts,
    Land,
    contention,
    convergence,
    defense_trigger,
    efficiency,
    gini,
    hhi,
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
from goldrush.replay.measures import Measure
from goldrush.replay.mining.spells import half_life, restricted_mean

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


# What cannot be above 1; nothing is below 0. Of a half, Gini can be both, where fines were paid.
_RATES: Final = (
    "turnover", "defense_trigger", "raid_success", "efficiency", "reachable_efficiency", "idle",
    "wasted", "share_defend", "share_raid", "share_mine", "share_claim", "convergence", GINI, HHI,
    "contention",
)  # fmt: skip


def _measure(title: str, of: Callable[..., Value], name: str | None = None) -> Measure:
    name = name or of.__name__
    return Measure(
        name,
        title,
        " ".join((of.__doc__ or "").split()),
        at_end=name in (GINI, HHI),
        by_unit=name not in (HALF_LIFE, SURVIVAL),
        by_half=name != HALF_LIFE,
        limits=(0.0, 1.0 if name in _RATES else math.inf),
    )


# All measures, in the order in which they are shown.
MEASURES: Final[Mapping[str, Measure]] = {
    measure.name: measure
    for measure in (
        _measure("turnover rate", turnover),
        _measure("property half-life, rounds", half_life),
        _measure("survival of ownership, rounds", restricted_mean, SURVIVAL),
        _measure("raid rate", raid_rate),
        _measure("defence trigger rate", defense_trigger),
        _measure("targeting of defence", targeting),
        _measure("raid success rate", raid_success),
        _measure("efficiency", efficiency),
        _measure("reachable efficiency", reachable_efficiency),
        _measure("idle stamina rate", idle),
        _measure("wasted stamina rate", wasted),
        _measure("share of defence", share_defend),
        _measure("share of raids", share_raid),
        _measure("share of mining", share_mine),
        _measure("share of claims", share_claim),
        _measure("share convergence", convergence),
        _measure("Gini of gold", gini),
        _measure("HHI of plots", hhi),
        _measure("respect for first possession", respect),
        _measure("respect, held by claim", respect_claimed),
        _measure("respect, held by capture", respect_captured),
        _measure("contention rate", contention),
    )
}
