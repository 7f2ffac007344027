"""`game_env`: makes the environment of `environment.py`, and needs pettingzoo only then."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from goldrush.kernel.errors import BadInput, format_value
from goldrush.kernel.treatments import BASELINE
from goldrush.replay.extras import require
from goldrush.replay.find import tools_for
from goldrush.replay.game.tools import GameTools

if TYPE_CHECKING:
    from goldrush.kernel.game.game import Game
    from goldrush.replay.game.environment import GameEnv


def game_env(
    game: str | type[Game],
    treatment: str = BASELINE,
    *,
    roster: str | Sequence[object] | None = None,
    journal: str | Path | None = None,
    max_cycles: int | None = None,
    **settings: object,
) -> GameEnv:
    """Make a game as a PettingZoo environment. Nothing is written before `reset`.

    Args:
        game: its class, its file (`fishery.py`) or its module (`package.module:Fishery`).
        treatment: a named configuration.
        roster: text, or a list; the `external` agents are the learners. None: all agents learn.
        journal: where episodes are recorded, as of `goldrush.parallel_env`.
        max_cycles: units after which an episode is truncated.
        settings: of the game, by name; `seed` is that of the first episode.

    Returns:
        The environment, described in goldrush/GAMES.md.

    Raises BadInput for invalid settings, treatments and rosters, for a roster without learners, for
    a game without `score`, for observations and submissions that are no arrays, and where
    pettingzoo is not installed (goldrush-sim[rl]).
    """
    require("pettingzoo", "the environment needs", "rl")
    from goldrush.replay.game.environment import GameEnv

    tools = tools_for(game)
    if not isinstance(tools, GameTools):
        raise BadInput(
            f"{format_value(str(game))} is no game in one class", "give a class, or its file"
        )
    return GameEnv(
        tools.compiled.game,
        treatment,
        roster=roster,
        journal=journal,
        max_cycles=max_cycles,
        **settings,
    )
