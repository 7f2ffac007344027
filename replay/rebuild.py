"""Any round of a journal again: the state after it and the events in it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, TypeVar

import attrs

from goldrush.kernel import fold
from goldrush.kernel.errors import BadInput, JournalError
from goldrush.kernel.journal import END, FORK, UNIT, Commit, Header, JournalReader
from goldrush.kernel.world import Event, Vocabulary, World
from goldrush.replay.forged import reader_of
from goldrush.replay.index import states_near
from goldrush.replay.text import Paint, plain
from goldrush.replay.toolkit import open_world, toolkit_named

S = TypeVar("S")


@attrs.frozen(repr=False)
class Rebuilt:
    """A unit (a round, an assignment) as it was: the `state` after it, its `events`, its `digest`.

    `round` is its number as people count, `vocabulary` the names that its world has for things. Its
    `repr` is what `goldrush replay` prints above the events.
    """

    path: str
    header: Header
    round: int
    state: Any
    events: Sequence[Event]
    digest: int
    vocabulary: Vocabulary = attrs.field(factory=Vocabulary)

    def __repr__(self) -> str:
        return self.format(plain)

    def format(self, paint: Paint) -> str:
        """The unit as text, by its world's view of it; else a line with its number and digest."""
        toolkit = toolkit_named(self.header.world)
        if toolkit is None or toolkit.unit is None:
            return f"{self.vocabulary.unit} {self.round}, digest {self.digest:016x}"
        return toolkit.unit.format(self, paint)

    def at_table(self, number: int) -> Sequence[Event]:
        """The events at a table, refusals of what was done there among them, in worlds that have
        tables. Raises BadInput for a table that there is not.
        """
        tables = [event.fields.get("act", event.fields).get("table") for event in self.events]
        found = [e for e, table in zip(self.events, tables, strict=True) if table == number]
        if not found:
            there = sorted({table for table in tables if type(table) is int})
            instead = f"give one from 0 to {there[-1]}" if there else "leave --table out"
            raise BadInput(f"{self.vocabulary.unit} {self.round} has no table {number}", instead)
        return found


@reader_of
def rebuild(path: str | Path, number: int, *, world: World[Any] | None = None) -> Rebuilt:
    """A round (or assignment) of a journal, folded from its events.

    `number` is that by which people know it; the start has the number before the first: 0 where
    they count from 1. In a long journal it is reached by way of an index (see replay/index.py). The
    world is found by the journal's header unless it is given. Raises BadInput where the journal has
    no such round, and what reading a journal raises up to there.
    """
    with JournalReader(path) as reader:
        world = world or open_world(reader)
        vocabulary = world.vocabulary
        unit = vocabulary.unit_of(number)
        walk = states_near(world, reader, unit)
        found = next(closed_units(world, reader, walk, unit), None) if unit >= 0 else None
        if found is not None:
            return found
        last, _ = _last_closed(reader)
    raise BadInput(
        f"{path} has no {vocabulary.unit} {number}",
        f"give one from {vocabulary.number(0)} to {vocabulary.number(last)}",
    )


@reader_of
def rebuilt_from(path: str | Path, number: int) -> Iterator[Rebuilt]:
    """The rounds (or assignments) of a journal from one on, in order, each as `rebuild` gives it;
    a state is the walk's own and changes with the next one. Raises as `rebuild` does, when the
    rounds before have been given.
    """
    with JournalReader(path) as reader:
        world = open_world(reader)
        unit = world.vocabulary.unit_of(number)
        if not 0 <= unit <= _last_closed(reader)[0]:
            rebuild(path, number)  # refuses it
        yield from closed_units(world, reader, states_near(world, reader, unit), unit)


@reader_of
def last_unit(path: str | Path) -> tuple[int, JournalError | None]:
    """The number of the last closed round (or assignment) of a journal, and what is wrong with the
    journal after it, if anything is: a torn tail, damage.

    Raises what reading a journal's header raises.
    """
    with JournalReader(path) as reader:
        last, trouble = _last_closed(reader)
        return open_world(reader).vocabulary.number(last), trouble


def closed_units(
    world: World[S], reader: JournalReader, walk: Iterable[tuple[Commit, S]], first: int
) -> Iterator[Rebuilt]:
    """The units that close in a walk over commits, from a unit of the journal on. Raises as the
    walk does, and MalformedEvents where a digest is not that of the state.
    """
    vocabulary = world.vocabulary
    events: list[Event] = []
    assembler = fold.StepAssembler(world.arrange)
    for commit, state in walk:
        if commit.kind in (FORK, END) or commit.unit < first:
            continue
        events += fold.commit_events(world, reader, commit, assembler)
        if commit.digest is not None:
            fold.check_digest(world, reader.path, state, commit)
            number = vocabulary.number(commit.unit)
            yield Rebuilt(
                reader.path, reader.header, number, state, events, commit.digest, vocabulary
            )
            events = []


def _last_closed(reader: JournalReader) -> tuple[int, JournalError | None]:
    """The last closed unit of a journal, and the error that reading it on would raise."""
    last = 0
    try:
        with reader.again() as other:
            for commit in other.outline():
                if commit.kind == UNIT:
                    last = commit.unit - (commit.digest is None)
    except JournalError as error:
        return last, error
    return last, None
