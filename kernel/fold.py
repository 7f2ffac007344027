"""State from events: the pure fold, and the walk through a journal that gives every state.

`fold` is the contract: it never changes the state it is given. Worlds with large states
change a private copy in place, because copying a map of plots for each event would cost a hundred
times the event.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

import attrs

from goldrush.kernel.errors import BadInput, JournalError, MalformedEvents, UnsupportedJournal
from goldrush.kernel.journal import END, FORK, START, UNIT, Commit, JournalReader, Location
from goldrush.kernel.world import Block, Event, Past, Step, World

S = TypeVar("S")

# What a world's functions raise on rows that are not theirs; rows are not checked one by one on the
# hot path. What they assert of a state can only fail where its events were forged.
REFUSED = (
    TypeError, ValueError, LookupError, AttributeError, ArithmeticError, AssertionError,
)  # fmt: skip


def fold(world: World[S], state: S, blocks: Iterable[Block]) -> S:
    """The state after these events; folding them in pieces, however cut, gives the same."""
    state = world.copy(state)
    for block in blocks:
        state = world.evolve(state, block)
    return state


class StepAssembler:
    """Puts a journal's blocks together into steps, across commits.

    A step's inputs may come in several commits (answers are committed as they arrive); they are put
    in order by the world's `arrange`, and the step is whole with its derived block.
    """

    def __init__(self, arrange: Callable[[Block], Block]) -> None:
        self._arrange = arrange
        self._inputs: list[Block] = []

    def completed_by(self, commit: Commit) -> Iterator[Step]:
        """The steps whose derived block stands in this commit."""
        for place, block in enumerate(commit.blocks):
            if place % 2 == 0:
                self._inputs.append(block)
            else:
                # What came in one piece was judged as it stands there.
                yield Step(self.pending if len(self._inputs) > 1 else self._inputs[0], block)
                self._inputs = []

    @property
    def pending(self) -> Block:
        """The inputs that were not judged yet."""
        return self._arrange(Block.joined(self._inputs)) if self._inputs else Block(())

    def __bool__(self) -> bool:
        """Whether inputs wait to be judged."""
        return bool(self._inputs)


@attrs.frozen
class Unit:
    """A unit, whatever commits it came in: its number in the journal, its steps, the inputs that
    wait to be judged, its digest (None: it was left open).
    """

    number: int
    steps: Sequence[Step]
    pending: Block
    digest: int | None


def units(commits: Iterable[Commit], arrange: Callable[[Block], Block]) -> Iterator[Unit]:
    """The units of a journal, in order; one that was left open is the last."""
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
    """The state that a START commit sets up. Raises UnsupportedJournal or MalformedEvents."""
    if (reader.header.world, reader.header.rules) != (world.name, world.rules):
        raise UnsupportedJournal(
            reader.path,
            f"world {reader.header.world!r} under rules {reader.header.rules}; "
            f"this reads {world.name!r} under rules {world.rules}",
        )
    assert commit.setup is not None  # the reader lets only a START come first
    try:
        return world.initial(commit.setup)
    except (BadInput, *REFUSED) as error:
        raise MalformedEvents(reader.path, commit.where, str(error)) from None


def apply(world: World[S], path: str, state: S, commit: Commit, assembler: StepAssembler) -> S:
    """The state after a UNIT commit, its unit closed if the commit closes it.

    Inputs change the state when they are judged: until then they wait in `assembler`.
    """
    try:
        if assembler or len(commit.blocks) % 2:
            for step in assembler.completed_by(commit):
                state = world.evolve(world.evolve(state, step.inputs), step.derived)
        else:  # as nearly always
            for block in commit.blocks:
                state = world.evolve(state, block)
        return closed(world, path, state, commit)
    except REFUSED as error:
        raise malformed(world, path, commit, error) from None


def closed(world: World[S], path: str, state: S, commit: Commit) -> S:
    """The state after a commit whose events are applied: its unit closed, if the commit does so.

    A commit that ends with inputs leaves its unit open: they are still to be judged. Raises
    MalformedEvents where one closes a unit that is not done, or leaves open one that is.
    """
    if len(commit.blocks) % 2:
        return state
    if world.unit_done(state) is (commit.digest is None):
        says = "closes before it is done" if commit.digest is not None else "is done but not closed"
        raise MalformedEvents(
            path, commit.where, f"{world.vocabulary.format_unit(commit.unit)} {says}"
        )
    return state if commit.digest is None else world.close(state)


def forked(world: World[S], reader: JournalReader, state: S, commit: Commit) -> S:
    """The state after a FORK commit of a journal.

    Raises MalformedEvents for facts that the world does not take.
    """
    try:
        return fork_of(world)(state, commit.setup or {}, past(world, reader, commit.unit))
    except (BadInput, *REFUSED) as error:
        raise MalformedEvents(reader.path, commit.where, str(error)) from None


def fork_of(world: World[S]) -> Callable[[S, Mapping[str, Any], Past], S]:
    """The world's `fork`. Raises BadInput where it has none."""
    if world.fork is None:
        raise BadInput(f"runs of the {world.name} world cannot be forked", "record another one")
    return world.fork


def digest_of(world: World[S], path: str, state: S, commit: Commit) -> int:
    """The digest of the state after a commit. Raises MalformedEvents where it has none."""
    try:
        return world.digest(state)
    except REFUSED as error:  # a number that grew beyond 64 bits, say
        raise malformed(world, path, commit, error) from None


def check_digest(world: World[S], path: str, state: S, commit: Commit) -> None:
    """Raise MalformedEvents for a state that is not the one whose digest the commit has."""
    digest = digest_of(world, path, state, commit)
    if commit.digest is not None and digest != commit.digest:
        raise MalformedEvents(
            path, commit.where, f"digest {commit.digest:016x}, but its events give {digest:016x}"
        )


