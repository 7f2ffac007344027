"""What a journal holds besides states: steps across commits, rows with their faults, and events in
their logical form. States come from the walk over it (kernel/walk.py).

`fold` is pure: it never changes the state it is given. A walk changes its state in place, because
copying a map of plots for each event would cost a hundred times the event.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar

import msgspec

from goldrush.kernel.errors import (
    BadInput,
    JournalError,
    MalformedEvents,
    UnsupportedJournal,
    UnsupportedSetup,
    format_value,
)
from goldrush.kernel.journal import END, FORK, START, UNIT, Commit, JournalReader, Location
from goldrush.kernel.world import Block, Past, RecordedEvent, Step, Vocabulary, World

S = TypeVar("S")

# The exceptions of a world's functions for invalid rows, which are not checked one by one on the
# hot path, and for forged events. If rows are valid and events follow, they are bugs of the world.
REFUSED = (
    TypeError, ValueError, LookupError, AttributeError, ArithmeticError, AssertionError,
)  # fmt: skip


def fold(world: World[S], state: S, blocks: Iterable[Block]) -> S:
    """The state after these events. Folding them in pieces, cut anywhere, gives the same state.
    `state`: the state before the events; it is not changed.
    """
    state = world.copy(state)
    for block in blocks:
        state = world.evolve(state, block)
    return state


class StepAssembler:
    """Assembles the blocks of a journal into steps, across commits.

    A step's inputs may be spread over several commits, because answers are committed as they
    arrive. The world's `arrange` puts them in order, and a derived block completes the step.
    """

    def __init__(self, arrange: Callable[[Block], Block]) -> None:
        self._arrange = arrange
        self._inputs: list[Block] = []

    def completed_by(self, commit: Commit) -> Iterator[Step]:
        """The steps whose derived blocks are in this commit."""
        for index, block in enumerate(commit.blocks):
            if index % 2 == 0:
                self._inputs.append(block)
            else:
                # Inputs in one piece were judged in the order recorded.
                yield Step(self.pending if len(self._inputs) > 1 else self._inputs[0], block)
                self._inputs = []

    @property
    def pending(self) -> Block:
        """The inputs that have not been judged yet, arranged."""
        return self._arrange(Block.joined(self._inputs)) if self._inputs else Block(())

    def __bool__(self) -> bool:
        return bool(self._inputs)


class Unit(msgspec.Struct, frozen=True):
    """A unit, assembled from its commits.

    Attributes:
        number: its number in the journal, from 1.
        steps: its steps, in order.
        pending: inputs that have not been judged yet.
        digest: the digest of the state after it; None if the unit is open.
    """

    number: int
    steps: Sequence[Step]
    pending: Block
    digest: int | None


def units(commits: Iterable[Commit], arrange: Callable[[Block], Block]) -> Iterator[Unit]:
    """The units of a journal, in order. An open unit is the last."""
    assembler = StepAssembler(arrange)
    steps: list[Step] = []
    is_open = False
    number = 0
    for commit in commits:
        if commit.kind == UNIT:
            number = commit.unit
            steps += assembler.completed_by(commit)
            is_open = commit.digest is None
            if not is_open:
                yield Unit(number, steps, assembler.pending, commit.digest)
                steps = []
    if is_open:
        yield Unit(number, steps, assembler.pending, None)


def start(world: World[S], reader: JournalReader, commit: Commit) -> S:
    """The state that a START commit sets up. `reader`: the reader of the journal, for its header
    and path.

    Raises UnsupportedJournal for another world or other rules than the header's, and for a setup in
    another form; MalformedEvents for a setup that the world refuses.
    """
    readable = " and ".join(map(str, world.readable_rules))
    world = world.under(reader.header.rules)
    if (reader.header.world, reader.header.rules) != (world.name, world.rules):
        raise UnsupportedJournal(
            reader.path,
            f"world {reader.header.world!r} under rules {reader.header.rules}; "
            f"this reads {world.name!r} under rules {readable}",
        )
    assert commit.setup is not None  # the reader lets only a START come first
    with reading_facts(reader, commit):
        return world.initial(commit.setup)


@contextmanager
def reading_facts(reader: JournalReader, commit: Commit) -> Iterator[None]:
    """A context in which a world takes the facts of a START or FORK. What it raises about them is
    raised as UnsupportedJournal or MalformedEvents.
    """
    try:
        yield
    except UnsupportedSetup as error:
        raise UnsupportedJournal(reader.path, str(error)) from None
    except (BadInput, *REFUSED) as error:
        raise MalformedEvents(reader.path, commit.where, str(error)) from None


def fork_of(world: World[S]) -> Callable[[S, Mapping[str, Any], Past], S]:
    """The world's `fork` function. Raises BadInput if it has none."""
    if world.fork is None:
        raise BadInput(f"runs of the {world.name} world cannot be forked", "record another one")
    return world.fork


