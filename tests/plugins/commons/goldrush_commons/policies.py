"""Who fishes: three scripted policies, made afresh each season, pure functions of what they see."""

from __future__ import annotations

from typing import Any, Final

import attrs

from goldrush.kernel.draws import WORD_RANGE, Draws
from goldrush.kernel.settings import real, setting
from goldrush_commons.world import Fishery


@attrs.frozen
class Share:
    """Takes a part of its share of the largest catch that regrows (from half the capacity)."""

    part: float = setting(0.8, real(0, 10))

    def fish(self, seen: Fishery, agent: int, draws: Draws) -> int:
        config = seen.config
        return int(self.part * config.growth * config.capacity / 4 / config.agents)


@attrs.frozen
class Greedy:
    """Takes a part of its share of what there is."""

    part: float = setting(0.5, real(0, 1))

    def fish(self, seen: Fishery, agent: int, draws: Draws) -> int:
        return int(seen.stock / seen.config.agents * self.part)


class Random:
    """Takes anything up to its share of what there is."""

    def fish(self, seen: Fishery, agent: int, draws: Draws) -> int:
        return int(seen.stock / seen.config.agents * draws.word() / WORD_RANGE)


POLICIES: Final[dict[str, Any]] = {"share": Share, "greedy": Greedy, "random": Random}
