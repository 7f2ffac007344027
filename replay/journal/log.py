"""The event stream of a journal, filtered."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

import msgspec

from goldrush.kernel import fold
from goldrush.kernel.errors import BadInput, unknown
from goldrush.kernel.journal import Commit, JournalReader
from goldrush.kernel.world import EventType, RecordedEvent, World
from goldrush.replay.find import open_world
from goldrush.replay.journal.forged import reading
from goldrush.replay.journal.index import commits_near


class Query(msgspec.Struct, frozen=True):
    """A filter of events: those that pass every condition.

    Attributes:
        first: the first unit, by its public number; None: from the start, which has the number
            before the first unit's.
        last: the last unit; None: to the end.
        agents: events that name one of these agents, in any part; None: any event.
        plots: events on one of these plots; submissions only if `names` asks for them, and then
            those with an action there; None: any event.
        names: names of events; empty: of any name.
    """

    first: int | None = None
    last: int | None = None
    agents: Collection[int] | None = None
    plots: Collection[int] | None = None
    names: Collection[str] = ()

    def matches(self, event: RecordedEvent, type: EventType | None) -> bool:
        """Whether an event of a wanted unit passes the other conditions. `type` is the event's;
        None for the events that every world has.
        """
        if self.names and event.name not in self.names:
            return False
        if self.plots is not None and (
            type is None
            or (type.is_input and not self.names)
            or not any(plot in self.plots for plot in type.ids_in("plot", event))
        ):
            return False
        agents = self.agents
        return agents is None or any(agent in agents for agent in _agents_of(event, type))


def log(path: str | Path, query: Query | None = None) -> Iterator[RecordedEvent]:
    """The events of a journal that match a query, in order.

    Only the units that it names are read, through an index where the journal is long. `query`: the
    filter; None: all events.

    Raises BadInput for an unknown name of an event, and for a range that is empty or beyond the
    journal; JournalError as reading the journal does, after the events before the error.
    """
    query = query or Query()
    with reading(path) as reader:
        world = open_world(reader)
        _check_range(query, world)
        _check_names(query, world)
        types = {type.name: type for type in world.events}
        for event in fold.events(world, reader, _commits(world, reader, query)):
            if query.matches(event, types.get(event.name)):
                yield event


def _check_range(query: Query, world: World[Any]) -> None:
    vocabulary = world.vocabulary
    start = vocabulary.number(0)
    first = start if query.first is None else query.first
    if first < start or (query.last is not None and query.last < first):
        problem = f"there are no {vocabulary.units} {first} to {query.last}"
        raise BadInput(problem, "give FIRST-LAST, with FIRST not after LAST")


def _commits(world: World[Any], reader: JournalReader, query: Query) -> Iterator[Commit]:
    """The commits of the units that a query names."""
    vocabulary = world.vocabulary
    first = 0 if query.first is None else vocabulary.unit_of(query.first)
    last = None if query.last is None else vocabulary.unit_of(query.last)
    reached = 0
    for commit in reader if first == 0 else commits_near(world, reader, first):
        reached = commit.unit
        if last is not None and commit.unit > last:
            return
        if commit.unit >= first:
            yield commit
    if reached < first:
        raise BadInput(
            f"{reader.path} has no {vocabulary.format_unit(first)}",
            vocabulary.format_choice(reached),
        )


def _check_names(query: Query, world: World[Any]) -> None:
    vocabulary = world.vocabulary
    known = [vocabulary.started, vocabulary.forked, *(event.name for event in world.events)]
    known += [vocabulary.closed, vocabulary.ended]
    for name in query.names:
        if name not in known:
            raise unknown("event", name, known)


def _agents_of(event: RecordedEvent, type: EventType | None) -> Iterator[Any]:
    if type is not None:
        yield from type.ids_in("agent", event)
    else:  # a fork names the agents whose submissions it puts in by hand
        yield from (agent for *_, agent in event.fields.get("replaced", ()))
