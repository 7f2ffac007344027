"""The run loop: ask, decide, evolve, commit.

The loop decides nothing itself. Inputs come from outside (policies, models, people), the world
judges them, the journal records both. A unit is committed when it closes. Inputs that cost
something (answers of models or people) are committed as they arrive, before anything follows from
them. However a run is interrupted, `resume_steps` continues it from the end of its journal and
asks only for the missing inputs.

The loop is a generator (`Steps`): it yields the state whose inputs it needs and is sent them, so a
program with its own loop drives a run without threads or callbacks; `last_of` plays it to its end.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from goldrush.kernel import fold
from goldrush.kernel.codec import TooLarge, pack, unpack
from goldrush.kernel.collector import CollectorPaused
from goldrush.kernel.errors import (
    BadInput,
    CommitTooLarge,
    MalformedEvents,
    RulesFailed,
    TornTail,
    WriteFailed,
    format_value,
)
from goldrush.kernel.files import folder_kept
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
from goldrush.kernel.walk import DERIVED, Walk
from goldrush.kernel.world import Batch, Batches, Block, World, advance, where_code_is

S = TypeVar("S")

# Inputs that arrive one after the other: each yielded piece is committed at once, the returned rest
# together with the events derived from all of them.
InputPieces = Generator[Sequence[Batch], None, Sequence[Batch]]
Inputs = Sequence[Batch] | InputPieces
Ask = Callable[[S], Inputs]
AskOf = Callable[[S, Sequence[Mapping[str, Any]], Block], Ask[S]]
OnUnit = Callable[[int, S], None]
Steps = Generator[S, Inputs, S]
FactsOf = Callable[[S], Mapping[str, Any]]


def steps(
    world: World[S],
    setup: Mapping[str, Any],
    journal: JournalWriter,
    on_unit: OnUnit[S] | None = None,
    state: S | None = None,
    ask: Ask[S] | None = None,
) -> Steps[S]:
    """The run loop from the start of a run to its end, as a generator: `last_of` plays it, or the
    caller drives it.

    It yields the state before each step, which must not be changed, and is sent the inputs of that
    step, in the form that `Ask` gives them. It returns the last state. If it fails or is closed
    early, the journal ends with the last closed unit and the inputs committed since, and
    `resume_steps` can continue it. Nothing is written before the first `next`.

    Args:
        setup: what START records.
        journal: a new one; the caller closes it.
        on_unit: called after each committed unit with its number in the journal, from 1, and the
            state, which must not be changed.
        state: the world's initial state for the setup, if the caller has made it; it is the run's
            own from now on.
        ask: gives the input batches of the next step for a state, or a generator of them
            (`InputPieces`); nothing is yielded then. Its errors are raised. None: the inputs are
            sent.

    Raises BadInput for a setup that the world refuses; WriteFailed from the journal, and for events
    that a reader of it would refuse; RulesFailed and PolicyFailed for a state that was changed by
    what only reads it.
    """
    state = world.initial(setup) if state is None else state
    journal.append(Commit(START, 0, _digest(world, state), setup=setup))
    return (yield from _play(world, state, 0, Block(()), journal, on_unit, ask))


def resume_steps(
    world: World[S],
    journal: JournalWriter,
    ask_of: AskOf[S] | None = None,
    on_unit: OnUnit[S] | None = None,
) -> Steps[S]:
    """The loop, as `steps`, of an interrupted run, from its last complete commit on.

    A torn tail is dropped. Nothing is written before `ask_of` has returned, and before the first
    `next`.

    Args:
        journal: the journal, reopened; it is read through the descriptor that is locked.
        ask_of: makes the `ask` of `steps` from the state to continue from, the facts of the forks
            before it, oldest first, and the recorded inputs of the step under way; the first answer
            gives the rest of them. None: the inputs are sent.
        on_unit: as in `steps`.

    Raises:
        BadInput: for a run that has ended.
        MalformedEvents: for events that do not follow from the inputs.
        DamagedJournal, UnsupportedJournal: as reading a journal.
        WriteFailed: from the journal.
    """
    with journal.reader() as reader:
        world = world.under(reader.header.rules)
        reached = _reached(world, reader, is_same_code=True)
        last, state = reached.commit, reached.state
        if last.kind == END:
            # A last unit that is not counted, an end alone, has a number that nobody knows.
            vocabulary = world.vocabulary
            ending = "" if vocabulary.uncounted else f" with {vocabulary.format_unit(last.unit)}"
            raise BadInput(f"{reader.path} has ended{ending}", "record another run")
        ask = None if ask_of is None else ask_of(state, reached.forks, reached.pending)
    journal.go_on_after(last)
    return (yield from _play(world, state, last.closed, reached.pending, journal, on_unit, ask))


def fork_steps(
    world: World[S],
    parent: JournalReader,
    unit: int,
    facts_of: FactsOf[S],
    out: str | Path,
    on_unit: OnUnit[S] | None = None,
    ask_of: AskOf[S] | None = None,
    *,
    force: bool = False,
    fsync: bool = False,
) -> Steps[S]:
    """The loop, as `steps`, of a counterfactual of a run, which goes into a new journal.

    Up to the close of `unit` the bytes are the parent's. Damage behind the parent's next commit is
    not noticed. Nothing is written before `ask_of` has returned. The journal is closed when the
    generator is.

    Args:
        parent: the journal that is forked. It must stay open until the first `next` has returned.
        unit: the last unit that is kept, as the journal numbers it; 0 is the start. Error messages
            have the numbers shown to people (`Vocabulary.unit_of` converts).
        facts_of: gives the fork's facts for the state after that unit (see World.fork).
        on_unit: as in `steps`; called for `unit`, too.
        ask_of: as in `resume_steps`.
        force: replace an existing journal.
        fsync: wait for the disk at every commit.

    Raises BadInput for a unit that the parent does not have, and for facts that the world refuses;
    MalformedEvents for events of the parent that do not follow from its inputs; WriteFailed from
    the journal.
    """
    world = world.under(parent.header.rules)
    fork_state, vocabulary = fold.fork_of(world), world.vocabulary
    if unit < 0:
        first = vocabulary.number(0)
        raise BadInput(f"there is no {vocabulary.format_unit(unit)}", f"give one from {first} on")
    with folder_kept():  # what is read and written next is named from here
        reached = _reached(world, parent, _up_to(parent, unit))
    forks, last, state = reached.forks, reached.commit, reached.state
    if last.digest is None or last.unit != unit:
        raise BadInput(
            f"{parent.path} has no closed {vocabulary.format_unit(unit)}",
            vocabulary.format_choice(last.closed),
        )
    if len(forks) >= FORKS_MAX:
        raise BadInput(f"{parent.path} has {len(forks)} forks", "record a new run")
    facts = facts_of(state)
    state = fork_state(state, facts, fold.past(world, parent, unit))
    commit = Commit(FORK, unit, setup=facts)
    with JournalWriter.branch(out, parent, last, force=force, fsync=fsync) as journal:
        ask = None
        if ask_of is not None:
            ask = partial(_asked, ask_of(state, [*forks, facts], Block(())), journal)
        commit.digest = _digest(world, state)
        journal.append(commit)
        if on_unit is not None:
            on_unit(unit, state)
        return (yield from _play(world, state, unit, Block(()), journal, on_unit, ask))


def _asked(ask: Ask[S], journal: JournalWriter, state: S) -> Inputs:
    """The inputs of a step of a fork, of which nothing is left if what it replaces has no place."""
    try:
        return ask(state)
    except BadInput:
        if not journal.fsync:  # else its answers may have been paid for
            journal.discard()
        raise


def _reached(
    world: World[S],
    reader: JournalReader,
    commits: Iterable[Commit] | None = None,
    *,
    is_same_code: bool = False,
) -> Walk[S]:
    """The walk to the end of a journal, with all events derived again but those that other code has
    decided. `is_same_code`: refuse these.

    Raises MalformedEvents (see kernel/walk.py), also for pending inputs that cannot begin a step;
    BadInput for other code, and for a journal of other code that this code cannot read.
    """
    walk = Walk(world, reader, DERIVED, commits=commits, trusts_other_code=not is_same_code)
    try:
        for commit, state in walk:
            sha256 = world.other_source(state) if commit.kind in (START, FORK) else None
            if is_same_code and sha256:
                raise _other_code(world, reader, sha256)
    except TornTail as torn:
        if not torn.commits:
            raise
        if torn.in_fork:
            raise BadInput(f"{reader.path} ends inside a fork", "fork its parent again") from None
    except MalformedEvents as error:
        facts = walk.commit.setup
        sha256 = world.other_source(walk.state if facts is None else facts)
        if not sha256:
            raise
        raise BadInput(
            f"{reader.path} was recorded with other code of {world.name}, and this cannot read it: "
            f"{error.message}",
            where_code_is(reader.path, sha256),
        ) from None
    return walk


def _other_code(world: World[Any], reader: JournalReader, sha256: str) -> BadInput:
    return BadInput(
        f"{reader.path} was recorded with other code of {world.name}: its SHA-256 is "
        f"{sha256}, here it is {world.source}",
        "fork it to go on with this code",
    )


def _up_to(reader: JournalReader, unit: int) -> Iterator[Commit]:
    """The commits up to the close of a unit, with forks there.

    Damage behind the next commit is not noticed. Damage in the next commit is: it may have been a
    fork, and without that fork this would be another run.
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


