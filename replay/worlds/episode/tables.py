"""The tables of episodes: what a step gave, an episode, an array that a step gave."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from functools import partial
from operator import attrgetter
from typing import Any, Final

import attrs

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
    column,
    records_table,
)
from goldrush.replay.tools import Tables
from goldrush.replay.worlds.episode.episodes import Episode, Episodes, closed_units, episodes_of
from goldrush.replay.worlds.episode.show import named


@attrs.frozen
class _Given:
    """What a step gave.

    Attributes:
        step: its public number.
        episode, of_episode: as `Episodes.place`.
        state: that after it.
        row: of an event; None: it gave nothing.
    """

    step: int
    episode: int | None
    of_episode: int | None
    state: EpisodeState
    row: Row | None

    @property
    def agent(self) -> str | None:
        """The name of the agent that it was given; None: no agent in particular."""
        whose = None if self.row is None else self.row[0]
        return None if whose is None else named(whose, self.state.about.agents)


def _given(code: int, run: TableSource, *, or_nothing: bool = False) -> Iterator[_Given]:
    """Each row of a type of events. `or_nothing`: of a step that has none, one without."""
    episodes = Episodes()
    with JournalReader(run.path) as reader:
        for commit, state in closed_units(episode_world(), reader):
            episodes.add(commit, state)
            rows: list[Row | None] = [row for block in commit.blocks for row in block.rows(code)]
            for row in rows or [None] * or_nothing:
                place = episodes.place(state, None if row is None else row[0])
                yield _Given(commit.unit - 1, *place, state, row)


def _field(index: int) -> Callable[[_Given], Any]:
    return lambda given: None if given.row is None else given.row[index]


def _return(given: _Given) -> float | None:
    return None if given.row is None else given.state.returns[given.row[0]]


def _value(given: _Given) -> object:
    value = _field(3)(given)
    return None if value is None else shown(value, most=math.inf)


def _episodes(run: TableSource) -> Iterator[Episode]:
    with JournalReader(run.path) as reader:
        yield from episodes_of(episode_world(), reader)


def _named(name: str) -> Callable[[Episode], list[str]]:
    return lambda episode: [
        named(agent, episode.names) for agent in sorted(getattr(episode, name))
    ]  # fmt: skip


_STEP: Final[Column] = column("step", WHOLE, "the step, from 0 on: each reset is one, too")
_NUMBER: Final = "the number of the episode, from 1 on, as in `episodes`"

STEPS: Final = records_table(
    "steps", partial(_given, GAVE, or_nothing=True),
    "what a step gave an agent; of a step without rewards, such as a reset, the step alone",
    _STEP,
    column("episode", WHOLE, _NUMBER),
    column("of_episode", WHOLE, "the number of the step in its episode; 0: the reset"),
    column("agent", TEXT, "the name of the agent"),
    column("reward", REAL, "its reward", _field(1)),
    column("return", REAL, "the sum of its rewards since the last reset", _return),
    column("terminated", TRUTH, "it has come to its end", _field(2)),
    column("truncated", TRUTH, "it was cut off", _field(3)),
    column("over", TRUTH, "nothing but a reset can follow", attrgetter("state.is_over")),
)  # fmt: skip

EPISODES: Final = records_table(
    "episodes", _episodes,
    "an episode; in a vector environment, of one environment, as its `autoreset_mode` begins them",
    column("episode", WHOLE, _NUMBER, attrgetter("number")),
    column("agent", TEXT, "of which environment it is, in a vector environment",
           attrgetter("whose")),
    column("first", WHOLE, "its first step, the reset"),
    column("last", WHOLE, "its last step"),
    column("length", WHOLE, "the number of its steps, the reset left out"),
    column("reset_seed", WHOLE, "the seed of its reset; null: it had none", attrgetter("seed")),
    column("is_drawn", TRUTH, "the recorder drew that seed"),
    column("return", REAL, "its rewards, added over the agents; null: no finite number",
           attrgetter("total")),
    column("returns", JSON, "the same of each agent, by name", attrgetter("by_name")),
    column("terminated", TEXTS, "the agents that came to their end", _named("terminated")),
    column("truncated", TEXTS, "the agents that were cut off", _named("truncated")),
    column("finished", TRUTH, "it is over, and not merely broken off", attrgetter("is_finished")),
)  # fmt: skip

ARRAYS: Final = records_table(
    "arrays", partial(_given, ARRAY),
    "an observation, an info, or a variable of a model, after a step",
    _STEP,
    column("episode", WHOLE, _NUMBER),
    column("agent", TEXT, "the name of the agent whose it is; null: of all"),
    column("name", TEXT, "its name: `observation`, `info[score]`, `report[Gini]`", _field(1)),
    column("digest", TEXT, "64 bits of its type, shape and bytes, 16 hex digits",
           lambda given: f"{_field(2)(given):016x}"),
    column("number", REAL, "its value, if that is one finite number",
           lambda given: number_in(_field(3)(given))),
    column("value", JSON, "its value, arrays as nested lists; null: not recorded", _value),
)  # fmt: skip

TABLES: Final = Tables(own=[STEPS, EPISODES, ARRAYS])
