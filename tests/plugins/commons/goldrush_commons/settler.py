"""`settler`: a mining policy."""

from __future__ import annotations

from typing import Any

import attrs

from goldrush.kernel.draws import Draws
from goldrush.kernel.settings import integer, setting


@attrs.frozen
class Settler:
    """Claims plots, one a round, then mines them."""

    plots: int = setting(2, integer(1, 100))

    def plan(self, seen: Any, draws: Draws) -> list[tuple[str, int, int]]:
        if len(seen.own) < self.plots and seen.unowned:
            return [("claim", seen.unowned[draws.below(len(seen.unowned))], 1)]
        return [("mine", plot, seen.mining_cap) for plot in seen.own_by_alpha]