def past(
    world: World[Any], reader: JournalReader, last: int, location: Location | None = None
) -> Past:
    """The function by which a world reads the units before a state, up to `last`.

    They are read again from the file behind `reader`.

    Args:
        last: the last unit that is given, as the journal numbers it.
        location: where reading begins, before the first unit that will be asked for; None: the
            start.
    """

    def units_from(first: int) -> Iterator[tuple[int, Sequence[Step]]]:
        if first > last:
            return
        with reader.again() as other:
            for unit in units(other.commits(location), world.arrange):
                if unit.number >= first:
                    yield unit.number, unit.steps
                if unit.number == last:  # damage behind it does not matter
                    return

    return units_from


def checked(world: World[Any], reader: JournalReader) -> Iterator[Commit]:
    """The journal's commits, in order, with their rows checked. Raises as `events`."""
    for commit in reader:
        if commit.kind == START:
            start(world, reader, commit)  # refuses another world, other rules, an invalid setup
        check_rows(world, reader.path, commit)
        yield commit


def check_rows(world: World[Any], path: str, commit: Commit) -> None:
    """Raise MalformedEvents for the first invalid row of a commit."""
    if next(faults(world, commit.blocks), None):
        raise malformed(world, path, commit)


def malformed(
    world: World[Any], path: str, commit: Commit, error: Exception | None = None
) -> MalformedEvents:
    """The error for a commit with invalid rows, naming the first invalid field."""
    fault = next(faults(world, commit.blocks), None)
    if fault is None:
        fault = f"its events do not fit the state before them ({type(error).__name__}: {error})"
        if error is not None:
            note_place(world, commit, error)
    return MalformedEvents(path, commit.where, fault)


def raise_bug(error: MalformedEvents, is_forged: Callable[[], bool] = lambda: False) -> None:
    """Raise the exception of the world that caused an error, unless forged events did.

    Args:
        error: raised for events that do not fit the state before them.
        is_forged: whether events up to there do not follow from their inputs; called only if the
            error has such a cause.
    """
    bug = error.__cause__
    if bug is not None and not is_forged():
        raise bug from bug.__cause__


def note_place(world: World[Any], commit: Commit, error: Exception) -> None:
    """Add a note to an exception of a world: where in a journal its code raised it."""
    unit = world.vocabulary.format_unit(commit.unit)
    error.add_note(f"code of the {world.name} world failed in {unit}, {commit.where}")


def faults(
    world: World[Any], blocks: Sequence[Block], *, is_input: bool | None = None
) -> Iterator[str]:
    """Descriptions of invalid rows: unknown types, missing fields, wrong values.

    Args:
        world: the world that declares the events.
        blocks: the blocks; inputs and derived blocks alternate, inputs first.
        is_input: True if all blocks are inputs, False if all are derived; None: they alternate.
    """
    for index, block in enumerate(blocks):
        wants_input = index % 2 == 0 if is_input is None else is_input
        for code, rows in block:
            if type(code) is not int or not 0 <= code < len(world.events):
                yield f"event type {format_value(code)}, but there are {len(world.events)}"
                continue
            event = world.events[code]
            if event.is_input != wants_input:
                yield f"{event.name} among {'inputs' if wants_input else 'derived events'}"
            try:
                if event.holds_all(rows):
                    continue
            except REFUSED:
                pass  # said below, in the order of the rows
            try:
                yield from filter(None, map(event.fault, rows))
            except REFUSED as error:  # a user-defined kind that expects too much of a value
                yield f"{event.name}: not a value of its kinds ({type(error).__name__}: {error})"


