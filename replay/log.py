"""The event stream of a journal, narrowed down to what somebody wants to know."""

from __future__ import annotations

import difflib
import re
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

import attrs

from kernel import fold
from kernel.errors import BadInput
from kernel.journal import Commit, JournalReader
from kernel.mining import MINING
from kernel.mining.config import MiningConfig
from kernel.world import Event, World
from kernel.worlds import world_of
from replay.index import commits_near
from replay.rebuild import rebuild

# The fields in which the events of a world name agents.
_WHO = ("agent", "claimants", "winner", "owner", "raiders", "captor", "victim")


@attrs.frozen
class Query:
    """Which events are wanted: all that pass every filter; an empty filter lets all pass.

    `first` .. `last`: rounds, both included (None: to the end). `agents`: events that name one of
    them, whatever its part. `plots`: events on one of them; submissions only where `names` asks for
    them, and then those with an action there. `names`: names of events.
    """

    first: int = 0
    last: int | None = None
    agents: Collection[int] = ()
    plots: Collection[int] = ()
    names: Collection[str] = ()

    def matches(self, event: Event) -> bool:
        """Whether an event of the right round passes the other filters."""
        if self.names and event.name not in self.names:
            return False
        if self.plots and not self._on_plot(event):
            return False
        return not self.agents or any(agent in self.agents for agent in _agents_of(event))

    def _on_plot(self, event: Event) -> bool:
        if event.name == "submitted" and self.names:
            return any(action and action[1] in self.plots for action in event["actions"])
        return event.fields.get("plot") in self.plots


def log(
    path: str | Path, query: Query | None = None, *, world: World[Any] | None = None
) -> Iterator[Event]:
    """The events of a journal that a query wants, in order.

    Only the rounds that it names are read, by way of an index where the journal is long. Raises
    BadInput for a name that no event of the world has and for a range that ends before it begins,
    and what reading a journal raises, when the events before it have been given.
    """
    query = query or Query()
    if query.first < 0 or (query.last is not None and query.last < query.first):
        raise BadInput(f"there are no rounds {query.first} to {query.last}", "give a-b, a up to b")
    with JournalReader(path) as reader:
        world = world or world_of(reader)
        _check_names(query, world)
        if world is MINING:
            _check_agents(query, rebuild(path, 0).state.config.agents)
        for event in fold.events(world, reader, _commits(world, reader, query)):
            if query.matches(event):
                yield event


def _commits(world: World[Any], reader: JournalReader, query: Query) -> Iterator[Commit]:
    """The commits of the rounds that a query names."""
    reached = 0
    for commit in reader if query.first == 0 else commits_near(world, reader, query.first):
        reached = commit.unit
        if query.last is not None and commit.unit > query.last:
            return
        if commit.unit >= query.first:
            yield commit
    if reached < query.first:
        unit = world.vocabulary.unit
        raise BadInput(
            f"{reader.path} has no {unit} {query.first}", f"give one from 0 to {reached}"
        )


def _check_names(query: Query, world: World[Any]) -> None:
    words = world.vocabulary
    known = [words.started, words.forked, *(event.name for event in world.events)]
    known += [words.closed, words.ended]
    for name in query.names:
        if name not in known:
            close = difflib.get_close_matches(name, known, n=1)
            hint = f"did you mean {close[0]}? " if close else ""
            raise BadInput(f"there is no event {name!r}", f"{hint}take one of {', '.join(known)}")


def _check_agents(query: Query, agents: int) -> None:
    for agent in query.agents:
        if not 0 <= agent < agents:
            raise BadInput(f"there is no agent {agent}", f"give one from 0 to {agents - 1}")


def _agents_of(event: Event) -> Iterator[int]:
    yield from (agent for _, agent in event.fields.get("replaced", ()))
    for field in _WHO:
        value = event.fields.get(field)
        if isinstance(value, list):
            yield from value
        elif value is not None:
            yield value


def plot_of(path: str | Path, text: str) -> int:
    """The plot that a text stands for in a mining journal: its id, or its row and column, `3,4`.

    Raises BadInput for one that is not on the grid, and what reading a journal raises.
    """
    config: MiningConfig = rebuild(path, 0, world=MINING).state.config
    match = re.fullmatch(r"\s*(\d{1,9})\s*(?:,\s*(\d{1,9})\s*)?", text, re.ASCII)
    if match is not None and match[2] is None and int(match[1]) < config.plots:
        return int(match[1])
    if match is not None and match[2] is not None:
        row, col = int(match[1]), int(match[2])
        if row < config.rows and col < config.cols:
            return row * config.cols + col
    raise BadInput(
        f"there is no plot {text!r}",
        f"give an id from 0 to {config.plots - 1}, or row,column up to "
        f"{config.rows - 1},{config.cols - 1}",
    )
