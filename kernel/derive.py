"""State from inputs: the walk through a journal for whoever acts on what it says.

`fold.states` applies what a journal calls derived, which is all that a reader needs. But checksums
and digests are no signature: whoever goes on with a run, or tells somebody what it has come to,
would act on whatever was forged. Here every derived block is worked out again and compared before
it is applied, every digest is compared, and inputs that still wait are judged as far as they can
be.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from itertools import zip_longest
from typing import Any, Final, TypeVar

from goldrush.kernel import fold
from goldrush.kernel.errors import MalformedEvents, TornTail, UnsupportedJournal
from goldrush.kernel.journal import END, FORK, START, Commit, JournalReader
from goldrush.kernel.world import Block, Event, World

S = TypeVar("S")

SHOWN_MAX: Final = 300  # characters of an event in a message


class NotDerived(MalformedEvents):
    """Something that does not follow from the inputs: what does, and what stands there."""

    def __init__(self, path: str, where: str, expected: str, found: str) -> None:
        super().__init__(path, where, f"expected {expected}, found {found}")
        self.expected = expected
        self.found = found


def states(
    world: World[S],
    reader: JournalReader,
    commits: Iterable[Commit] | None = None,
    assembler: fold.StepAssembler | None = None,
) -> Iterator[tuple[Commit, S]]:
    """Every commit with the state after it, in order, from the start on; as `fold.states`.

    `assembler`: fresh, it holds the inputs that wait to be judged when the walk is over. Raises
    what iterating a JournalReader raises, MalformedEvents, naming the first event that is not what
    the rules derive from the inputs, with what they do derive, and UnsupportedJournal where the
    rules are not all here.
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
                state = after(world, reader.path, state, commit, assembler)
            if commit.digest is not None:
                fold.check_digest(world, reader.path, state, commit)
            yield commit, state
    except TornTail as error:
        torn = error
    if assembler:  # once, at the end: joined after every commit they would cost its square
        assert commit is not None
        check_pending(world, reader.path, state, commit, assembler)
    if torn is not None:
        raise torn


def check_canonical(path: str, commit: Commit) -> None:
    """Raise NotDerived unless what is not derived again (inputs, numbers, the setup) is packed in
    the one way.
    """
    blocks = list(commit.blocks)
    blocks[::2] = [Block(block.batches) for block in blocks[::2]]
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
    """The state after a UNIT or an END commit, as its inputs give it; its digest is not looked at.

    `judge(state, inputs)` gives what the world derives of a step, if it is not simply asked. Raises
    NotDerived for the first thing that does not follow, MalformedEvents for what cannot be applied.
    """
    try:
        _check_end(world, path, state, commit)
        # Derived rows need no such check: they are compared with what they should be.
        fault = next(fold.faults(world, commit.blocks[::2], is_input=True), None)
        if fault is not None:
            raise NotDerived(path, commit.where, f"inputs of the {world.name} world", fault)
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
    except fold.REFUSED as error:
        raise fold.malformed(world, path, commit, error) from None


def check_pending(
    world: World[S], path: str, state: S | None, last: Commit, assembler: fold.StepAssembler
) -> None:
    """Raise NotDerived where inputs that wait to be judged, in the commits up to `last`, can be no
    part of a step.
    """
    assert state is not None  # they wait behind a START
    try:
        fault = world.pending_fault(state, assembler.pending)
    except fold.REFUSED as error:
        fault = f"what does not fit the state before it ({type(error).__name__}: {error})"
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
    """The error for the first event in which two blocks, known to differ, do so."""
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
    """Where a commit stands, with its unit as people number it."""
    return f"{world.vocabulary.format_unit(commit.unit)}, {commit.where}"


def difference(
    world: World[Any], unit: int, expected: Block, found: Block
) -> tuple[Event | None, Event | None]:
    """The first events in which two blocks differ whose rows are without faults; None for one that
    is missing, twice None where the same events are cut up otherwise.
    """
    wanted, has = (fold.block_events(world, unit, block) for block in (expected, found))
    pairs = zip_longest(wanted, has)
    return next(((one, other) for one, other in pairs if one != other), (None, None))


def format_event(event: Event | None) -> str:
    """An event, or that there is none, for a message: JSON in ASCII, cut."""
    if event is None:
        return "no event"
    text = json.dumps(event.as_dict(), ensure_ascii=True)
    return text if len(text) <= SHOWN_MAX else text[:SHOWN_MAX] + "..."


def _check_end(world: World[S], path: str, state: S, commit: Commit) -> None:
    """Raise NotDerived for a unit after the end of a run, and for an END before it."""
    if world.ended(state) is (commit.kind == END):
        return
    ended, more = world.vocabulary.ended, f"another {world.vocabulary.unit}"
    expected, found = (more, ended) if commit.kind == END else (ended, more)
    raise NotDerived(path, commit.where, expected, found)
