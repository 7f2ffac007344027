"""Everything that reads a journal, and the contract that all of them keep for a damaged one.

What is right follows from the bytes alone: `fate_of` compares them with the sound file and says how
many commits are as they were and which error has to name the place behind them. A reader may answer
what was answered of the whole commits, or end with that error. It raises nothing that is no
GoldrushError, gives no other answer, and changes no file.
"""

from __future__ import annotations

import os
import random
import shutil
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, Self

import attrs
import msgpack

from goldrush.agents.players import Resources
from goldrush.agents.worlds.mining.roster import recording
from goldrush.kernel.errors import BadInput, DamagedJournal, GoldrushError, NotAJournal, TornTail
from goldrush.kernel.journal import END, FORK
from goldrush.replay.journal.consequences import consequences
from goldrush.replay.journal.diff import diff
from goldrush.replay.journal.draws import draws_at
from goldrush.replay.journal.log import Query, log
from goldrush.replay.journal.rebuild import rebuild
from goldrush.replay.journal.verify import verify
from goldrush.replay.summary import summarise
from tests.faults.journals import FORKED_AT, TRUST, Prefix, Sound, audits_of, frozen, small
from tests.kernel.tiny_reader import DAMAGE, NO_JOURNAL, TORN, WHOLE, judged
from tests.mining import fork, resume


class WrongError(AssertionError):
    """Damage went by without a word, an answer is not that of the sound file, or an error names
    another place.
    """


@attrs.frozen
class Fate:
    """What has to be said of a file.

    `whole` commits are as in the sound journal (-1: not even its header is). `error` is what has to
    be raised behind them, at byte `offset`; None where the file ends there. `extra`: bytes of a
    torn tail; `in_fork`: which is known to be of a FORK.
    """

    whole: int
    error: type[GoldrushError] | None
    offset: int = 0
    extra: int = 0
    in_fork: bool = False

    @property
    def where(self) -> str:
        """The place, as a verdict names it."""
        if self.error is TornTail:
            return f"byte {self.offset}, after {self.whole} whole commits"
        place = "header" if self.whole < 0 else f"commit {self.whole}"
        return f"{place} at byte {self.offset}"


_ERRORS = {NO_JOURNAL: NotAJournal, DAMAGE: DamagedJournal, TORN: TornTail, WHOLE: None}


def fate_of(data: bytes) -> Fate:
    """What has to be said of these bytes, by the format's own page."""
    verdict = judged(data)
    is_torn = verdict.kind == TORN
    extra = len(data) - verdict.offset if is_torn else 0
    return Fate(verdict.commits, _ERRORS[verdict.kind], verdict.offset, extra, verdict.in_fork)


@attrs.frozen(eq=False)
class Case:
    """A damaged file, with the sound one beside it and a folder of its own to write in."""

    path: Path
    beside: Path  # the sound journal
    sound: Sound
    fate: Fate
    chance: random.Random

    @property
    def prefix(self) -> Prefix | None:
        """What is right to say of the whole commits, if there is one."""
        return self.sound.prefixes[self.fate.whole - 1] if self.fate.whole > 0 else None

    def ends(self, error: GoldrushError | None) -> None:
        """Check how the reading of the whole file ended."""
        fate = self.fate
        if fate.error is None:
            if error is not None:
                raise WrongError(f"a sound beginning was refused: {error!r}")
            return
        if error is None:
            raise WrongError(f"no {fate.error.__name__} at {fate.where}")
        if type(error) is not fate.error or not self._is_there(error):
            raise WrongError(f"{fate.error.__name__} at {fate.where} expected, found {error!r}")

    def _is_there(self, error: GoldrushError) -> bool:
        fate = self.fate
        if isinstance(error, DamagedJournal):
            return (error.commit, error.offset) == (fate.whole, fate.offset)
        if isinstance(error, TornTail):
            return (error.commits, error.offset, error.extra) == (
                fate.whole, fate.offset, fate.extra,
            )  # fmt: skip
        return True

    def has(self, round: int) -> bool:
        """Whether a round's commits are whole."""
        return self.fate.whole > self.sound.closing(round)


def same(found: Any, expected: Any, what: str = "the answer") -> None:
    """Raise unless two answers are the same."""
    if found != expected:
        raise WrongError(f"{what}: {str(expected)[:300]} expected, found {str(found)[:300]}")


def collected(items: Iterable[Any]) -> tuple[list[Any], GoldrushError | None]:
    """What an iteration gives, and what it ends with."""
    found: list[Any] = []
    try:
        found.extend(items)  # keeps what came before an error
    except GoldrushError as error:
        return found, error
    return found, None


