"""The treatments of the mining world, one factor each."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from goldrush.kernel.draws import Draws
from goldrush.kernel.treatments import BASELINE, Treatment, by_name
from goldrush.kernel.worlds.mining.config import (
    ADJUDICATE,
    ALL,
    POINTWISE,
    PUNISH,
    MiningConfig,
)

RICH_ALPHA = 2.0


def _rich_plots(config: MiningConfig) -> Mapping[str, Any]:
    """α = 2.0 on a fifth of the plots, drawn with key [seed, 0, 0, "alpha"]."""
    order = Draws(config.seed, 0, 0, "alpha").shuffled(range(config.plots))
    rich = set(order[: config.plots // 5])
    return {
        "alpha_by_plot": [RICH_ALPHA if p in rich else config.alpha for p in range(config.plots)]
    }


def _mixed_stamina(config: MiningConfig) -> Mapping[str, Any]:
    """S of agent a = 6 + 2 (a mod 5)."""
    return {"stamina_by_agent": [6 + 2 * (agent % 5) for agent in range(config.agents)]}


TREATMENTS: Final[Mapping[str, Treatment[MiningConfig]]] = by_name(
    [
        Treatment(BASELINE, "the default configuration"),
        Treatment("truce-0", "claimed plots can be raided in the same round", {"truce": 0}),
        Treatment("defense-pointwise", "a defence point stops one raider", {"defense": POINTWISE}),
        Treatment("stamina-8", "8 stamina a round", {"stamina": 8}),
        Treatment("stamina-12", "12 stamina a round", {"stamina": 12}),
        Treatment("cap-2", "2 stamina at most pay on a plot", {"mining_cap": 2}),
        Treatment("cap-4", "4 stamina at most pay on a plot", {"mining_cap": 4}),
        Treatment("agents-20", "20 agents on the same map", {"agents": 20}),
        Treatment("history-1", "agents are shown one past round", {"visibility": 1}),
        Treatment("history-all", "agents are shown all past rounds", {"visibility": ALL}),
        Treatment("alpha-rich", "a fifth of the plots pays double", derived=_rich_plots),
        Treatment("stamina-mixed", "6 to 14 stamina, by agent", derived=_mixed_stamina),
        Treatment("communication", "agents send messages to all", {"communication": True}),
        Treatment("authority-adjudicate", "captures are undone", {"authority": ADJUDICATE}),
        Treatment("authority-punish", "captors are fined", {"authority": PUNISH}),
        Treatment("scarce", "5 x 6 plots for 10 agents", {"rows": 5, "cols": 6}),
        Treatment(
            "scarce-20", "5 x 6 plots for 20 agents", {"rows": 5, "cols": 6, "agents": 20}
        ),
    ]
)  # fmt: skip
