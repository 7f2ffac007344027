"""State from inputs: reads a journal and derives every event again.

`fold.states` applies derived events as the journal has them, which is enough for readers. But
checksums and digests are no signature: `resume`, `fork` and reports on the state of a run would act
on forged events. So here every derived block is computed again and compared before it is applied,
every digest is compared, and pending inputs are checked as far as possible.

The rows of inputs are checked before the world sees them. So what a world raises here, except
InvalidInputs and TooLarge (an integer beyond 64 bits is packed), is no sign of a forged journal but
a bug of the world, and raised as it is.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from itertools import zip_longest
from typing import Any, Final, TypeVar

from goldrush.kernel import fold
from goldrush.kernel.codec import TooLarge
from goldrush.kernel.errors import (
    GoldrushError,
    MalformedEvents,
    TornTail,
    UnsupportedJournal,
)
from goldrush.kernel.journal import END, FORK, START, Commit, JournalReader
from goldrush.kernel.world import Block, Event, InvalidInputs, World

S = TypeVar("S")

SHOWN_MAX: Final = 300  # characters of an event in a message


class NotDerived(MalformedEvents):
    """Something in a journal does not follow from its inputs.

    Attributes:
        expected: what follows from the inputs.
        found: what the journal has.

    """

    def __init__(self, path: str, where: str, expected: str, found: str) -> None:
        super().__init__(path, where, f"expected {expected}, found {found}")
        self.expected = expected
        self.found = found


def states(
    world: World[S],
    reader: JournalReader,
    commits: Iterable[Commit] | None = None,
    assembler: fold.StepAssembler | None = None,
    judge: Callable[[S, Block], Block] | None = None,
) -> Iterator[tuple[Commit, S]]:
    """Each commit with the state after it, in order, as `fold.states`, but with all events derived
    again.

    Args:
        world: the world of the journal.
        reader: the journal.
        commits: the commits to read, from START on; None: all.
        assembler: a new one; after the last commit it holds the pending inputs.
        judge: as for `after`.

    Raises:
        DamagedJournal, TornTail: as iterating a JournalReader.
        MalformedEvents: for the first event that the rules do not derive, with the derived one.
        Exception: what the world raises, if it has a bug.
        UnsupportedJournal: if some of the world's rules are not installed.

    """
    if world.missing is not None:
        raise UnsupportedJournal(reader.path, world.missing)
    assembler = fold.StepAssembler(world.arrange) if assembler is None else assembler
    state: S | None = None
    commit: Commit | None = None
    torn: TornTail | None = None
    try:
        for commit in reader if commits is None else commits:
            check_canonical(reader.path, commit)
            if commit.kind == START:
                state = fold.start(world, reader, commit)
            assert state is not None  # the reader lets only a START come first
            if commit.kind == FORK:
                state = fold.forked(world, reader, state, commit)
            elif commit.kind != START:
                state = after(world, reader.path, state, commit, assembler, judge)
            if commit.digest is not None:
                try:
                    fold.check_digest(world, reader.path, state, commit)
                except MalformedEvents as error:
                    fold.raise_bug(error)
                    raise
            yield commit, state
    except TornTail as error:
        torn = error
    if assembler:  # once, at the end: joined after every commit they would cost its square
        assert commit is not None
        check_pending(world, reader.path, state, commit, assembler)
    if torn is not None:
        raise torn


def check_canonical(path: str, commit: Commit) -> None:
    """Check that inputs, numbers and the setup are packed canonically. Raises NotDerived.

    Derived blocks are not looked at: they are compared with blocks that are packed anew.
    """
    blocks = list(commit.blocks)
    blocks[::2] = [b if b.is_checked else Block(b.batches) for b in blocks[::2]]
    again = Commit(commit.kind, commit.unit, commit.digest, blocks, commit.setup)
    if again.body() != commit.raw:
        raise NotDerived(path, commit.where, "the canonical encoding", "another one")


def after(
    world: World[S],
    path: str,
    state: S,
    commit: Commit,
    assembler: fold.StepAssembler,
    judge: Callable[[S, Block], Block] | None = None,
) -> S:
    """The state after a UNIT or END commit, derived from its inputs. Its digest is not checked, and
    `check_canonical` must have passed.

    Args:
        world: the world.
        path: the journal, for messages.
        state: the state before the commit.
        commit: the commit.
        assembler: holds the inputs of earlier commits that are pending.
        judge: gives the derived block for a state and a block of inputs; None: `world.decide`.

    Raises:
        NotDerived: for the first event that does not follow from the inputs.
        MalformedEvents: for inputs that the world does not accept.
        Exception: what the world raises, if it has a bug.

    """
    try:
        _check_end(world, path, state, commit)
        _check_inputs(world, path, commit)
        if commit.kind == END:
            return state
        for step in assembler.completed_by(commit):
            if judge is None:
                derived = Block(world.decide(state, step.inputs))
            else:
                derived = judge(state, step.inputs)
            if derived.packed != step.derived.packed:
                raise difference_error(world, path, commit, derived, step.derived)
            state = world.evolve(world.evolve(state, step.inputs), step.derived)
        return fold.closed(world, path, state, commit)
    except (InvalidInputs, TooLarge) as error:  # what no recorder writes
        raise fold.malformed(world, path, commit, error) from None
    except GoldrushError:
        raise
    except Exception as error:
        fold.note_place(world, commit, error)
        raise


def check_pending(
    world: World[S], path: str, state: S | None, last: Commit, assembler: fold.StepAssembler
) -> None:
    """Check that pending inputs can begin a step.

    Args:
        world: the world.
        path: the journal, for messages.
        state: the state before the step.
        last: the last commit with such inputs.
        assembler: holds the inputs.

    Raises:
        NotDerived: with the world's reason (what `pending_fault` gives, or its InvalidInputs).
        Exception: what the world raises, if it has a bug.

    """
    assert state is not None  # they wait behind a START
    try:
        fault = world.pending_fault(state, assembler.pending)
    except InvalidInputs as error:
        fault = str(error)
    except Exception as error:
        fold.note_place(world, last, error)
        raise
    if fault is not None:
        where = format_location(world, last)
        raise NotDerived(path, where, f"inputs of the {world.name} world", fault)


def difference_error(
    world: World[Any],
    path: str,
    commit: Commit,
    expected: Block,
    found: Block,
    *,
    is_input: bool = False,
) -> NotDerived:
    """The error for the first event in which two blocks differ.

    Args:
        world: the world.
        path: the journal, for messages.
        commit: the commit of the second block.
        expected: the derived block.
        found: the block in the journal, which is different.
        is_input: whether the blocks are inputs.

    """
    where = format_location(world, commit)
    fault = next(fold.faults(world, [found], is_input=is_input), None)
    if fault is not None:
        return NotDerived(path, where, f"events of the {world.name} world", fault)
    wanted, has = difference(world, commit.unit, expected, found)
    event = wanted or has
    if event is None:
        return NotDerived(path, where, "events of a type together", "the same events, cut up")
    return NotDerived(path, f"{where}, {event.name}", format_event(wanted), format_event(has))


def format_location(world: World[Any], commit: Commit) -> str:
    """The location of a commit as text, with its unit in the numbers shown to people."""
    return f"{world.vocabulary.format_unit(commit.unit)}, {commit.where}"


def difference(
    world: World[Any], unit: int, expected: Block, found: Block
) -> tuple[Event | None, Event | None]:
    """The first pair of different events in two blocks with valid rows.

    One of the pair is None if its block ends there. Both are None if the blocks have the same
    events in different batches.

    Args:
        world: the world.
        unit: the unit of the blocks, as the journal numbers it.
        expected, found: the blocks.

    """
    wanted, has = (fold.block_events(world, unit, block) for block in (expected, found))
    pairs = zip_longest(wanted, has)
    return next(((one, other) for one, other in pairs if one != other), (None, None))


def format_event(event: Event | None) -> str:
    """An event for a message: JSON in ASCII, cut at SHOWN_MAX characters; `no event` for None."""
    if event is None:
        return "no event"
    text = json.dumps(event.as_dict(), ensure_ascii=True)
    return text if len(text) <= SHOWN_MAX else text[:SHOWN_MAX] + "..."


def _check_inputs(world: World[S], path: str, commit: Commit) -> None:
    """Raise NotDerived for an invalid row of the inputs.

    Derived rows need no such check: they are compared with what they should be.
    """
    inputs = [block for block in commit.blocks[::2] if not block.is_checked]
    fault = next(fold.faults(world, inputs, is_input=True), None)
    if fault is not None:
        raise NotDerived(path, commit.where, f"inputs of the {world.name} world", fault)
    for block in inputs:
        block.is_checked = True


def _check_end(world: World[S], path: str, state: S, commit: Commit) -> None:
    """Raise NotDerived for a unit after the end of the run, and for an END before it."""
    if world.ended(state) is (commit.kind == END):
        return
    ended, more = world.vocabulary.ended, f"another {world.vocabulary.unit}"
    expected, found = (more, ended) if commit.kind == END else (ended, more)
    raise NotDerived(path, commit.where, expected, found)
