"""The run loop: ask, decide, evolve, commit.

What decides nothing itself stands here: inputs come from outside (policies, models, people), the
world judges them, the journal keeps both. A unit is committed when it closes, but for inputs that
cost something to get: those are committed as they come, before anything follows from them. Whatever
stops a run, `resume` goes on where its journal ends, and asks only for the rest.

The loop is a generator (`Steps`): it yields the state whose inputs it needs and is sent them. So a
program that has its own loop drives a run as `record` does, without a thread or a callback.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, Generic, TypeVar

import attrs

from goldrush.kernel import derive, fold
from goldrush.kernel.errors import BadInput, TornTail, WriteFailed, format_value
from goldrush.kernel.journal import (
    BODY_MAX,
    END,
    FORK,
    FORKS_MAX,
    START,
    UNIT,
    Commit,
    JournalReader,
    JournalWriter,
)
from goldrush.kernel.world import Batch, Block, World

S = TypeVar("S")

# Inputs that come one after the other: each piece is committed at once, what is returned at the end
# with what follows from them all.
InputPieces = Generator[Sequence[Batch], None, Sequence[Batch]]
Inputs = Sequence[Batch] | InputPieces
Ask = Callable[[S], Inputs]
AskOf = Callable[[S, Sequence[Mapping[str, Any]], Block], Ask[S]]
OnUnit = Callable[[int, S], None]
Steps = Generator[S, Inputs, S]


def steps(
    world: World[S],
    setup: Mapping[str, Any],
    journal: JournalWriter,
    on_unit: OnUnit[S] | None = None,
) -> Steps[S]:
    """The run loop of a run from its start to its end, as a generator that the caller drives.

    It yields the state of each step, which is the run's own and not to be changed, and is sent the
    inputs of that step, as `Ask` gives them. It returns the last state. Closed before that, it
    leaves a journal that `resume` can go on with: the units committed so far. Nothing is written
    before the first `next`.

    Args:
        setup: what START records.
        journal: a fresh one; whoever opened it closes it.
        on_unit: as in `record`.

    Raises:
        BadInput: for a setup that the world refuses.
        WriteFailed: from the journal.

    """
    state = world.initial(setup)
    journal.append(Commit(START, 0, _digest(world, state), setup=setup))
    return (yield from _play(world, state, 0, Block(()), journal, on_unit))


def record(
    world: World[S],
    setup: Mapping[str, Any],
    ask: Ask[S],
    journal: JournalWriter,
    on_unit: OnUnit[S] | None = None,
) -> S:
    """Play a run from its start to its end into a fresh journal and return the last state.

    `ask(state)` gives the input batches of the next step, or a generator of them (`Coming`).
    `on_unit(unit, state)` is called after each unit is committed, for progress; the unit has its
    number in the journal, from 1 on, and the state is the run's own, not to be changed. Raises
    BadInput for a setup that the world refuses, WriteFailed from the journal, and whatever `ask`
    raises; the journal then ends with the last whole unit and what was committed of the next.
    """
    return _driven(steps(world, setup, journal, on_unit), ask)


def resume(
    world: World[S],
    journal: JournalWriter,
    ask_of: AskOf[S],
    on_unit: OnUnit[S] | None = None,
) -> S:
    """Go on with a run that broke off, from its last whole commit, and return the last state.

    `journal` was reopened; what is read is the very file that it has locked. A torn tail is
    dropped. `ask_of(state, forks, pending)` makes what `record` was given as `ask`, from the state
    to go on from, the facts of the forks that led to it, oldest first, and the inputs of the step
    under way that the journal has already: the first answer is the rest of them.
    Raises BadInput for a run that has ended, MalformedEvents for a state that the journal
    contradicts, and what reading a journal and `record` raise; nothing is written before `ask` is
    made. `on_unit` is called as by `record`.
    """
    with journal.reader() as reader:
        reached = _reached(world, reader)
        last, state = reached.last, reached.state
        if last.kind == END:
            raise BadInput(
                f"{reader.path} has ended with {world.vocabulary.format_unit(last.unit)}",
                "record another run",
            )
        ask = ask_of(state, reached.forks, reached.pending)
    closed = last.unit - (last.digest is None)
    journal.go_on_after(last)
    return _driven(_play(world, state, closed, reached.pending, journal, on_unit), ask)


def fork(
    world: World[S],
    parent: JournalReader,
    unit: int,
    facts_of: Callable[[S], Mapping[str, Any]],
    ask_of: AskOf[S],
    out: str | Path,
    on_unit: OnUnit[S] | None = None,
    *,
    force: bool = False,
    fsync: bool = False,
) -> S:
    """Play a counterfactual of a run into a new journal at `out`, and return the last state.

    Up to the close of `unit` its bytes are the parent's; `on_unit` is called for that one too. Both
    have the number in the journal, 0 being the start: whoever is given another number by people
    converts it (`Vocabulary.unit_of`). What is refused is told in people's numbers.
    `facts_of(state)` gives what the fork changes in the state that it leaves from (see World.fork),
    `ask_of` is as for `resume`. What is broken behind the parent's next commit does not matter.

    Raises BadInput for a unit that the parent does not have and for facts that the world refuses,
    MalformedEvents for a state that the parent contradicts, and otherwise as `record` does; nothing
    is written before everybody can be asked.
    """
    fork_state = fold.fork_of(world)
    vocabulary = world.vocabulary
    if unit < 0:
        first = vocabulary.number(0)
        raise BadInput(f"there is no {vocabulary.format_unit(unit)}", f"give one from {first} on")
    reached = _reached(world, parent, _up_to(parent, unit))
    forks, last, state = reached.forks, reached.last, reached.state
    if last.digest is None or last.unit != unit:
        has = last.unit - (last.digest is None)
        raise BadInput(
            f"{parent.path} has no closed {vocabulary.format_unit(unit)}",
            f"give one from {vocabulary.number(0)} to {vocabulary.number(has)}",
        )
    if len(forks) >= FORKS_MAX:
        raise BadInput(f"{parent.path} has {len(forks)} forks", "record a new run")
    facts = facts_of(state)
    try:
        state = fork_state(state, facts, fold.past(world, parent, unit))
    except fold.REFUSED as error:  # what the parent holds of the past does not fit
        raise fold.malformed(world, parent.path, last, error) from None
    commit = Commit(FORK, unit, setup=facts)
    ask = ask_of(state, [*forks, facts], Block(()))
    with JournalWriter.branch(out, parent, last, force=force, fsync=fsync) as journal:
        commit.digest = _digest(world, state)
        journal.append(commit)
        if on_unit is not None:
            on_unit(unit, state)
        return _driven(_play(world, state, unit, Block(()), journal, on_unit), ask)


@attrs.define
class _Reached(Generic[S]):
    """Where a journal ends: its last whole commit, the state after it, the inputs that wait to be
    judged, and the facts of the forks on the way.
    """

    last: Commit
    state: S
    pending: Block
    forks: list[Mapping[str, Any]]


def _reached(
    world: World[S], reader: JournalReader, commits: Iterable[Commit] | None = None
) -> _Reached[S]:
    """The end of a journal, of which nothing is believed that does not follow from its inputs.

    Raises MalformedEvents (see kernel/derive.py), also for inputs that wait and cannot be.
    """
    found: _Reached[S] | None = None
    assembler = fold.StepAssembler(world.arrange)
    try:
        for commit, state in derive.states(world, reader, commits, assembler):
            if found is None:
                found = _Reached(commit, state, Block(()), [])
            if commit.kind == FORK:
                found.forks.append(commit.setup or {})
            found.last, found.state = commit, state
    except TornTail as torn:
        if found is None:
            raise
        if torn.in_fork:
            raise BadInput(
                f"{reader.path} breaks off inside a fork", "fork its parent again"
            ) from None
    assert found is not None  # the reader refuses a journal without a START
    found.pending = assembler.pending
    return found


def _up_to(reader: JournalReader, unit: int) -> Iterator[Commit]:
    """The commits up to the close of a unit, and forks there.

    What is broken behind the next commit is not met. If that one is broken, it may have been a
    fork, without which this would be another run.
    """
    commits = iter(reader)
    closed = -1
    while True:
        try:
            commit = next(commits, None)
        except TornTail as torn:
            if closed != unit or torn.in_fork:
                raise
            return
        if commit is None or commit.unit > unit or commit.kind == END:
            return
        if commit.digest is not None:
            closed = commit.unit
        yield commit


def _driven(steps: Steps[S], ask: Ask[S]) -> S:
    """Answer every step with what `ask` gives, and return the last state."""
    inputs: Any = None  # what a generator is sent first
    while True:
        try:
            state = steps.send(inputs)
        except StopIteration as end:
            last: S = end.value
            return last
        inputs = ask(state)  # outside of `try`: what it raises is not the loop's


def _play(
    world: World[S],
    state: S,
    unit: int,
    pending: Block,
    journal: JournalWriter,
    on_unit: OnUnit[S] | None,
) -> Steps[S]:
    """From a state whose unit `unit` is closed to the end of the run.

    `pending`: inputs of the first step that are committed already.
    """
    pieces = [pending] if pending.batches else []  # committed inputs of the step under way
    blocks: list[Block] = []  # what is not committed yet of the unit under way

    def commit_early(batches: Sequence[Batch]) -> None:
        piece = Block(batches)
        if not piece.batches:
            return  # there is nothing to keep
        pieces.append(piece)
        if sum(len(piece.packed) for piece in pieces) > BODY_MAX:  # half of what is read again
            raise WriteFailed(journal.path, f"inputs of one step of over {BODY_MAX} bytes")
        journal.fsync = True  # what was paid for must outlive a crash of the machine, too
        commit, before = Commit(UNIT, unit + 1, None, [*blocks, piece]), journal.commits
        try:
            journal.append(commit)
        except KeyboardInterrupt:
            if journal.commits == before:  # it was taken back, but what it holds is paid for
                journal.append(commit)
            raise
        blocks.clear()

    while not world.ended(state):
        batches = rest_of((yield state), commit_early)
        try:
            rest = Block(batches)
            inputs = world.arrange(Block.joined([*pieces, rest])) if pieces else rest
            derived = Block(world.decide(state, inputs))
            state = world.evolve(world.evolve(state, inputs), derived)
            pieces.clear()
            blocks += (rest, derived)
            if not world.unit_done(state):
                continue
            state = world.close(state)
            journal.append(Commit(UNIT, unit + 1, _digest(world, state), list(blocks)))
        except OverflowError:  # a world lets its numbers grow
            says = f"{world.vocabulary.format_unit(unit + 1)} has a number beyond 64 bits"
            raise WriteFailed(journal.path, says) from None
        unit += 1
        blocks.clear()
        if on_unit is not None:
            on_unit(unit, state)
    if blocks:
        raise BadInput(
            f"world {world.name} ended inside {world.vocabulary.format_unit(unit + 1)}",
            "its `unit_done` must hold before its `ended` does",
        )
    journal.append(Commit(END, unit))
    return state


def rest_of(answers: Inputs, take: Callable[[Sequence[Batch]], None]) -> Sequence[Batch]:
    """The last of what `ask` gave, whatever its form; `take` is given the pieces before it."""
    if not isinstance(answers, Generator):
        return answers
    with closing(answers):
        while True:
            try:
                piece = next(answers)
            except StopIteration as end:
                rest: Sequence[Batch] = end.value
                return rest
            try:
                take(piece)
            except KeyboardInterrupt as stop:
                for late in _last_of(answers, stop):
                    take(late)
                raise


def _last_of(answers: InputPieces, stop: KeyboardInterrupt) -> Iterator[Sequence[Batch]]:
    """What a generator still gives when it is told to stop: it may have got more than it gave."""
    try:
        yield answers.throw(stop)
        yield from answers
    except (KeyboardInterrupt, StopIteration):
        return


def _digest(world: World[S], state: S) -> int:
    digest = world.digest(state)
    if type(digest) is not int or not 0 <= digest < 1 << 64:
        raise BadInput(
            f"world {world.name} has digest {format_value(digest)}", "it must be 64 bits"
        )
    return digest
