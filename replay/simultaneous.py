"""The tools of a world whose agents submit simultaneously, from its players."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import attrs

from goldrush.agents.simultaneous import SimultaneousPlayers
from goldrush.kernel.world import World
from goldrush.replay.journal.declared import labels_of
from goldrush.replay.tools import RebuiltPrompt, Tools, lazy

if TYPE_CHECKING:
    from goldrush.agents.llm.afterwards import Changes
    from goldrush.agents.players import Resources


class SimultaneousTools(Tools):
    """The tools that such players determine: world, players, treatments, labels of agents, and
    prompts if language models can play. A world derives it for the others.
    """

    _prompted = lazy("goldrush.replay.journal.prompts:prompted")
    players: SimultaneousPlayers[Any, Any]

    def __init__(
        self, players: SimultaneousPlayers[Any, Any], config: type[attrs.AttrsInstance]
    ) -> None:
        """`config`: the class of the settings, made with kernel.settings."""
        self.players = players
        self.config = config
        self.treatments = players.treatments

    def world(self, setup: Mapping[str, Any]) -> World[Any]:
        return self.players.world

    def labels(self, state: Any) -> Sequence[str]:
        return labels_of(state.roster, self.players.prompt)

    def prompts(
        self,
        path: str | Path,
        unit: int,
        agent: int,
        resources: Resources,
        changes: Changes | None = None,
    ) -> Sequence[RebuiltPrompt]:
        if self.players.prompt is None:
            return super().prompts(path, unit, agent, resources)
        found: Sequence[RebuiltPrompt] = self._prompted(path, self.players, unit, agent, changes)
        return found
