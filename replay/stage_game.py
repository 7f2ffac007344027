"""The tools of a world in which all agents submit at once, from its `StageGame`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import attrs

from goldrush.agents.simultaneous import StagePlayers
from goldrush.agents.stage_game import StageGame
from goldrush.kernel.world import World
from goldrush.replay.journal.declared import labels_of
from goldrush.replay.tools import RebuiltPrompt, Tools, lazy

if TYPE_CHECKING:
    from goldrush.agents.players import Resources


class StageTools(Tools):
    """The tools that a `StageGame` determines: world, players, treatments, labels of
    agents, and prompts if language models can play. A world derives it for the others.
    """

    _prompted = lazy("goldrush.replay.journal.prompts:prompted")

    def __init__(self, game: StageGame[Any, Any], config: type[attrs.AttrsInstance]) -> None:
        """`config`: the class of the settings, made with kernel.settings."""
        self.game = game
        self.config = config
        self.players = StagePlayers(game)
        self.treatments = game.treatments

    def world(self, setup: Mapping[str, Any]) -> World[Any]:
        return self.game.world

    def labels(self, state: Any) -> Sequence[str]:
        return labels_of(state.roster, self.players.prompt)

    def prompts(
        self, path: str | Path, unit: int, agent: int, resources: Resources
    ) -> Sequence[RebuiltPrompt]:
        if self.game.prompting is None:
            return super().prompts(path, unit, agent, resources)
        found: Sequence[RebuiltPrompt] = self._prompted(path, self.game, unit, agent)
        return found
