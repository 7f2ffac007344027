"""Any unit of a journal, rebuilt: the state after it and the events in it; and all units of a run
as they close while it is recorded.

Each look at a run that is recorded opens the file for reading and continues after the last unit
that was seen. No lock is taken and nothing is written, so the recorder is not disturbed. An
incomplete end is being written.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, TypeVar

from goldrush.kernel import fold
from goldrush.kernel.errors import BadInput
from goldrush.kernel.journal import END, FORK, UNIT, Commit, Header, JournalReader
from goldrush.kernel.walk import ROWS, Walk, check_digest
from goldrush.kernel.world import RecordedEvent, World
from goldrush.replay.find import open_world, tools_named
from goldrush.replay.journal.forged import reading
from goldrush.replay.journal.index import states_near
from goldrush.replay.journal.outline import outline_of
from goldrush.replay.tools import ClosedUnit, Tools
from goldrush.replay.unit import format_unit

S = TypeVar("S")


class Rebuilt(ClosedUnit, frozen=True):
    """A unit (a round, an assignment), rebuilt. Its `repr` is what `goldrush replay` prints above
    the events.

    Attributes:
        round: the public number of the unit.
        state: the state after it.
        events: its events, in order.
        digest: the digest of the state, 64 bits.
        vocabulary: the nouns of its world.
        path: the journal.
        header: its header.
    """

    path: str
    header: Header

    def __repr__(self) -> str:
        return format_unit(self, tools_named(self.header.world) or Tools())

    def as_dict(self) -> dict[str, object]:
        """What names the unit and its state, for JSON."""
        return {
            "journal": self.path,
            "world": self.header.world,
            self.vocabulary.unit: self.round,
            "digest": f"{self.digest:016x}",
        }


def rebuild(path: str | Path, number: int) -> Rebuilt:
    """A unit (a round, an assignment) of a journal, folded from its events.

    In a long journal it is reached through an index (see replay/journal/index.py). `number`: the
    public number of the unit; the start has the number before the first, 0 where units count from
    1.

    Raises BadInput if the journal has no such unit; JournalError as reading the journal up to there
    does.
    """
    return next(rebuilt_from(path, number))


def rebuilt_from(path: str | Path, number: int) -> Iterator[Rebuilt]:
    """The units of a journal from one on, in order, each as by `rebuild`; a state is valid until
    the next unit.

    Raises as `rebuild`, after the units before the error.
    """
    with reading(path) as reader:
        world = open_world(reader)
        vocabulary = world.vocabulary
        unit, rebuilt = vocabulary.unit_of(number), None
        walk = states_near(world, reader, unit) if unit >= 0 else ()
        for rebuilt in closed_units(world, reader, walk, unit):
            yield rebuilt
        if rebuilt is None:
            problem = f"{path} has no {vocabulary.unit} {number}"
            raise BadInput(problem, vocabulary.format_choice(outline_of(path).closed))


def closed_units(
    world: World[S], reader: JournalReader, walk: Iterable[tuple[Commit, S]], first: int
) -> Iterator[Rebuilt]:
    """The units that close in a walk over commits. `walk`: commits with the state after each;
    `first`: the first unit to give, by its number in the journal.

    Raises MalformedEvents if a digest is not that of the state; JournalError as the walk does.
    """
    vocabulary = world.vocabulary
    events: list[RecordedEvent] = []
    assembler = fold.StepAssembler(world.arrange)
    for commit, state in walk:
        if commit.kind in (FORK, END) or commit.unit < first:
            continue
        events += fold.commit_events(world, reader, commit, assembler)
        if commit.digest is not None:
            check_digest(world, reader.path, state, commit)
            number = vocabulary.number(commit.unit)
            yield Rebuilt(
                number, state, events, commit.digest, vocabulary, reader.path, reader.header
            )
            events = []


def walk_through(
    world: World[S],
    reader: JournalReader,
    number: int,
    walk: Iterable[tuple[Commit, S]] | None = None,
) -> Walk[S]:
    """The walk through a closed unit, whose digest is checked, from the state before it. `walk`: a
    walk over the journal to reach it by; None: by an index.

    Raises BadInput if there is no such closed unit; JournalError if the journal cannot be read.
    """
    vocabulary = world.vocabulary
    unit = vocabulary.unit_of(number)
    before: list[S] = []
    commits: list[Commit] = []
    last = 0
    for commit, state in walk or states_near(world, reader, unit):
        if commit.kind == END:
            break
        if commit.kind == UNIT and commit.unit == unit:
            commits.append(commit)
        elif commit.unit == unit - 1 and commit.digest is not None:
            before = [world.copy(state)]
        if commit.digest is not None:
            last = commit.unit
            if commits:
                check_digest(world, reader.path, state, commit)
                [start] = before  # the reader lets no unit be left out
                return Walk(world, reader, ROWS, commits=commits, state=start)
    problem = f"{reader.path} has no {vocabulary.unit} {number}"
    if not last:
        raise BadInput(problem, f"none of its {vocabulary.units} is closed")
    raise BadInput(problem, f"give one from {vocabulary.number(1)} to {vocabulary.number(last)}")


def world_at(path: str | Path) -> World[Any]:
    """The world of the journal at a path. Raises as `tools_at`."""
    with reading(path) as reader:
        return open_world(reader)
