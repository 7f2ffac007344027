"""The table of episodes; what a step gave each agent is in that of events, as `gave`."""

from __future__ import annotations

from collections.abc import Callable
from operator import attrgetter
from typing import Final

from goldrush.replay.data.columns import (
    JSON,
    REAL,
    TEXT,
    TEXTS,
    TRUTH,
    WHOLE,
    Column,
    records_table,
)
from goldrush.replay.worlds.episode.episodes import Episode


def _named(name: str) -> Callable[[Episode], list[str]]:
    return lambda episode: [
        episode.names[agent] for agent in sorted(getattr(episode, name))
    ]  # fmt: skip


EPISODES: Final = records_table(
    "episodes", lambda run: run.by_unit.episodes,
    "an episode; in a vector environment, of one environment, as its `autoreset_mode` begins them",
    Column("episode", WHOLE, "its number, from 1 on", attrgetter("number")),
    Column("agent", TEXT, "of which environment it is, in a vector environment",
           attrgetter("whose")),
    Column("first", WHOLE, "its first step, the reset"),
    Column("last", WHOLE, "its last step"),
    Column("length", WHOLE, "the number of its steps, the reset left out"),
    Column("reset_seed", WHOLE, "the seed of its reset; null: it had none", attrgetter("seed")),
    Column("return", REAL, "its rewards, added over the agents; null: no finite number",
           attrgetter("total")),
    Column("returns", JSON, "the same of each agent, by name", attrgetter("by_name")),
    Column("terminated", TEXTS, "the agents that came to their end", _named("terminated")),
    Column("truncated", TEXTS, "the agents that were cut off", _named("truncated")),
    Column("finished", TRUTH, "it is over, and not merely broken off", attrgetter("is_finished")),
)  # fmt: skip

TABLES: Final = (EPISODES,)
