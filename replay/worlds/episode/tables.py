"""The tables of episodes: what a step gave, an episode, an array that a step gave."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from operator import attrgetter
from types import SimpleNamespace
from typing import Any, Final

from goldrush.kernel.journal import JournalReader
from goldrush.kernel.world import Row
from goldrush.kernel.worlds.episode.events import ARRAY, GAVE
from goldrush.kernel.worlds.episode.state import EpisodeState
from goldrush.kernel.worlds.episode.values import number_in, shown
from goldrush.kernel.worlds.episode.world import episode_world
from goldrush.replay.data.columns import (
    JSON,
    REAL,
    TEXT,
    TEXTS,
    TRUTH,
    WHOLE,
    Column,
    TableSource,
    records_table,
)
from goldrush.replay.tools import Tables
from goldrush.replay.worlds.episode.episodes import Episode, Episodes, closed_units, episodes_of
from goldrush.replay.worlds.episode.show import named


def _rows(code: int, run: TableSource) -> Iterator[tuple[EpisodeState, Row | None, dict[str, Any]]]:
    """Each row of a type of events with the state after its step, and the columns of where it is;
    of a step without such a row its place alone.
    """
    episodes = Episodes()
    with JournalReader(run.path) as reader:
        for commit, state in closed_units(episode_world(), reader):
            episodes.add(commit, state)
            rows: list[Row | None] = [row for block in commit.blocks for row in block.rows(code)]
            for row in rows or [None]:
                agent = None if row is None else row[0]
                episode, of_episode = episodes.place(state, agent)
                name = None if agent is None else named(agent, state.about.agents)
                columns = {"step": commit.unit - 1, "episode": episode, "of_episode": of_episode}
                yield state, row, {**columns, "agent": name}


def _steps(run: TableSource) -> Iterator[SimpleNamespace]:
    for state, row, columns in _rows(GAVE, run):
        agent, reward, terminated, truncated = row or (None, None, None, None)
        total = None if agent is None else state.returns[agent]
        yield SimpleNamespace(
            **columns, **{"return": total}, reward=reward, terminated=terminated,
            truncated=truncated, over=state.is_over,
        )  # fmt: skip


def _arrays(run: TableSource) -> Iterator[SimpleNamespace]:
    for _, row, columns in _rows(ARRAY, run):
        if row is not None:
            _, name, digest, value = row
            yield SimpleNamespace(
                **columns, name=name, digest=f"{digest:016x}", number=number_in(value),
                value=None if value is None else shown(value, most=math.inf),
            )  # fmt: skip


def _episodes(run: TableSource) -> Iterator[Episode]:
    with JournalReader(run.path) as reader:
        yield from episodes_of(episode_world(), reader)


def _named(name: str) -> Callable[[Episode], list[str]]:
    return lambda episode: [
        named(agent, episode.names) for agent in sorted(getattr(episode, name))
    ]  # fmt: skip


_STEP: Final[Column] = Column("step", WHOLE, "the step, from 0 on: each reset is one, too")
_NUMBER: Final = "the number of the episode, from 1 on, as in `episodes`"

STEPS: Final = records_table(
    "steps", _steps,
    "what a step gave an agent; of a step without rewards, such as a reset, the step alone",
    _STEP,
    Column("episode", WHOLE, _NUMBER),
    Column("of_episode", WHOLE, "the number of the step in its episode; 0: the reset"),
    Column("agent", TEXT, "the name of the agent"),
    Column("reward", REAL, "its reward"),
    Column("return", REAL, "the sum of its rewards since the last reset"),
    Column("terminated", TRUTH, "it has come to its end"),
    Column("truncated", TRUTH, "it was cut off"),
    Column("over", TRUTH, "nothing but a reset can follow"),
)  # fmt: skip

EPISODES: Final = records_table(
    "episodes", _episodes,
    "an episode; in a vector environment, of one environment, as its `autoreset_mode` begins them",
    Column("episode", WHOLE, _NUMBER, attrgetter("number")),
    Column("agent", TEXT, "of which environment it is, in a vector environment",
           attrgetter("whose")),
    Column("first", WHOLE, "its first step, the reset"),
    Column("last", WHOLE, "its last step"),
    Column("length", WHOLE, "the number of its steps, the reset left out"),
    Column("reset_seed", WHOLE, "the seed of its reset; null: it had none", attrgetter("seed")),
    Column("is_drawn", TRUTH, "the recorder drew that seed"),
    Column("return", REAL, "its rewards, added over the agents; null: no finite number",
           attrgetter("total")),
    Column("returns", JSON, "the same of each agent, by name", attrgetter("by_name")),
    Column("terminated", TEXTS, "the agents that came to their end", _named("terminated")),
    Column("truncated", TEXTS, "the agents that were cut off", _named("truncated")),
    Column("finished", TRUTH, "it is over, and not merely broken off", attrgetter("is_finished")),
)  # fmt: skip

ARRAYS: Final = records_table(
    "arrays", _arrays,
    "an observation, an info, or a variable of a model, after a step",
    _STEP,
    Column("episode", WHOLE, _NUMBER),
    Column("agent", TEXT, "the name of the agent whose it is; null: of all"),
    Column("name", TEXT, "its name: `observation`, `info[score]`, `report[Gini]`"),
    Column("digest", TEXT, "64 bits of its type, shape and bytes, 16 hex digits"),
    Column("number", REAL, "its value, if that is one finite number"),
    Column("value", JSON, "its value, arrays as nested lists; null: not recorded"),
)  # fmt: skip

TABLES: Final = Tables(own=[STEPS, EPISODES, ARRAYS])