def _verified(case: Case, level: int) -> None:
    fate, prefix = case.fate, case.prefix
    try:
        verdict = verify(case.path, level, resources=Resources(trust=TRUST))
    except NotAJournal as error:
        case.ends(error)
        return
    if verdict.holds and fate.error is not None:
        raise WrongError(f"it holds at level {level}")
    broken = verdict.broken and (verdict.broken.level, verdict.broken.where)
    same(broken, fate.error and (1, fate.where), "the break")
    if verdict.broken:
        same(verdict.broken.torn, fate.error is TornTail and not case.fate.in_fork, "torn")
    counts = (verdict.rounds, verdict.events) if prefix else (0, 0)
    same(counts, (prefix.rounds, prefix.counted) if prefix else (0, 0), "the counts")
    if prefix:
        same(verdict.finished, prefix.finished, "finished")


def verified(case: Case) -> None:
    _verified(case, 1)


def verified_wholly(case: Case) -> None:
    _verified(case, 4)


def rebuilt(case: Case) -> None:
    round = case.chance.randint(0, case.sound.rounds)

    def act() -> Any:
        found = rebuild(case.path, round)
        return frozen(found.state), found.digest, found.events

    _answered_of(case, round, act, case.sound.states[round])


def _answered_of(case: Case, round: int, act: Callable[[], Any], right: object) -> None:
    """Check the answer about a round, which only what is behind it may be wrong of."""
    try:
        found = act()
    except GoldrushError as error:
        if case.has(round):
            raise WrongError(f"round {round} is whole, but: {error!r}") from None
        if not (case.fate.error is None and isinstance(error, BadInput)):
            case.ends(error)
        return
    if not case.has(round):
        raise WrongError(f"there is an answer about round {round}")
    same(found, right)


def logged(case: Case) -> None:
    found, error = collected(log(case.path))
    same(found, case.prefix.events if case.prefix else [], "the log")
    case.ends(error)


def logged_in_part(case: Case) -> None:
    """Two rounds in the middle: what is broken behind them need not be met."""
    first = case.chance.randint(1, case.sound.rounds - 1)
    query = Query(first, first + 1)
    found, error = collected(log(case.path, query))
    wanted = [event for event in case.sound.prefixes[-1].events if first <= event.unit <= first + 1]
    same(found, wanted[: len(found)], "the log")
    is_past = case.fate.error is None and case.prefix and first > case.prefix.rounds
    if error is not None or case.fate.error is None:
        if not (is_past and isinstance(error, BadInput)):
            case.ends(error)
        wanted = [event for event in wanted if case.prefix and event in case.prefix.events]
    if len(found) < len(wanted):
        raise WrongError(f"{len(wanted) - len(found)} events are missing")


def audited(case: Case) -> None:
    _answered(case, lambda prefix: prefix.audits, lambda: audits_of(case.path))


def audited_once(case: Case) -> None:
    """One tie-break, asked for by its round and plot."""
    wanted = case.chance.choice(case.sound.prefixes[-1].audits)
    _answered_of(
        case, wanted.location["round"],
        lambda: draws_at(case.path, *wanted.location.values(), wanted.kind), [wanted],
    )  # fmt: skip


def compared(case: Case) -> None:
    _compared(case, case.path, case.beside, 0)


def compared_the_other_way(case: Case) -> None:
    _compared(case, case.beside, case.path, 1)


def _compared(case: Case, a: Path, b: Path, side: int) -> None:
    fate, prefix = case.fate, case.prefix
    try:
        found = diff(a, b)
    except GoldrushError as error:
        if fate.whole >= 0:
            raise WrongError(f"the header is whole, but: {error!r}") from None
        case.ends(error)
        return
    one = (found.a, found.b)[side]
    is_all = fate.error is None and fate.whole == len(case.sound.commits)
    if found.same and not is_all:
        raise WrongError("both are the same")
    same(one.torn, fate.error is TornTail, "torn")
    same(one.trouble is None, fate.error is None, "whether there is trouble")
    same(found.first, None, "the first event that differs")
    causes = [cause.kind for cause in found.causes]
    is_broken = fate.error is DamagedJournal or fate.whole == 0  # without a START, nothing is known
    if not _forks_behind(case):
        same(causes, ["damage"] if is_broken else [], "the causes")
    elif fate.error is DamagedJournal and "damage" not in causes:
        raise WrongError(f"the causes are {causes}")
    if prefix:
        same(one.rounds, prefix.rounds, "rounds")
        same(one.finished, prefix.finished, "finished")
    same(consequences(found), None, "what came of it")


def _forks_behind(case: Case) -> bool:
    """Whether the sound journal forks where the damaged one is broken: then it declares changes."""
    kinds = [commit.kind for commit in case.sound.commits]
    return case.fate.whole > 0 and FORK in kinds[case.fate.whole :]


def summarised(case: Case) -> None:
    _answered(case, lambda prefix: {**prefix.summary, "path": str(case.path)}, lambda: (
        summarise(case.path).as_dict()
    ))  # fmt: skip


def played_again(case: Case) -> None:
    _answered(case, lambda prefix: prefix.submissions, lambda: recording(case.path).units)


def _answered(case: Case, right: Callable[[Prefix], Any], act: Callable[[], Any]) -> None:
    """Check the answer of something that reads the whole file; it may be rightly refused."""
    try:
        found = act()
    except GoldrushError as error:
        case.ends(error)
        return
    case.ends(None)
    if case.prefix:
        same(found, right(case.prefix))


