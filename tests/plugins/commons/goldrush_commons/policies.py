"""Who fishes: three scripted policies. Each is a function of what it sees and of keyed draws."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from goldrush.kernel.draws import WORD_RANGE, Draws
from goldrush_commons.world import Fishery

Policy = Callable[[Fishery, int, Draws], int]


def share(state: Fishery, agent: int, draws: Draws) -> int:
    """Four fifths of its part of the largest catch that regrows (from half the capacity)."""
    config = state.config
    return int(0.8 * config.growth * config.capacity / 4 / config.agents)


def greedy(state: Fishery, agent: int, draws: Draws) -> int:
    """Half of its part of what there is."""
    return int(state.stock / state.config.agents / 2)


def random(state: Fishery, agent: int, draws: Draws) -> int:
    """Anything up to its part of what there is."""
    return int(state.stock / state.config.agents * draws.word() / WORD_RANGE)


POLICIES: Final[Mapping[str, Policy]] = {"share": share, "greedy": greedy, "random": random}