def past(
    world: World[Any], reader: JournalReader, last: int, place: Location | None = None
) -> Past:
    """What a world is given to read its record of the past from, up to the journal's unit `last`.

    It is read again from the file that `reader` reads. `place` lies anywhere before the first unit
    that will be asked for.
    """

    def units_from(first: int) -> Iterator[tuple[int, Sequence[Step]]]:
        if first > last:
            return
        with reader.again() as other:
            for unit in units(other.commits(place), world.arrange):
                if unit.number >= first:
                    yield unit.number, unit.steps
                if unit.number == last:  # what is behind it is not met, broken or not
                    return

    return units_from


def states(
    world: World[S],
    reader: JournalReader,
    commits: Iterable[Commit] | None = None,
    state: S | None = None,
) -> Iterator[tuple[Commit, S]]:
    """Every commit with the state after it, in order.

    `commits`: those to walk over, if not all; `state`: that before the first of them, if it is not
    the START. The state given is the walk's own: copy it (`world.copy`) to keep it. Raises what
    iterating a JournalReader raises, and MalformedEvents for events that this world cannot apply.
    """
    assembler = StepAssembler(world.arrange)
    for commit in reader if commits is None else commits:
        if commit.kind == START:
            state = start(world, reader, commit)
        elif commit.kind == UNIT:
            assert state is not None
            state = apply(world, reader.path, state, commit, assembler)
        elif commit.kind == FORK:
            assert state is not None
            state = forked(world, reader, state, commit)
        assert state is not None
        yield commit, state


def checked(world: World[Any], reader: JournalReader) -> Iterator[Commit]:
    """The journal's commits, in order, their rows checked. Raises as `events` does."""
    for commit in reader:
        if commit.kind == START:
            start(world, reader, commit)  # refuses another world, other rules, a setup that is none
        if next(faults(world, commit.blocks), None):
            raise malformed(world, reader.path, commit)
        yield commit


def malformed(
    world: World[Any], path: str, commit: Commit, error: Exception | None = None
) -> MalformedEvents:
    """The error for a commit whose rows are not those of the world, naming the first bad field."""
    fault = next(faults(world, commit.blocks), None)
    if fault is None:
        fault = f"its events do not fit the state before them ({type(error).__name__}: {error})"
    return MalformedEvents(path, commit.where, fault)


def faults(
    world: World[Any], blocks: Sequence[Block], *, is_input: bool | None = None
) -> Iterator[str]:
    """What is wrong with rows read from a file: unknown types, missing fields, wrong values.

    Blocks alternate, inputs first, unless `is_input` says what they all are.
    """
    for place, block in enumerate(blocks):
        wants_input = place % 2 == 0 if is_input is None else is_input
        for code, rows in block:
            if not 0 <= code < len(world.events):
                yield f"event type {code}, but there are {len(world.events)}"
                continue
            event = world.events[code]
            if event.is_input != wants_input:
                yield f"{event.name} among {'inputs' if wants_input else 'derived events'}"
            try:
                yield from filter(None, map(event.fault, rows))
            except REFUSED as error:  # a kind of somebody's own that expects too much of a value
                yield f"{event.name}: no value of its kinds ({type(error).__name__}: {error})"


def events(
    world: World[Any], reader: JournalReader, commits: Iterable[Commit] | None = None
) -> Iterator[Event]:
    """The journal's events in their logical form, in order; those that wait to be judged last.

    `commits`: those to walk over, if not all; whole units, but for the last. Raises what iterating
    a JournalReader raises, and MalformedEvents for a row that is none.
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
) -> Iterator[Event]:
    """The events of one commit and of the steps that it completes, in their logical form."""
    if commit.kind in (START, FORK):
        yield setup_event(world, reader, commit)
        return
    vocabulary = world.vocabulary
    number = vocabulary.number(commit.unit)
    front = {vocabulary.unit: number}
    if next(faults(world, commit.blocks), None):
        raise malformed(world, reader.path, commit)
    for step in assembler.completed_by(commit):
        yield from block_events(world, commit.unit, step.inputs)
        yield from block_events(world, commit.unit, step.derived)
    if commit.digest is not None:
        yield Event(vocabulary.closed, number, {**front, "digest": f"{commit.digest:016x}"})
    if commit.kind == END:
        yield Event(vocabulary.ended, number, front)


def setup_event(world: World[Any], reader: JournalReader, commit: Commit) -> Event:
    """The event of a START or a FORK. Raises MalformedEvents for a setup or facts that are none."""
    vocabulary = world.vocabulary
    number = vocabulary.number(commit.unit)
    if commit.kind == START:
        start(world, reader, commit)
        front = {"world": reader.header.world, "rules": reader.header.rules}
        return Event(vocabulary.started, number, {**front, **(commit.setup or {})})
    try:
        fork_of(world)
        facts = world.show_fork(commit.setup or {})
    except (BadInput, *REFUSED) as error:
        raise MalformedEvents(reader.path, commit.where, str(error)) from None
    return Event(vocabulary.forked, number, {vocabulary.unit: number, **facts})


def block_events(world: World[Any], unit: int, block: Block) -> Iterator[Event]:
    """The events of a block of a journal's unit, in their logical form; in them the unit has the
    number that people know it by. The rows must be without faults.
    """
    number = world.vocabulary.number(unit)
    for code, rows in block:
        event = world.events[code]
        for row in rows:
            fields = {world.vocabulary.unit: number}
            for (name, kind), value in zip(event.fields.items(), row, strict=True):
                fields[name] = kind.show(value)
            yield Event(event.name, number, fields)
