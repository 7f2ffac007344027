"""What the page of a mining run shows of each round, and why raids and claims ended as they did."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from goldrush.kernel.world import Event, Step, World
from goldrush.kernel.worlds.mining.state import BY_CLAIM, MiningState
from goldrush.replay.tools import ClosedUnit, View

_HERE: Final = Path(__file__).parent
MAP_MAX: Final = (
    2_500  # plots of a map whose raids are arrows; of more, a grid of policies is drawn
)


class RoundFields:
    """The fields of the rounds of one run.

    - `gold`, `mined`, `plots`: by agent, at the end; `mined` in this round alone;
    - `owner`: by plot; `truce`: the plots that a truce protects in the next round;
    - `defence`: the points of defence by plot in this round;
    - `cols`: columns of the map.

    Of more than MAP_MAX plots there is the grid `policies of owners` in place of the map.
    """

    def __init__(self, world: World[Any]) -> None:
        """The world is known: it is mining."""

    def add(self, step: Step, state: object) -> None:
        """A round is one step."""

    def behind(self, event: Event) -> Mapping[str, object]:
        return {}

    def close(self, unit: ClosedUnit) -> Mapping[str, object]:
        state: MiningState = unit.state
        config = state.config
        mined = [0.0] * config.agents
        for event in unit.events:
            if event.name == "mining_settled":
                mined[event["agent"]] += event["gold"]
        fields: dict[str, object] = {
            "gold": state.gold, "mined": mined, "plots": [len(held) for held in state.plots_of],
        }  # fmt: skip
        if config.plots > MAP_MAX:
            policies = [entry["policy"] for entry in state.roster]
            owners = ["" if owner is None else policies[owner] for owner in state.owner]
            rows = range(0, config.plots, config.cols)
            return {**fields, "policies of owners": [owners[at : at + config.cols] for at in rows]}
        return {**fields, **_map(unit, state)}


def _map(unit: ClosedUnit, state: MiningState) -> dict[str, object]:
    """The fields of a map."""
    next_round, truce = unit.round + 1, state.config.truce
    gone = {
        event["agent"]: dict(event["removed"]) for event in unit.events if event.name == "pruned"
    }
    defence = [0] * state.config.plots
    for event in unit.events:
        if event.name == "submitted":
            removed = gone.get(event["agent"], {})
            for index, action in enumerate(event["actions"]):
                is_kept = action is not None and index not in removed
                if is_kept and action[0] == "defend" and action[1] < len(defence):
                    defence[action[1]] = action[2]
    return {
        "cols": state.config.cols,
        "owner": state.owner,
        "truce": [
            plot
            for plot, (how, since) in enumerate(zip(state.how, state.since, strict=True))
            if how == BY_CLAIM and next_round <= since + truce
        ],
        "defence": defence,
    }


VIEW: Final = View(
    script=_HERE / "view.js",
    style=_HERE / "view.css",
    fields=RoundFields,
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
    tracks={
        "plots raided": lambda event: event.name == "raid_resolved",
        "captured (turnover)": lambda event: event.fields.get("outcome") == "captured",
    },
)  # fmt: skip
