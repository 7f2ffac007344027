"""`parallel_env`: makes the environment of `environment.py`, and needs pettingzoo only then.

So `goldrush.parallel_env` can be named, listed and documented where pettingzoo is not installed.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from goldrush.kernel.treatments import BASELINE
from goldrush.replay.extras import require

if TYPE_CHECKING:
    from goldrush.replay.worlds.mining.environment import MiningEnv


def parallel_env(
    treatment: str = BASELINE,
    *,
    roster: str | Sequence[object] | None = None,
    journal: str | Path | None = None,
    max_cycles: int | None = None,
    **settings: Any,
) -> MiningEnv:
    """Make the mining world as a PettingZoo environment. Nothing is written before `reset`.

    Args:
        treatment: a named configuration.
        roster: as text, "external,greedy-mine*9", or a list of names, classes and objects, as
            `goldrush.record` takes it; the `external` agents are the learners. None: all agents
            learn.
        journal: where episodes are recorded: each replaces the one before it, unless the path has
            "{episode}" in it, which stands for the episode's number. None: a temporary file,
            removed with the environment.
        max_cycles: rounds after which an episode is truncated.
        settings: of the run, as `rounds=50, rows=4`; `seed` is that of the first episode.

    Returns:
        The environment, whose agents act at once. Its spaces, rewards and journals are described
        in replay/worlds/mining/ENVIRONMENT.md.

    Raises BadInput for invalid settings, treatments and rosters, for a roster without learners or
    with a learner that has no stamina, and where pettingzoo is not installed (goldrush-sim[rl]).
    """
    require("pettingzoo", "the environment needs", "rl")
    from goldrush.replay.worlds.mining.environment import MiningEnv

    return MiningEnv(treatment, roster=roster, journal=journal, max_cycles=max_cycles, **settings)