def events(
    world: World[Any], reader: JournalReader, commits: Iterable[Commit] | None = None
) -> Iterator[RecordedEvent]:
    """The journal's events in their logical form, in order, pending inputs last. `commits`: the
    commits to read, with complete units except the last; None: all.

    Raises DamagedJournal, TornTail as iterating a JournalReader; MalformedEvents for an invalid
    row; UnsupportedJournal for a journal of another world or other rules.
    """
    assembler = StepAssembler(world.arrange)
    unit = 0
    trouble: JournalError | None = None
    try:
        for commit in reader if commits is None else commits:
            yield from commit_events(world, reader, commit, assembler)
            unit = commit.unit
    except JournalError as error:
        trouble = error
    if assembler:
        yield from block_events(world, unit, assembler.pending)
    if trouble is not None:
        raise trouble


def commit_events(
    world: World[Any], reader: JournalReader, commit: Commit, assembler: StepAssembler
) -> Iterator[RecordedEvent]:
    """The events of a commit and of the steps that it completes, in their logical form. `reader`:
    the reader of the journal, for its header and path; `assembler`: holds the inputs of earlier
    commits that are pending.

    Raises MalformedEvents for an invalid row, setup or fork.
    """
    if commit.kind in (START, FORK):
        yield setup_event(world, reader, commit)
        return
    vocabulary = world.vocabulary
    number = vocabulary.number(commit.unit)
    front = {vocabulary.unit: number}
    check_rows(world, reader.path, commit)
    for step in assembler.completed_by(commit):
        yield from block_events(world, commit.unit, step.inputs)
        yield from block_events(world, commit.unit, step.derived)
    if commit.digest is not None:
        yield RecordedEvent(vocabulary.closed, number, {**front, "digest": f"{commit.digest:016x}"})
    if commit.kind == END:
        yield RecordedEvent(vocabulary.ended, number, front)


def setup_event(world: World[Any], reader: JournalReader, commit: Commit) -> RecordedEvent:
    """The event of a START or FORK commit.

    Raises MalformedEvents for an invalid setup or invalid facts.
    """
    vocabulary = world.vocabulary
    number = vocabulary.number(commit.unit)
    if commit.kind == START:
        start(world, reader, commit)
        front = {"world": reader.header.world, "rules": reader.header.rules}
        return RecordedEvent(
            vocabulary.started, number, {**front, **world.show_setup(commit.setup or {})}
        )
    with reading_facts(reader, commit):
        fork_of(world)
        facts = world.show_fork(commit.setup or {})
    return RecordedEvent(vocabulary.forked, number, {vocabulary.unit: number, **facts})


def block_events(world: World[Any], unit: int, block: Block) -> Iterator[RecordedEvent]:
    """The events of a block in their logical form. Its rows must be valid. `world`: the world that
    declares the events; `unit`: the block's unit as the journal numbers it; the events have the
    number shown to people.
    """
    number = world.vocabulary.number(unit)
    for code, rows in block:
        event = world.events[code]
        for row in rows:
            fields = {world.vocabulary.unit: number}
            for (name, kind), value in zip(event.fields.items(), row, strict=True):
                fields[name] = kind.show(value)
            yield RecordedEvent(event.name, number, fields)


def counts(commit: Commit, vocabulary: Vocabulary) -> bool:
    """Whether a commit closes a unit that counts; see `Vocabulary.uncounted`."""
    is_closing = commit.kind == UNIT and commit.digest is not None
    return is_closing and vocabulary.counts(commit.blocks[::2])


def is_opening(vocabulary: Vocabulary, commit: Commit) -> bool:
    """Whether a commit is no more than the begin of any run: START or FORK, or the whole first
    unit, if that does not count.
    """
    if commit.kind != UNIT:
        return commit.kind in (START, FORK)
    return commit.unit == 1 and commit.digest is not None and not counts(commit, vocabulary)