def resumed(case: Case) -> None:
    """A torn or unfinished journal goes on to the bytes of the sound one; others are refused."""
    fate, prefix = case.fate, case.prefix
    folder = case.path.with_name("resumed")
    folder.mkdir(exist_ok=True)
    copy = folder / "copy.journal"
    copy.unlink(missing_ok=True)
    shutil.copyfile(case.path, copy)
    goes_on = prefix and not prefix.finished and fate.error in (None, TornTail)
    goes_on = goes_on and not case.fate.in_fork
    try:
        resume(copy, trust=TRUST)
    except GoldrushError as error:
        if goes_on:
            raise WrongError(f"it could go on, but: {error!r}") from None
        is_over = prefix and prefix.finished and fate.error is None
        if not ((is_over or case.fate.in_fork) and isinstance(error, BadInput)):
            case.ends(error)
        same(copy.read_bytes() == case.path.read_bytes(), True, "the bytes are untouched")
    else:
        if not goes_on:
            raise WrongError("it was resumed")
        same(copy.read_bytes() == (prefix and prefix.finishes_as), True, "the bytes are the same")
    same(os.listdir(folder), [copy.name], "the files left behind")


def forked_off(case: Case) -> None:
    """A fork from a whole round is that of the sound file; from any other there is none."""
    rounds = case.sound.rounds
    round = case.chance.choice((0, FORKED_AT, FORKED_AT + 1, rounds - 1, rounds))
    folder = case.path.with_name("forked")
    folder.mkdir(exist_ok=True)
    out = folder / "out.journal"
    before = case.path.read_bytes()
    try:
        state = fork(case.path, round, out, trust=TRUST)
    except GoldrushError as error:
        if case.has(round) and not _may_hide_fork(case, round):
            raise WrongError(f"round {round} is whole, but: {error!r}") from None
        if not (case.fate.error in (None, TornTail) and isinstance(error, BadInput)):
            case.ends(error)
        same(os.listdir(folder), [], "the files left behind")
    else:
        if not case.has(round) or _may_hide_fork(case, round):
            raise WrongError(f"it was forked at round {round}")
        same(frozen(state), fork_of(case, round), "the end of the fork")
        same(out.read_bytes()[: _end_of(case, round)], before[: _end_of(case, round)], "its bytes")
        out.unlink()
    same(case.path.read_bytes() == before, True, "the bytes are untouched")


def _may_hide_fork(case: Case, round: int) -> bool:
    """Whether what is broken stands where a FORK of the round would stand."""
    whole = case.sound.commits[: case.fate.whole]
    stands_last = bool(whole) and whole[-1].unit == round and whole[-1].kind != END
    return stands_last and (case.fate.error is DamagedJournal or case.fate.in_fork)


def fork_of(case: Case, round: int) -> bytes:
    """The state in which a fork at a round ends. Without its FORK a fork is its parent."""
    gone = [commit.unit for commit in case.sound.commits[case.fate.whole :] if commit.kind == FORK]
    return (small() if round in gone else case.sound).forks[round]


def _end_of(case: Case, round: int) -> int:
    return max(
        commit.end
        for commit in case.sound.commits[: case.fate.whole]
        if commit.unit == round and commit.kind != END
    )


Reader = Callable[[Case], None]

READERS: Sequence[Reader] = (
    verified_wholly, rebuilt, logged, logged_in_part, audited,
    audited_once, compared, compared_the_other_way, summarised, played_again, resumed, forked_off,
)  # fmt: skip


class Bench:
    """A folder in which files are damaged and read."""

    def __init__(self, folder: Path, sound: Sound, seed: int = 0) -> None:
        self.sound = sound
        self.path = folder / "damaged.journal"
        self.beside = folder / "sound.journal"
        self.beside.write_bytes(sound.data)
        self.chance = random.Random(seed)  # to be had again
        self.cases = 0
        self._file = os.open(self.path, os.O_RDWR | os.O_CREAT, 0o666)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self._file)

    def findings(self, data: bytes, readers: Iterable[Reader]) -> list[str]:
        """What is wrong with what these readers say of a file with these bytes."""
        # Not emptied first: some filesystems then wait for the disk, a thousand times as long.
        os.pwrite(self._file, data, 0)
        os.ftruncate(self._file, len(data))
        case = Case(self.path, self.beside, self.sound, fate_of(data), self.chance)
        self.cases += 1
        found = [finding for reader in readers if (finding := tried(reader, case)) is not None]
        if found:
            for name in ("resumed", "forked"):
                shutil.rmtree(self.path.with_name(name), ignore_errors=True)
        return found


def tried(reader: Reader, case: Case) -> str | None:
    """How a reader broke the contract for this file, or None."""
    try:
        reader(case)
    except (Exception, msgpack.UnpackException) as error:
        return f"{reader.__name__}: {type(error).__name__}: {error}"
    return None
