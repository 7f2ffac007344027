"""The tables of episodes: a row a step, an episode, an array that a step gave."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Final

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
    Table,
    TableSource,
)
from goldrush.replay.tools import Tables
from goldrush.replay.worlds.episode.episodes import (
    Episode,
    Episodes,
    closed_units,
    episodes_of,
    finite,
)
from goldrush.replay.worlds.episode.show import named


def _whose(state: EpisodeState, agent: int | None) -> str | None:
    return None if agent is None else named(agent, state.about.agents)


def _step_rows(run: TableSource) -> Iterator[Row]:
    """A row for each agent that a step gave a reward; one without an agent where it gave none."""
    episodes = Episodes()
    with JournalReader(run.path) as reader:
        for commit, state in closed_units(episode_world(), reader):
            episodes.add(commit, state)
            gave = [row for block in commit.blocks for row in block.rows(GAVE)]
            returns = list(state.returns)
            for agent, reward, terminated, truncated in gave:
                yield (
                    commit.unit - 1, *episodes.place(state, agent), _whose(state, agent), reward,
                    returns[agent], terminated, truncated, state.is_over,
                )  # fmt: skip
            if not gave:
                place = episodes.place(state, None)
                yield (commit.unit - 1, *place, None, None, None, None, None, state.is_over)


def _array_rows(run: TableSource) -> Iterator[Row]:
    episodes = Episodes()
    with JournalReader(run.path) as reader:
        for commit, state in closed_units(episode_world(), reader):
            episodes.add(commit, state)
            rows = [row for block in commit.blocks for row in block.rows(ARRAY)]
            for agent, name, digest, value in rows:
                whole = None if value is None else shown(value, most=math.inf)
                number, _ = episodes.place(state, agent)
                yield (
                    commit.unit - 1, number, _whose(state, agent), name, f"{digest:016x}",
                    number_in(value), whole,
                )  # fmt: skip


def _episode_rows(run: TableSource) -> Iterator[Row]:
    with JournalReader(run.path) as reader:
        subject, episodes = _read(reader)
    for episode in episodes:
        names = subject if episode.agent is None else [named(episode.agent, subject)]
        returns = {name: finite(value) for name, value in zip(names, episode.returns, strict=True)}
        yield (
            episode.number, None if episode.agent is None else names[0], episode.first,
            episode.last, episode.length, episode.seed, episode.is_drawn, episode.total, returns,
            [named(agent, subject) for agent in sorted(episode.terminated)],
            [named(agent, subject) for agent in sorted(episode.truncated)], episode.is_finished,
        )  # fmt: skip


def _read(reader: JournalReader) -> tuple[Sequence[str], list[Episode]]:
    """The names of the agents, and the episodes."""
    with reader.again() as again:
        episodes = episodes_of(episode_world(), again)
    setup = next(iter(reader)).setup or {}
    return episode_world().initial(setup).about.agents, episodes


_STEP: Final = Column("step", WHOLE, "", "the step, from 0 on: each reset is one, too")
_EPISODE: Final = Column(
    "episode", WHOLE, "", "the number of the episode, from 1 on, as in `episodes`"
)

STEPS: Final = Table(
    "steps",
    "what a step gave an agent; of a step without rewards, such as a reset, the step alone",
    [
        _STEP, _EPISODE,
        Column("of_episode", WHOLE, "", "the number of the step in its episode; 0: the reset"),
        Column("agent", TEXT, "", "the name of the agent"),
        Column("reward", REAL, "", "its reward"),
        Column("return", REAL, "", "the sum of its rewards since the last reset"),
        Column("terminated", TRUTH, "", "it has come to its end"),
        Column("truncated", TRUTH, "", "it was cut off"),
        Column("over", TRUTH, "", "nothing but a reset can follow"),
    ],
    _step_rows,
)  # fmt: skip

EPISODES: Final = Table(
    "episodes",
    "an episode; in a vector environment, of one environment, as its `autoreset_mode` begins them",
    [
        _EPISODE,
        Column("agent", TEXT, "", "of which environment it is, in a vector environment"),
        Column("first", WHOLE, "", "its first step, the reset"),
        Column("last", WHOLE, "", "its last step"),
        Column("length", WHOLE, "", "the number of its steps, the reset left out"),
        Column("reset_seed", WHOLE, "", "the seed of its reset; null: it had none"),
        Column("is_drawn", TRUTH, "", "the recorder drew that seed"),
        Column("return", REAL, "", "its rewards, added over the agents; null: no finite number"),
        Column("returns", JSON, "", "the same of each agent, by name"),
        Column("terminated", TEXTS, "", "the agents that came to their end"),
        Column("truncated", TEXTS, "", "the agents that were cut off"),
        Column("finished", TRUTH, "", "it is over, and not merely broken off"),
    ],
    _episode_rows,
)

ARRAYS: Final = Table(
    "arrays",
    "an observation, an info, or a variable of a model, after a step",
    [
        _STEP, _EPISODE,
        Column("agent", TEXT, "", "the name of the agent whose it is; null: of all"),
        Column("name", TEXT, "", "its name: `observation`, `info[score]`, `report[Gini]`"),
        Column("digest", TEXT, "", "64 bits of its type, shape and bytes, 16 hex digits"),
        Column("number", REAL, "", "its value, if that is one finite number"),
        Column("value", JSON, "", "its value, arrays as nested lists; null: not recorded"),
    ],
    _array_rows,
)  # fmt: skip

TABLES: Final = Tables(own=[STEPS, EPISODES, ARRAYS])
