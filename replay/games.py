"""The toolkit of a world in which all agents submit at once, from its `Game`."""

from __future__ import annotations

import attrs

from goldrush.agents.game import Game, S, V
from goldrush.agents.simultaneous import make_players
from goldrush.replay.prompts import prompts_of
from goldrush.replay.toolkit import Toolkit


def toolkit_of_game(game: Game[S, V], config: type[attrs.AttrsInstance]) -> Toolkit:
    """A toolkit with the parts that a `Game` determines: world, players, treatments, length, number
    of agents, and prompts if language models can play. Add other parts with `attrs.evolve`.

    Args:
        game: the game.
        config: the class of the settings, made with kernel.settings.

    """
    return Toolkit(
        world=lambda setup: game.world,
        config=config,
        players=make_players(game),
        length=lambda state: game.units(state.config),
        agents=lambda state: len(state.roster),
        treatments=game.treatments,
        prompts=None if game.prompting is None else prompts_of(game),
    )