def last_of(loop: Steps[S]) -> S:
    """Play a loop that has an `ask`, and so yields nothing, to its end; return the last state."""
    try:
        next(loop)
    except StopIteration as end:
        last: S = end.value
        return last
    raise AssertionError("a loop with `ask` yields nothing")


def _play(
    world: World[S],
    state: S,
    unit: int,
    pending: Block,
    journal: JournalWriter,
    on_unit: OnUnit[S] | None,
    ask: Ask[S] | None,
) -> Steps[S]:
    """The loop from a state with closed unit `unit` to the end of the run.

    `pending`: inputs of the first step that are committed already; `ask`: as in `steps`.
    """
    pieces = [pending] if pending.batches else []  # committed inputs of the step under way
    blocks: list[Block] = []  # blocks of the unit under way that are not committed yet

    def recorded(batches: Batches, *, is_input: bool = True) -> Block:
        if world.checks_rows:
            return _checked(world, journal.path, unit + 1, batches, is_input=is_input)
        return Block(batches)

    def checked(state: S, inputs: Block) -> Block:
        derived = recorded(world.decide(state, inputs), is_input=False)
        if world.digest(state) != digest:
            raise _changed(world, journal, unit + 1, blocks, inputs, ask)
        return derived

    judge = checked if world.checks_rows else None
    digest = _digest(world, state)  # nothing but the events of the next step changes it

    def commit_early(batches: Sequence[Batch]) -> None:
        piece = recorded(batches)
        if not piece.batches:
            return
        pieces.append(piece)
        if sum(len(piece.packed) for piece in pieces) > BODY_MAX:  # half of PENDING_MAX
            fault = f"inputs of one step of over {BODY_MAX:,} bytes"
            raise CommitTooLarge(journal.path, fault)
        journal.fsync = True  # paid answers must survive a crash of the machine, too
        journal.append(Commit(UNIT, unit + 1, None, [*blocks, piece]))
        blocks.clear()

    while not world.ended(state):
        answers = (yield state) if ask is None else ask(state)
        batches = rest_of(answers, commit_early)
        try:
            with CollectorPaused():
                rest = recorded(batches)
                inputs = world.arrange(Block.joined([*pieces, rest])) if pieces else rest
                state, derived, is_closed = advance(world, state, inputs, judge)
            pieces.clear()
            blocks += (rest, derived)
            if is_closed or world.checks_rows:
                digest = _digest(world, state)
            if not is_closed:
                continue
            journal.append(Commit(UNIT, unit + 1, digest, list(blocks)))
        except TooLarge:
            fault = f"{world.vocabulary.format_unit(unit + 1)} has a number beyond 64 bits"
            raise WriteFailed(journal.path, fault) from None
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


