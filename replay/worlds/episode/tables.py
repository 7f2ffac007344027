"""The tables of episodes: what a step gave, and an episode."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from operator import attrgetter
from types import SimpleNamespace
from typing import Final

from goldrush.kernel.journal import JournalReader
from goldrush.kernel.worlds.episode.events import GAVE
from goldrush.kernel.worlds.episode.world import episode_world
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
from goldrush.replay.data.run_data import RunData
from goldrush.replay.tools import Tables
from goldrush.replay.worlds.episode.episodes import Episode, Episodes, closed_units, episodes_of
from goldrush.replay.worlds.episode.show import named


def _steps(run: RunData) -> Iterator[SimpleNamespace]:
    episodes = Episodes()
    with JournalReader(run.path) as reader:
        for commit, state in closed_units(episode_world(), reader):
            episodes.add(commit, state)
            given = [row for block in commit.blocks for row in block.rows(GAVE)]
            for row in given or [(None,) * 4]:
                agent, reward, terminated, truncated = row
                episode, of_episode = episodes.place(state, agent)
                name = None if agent is None else named(agent, state.about.agents)
                total = None if agent is None else state.returns[agent]
                yield SimpleNamespace(
                    step=commit.unit - 1, episode=episode, of_episode=of_episode, agent=name,
                    reward=reward, **{"return": total}, terminated=terminated,
                    truncated=truncated, over=state.is_over,
                )  # fmt: skip


def _episodes(run: RunData) -> Iterator[Episode]:
    with JournalReader(run.path) as reader:
        yield from episodes_of(episode_world(), reader)


def _named(name: str) -> Callable[[Episode], list[str]]:
    return lambda episode: [
        named(agent, episode.names) for agent in sorted(getattr(episode, name))
    ]  # fmt: skip


_NUMBER: Final = "the number of the episode, from 1 on, as in `episodes`"

STEPS: Final = records_table(
    "steps", _steps,
    "what a step gave an agent; of a step without rewards, such as a reset, the step alone",
    Column("step", WHOLE, "the step, from 0 on: each reset is one, too"),
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

TABLES: Final = Tables(own=[STEPS, EPISODES])
