"""The walk over a journal: its commits in order, each with the state after it.

How much a walk checks is its mode. TRUSTED applies events as they are recorded, which is enough for
most readers; ROWS checks the form of each event first, DIGESTS the digests besides. But checksums
and digests are no signature: `resume`, `fork` and reports on the state of a run would act on forged
events. So DERIVED also derives every block again from the inputs and compares it before it is
applied, and checks pending inputs as far as possible.

A DERIVED walk checks the rows of inputs before the world sees them. So what a world raises then,
except InvalidInputs and TooLarge (an integer beyond 64 bits is packed), is no sign of a forged
journal but a bug of the world, and raised as it is.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import zip_longest
from typing import Any, Final, Generic, TypeVar

from goldrush.kernel import fold
from goldrush.kernel.codec import TooLarge
from goldrush.kernel.collector import CollectorPaused
from goldrush.kernel.errors import (
    GoldrushError,
    MalformedEvents,
    TornTail,
    UnsupportedJournal,
)
from goldrush.kernel.journal import END, FORK, START, UNIT, Commit, JournalReader
from goldrush.kernel.world import Block, InvalidInputs, RecordedEvent, Step, World, where_code_is

S = TypeVar("S")

TRUSTED, ROWS, DIGESTS, DERIVED = range(4)  # modes of a walk, each with the checks before it

SHOWN_MAX: Final = 300  # characters of an event in a message
HEAD: Final = 60  # and of their beginning, which says what and whose they are


class NotDerived(MalformedEvents):
    """Something in a journal does not follow from its inputs.

    Attributes:
        expected: what follows from the inputs.
        found: what the journal has.
        blocks: the blocks of both, if their rows are valid.
    """

    def __init__(
        self,
        path: str,
        where: str,
        expected: str,
        found: str,
        blocks: tuple[Block, Block] | None = None,
    ) -> None:
        super().__init__(path, where, f"expected {expected}, found {found}")
        self.expected = expected
        self.found = found
        self.blocks = blocks


class OtherDigest(MalformedEvents):
    """A state has another digest than the one recorded.

    Attributes:
        expected: the digest of the state.
        found: the digest in the journal.
    """

    def __init__(self, path: str, where: str, expected: int, found: int, cause: str = "") -> None:
        fault = f"digest {found:016x}, but its events give {expected:016x}{cause}"
        super().__init__(path, where, fault)
        self.expected = expected
        self.found = found


class Walk(Generic[S]):
    """One pass over a journal; `iter` and `steps` give its commits, and can be used once.

    The state given is changed in place by the next step: copy it (`world.copy`) to keep it.

    Both raise DamagedJournal and TornTail as iterating a JournalReader does, UnsupportedJournal for
    another world or other rules, and MalformedEvents for events that do not pass the checks (its
    subclasses NotDerived and OtherDigest say what would). Iterating raises it for events that the
    world cannot apply, too: if all events up to there follow from their inputs, its cause is a bug
    of the world. A DERIVED walk raises that as it is.

    Attributes:
        state: the state reached.
        commit: the commit read last.
        forks: the facts of the forks so far, oldest first.
    """

    state: S
    commit: Commit

    def __init__(
        self,
        world: World[S],
        reader: JournalReader,
        mode: int = TRUSTED,
        *,
        commits: Iterable[Commit] | None = None,
        state: S | None = None,
        judge: Callable[[S, Block], Block] | None = None,
        trusts_other_code: bool = False,
    ) -> None:
        """Prepare a walk.

        Args:
            world: the world of the journal, under any of its rules.
            mode: what is checked.
            commits: the commits to read; None: all.
            state: the state before the first of them, which is changed; None if that is START.
            judge: in a DERIVED walk, gives the derived block for a state, which must not be
                changed, and the inputs of a step; None: `world.decide`.
            trusts_other_code: in a DERIVED walk, what other code has decided (`World.source`) is
                applied as it is recorded, if its rows are valid here.
        """
        self._trusts_other_code = trusts_other_code
        self.forks: list[Mapping[str, Any]] = []
        self.commit = Commit(START, 0, setup={})  # until one is read
        self._world = world = world.under(reader.header.rules)
        self._reader = reader
        self._mode = mode
        self._source = reader if commits is None else commits
        self._judge = judge or (lambda state, inputs: Block(world.decide(state, inputs)))
        self._assembler = fold.StepAssembler(world.arrange)
        self._checks_digests = mode >= DIGESTS
        if state is not None:
            self.state = state
            self._look_at_code()

    def __iter__(self) -> Iterator[tuple[Commit, S]]:
        """Each commit with the state after it: START, closed units, forks, END, and those that
        leave a unit open.
        """
        for commit in self._commits():
            try:
                with CollectorPaused():
                    self._apply_all(commit)
            except Exception as error:
                self._blame(commit, error)
                raise
            if self._checks_digests:
                self._check_digest(commit)
            yield commit, self.state

    def steps(self) -> Iterator[tuple[Commit, Step | None, S]]:
        """Each step with the commit that completes it and the state after it, before its unit is
        closed; and, with None for the step, each commit as iterating gives it.

        What the world raises, on forged events perhaps, is raised as it is.
        """
        for commit in self._commits():
            self._check_inputs(commit)
            for step in self._assembler.completed_by(commit):
                with CollectorPaused():
                    self._apply(commit, step)
                yield commit, step, self.state
            self._close(commit)
            if self._checks_digests:
                self._check_digest(commit)
            yield commit, None, self.state

    @property
    def pending(self) -> Block:
        """The inputs that have not been judged yet, arranged."""
        return self._assembler.pending

    def _commits(self) -> Iterator[Commit]:
        """The commits: of each, its form is checked, START and FORK are applied; at the end,
        pending inputs are checked.
        """
        world, reader, mode = self._world, self._reader, self._mode
        if mode == DERIVED and world.missing is not None:
            raise UnsupportedJournal(reader.path, world.missing)
        torn: TornTail | None = None
        before: Commit | None = None
        try:
            for commit in self._source:
                self.commit = commit
                if mode == DERIVED:
                    self._check_canonical(commit)
                elif mode and (before is None or commit.blocks != before.blocks):  # else checked
                    fold.check_rows(world, reader.path, commit)
                if commit.kind == START:
                    self.state = fold.start(world, reader, commit)
                    self._look_at_code()
                elif commit.kind == FORK:
                    self._fork(commit)
                    self._look_at_code()
                yield commit
                before = commit
        except TornTail as error:
            torn = error
        if mode == DERIVED and self._assembler:
            self._check_pending()  # once: joined after every commit they would cost its square
        if torn is not None:
            raise torn

    def _look_at_code(self) -> None:
        """Have the states of other code compared with the recorded digests in every mode: numbers
        made of states that the run never had would be wrong without a word.
        """
        self._checks_digests = self._mode >= DIGESTS or bool(self._world.other_source(self.state))

    def _apply_all(self, commit: Commit) -> None:
        if self._mode == DERIVED or self._assembler or len(commit.blocks) % 2:
            self._check_inputs(commit)
            for step in self._assembler.completed_by(commit):
                self._apply(commit, step)
        else:  # nearly always, and faster
            evolve, state = self._world.evolve, self.state
            for block in commit.blocks:
                state = evolve(state, block)
            self.state = state
        self._close(commit)

    def _apply(self, commit: Commit, step: Step) -> None:
        world, state = self._world, self.state
        path = self._reader.path
        if self._mode == DERIVED and self._trusts_other_code and world.other_source(state):
            if fault := next(fold.faults(world, [step.derived], is_input=False), None):
                raise MalformedEvents(path, format_location(world, commit), fault)
        elif self._mode == DERIVED:
            derived = self._judge(state, step.inputs)
            if derived.packed != step.derived.packed:
                raise difference_error(world, path, commit, derived, step.derived)
        self.state = world.evolve(world.evolve(state, step.inputs), step.derived)

    def _blame(self, commit: Commit, error: Exception) -> None:
        """Raise MalformedEvents for an exception of the world that forged events may cause."""
        world, path = self._world, self._reader.path
        if self._mode == DERIVED and isinstance(error, InvalidInputs | TooLarge):
            raise fold.malformed(world, path, commit, error) from None  # what no recorder writes
        if self._mode != DERIVED and isinstance(error, fold.REFUSED):
            raise fold.malformed(world, path, commit, error) from error
        if self._mode == DERIVED and not isinstance(error, GoldrushError):
            fold.note_place(world, commit, error)

    def _close(self, commit: Commit) -> None:
        """Close the unit if the commit does. One that ends with inputs leaves it open.

        Raises MalformedEvents if a unit closes that is not done, or one is left open that is.
        """
        if commit.kind != UNIT or len(commit.blocks) % 2:
            return
        world, closes = self._world, commit.digest is not None
        if world.unit_done(self.state) is not closes:
            fault = "closes before it is done" if closes else "is done but open"
            unit = world.vocabulary.format_unit(commit.unit)
            raise MalformedEvents(self._reader.path, commit.where, f"{unit} {fault}")
        if closes:
            self.state = world.close(self.state)

    def _fork(self, commit: Commit) -> None:
        world, reader, facts = self._world, self._reader, commit.setup or {}
        with fold.reading_facts(reader, commit):
            past = fold.past(world, reader, commit.unit)
            self.state = fold.fork_of(world)(self.state, facts, past)
        self.forks.append(facts)

    def _check_digest(self, commit: Commit) -> None:
        if commit.digest is None:
            return
        try:
            check_digest(self._world, self._reader.path, self.state, commit)
        except MalformedEvents as error:
            fold.raise_bug(error, lambda: self._mode != DERIVED)
            raise

    def _check_canonical(self, commit: Commit) -> None:
        """Check that inputs, numbers and the setup are packed canonically.

        Derived blocks are not looked at: they are compared with blocks that are packed anew.
        """
        inputs = [block for block in commit.blocks[::2] if not block.is_checked]
        is_same = all(Block(block.batches).packed == block.packed for block in inputs)
        if not is_same or commit.body() != commit.raw:
            path = self._reader.path
            raise NotDerived(path, commit.where, "the canonical encoding", "another one")

    def _check_end(self, commit: Commit) -> None:
        """Refuse a unit after the end of the run, and an END before it."""
        world = self._world
        if world.ended(self.state) is (commit.kind == END):
            return
        ended, more = world.vocabulary.ended, f"another {world.vocabulary.unit}"
        expected, found = (more, ended) if commit.kind == END else (ended, more)
        raise NotDerived(self._reader.path, commit.where, expected, found)

    def _check_inputs(self, commit: Commit) -> None:
        """Refuse invalid rows of inputs. Derived rows are compared with what they should be."""
        if self._mode != DERIVED or commit.kind in (START, FORK):
            return
        self._check_end(commit)
        inputs = [block for block in commit.blocks[::2] if not block.is_checked]
        if fault := next(fold.faults(self._world, inputs, is_input=True), None):
            raise self._wrong_inputs(commit.where, fault)
        for block in inputs:
            block.is_checked = True

    def _check_pending(self) -> None:
        """Refuse pending inputs that cannot begin a step."""
        try:
            fault = self._world.pending_fault(self.state, self.pending)
        except InvalidInputs as error:
            fault = str(error)
        except Exception as error:
            fold.note_place(self._world, self.commit, error)
            raise
        if fault is not None:
            raise self._wrong_inputs(format_location(self._world, self.commit), fault)

    def _wrong_inputs(self, where: str, fault: str) -> NotDerived:
        return NotDerived(
            self._reader.path, where, f"inputs of the {self._world.name} world", fault
        )


def check_digest(world: World[S], path: str, state: S, commit: Commit) -> None:
    """Check that a state has the digest in a commit.

    Raises OtherDigest, and MalformedEvents if the digest cannot be computed, as a Walk does.
    """
    try:
        digest = world.digest(state)
    except TooLarge as error:  # no recorder closes a unit with it
        raise fold.malformed(world, path, commit, error) from None
    except fold.REFUSED as error:
        raise fold.malformed(world, path, commit, error) from error
    if commit.digest is not None and digest != commit.digest:
        cause = ""
        if sha256 := world.other_source(state):
            cause = (
                f"; it was recorded with other code of {world.name}; {where_code_is(path, sha256)}"
            )
        raise OtherDigest(path, commit.where, digest, commit.digest, cause)


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
    one, two = format_events(wanted, has)
    return NotDerived(path, f"{where}, {event.name}", one, two, (expected, found))


def format_location(world: World[Any], commit: Commit) -> str:
    """The location of a commit as text, with its unit in the numbers shown to people."""
    return f"{world.vocabulary.format_unit(commit.unit)}, {commit.where}"


def difference(
    world: World[Any], unit: int, expected: Block, found: Block
) -> tuple[RecordedEvent | None, RecordedEvent | None]:
    """The first pair of different events in two blocks with valid rows.

    One of the pair is None if its block ends there. Both are None if the blocks have the same
    events in different batches. `unit`: the unit of the blocks, as the journal numbers it;
    `expected`, `found`: the blocks.
    """
    wanted, has = (fold.block_events(world, unit, block) for block in (expected, found))
    pairs = zip_longest(wanted, has)
    return next(((one, other) for one, other in pairs if one != other), (None, None))


def format_events(*pair: RecordedEvent | None) -> list[str]:
    """Two events for a message: JSON in ASCII, of more than SHOWN_MAX characters the beginning and
    what is around the first that differs; `no event` for None.
    """
    texts = ["no event" if event is None else json.dumps(event.as_dict()) for event in pair]
    start = len(os.path.commonprefix(texts)) - SHOWN_MAX // 2  # noqa: RUF071
    front, start = (HEAD, start) if start > HEAD else (0, 0)
    gap, end = "..." * bool(front), start + SHOWN_MAX
    return [t if len(t) <= SHOWN_MAX else f"{t[:front]}{gap}{t[start:end]}..." for t in texts]