def _changed(
    world: World[S],
    journal: JournalWriter,
    unit: int,
    blocks: Sequence[Block],
    inputs: Block,
    ask: Ask[S] | None,
) -> RulesFailed:
    """The error for a step in which the state was changed before its events were applied.

    Raises BadInput or PolicyFailed, which name what changed it, if that happens again with the
    state that the journal gives. Nobody is asked again whose answers come in pieces: they cost.

    `blocks`: of the unit, before the step; `ask`: as in `steps`.
    """
    with journal.reader() as reader:
        walk = Walk(world, reader)
        for _ in walk:
            pass
    state = walk.state
    for block in blocks:
        state = world.evolve(state, block)
    with world.watching():
        world.ended(state)
        if ask is not None:
            ask(state)
        world.decide(state, inputs)
    return RulesFailed(
        f"the state of the {world.name} world was changed in {world.vocabulary.format_unit(unit)} "
        "by what may only read it: its rules, those that are asked, or the caller of the run",
        "change a copy; the state changes by events alone",
    )


def _checked(world: World[Any], path: str, unit: int, batches: Batches, *, is_input: bool) -> Block:
    """The block of these events, with rows that readers of the journal accept.

    Raises WriteFailed for others.
    """
    try:
        block = Block(batches)
        fault = next(fold.faults(world, [block], is_input=is_input), None)
        if fault is not None:  # perhaps only until it is read: arrays may be lists before, not sets
            block = Block(unpack(pack(block.batches)), block.packed)
            fault = next(fold.faults(world, [block], is_input=is_input), None)
    except (TypeError, ValueError) as error:
        fault = f"{'inputs' if is_input else 'derived events'} cannot be stored: {error}"
    if fault is None:
        return block
    raise WriteFailed(path, f"{world.vocabulary.format_unit(unit)}: {fault}")


def rest_of(answers: Inputs, take: Callable[[Sequence[Batch]], None]) -> Sequence[Batch]:
    """The last batches of `answers`, in either form of `Inputs`; `take` is called with each earlier
    piece.
    """
    if type(answers) is list or not isinstance(answers, Generator):  # the latter takes a while
        return answers
    with closing(answers):
        while True:
            try:
                piece = next(answers)
            except StopIteration as end:
                rest: Sequence[Batch] = end.value
                return rest
            take(piece)


def _digest(world: World[S], state: S) -> int:
    digest = world.digest(state)
    if type(digest) is not int or not 0 <= digest < 1 << 64:
        raise BadInput(
            f"world {world.name} has digest {format_value(digest)}", "it must be 64 bits"
        )
    return digest
