"""State from inputs: the walk through a journal for whoever acts on what it says.

`fold.states` applies what a journal calls derived, which is all that a reader needs. But checksums
and digests are no signature: whoever goes on with a run, or tells somebody what it has come to,
would act on whatever was forged. Here every derived block is worked out again and compared before
it is applied, every digest is compared, and inputs that still wait are judged as far as they can
be.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from itertools import zip_longest
from typing import Any, Final, TypeVar

from kernel import fold
from kernel.errors import MalformedEvents, TornTail
from kernel.journal import END, FORK, START, UNIT, Commit, JournalReader
from kernel.world import Block, Event, Step, World

S = TypeVar("S")

SHOWN_MAX: Final = 300  # characters of an event in a message


def states(
    world: World[S], reader: JournalReader, commits: Iterable[Commit] | None = None
) -> Iterator[tuple[Commit, S]]:
    """Every commit with the state after it, in order, from the start on; as `fold.states`.

    Raises what iterating a JournalReader raises, and MalformedEvents, naming the first event that
    is not what the rules derive from the inputs, with what they do derive.
    """
    under_way = fold.Steps(world.arrange)
    state: S | None = None
    commit: Commit | None = None
    torn: TornTail | None = None
    try:
        for commit in reader if commits is None else commits:
            if commit.kind == START:
                state = fold.start(world, reader, commit)
            assert state is not None  # the reader lets only a START come first
            if commit.kind == FORK:
                state = fold.forked(world, reader, state, commit)
            elif commit.kind != START:
                _check_end(world, reader.path, state, commit)
            if commit.kind == UNIT:
                state = _after(world, reader.path, state, commit, under_way)
            if commit.digest is not None:
                fold.check_digest(world, reader.path, state, commit)
            yield commit, state
    except TornTail as error:
        torn = error
    if under_way:  # once, at the end: joined after every commit they would cost its square
        assert state is not None
        assert commit is not None
        fault = world.waiting_fault(state, under_way.waiting)
        if fault is not None:
            raise MalformedEvents(reader.path, commit.where, fault)
    if torn is not None:
        raise torn


def difference(
    world: World[Any], unit: int, expected: Block, found: Block
) -> tuple[Event | None, Event | None]:
    """The first events in which two blocks differ whose rows are without faults; None for one that
    is missing, twice None where the same events are cut up otherwise.
    """
    wanted, has = (fold.block_events(world, unit, block) for block in (expected, found))
    pairs = zip_longest(wanted, has)
    return next(((one, other) for one, other in pairs if one != other), (None, None))


def event_text(event: Event | None) -> str:
    """An event, or that there is none, for a message: JSON in ASCII, cut."""
    if event is None:
        return "no event"
    text = json.dumps(event.as_dict(), ensure_ascii=True)
    return text if len(text) <= SHOWN_MAX else text[:SHOWN_MAX] + "..."


def _check_end(world: World[S], path: str, state: S, commit: Commit) -> None:
    """Raises MalformedEvents for a unit after the end of a run, and for an END before it."""
    words = world.vocabulary
    if world.ended(state) is not (commit.kind == END):
        says = (words.ended, f"another {words.unit}")
        expected, found = says if commit.kind != END else reversed(says)
        raise MalformedEvents(path, commit.where, f"expected {expected}, found {found}")


def _after(world: World[S], path: str, state: S, commit: Commit, under_way: fold.Steps) -> S:
    """The state after a UNIT commit, as its inputs give it."""
    # Derived rows need no such check: they are compared with what they should be.
    if next(fold.faults(world, commit.blocks[::2], is_input=True), None):
        raise fold.malformed(world, path, commit)
    try:
        for step in under_way.completed_by(commit):
            derived = Block(world.decide(state, step.inputs))
            if derived.packed != step.derived.packed:
                raise _forged(world, path, commit, derived, step)
            state = world.evolve(world.evolve(state, step.inputs), step.derived)
        return fold.closed(world, path, state, commit)
    except fold.REFUSED as error:
        raise fold.malformed(world, path, commit, error) from None


def _forged(
    world: World[Any], path: str, commit: Commit, derived: Block, step: Step
) -> MalformedEvents:
    fault = next(fold.faults(world, [step.derived], is_input=False), None)
    if fault is None:
        expected, found = difference(world, commit.unit, derived, step.derived)
        fault = f"expected {event_text(expected)}, found {event_text(found)}"
        if expected is None and found is None:
            fault = "expected events of a type together, found the same events, cut up"
    return MalformedEvents(path, f"{world.vocabulary.called(commit.unit)}, {commit.where}", fault)
