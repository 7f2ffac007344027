"""Those that write journals, and their law: whole commits, and from there on the same bytes."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import attrs

from goldrush.kernel.errors import BadInput, DamagedJournal, NotAJournal, TornTail, WriteFailed
from goldrush.kernel.journal import JournalReader
from tests.faults.disk import ALL, Disk
from tests.faults.journals import (
    AUTHORITY,
    ROSTER,
    SMALL,
    TRUST,
    fork_small,
    forked,
    small,
    twin,
)
from tests.faults.tries import End, Lost, check
from tests.kernel import choir
from tests.mining import record, resume

NAME, PARENT = "run.journal", "parent.journal"


@attrs.frozen(eq=False)
class Recorder:
    """Writes a journal; `before` is what stands at its path, `start` begins with it or over it.

    `go_on` resumes. Both end in the bytes `whole`.
    """

    name: str
    start: Callable[[Path], object]
    go_on: Callable[[Path], object]
    whole: bytes
    before: bytes | None = None
    lacks: str = ""

    def prepare(self, folder: Path) -> None:
        (folder / PARENT).write_bytes(small().data)
        if self.before is not None:
            (folder / NAME).write_bytes(self.before)

    def write(self, folder: Path) -> None:
        self.start(folder / NAME)

    def judge_failure(self, folder: Path, end: End) -> None:
        """What returned is there and nothing else, and the run goes on to the same bytes."""
        path, error = folder / NAME, end.error
        if error is not None:
            check(isinstance(error, WriteFailed | BadInput), f"{error!r}")
            check(str(path) in str(error), f"of no file: {error}")
        whole = self._check_kept(path, end.appended[-1][0] if end.appended else 0)
        if whole is not None and not end.has_failed_for_good:
            check(whole == path.stat().st_size, "the unfinished piece was not taken back")
        check(not end.returned or path.read_bytes() == self.whole, "half a run without an error")
        self._check_goes_on(path)

    def judge_crash(self, folder: Path, end: End, seed: int) -> None:
        """Whole commits and a torn tail at most, with those that returned where it is promised."""
        path = folder / NAME
        # Where only the process has died, no commit is lost that returned.
        kept = [offset for offset, is_synced in end.appended if is_synced or seed == ALL]
        if self.before is None and not kept and path.exists() and not _has_start(path):
            path.unlink()  # a name without its bytes, where nothing was promised
        self._check_kept(path, kept[-1] if kept else 0)
        self._check_goes_on(path)

    def _check_kept(self, path: Path, until: int) -> int | None:
        """Where the whole commits end; None for what was there before."""
        left = path.read_bytes() if path.exists() else None
        if left == self.before:
            check(not until, f"{until} bytes had been committed", Lost)
            return None
        if left is None:
            raise Lost("the old file is gone, without a new one")
        whole = whole_bytes(path)
        check(self.whole.startswith(left[:whole]), "other commits")
        check(whole >= until, f"{until} bytes had been committed, {whole} are left", Lost)
        return whole

    def _check_goes_on(self, path: Path) -> None:
        with Disk(path.parent):
            goes_on = path.exists() and path.read_bytes() != self.before
            if not goes_on or path.read_bytes() != self.whole:
                (self.go_on if goes_on else self.start)(path)
        check(path.read_bytes() == self.whole, "the run ends in other bytes")
        check((path.parent / PARENT).read_bytes() == small().data, "the parent has changed", Lost)


def _has_start(path: Path) -> bool:
    try:
        return whole_bytes(path) > 0
    except (NotAJournal, DamagedJournal):
        return False


def whole_bytes(path: Path) -> int:
    """Where the last whole commit ends of a journal that may have a torn tail."""
    end = 0
    with JournalReader(path) as reader:
        try:
            for commit in reader:
                end = commit.end
        except TornTail:
            pass
    return end


RECORDERS = (
    "record", "record, synced", "record over another", "record over nothing",
    "record without links", "resume", "fork", "fork over another, synced", "record with models",
)  # fmt: skip


@cache
def recorders() -> dict[str, Recorder]:
    """All that write journals, by name."""

    def recorded(**options: Any) -> Callable[[Path], object]:
        return lambda path: record(path, SMALL, ROSTER, AUTHORITY, **options)

    def resumed(**options: Any) -> Callable[[Path], object]:
        return lambda path: resume(path, trust=TRUST, **options)

    def fork(**options: Any) -> Callable[[Path], object]:
        return lambda path: fork_small(path.with_name(PARENT), path, **options)

    def sing(path: Path) -> object:
        return choir.record(path, choir.Asked("turning"))

    whole, forks, old = small().data, forked().data, twin()
    torn = whole[: small().commits[2].end + 50]
    synced = resumed(fsync=True)
    found = [
        Recorder("record", recorded(), resumed(), whole),
        Recorder("record, synced", recorded(fsync=True), synced, whole),
        Recorder("record over another", recorded(force=True), resumed(), whole, old),
        Recorder("record over nothing", recorded(), resumed(), whole, b""),
        Recorder("record without links", recorded(), resumed(), whole, lacks="link"),
        Recorder("resume", resumed(), resumed(), whole, torn),
        Recorder("fork", fork(), resumed(), forks),
        Recorder("fork over another, synced", fork(force=True, fsync=True), synced, forks, old),
        Recorder("record with models", sing, _sung, _choir()),
    ]
    return {recorder.name: recorder for recorder in found}


def _sung(path: Path) -> object:
    return choir.resume(path, "turning")


def _choir() -> bytes:
    with tempfile.TemporaryDirectory() as folder, Disk(folder):
        path = Path(folder, NAME)
        choir.record(path, choir.Asked("turning"))
        return path.read_bytes()
