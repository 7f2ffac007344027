"""What the page of a mining run shows of each round, and why raids and claims ended as they did."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Final

from goldrush.kernel.worlds.mining.events import DEFEND
from goldrush.kernel.worlds.mining.history import kept_plans
from goldrush.kernel.worlds.mining.state import MiningState
from goldrush.replay.tools import ClosedUnit, UnitFields, View

_HERE: Final = Path(__file__).parent
MAP_MAX: Final = 2_500  # plots of a map with arrows for raids; of more, policies are in a grid


class RoundFields(UnitFields):
    """The fields of the rounds of one run.

    - `gold`, `plots`: by agent, at the end;
    - `owner`: by plot; `truce`: the plots that a truce protects in this round;
    - `defence`: the points of defence by plot in this round;
    - `cols`: columns of the map.

    Of more than MAP_MAX plots there is the grid `policies of owners` in place of the map.
    """

    def close(self, unit: ClosedUnit) -> Mapping[str, object]:
        state: MiningState = unit.state
        config = state.config
        plots = [len(held) for held in state.plots_of]
        fields: dict[str, object] = {"gold": state.gold, "plots": plots}
        if config.plots > MAP_MAX:
            policies = [entry["policy"] for entry in state.roster]
            owners = ["" if owner is None else policies[owner] for owner in state.owner]
            rows = range(0, config.plots, config.cols)
            return {**fields, "policies of owners": [owners[at : at + config.cols] for at in rows]}
        defence = [0] * config.plots
        for record in state.history[-1:]:
            for kind, plot, points in (action for _, plan in kept_plans(record) for action in plan):
                if kind == DEFEND and plot < config.plots:
                    defence[plot] = points
        truce = [plot for plot in range(config.plots) if state.in_truce(plot, unit.round)]
        return {
            **fields, "cols": config.cols, "owner": state.owner, "truce": truce, "defence": defence,
        }  # fmt: skip


VIEW: Final = View(
    script=_HERE / "view.js",
    style=_HERE / "view.css",
    fields=lambda world: RoundFields(),
    drawn=("cols", "owner", "truce", "defence"),
    identifiers=("owner",),
    ranks="gold",
    groups={
        "Raids": ("raid_resolved",),
        "Rulings": ("ruled",),
        "Claims": ("claim_drawn",),
        "Removed from plans": ("pruned",),
        "Plans": ("submitted",),
    },
    folded=("Plans",),
    left_out=("mining_settled",),
    explains={
        "capture": "raid_resolved", "blocked raid": "raid_resolved",
        "raid in truce": "raid_resolved", "void raid": "raid_resolved",
        "contested claim": "claim_drawn", "pruned action": "pruned",
    },
)  # fmt: skip
