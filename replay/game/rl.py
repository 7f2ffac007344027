"""`parallel_env`: makes the environment of a game, and needs pettingzoo only then.

So `goldrush.parallel_env` can be named, listed and documented where pettingzoo is not installed.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from goldrush.kernel.errors import BadInput
from goldrush.kernel.treatments import BASELINE
from goldrush.replay.extras import require
from goldrush.replay.find import tools_for
from goldrush.replay.game.tools import GameTools

if TYPE_CHECKING:
    from goldrush.kernel.game.game import Game
    from goldrush.replay.game.environment import GameEnv


def parallel_env(
    world: str | type[Game],
    treatment: str = BASELINE,
    *,
    roster: str | Sequence[object] | None = None,
    journal: str | Path | None = None,
    **settings: Any,
) -> GameEnv:
    """Make a game as a PettingZoo environment. Nothing is written before `reset`.

    Args:
        world: the game: its class, its file (`fishery.py`) or its module
            (`package.module:Fishery`).
        treatment: a named configuration.
        roster: as text, "external,greedy*9", or a list of names, classes and objects, as
            `goldrush.record` takes it; the `external` agents are the learners. None: all agents
            learn.
        journal: where episodes are recorded: each replaces the one before it, unless the path has
            "{episode}" in it, which stands for the episode's number. None: a temporary file,
            removed with the environment.
        settings: of the run, as `seasons=50`; `seed` is that of the first episode.

    Returns:
        The environment, whose agents act at once. Its spaces and rewards are described in
        goldrush/GAMES.md.

    Raises BadInput for invalid settings, treatments and rosters, for a roster without learners,
    for a game without `score`, for observations and submissions that are no arrays, for a world
    that is no game, and where pettingzoo is not installed (goldrush-sim[rl]).
    """
    require("pettingzoo", "the environment needs", "rl")
    tools = tools_for(world)
    if not isinstance(tools, GameTools):
        raise BadInput(f"the {tools.name} world is no environment for learners", "give a game")
    from goldrush.replay.game.environment import GameEnv

    return GameEnv(tools.compiled.game, treatment, roster, journal, settings)
