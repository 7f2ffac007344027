"""Verification of a journal in four levels, each on top of the one before.

1. integrity: the bytes are those that were written (chained checksums); 2. fold: rows are valid,
and the state digests follow from the events; 3. derive: every derived event follows from the
inputs, byte for byte; 4. decide: deterministic policies, asked again, submit the same.

One pass over the file, in memory bounded by the state and one commit. A checksum is no signature:
whoever can rewrite a file can make it verify. Pin a journal by its SHA-256, which the verdict has.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, nullcontext, suppress
from functools import partial
from pathlib import Path
from typing import Any, Final

import msgspec

from goldrush.agents.players import NOBODY, AskAgain, PolicyCheck, Resources
from goldrush.agents.seats import ImpossiblePlayer
from goldrush.kernel import fold
from goldrush.kernel.codec import unpack
from goldrush.kernel.errors import (
    BadInput,
    DamagedJournal,
    GoldrushError,
    JournalError,
    MalformedEvents,
    PolicyFailed,
    TornTail,
    UnsupportedJournal,
    format_value,
)
from goldrush.kernel.files import folder_kept, open_regular
from goldrush.kernel.journal import (
    FORK,
    START,
    UNIT,
    Commit,
    JournalReader,
    sha256_in,
)
from goldrush.kernel.walk import (
    DERIVED,
    DIGESTS,
    NotDerived,
    OtherDigest,
    Walk,
    difference_error,
    format_location,
)
from goldrush.kernel.world import Block, Vocabulary, World
from goldrush.replay.find import is_built_in, open_world, tools_at, tools_of, typed
from goldrush.replay.tools import RERUN, Basis, Tools

LEVELS: Final = ("integrity", "fold", "derive", "decide")
INTEGRITY, FOLD, DERIVE, DECIDE = 1, 2, 3, 4

_NOT_IN_JSON: Final = ("vocabulary", "trace", "hint")
_IF_ANY: Final = ("rests_on", "not_compared")  # in JSON where it is not empty

Forks = Sequence[Mapping[str, Any]]

# Expected in place of a policy's input that is recorded before its step is complete.
ONLY_ANSWERS: Final = "only answers of models and people before the step is complete"
_HINT: Final = (
    "; a policy must keep nothing between units but its memo, and a test program give the same "
    "value for the same seed"
)
_FORGED: Final = "; no run of this goldrush writes that"


class Break(msgspec.Struct, frozen=True):
    """The first fault of a journal.

    Attributes:
        level: the level that it breaks, 1 to 4.
        where: its location as text, with public unit numbers.
        expected: the value that should be there.
        found: the value that is there.
        torn: the fault is only an unfinished commit, which `resume` drops.
        trace: the traceback of a policy that failed when it was asked again; empty for other
            faults.
        hint: what the fault tells of how it arose; empty: nothing.
    """

    level: int
    where: str
    expected: str
    found: str
    torn: bool = False
    trace: str = ""
    hint: str = ""

    def __repr__(self) -> str:
        return f"<Break {self}>"

    def __str__(self) -> str:
        name = LEVELS[self.level - 1]
        return (
            f"level {self.level} ({name}) breaks at {self.where}: "
            f"expected {self.expected}, found {self.found}{self.hint}"
        )


class Verdict(msgspec.Struct, frozen=True):
    """The result of a verification: `holds` is the answer.

    Attributes:
        path: the journal.
        bytes: the size of the file when it was opened.
        sha256: the hash of these bytes, including those after a fault.
        level: the highest level that was checked for all players: 3 where 4 was asked for and not
            all could be asked.
        rounds: the number of closed units that were checked.
        counted: the number of those that count; see `Vocabulary.uncounted`.
        events: the number of events that were read.
        finished: the run has ended.
        broken: the first fault; None if there is none.
        not_asked: the players that level 4 did not ask, whose decisions it took from the journal.
        unknown: the players whose decisions cannot be judged, because this version does not know
            their policy, an option or the version of their prompt.
        unjudged: decisions that were taken again and cannot be compared, with the reason.
        forks: the public numbers of the units after which the run was forked.
        vocabulary: the nouns of its world.
        level_in_part: 4 where that level was checked for some players only, else None.
        other_code: the SHA-256 of the source of the world's rules that the journal records, where
            the rules here have another one, NO_SOURCE if it records that nobody knows it; None:
            they are the same.
        rests_on: on what it rests, besides the rules, that events were derived again: versions of
            other code, as text; empty: on nothing, or they were not.
        not_compared: what was derived again and not compared, as text; empty: nothing.
    """

    path: str
    bytes: int
    sha256: str
    level: int
    rounds: int
    events: int
    finished: bool
    broken: Break | None
    not_asked: Sequence[str] = ()
    unknown: Sequence[str] = ()
    unjudged: Sequence[str] = ()
    forks: Sequence[int] = ()
    vocabulary: Vocabulary = Vocabulary()
    level_in_part: int | None = None
    other_code: str | None = None
    rests_on: str = ""
    not_compared: str = ""
    counted: int = 0

    def __repr__(self) -> str:
        fault = self.broken or ", ".join([*self.unknown, *self.unjudged])
        says = {
            True: f"holds at {self.levels}: {self.counted} {self.vocabulary.units}",
            False: f"does not hold: {fault}",
            None: f"could not be judged: {fault}",
        }
        return f"<Verdict {self.path}: {says[self.holds]}>"

    @property
    def levels(self) -> str:
        """The checked levels as text."""
        whole = "level 1" if self.level == INTEGRITY else f"levels 1 to {self.level}"
        if self.level_in_part is not None:
            return f"{whole} ({self.level_in_part} in part)"
        return f"{whole} ({DECIDE} not checked)" if self.not_asked else whole

    @property
    def holds(self) -> bool | None:
        """Whether everything that was checked is right; None where nothing is known to be wrong,
        but some decisions could not be judged, or what does not follow was decided by other code.
        """
        if self.broken is not None:
            return None if self.other_code and self.broken.level > INTEGRITY else False
        return None if self.unknown or self.unjudged else True

    def as_dict(self) -> dict[str, Any]:
        """The verdict for JSON."""
        fields = {"path": self.path, "holds": self.holds, **msgspec.to_builtins(self)}
        for part in (fields, fields["broken"] or {}):
            for name in _NOT_IN_JSON:
                part.pop(name, None)
        return {name: value for name, value in fields.items() if value or name not in _IF_ANY}


def verify(
    path: str | Path,
    level: int = DECIDE,
    *,
    world: World[Any] | None = None,
    resources: Resources = Resources(),
    on_bytes: Callable[[int], None] | None = None,
) -> Verdict:
    """Check a journal up to a level.

    A journal cannot make this run code by naming it.

    Args:
        level: the highest level to check, 1 to 4.
        world: a world without tools, whose players are not asked; None: found by the header.
        resources: what asking again takes: processes, a program, policies as objects or by names
            that are trusted, the journals that `recorded` agents replay.
        on_bytes: called after each commit with the offset of its end, in bytes.

    Raises:
        BadInput, NotAJournal, UnsupportedJournal: if there is nothing to judge.
        Exception: what the world raises, if it has a bug.
    """
    if level not in range(INTEGRITY, DECIDE + 1):
        raise BadInput(f"there is no level {format_value(level)}", f"give one from 1 to {DECIDE}")
    with open_regular(os.fspath(path)) as file:
        try:
            reader = JournalReader.over(file.fileno(), os.fspath(path), hashed=True)
        except DamagedJournal as error:
            size, sha256 = os.fstat(file.fileno()).st_size, sha256_in(file)
            return Verdict(str(path), size, sha256, level, 0, 0, False, _unreadable(error))
    with reader:
        reader.on_bytes = on_bytes
        is_ours = world is None and is_built_in(reader.header.world)
        rules = world or _rules_of(reader, level)
        check = _Check(reader, rules, level, is_own=not is_ours)
        if world is None and check.level >= DERIVE:
            check.tools = tools_of(reader)
            if not check.tools.asks_policies:
                check.asker_of = lambda state, forks: PolicyCheck(None)
            elif check.level >= DECIDE:
                check.asker_of = check.tools.players.policy_check(resources)
        with closing(check):
            return check.verdict(str(path))


def way_out(verdict: Verdict, program: str = "goldrush") -> str:
    """The command that continues from what is whole of a journal whose bytes are not, as the end of
    a message; empty for other faults, and where nothing is whole.
    """
    fault, path = verdict.broken, verdict.path
    if fault is None or fault.level > INTEGRITY:
        return ""
    if fault.torn and not verdict.events:  # not even START
        return "; nothing was recorded in it: record again over it (--force)"
    if fault.torn:
        return f"; `{program} resume {typed(path)}` removes them and continues the run"
    if verdict.rounds:
        # Not from the last one: what is broken may have been a fork there.
        last = verdict.vocabulary.number(verdict.rounds)
        again = " (with the changes of its fork)" if last in verdict.forks else ""
        at = tools_at(path).fork_at(last - 1)
        command = f"{program} fork {typed(path, f' --at {at}')}"
        return f"; `{command}`{again} keeps what is intact and plays the rest again"
    return ""


def way_out_of(path: str | Path, program: str = "goldrush") -> str:
    """As `way_out`, for the journal at a path; empty also where it cannot be judged."""
    with suppress(GoldrushError):
        return way_out(verify(path, INTEGRITY), program)
    return ""


def first_break(path: str, size: int | None, resources: Resources) -> Break | None:
    """The first fault in the first bytes of a journal at all levels, up to the end of a unit; None
    too for a run of other code. `size`: how many bytes, at least; None: all.

    Raises as `verify`.
    """
    with JournalReader(path) as reader:
        tools, world = tools_of(reader), open_world(reader)
        check = _Check(reader, world, DECIDE, is_own=not is_built_in(world.name), size=size)
        check.tools, check.asker_of = tools, tools.players.policy_check(resources)
        with closing(check):
            broken = check.broken()
        return broken if check.other_code is None else None


def _rules_of(reader: JournalReader, level: int) -> World[Any]:
    """The world of a journal; one without rules where they are not here and bytes alone count.

    Raises UnsupportedJournal.
    """
    try:
        return open_world(reader)
    except UnsupportedJournal:
        if level > INTEGRITY:
            raise
    absent = _no_rules
    return World(reader.header.world, reader.header.rules, (), absent, absent, absent, absent)


def _no_rules(*given: object) -> Any:
    raise NotImplementedError  # bytes alone are judged


class _Broken(Exception):
    """Ends a check at the first fault."""

    def __init__(
        self, level: int, where: str, expected: str, found: str, trace: str = "", hint: str = ""
    ) -> None:
        super().__init__(where)
        self.found = Break(level, where, expected, found, trace=trace, hint=hint)


class _Check:
    def __init__(
        self,
        reader: JournalReader,
        world: World[Any],
        level: int,
        *,
        is_own: bool,
        size: int | None = None,
    ) -> None:
        self.world = world
        self.level = level
        self.asker_of: Callable[[Any, Forks], PolicyCheck] = NOBODY.policy_check(Resources())
        self.tools: Tools | None = None
        self._reader = reader
        self._is_own = is_own
        self._somebody_asked = False
        self.other_code: str | None = None
        self._not_asked: dict[str, None] = {}  # in the order in which they came up
        self._unknown: dict[str, None] = {}
        self._unjudged: list[str] = []
        self._rounds = self._counted = 0
        self._events = 0
        self._digest: int | None = None  # of the state, unless a step of the unit was judged
        self._forks: list[int] = []
        self._asker = PolicyCheck(None)
        self._unread: Break | None = None  # what ended the reading
        self._step: tuple[Any, Block] = None, Block([])  # state and inputs of the last one judged
        if world.missing is not None and level > FOLD:
            self._unknown[world.missing] = None
            self.level = FOLD
        mode = DERIVED if self.level >= DERIVE else DIGESTS
        self._size = size
        self._walk = Walk(world, reader, mode, commits=self._commits(), judge=self._judged)

    def close(self) -> None:
        self._asker.close()

    def verdict(self, path: str) -> Verdict:
        broken, level, reader = self.broken(), self.level, self._reader
        basis = Basis()
        if self.tools is not None and (broken is None or broken.level == DERIVE):
            basis = (RERUN.get() or self.tools).basis(path)
            if not basis.is_compared:
                self._unjudged.append("nothing that it gave was compared")
        is_open = broken is None and bool(self._unknown)
        is_asked = self._somebody_asked and not is_open
        is_in_part = is_asked and bool(self._not_asked or self._unjudged)
        return Verdict(
            path=path,
            bytes=reader.size,
            sha256=reader.sha256(),
            level=level if is_asked and not is_in_part else min(level, DERIVE),
            level_in_part=level if is_in_part else None,
            other_code=self.other_code,
            rounds=self._rounds,
            counted=self._counted,
            events=self._events,
            finished=reader.ended,
            broken=broken,
            not_asked=tuple(self._not_asked),
            unknown=tuple(self._unknown),
            unjudged=tuple(self._unjudged),
            forks=self._forks,
            vocabulary=self.world.vocabulary,
            rests_on=basis.rests_on,
            not_compared=basis.not_compared,
        )

    @folder_kept()
    def broken(self) -> Break | None:
        try:
            self._follow_all()
        except _Broken as broken:
            return broken.found
        except NotDerived as error:
            hint = ""
            if error.blocks is not None:
                hint = _cause(self.world, partial(self.world.decide, *self._step))
            return Break(DERIVE, error.where, error.expected, error.found, hint=hint)
        except OtherDigest as error:
            where, expected = self._where(), f"digest {error.expected:016x}"
            return Break(FOLD, where, expected, f"{error.found:016x}")
        except MalformedEvents as error:
            fold.raise_bug(error, self._is_forged)
            return Break(FOLD, error.where, f"events of the {self.world.name} world", error.fault)
        return self._unread

    def _follow_all(self) -> None:
        if self.level < FOLD:
            for _ in self._commits():
                pass
            return
        for commit, state in self._walk:
            if self.level >= DECIDE and commit.kind in (START, FORK):
                self._meet_agents(commit.where, state)
        pending, ask = self._walk.pending, self._asker.pending
        if ask is not None and pending.batches:  # from these `resume` continues
            self._ask_again(ask, state, pending, is_pending=True)

    def _commits(self) -> Iterator[Commit]:
        """The commits, up to what cannot be read: the inputs pending there are judged before that
        is told. Each is counted when it holds.
        """
        size, begin = self._size, None
        try:
            for commit in self._reader:
                if commit.setup is not None:
                    self.other_code = self.world.other_source(commit.setup)  # before it is folded
                yield commit
                self._count(commit)
                begin = commit.offset if begin is None else begin
                is_enough = size is not None and commit.end - begin >= size
                if is_enough and commit.digest is not None:
                    return
        except JournalError as error:
            self._unread = _unreadable(error)

    def _is_forged(self) -> bool:
        """Whether an event does not follow, or nobody can know: the rules are not installed."""
        if self.world.missing is not None:
            return True
        if self.level > FOLD:  # they were derived again
            return False
        return verify(self._reader.path, DERIVE, world=self.world).broken is not None

    def _count(self, commit: Commit) -> None:
        events = 0  # a call for each block would take a tenth of level 1
        for block in commit.blocks:
            for _, rows in block.batches:
                events += len(rows)
        self._digest = commit.digest
        if commit.digest is not None:
            self._rounds = commit.unit
            self._counted += fold.counts(commit, self.world.vocabulary)
        if commit.kind == FORK:
            self._forks.append(self.world.vocabulary.number(commit.unit))
        # A unit commit that closes its unit is an event too, and so are start, end and forks.
        self._events += events + (commit.kind != UNIT or commit.digest is not None)

    def _meet_agents(self, where: str, state: Any) -> None:
        """Set the players to ask from here on: after START, and after a fork."""
        self._asker.close()
        try:
            self._asker = asker = self.asker_of(state, self._walk.forks)
        except ImpossiblePlayer as error:
            where = f"{where}, options of {error.player}"
            raise _Broken(DECIDE, where, error.expected, error.actual, hint=_FORGED) from None
        self._somebody_asked |= asker.ask is not None
        self._not_asked.update(dict.fromkeys(asker.not_asked))
        self._unknown.update(dict.fromkeys(asker.unknown))

    def _judged(self, state: Any, inputs: Block) -> Block:
        """The events that a step derives; at level 4 its inputs are asked for again first.

        Worlds of this project are pure and keep to their schemas, as their own tests show; any
        other world is checked here.
        """
        world = self.world
        if self._asker.ask is not None:
            self._ask_again(self._asker.ask, state, inputs)
        self._step = state, inputs
        if not self._is_own:
            return Block(world.decide(state, inputs))
        before, self._digest = self._digest, None
        if before is None:
            before = world.digest(state)
        derived = Block(world.decide(state, inputs))
        if world.digest(state) != before:  # by `ended`, perhaps
            expected, found = "the rules to leave the state as it is", "a new state"
            raise _Broken(DERIVE, self._where(), expected, found)
        read = Block(unpack(derived.packed))
        fault = next(fold.faults(world, [read], is_input=False), None)
        if fault is not None:
            raise _Broken(DERIVE, self._where(), f"events of the {world.name} world", fault)
        return derived

    def _ask_again(
        self, ask: AskAgain, state: Any, recorded: Block, *, is_pending: bool = False
    ) -> None:
        where, judged = self._where(), len(self._asker.unjudged)
        try:
            # The state is nobody's to change but events'.
            shown = state if self._asker.leaves_state else self.world.copy(state)
            answers = ask(shown, recorded)
        except PolicyFailed as error:
            raise _Broken(DECIDE, where, "a plan", str(error), error.trace, _HINT) from None
        self._unjudged += [f"{where}, {text}" for text in self._asker.unjudged[judged:]]
        answer = Block(answers)
        if answer.packed != recorded.packed:
            path, commit = self._reader.path, self._walk.commit
            differs = difference_error(self.world, path, commit, answer, recorded, is_input=True)
            is_early = is_pending and _count(answer) < _count(recorded)
            if is_early:
                raise _Broken(DECIDE, differs.where, ONLY_ANSWERS, differs.found)
            hint = _cause(self.world, partial(ask, state, recorded)) or _HINT
            raise _Broken(DECIDE, differs.where, differs.expected, differs.found, hint=hint)

    def _where(self) -> str:
        return format_location(self.world, self._walk.commit)


def _cause(world: World[Any], again: Callable[[], object]) -> str:
    """What a step that came out otherwise uses that differs between processes, as a hint; empty: it
    is not found. `again`: does the step once more, which is watched, if the world can be.
    """
    if world.watching is nullcontext:
        return ""
    try:
        with world.watching():
            again()
    except (BadInput, PolicyFailed) as error:
        return f"; {error}"
    except KeyboardInterrupt:
        raise
    except BaseException:  # of a world that fails the second time: what it gave first is the fault
        return ""
    return ""


def _count(block: Block) -> int:
    return sum(len(rows) for _, rows in block)


def _unreadable(error: JournalError) -> Break:
    if isinstance(error, DamagedJournal):
        return Break(INTEGRITY, error.where, error.expected, error.found)
    if isinstance(error, TornTail):
        where = f"byte {error.offset}, after {error.commits} whole commits"
        found = error.description
        return Break(INTEGRITY, where, "a commit or the end", found, torn=not error.in_fork)
    if isinstance(error, MalformedEvents):
        return Break(INTEGRITY, error.where, "a commit", error.fault)
    raise error
