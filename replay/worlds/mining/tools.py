"""The tools of the mining world."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from goldrush.agents.worlds.mining.players import MINING_PLAYERS
from goldrush.kernel.world import EventType
from goldrush.kernel.worlds.mining.config import MiningConfig
from goldrush.kernel.worlds.mining.events import KINDS
from goldrush.kernel.worlds.mining.state import BY_CAPTURE, MiningState
from goldrush.replay.sentences import EventSentences
from goldrush.replay.simultaneous import SimultaneousTools
from goldrush.replay.tools import ClosedUnit, Description, lazy


class MiningTools(SimultaneousTools):
    """What mining does better than any world."""

    location_of = lazy("goldrush.replay.worlds.mining.audit:plot_of")
    draws = lazy("goldrush.replay.worlds.mining.audit:DRAWS")
    explain = lazy("goldrush.replay.worlds.mining.why:explained")
    measures = lazy("goldrush.replay.worlds.mining.measures:MEASURING")
    tables = lazy("goldrush.replay.worlds.mining.tables:TABLES")
    studies = lazy("goldrush.replay.worlds.mining.study:STUDIES")
    chapter = lazy("goldrush.replay.worlds.mining.sections:CHAPTER")
    view = lazy("goldrush.replay.worlds.mining.view.view:VIEW")
    headline = lazy("goldrush.replay.worlds.mining.measures:headline")
    _sentences = lazy("goldrush.replay.worlds.mining.story:SENTENCES")

    def about(self, setup: Mapping[str, object]) -> Description:
        return Description(
            "Agents claim, raid, defend and mine the plots of a grid, round by round. Each wants "
            "as much gold of its own as possible; only defence protects what one owns."
        )

    def fields(self, unit: ClosedUnit) -> Mapping[str, object]:
        return fields_of(unit.state)

    def sentences(self, path: str | Path, types: Iterable[EventType]) -> EventSentences:
        sentences: EventSentences = self._sentences
        return sentences


def fields_of(state: MiningState) -> Mapping[str, object]:
    """The state after a round by agent and by row and column of the map."""
    cols = state.config.cols
    spent = {
        f"spent_{name}": [points[kind] for points in state.spent] for kind, name in enumerate(KINDS)
    }
    captured = [sum(state.how[plot] == BY_CAPTURE for plot in plots) for plots in state.plots_of]
    since = [None if owner is None else state.since[plot] for plot, owner in enumerate(state.owner)]
    return {
        "gold": state.gold[:],
        "plots": [len(plots) for plots in state.plots_of],
        "captured": captured,
        **spent,
        "memo": state.memo[:],
        "owner": [state.owner[first : first + cols] for first in range(0, len(since), cols)],
        "since": [since[first : first + cols] for first in range(0, len(since), cols)],
    }


TOOLS = MiningTools(MINING_PLAYERS, MiningConfig)
