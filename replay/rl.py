"""`parallel_env`: makes the environment of a world, and needs pettingzoo only then.

So `goldrush.parallel_env` can be named, listed and documented where pettingzoo is not installed.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from goldrush.kernel.treatments import BASELINE
from goldrush.replay.extras import require
from goldrush.replay.find import WORLD_DEFAULT, tools_for

if TYPE_CHECKING:
    from goldrush.kernel.game.game import Game
    from goldrush.replay.environment import JournalEnv


def parallel_env(
    treatment: str = BASELINE,
    *,
    world: str | type[Game] = WORLD_DEFAULT,
    roster: str | Sequence[object] | None = None,
    journal: str | Path | None = None,
    **settings: Any,
) -> JournalEnv[Any, Any, Any]:
    """Make a world as a PettingZoo environment. Nothing is written before `reset`.

    Args:
        treatment: a named configuration.
        world: `mining`, or a game: its class, its file (`fishery.py`) or its module
            (`package.module:Fishery`).
        roster: as text, "external,greedy-mine*9", or a list of names, classes and objects, as
            `goldrush.record` takes it; the `external` agents are the learners. None: all agents
            learn.
        journal: where episodes are recorded: each replaces the one before it, unless the path has
            "{episode}" in it, which stands for the episode's number. None: a temporary file,
            removed with the environment.
        settings: of the run, as `rounds=50, rows=4`; `seed` is that of the first episode.

    Returns:
        The environment, whose agents act at once. The spaces and rewards of mining are described in
        replay/worlds/mining/ENVIRONMENT.md, those of games in goldrush/GAMES.md.

    Raises BadInput for invalid settings, treatments and rosters, for a roster without learners or
    with a learner that has no stamina, for a game without `score`, for observations and submissions
    that are no arrays, for a world that is no environment, and where pettingzoo is not installed
    (goldrush-sim[rl]).
    """
    require("pettingzoo", "the environment needs", "rl")
    return tools_for(world).environment(treatment, roster, journal, settings)
