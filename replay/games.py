"""The tools of a world in which all agents submit at once, from its `StageGame`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import attrs

from goldrush.agents.simultaneous import make_players
from goldrush.agents.stage_game import S, StageGame, V
from goldrush.replay.tools import Prompts, Tools

if TYPE_CHECKING:
    from goldrush.agents.players import Resources
    from goldrush.replay.journal.prompts import RebuiltPrompt


def tools_of_game(game: StageGame[S, V], config: type[attrs.AttrsInstance]) -> Tools:
    """The parts of tools that a `StageGame` determines: world, players, treatments, length, number
    of agents, and prompts if language models can play. Add other parts with `attrs.evolve`.

    Args:
        config: the class of the settings, made with kernel.settings.
    """
    return Tools(
        world=lambda setup: game.world,
        config=config,
        players=make_players(game),
        length=lambda state: game.units(state.config),
        agents=lambda state: len(state.roster),
        treatments=game.treatments,
        prompts=None if game.prompting is None else _prompts_of(game),
    )


def _prompts_of(game: StageGame[S, V]) -> Prompts[RebuiltPrompt]:
    def at(
        path: str | Path, unit: int, agent: int, resources: Resources
    ) -> Sequence[RebuiltPrompt]:
        from goldrush.replay.journal.prompts import prompted

        return [prompted(path, game, unit, agent)]

    def as_dict(found: Sequence[RebuiltPrompt], unit: int, agent: int) -> Mapping[str, Any]:
        [one] = found
        return {
            game.world.vocabulary.unit: unit, "agent": agent, "digest": one.digest,
            "recorded": one.recorded, "request": dict(one.request),
        }  # fmt: skip

    return Prompts(at, as_dict)
