"""Everything that writes, tried on a disk that fails, or loses its power, at every single call.

A writer is first run on a sound disk, which tells its calls. Then it is run once for each of them
and each way to fail; and it is stopped before each of them, where the disk is left in several of
the states that a file system may leave. What has to be so afterwards is the writer's own law.
"""

from __future__ import annotations

import errno
import os
import shutil
import traceback
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Final, Protocol

import attrs

from goldrush.kernel import files
from goldrush.kernel.errors import GoldrushError
from goldrush.kernel.journal import Commit, JournalWriter
from tests.faults.disk import ALL, LEAST, Disk, Fault, PowerLost
from tests.quick_disk import make_old

WRONG, TRACEBACK, LOST = KINDS = ("wrong answers", "tracebacks", "things lost")
FAULTS: Final = (
    (errno.EIO, False), (errno.EIO, True), (errno.ENOSPC, False), (errno.ENOSPC, True),
    (errno.EPERM, False),
)  # fmt: skip
FOLDER: Final = b"a folder"
CHANCES: Final = 4  # states by chance that a crash leaves, besides all and the least


class Wrong(AssertionError):
    """Something that may not be so."""


class Lost(AssertionError):
    """Something that should have been kept is not there."""


@attrs.frozen
class End:
    """How a writer ended, on this disk: its error, and the commits that returned before."""

    disk: Disk
    error: BaseException | None
    appended: Sequence[tuple[int, bool]]  # where each ends, and whether it was synced

    @property
    def returned(self) -> bool:
        return self.error is None

    @property
    def has_failed_for_good(self) -> bool:
        """Whether nothing could be taken back."""
        return self.disk.stuck or bool(self.disk.fault and self.disk.fault.forever)

    @property
    def failed(self) -> str:
        """The call that failed first."""
        fault = self.disk.fault
        return self.disk.calls[fault.at] if fault else ""


class Writer(Protocol):
    """Something that writes, and its law.

    Both judges raise Wrong or Lost; `seed` is the state that a crash left (see `Disk.leave`).
    """

    @property
    def name(self) -> str: ...
    @property
    def lacks(self) -> str: ...  # a call that the disk does not know
    def prepare(self, folder: Path) -> object: ...
    def write(self, folder: Path) -> object: ...
    def judge_failure(self, folder: Path, end: End) -> None: ...
    def judge_crash(self, folder: Path, end: End, seed: int) -> None: ...


@attrs.define
class Found:
    """What came of many tries."""

    cases: int = 0
    kinds: Counter[str] = attrs.Factory(Counter)
    says: list[str] = attrs.Factory(list)

    def judge(self, what: str, act: Callable[[], None]) -> None:
        """Count a case, and what it found."""
        self.cases += 1
        try:
            act()
        except Wrong as error:
            self._tell(WRONG, what, str(error))
        except Lost as error:
            self._tell(LOST, what, str(error))
        except Exception:
            self._tell(TRACEBACK, what, traceback.format_exc(limit=-3))

    def _tell(self, kind: str, what: str, says: str) -> None:
        self.kinds[kind] += 1
        self.says.append(f"{kind}: {what}: {says}")


def failures(
    writer: Writer, room: Path, every: int = 1, faults: Sequence[tuple[int, bool]] = FAULTS
) -> Found:
    """Every call, or every so manyth, fails in every way."""
    calls = _calls(writer, room)
    disks = {
        f"call {at} ({calls[at]}): {os.strerror(error)}{' from then on' * forever}": partial(
            Disk, fault=Fault(at, error, forever)
        )
        for at in range(0, len(calls), every)
        for error, forever in faults
    }
    return _judged(writer, room, disks)


def full_disks(writer: Writer, room: Path, rooms: Sequence[int], *, stuck: bool = False) -> Found:
    """A disk that has room for so many bytes, and takes few at once; `stuck`: nothing can be taken
    back from it.
    """
    disks = {
        f"room for {size} bytes": partial(Disk, room=size, piece=1 + size % 70, stuck=stuck)
        for size in rooms
    }
    return _judged(writer, room, disks)


def _judged(writer: Writer, room: Path, disks: Mapping[str, Callable[[Path], Disk]]) -> Found:
    """What came of a writer on each of these disks."""
    found = Found()
    for says, disk in disks.items():
        with temporary_folder(room) as folder:
            writer.prepare(folder)
            end = _run(writer, folder, disk(folder))
            found.judge(f"{writer.name}, {says}", partial(_judge_failure, writer, folder, end))
    return found


def crashes(writer: Writer, room: Path, every: int = 1, chances: int = CHANCES) -> Found:
    """The power goes before every call, or every so manyth, and after the last one."""
    found = Found()
    calls = [*_calls(writer, room), "end"]
    for at in {*range(0, len(calls), every), len(calls) - 1}:
        with temporary_folder(room) as folder:
            writer.prepare(folder)
            end = _run(writer, folder, Disk(folder, crashes_at=at))
            for seed in (ALL, LEAST, *range(2, 2 + chances)):
                left = folder.with_name("left")
                end.disk.leave(left, seed + at * 100 if seed > LEAST else seed)
                found.judge(
                    f"{writer.name}, power lost before call {at} ({calls[at]}), seed {seed}",
                    partial(_judge_crash, writer, left, end, seed),
                )
                shutil.rmtree(left)
    return found


def tree(folder: Path) -> dict[str, bytes]:
    """All files of a folder by their path in it, and its folders, but for temporary ones."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes() if path.is_file() else FOLDER
        for path in sorted(folder.rglob("*"))
        if not _is_temporary(path.relative_to(folder))
    }


def put(state: Mapping[str, bytes], folder: Path) -> None:
    """Fill a folder, so that `tree` gives this."""
    for path, data in state.items():
        if data == FOLDER:
            (folder / path).mkdir()
        else:
            (folder / path).write_bytes(data)


def temporaries(folder: Path) -> list[str]:
    """The temporary files and folders in a folder."""
    found = (path.relative_to(folder) for path in folder.rglob("*"))
    return [path.as_posix() for path in found if _is_temporary(path)]


def check(holds: bool, says: str, kind: type[AssertionError] = Wrong) -> None:
    """Raise unless it holds."""
    if not holds:
        raise kind(says)


def _judge_failure(writer: Writer, folder: Path, end: End) -> None:
    error = end.error
    if error is not None and not isinstance(error, GoldrushError):
        raise error
    check("\n" not in str(error), f"an error in several lines: {error}")
    is_removed = not end.failed.startswith(("unlink", "remove")) and not end.has_failed_for_good
    check(not (is_removed and temporaries(folder)), f"left over: {temporaries(folder)}")
    writer.judge_failure(folder, end)
    _check_swept(folder)


def _judge_crash(writer: Writer, left: Path, end: End, seed: int) -> None:
    if end.error is not None and not isinstance(end.error, PowerLost):
        raise end.error
    writer.judge_crash(left, end, seed)
    _check_swept(left)


def _check_swept(folder: Path) -> None:
    """What was left over is removed by the first writer in each folder a day later."""
    make_old(folder)
    with Disk(folder):
        for within in {path.parent for path in folder.rglob("*")}:
            if not _is_temporary(within.relative_to(folder)):
                files.write_whole(str(within / "next"), b"")
    check(not temporaries(folder), f"not swept: {temporaries(folder)}")


def _calls(writer: Writer, room: Path) -> list[str]:
    """The calls of a writer on a sound disk, all of which it makes known to the disk."""
    with temporary_folder(room) as folder:
        writer.prepare(folder)
        disk = Disk(folder)
        end = _run(writer, folder, disk)
        if end.error is not None:
            raise end.error
        left = folder.with_name("left")
        disk.leave(left)
        assert tree(left) == tree(folder), "written, but not through files.system"
        shutil.rmtree(left)
        return disk.calls


def _run(writer: Writer, folder: Path, disk: Disk) -> End:
    disk.lacks = writer.lacks
    appended: list[tuple[int, bool]] = []
    with watched(lambda offset, is_synced: appended.append((offset, is_synced))):
        error = disk.tried(lambda: writer.write(folder))
    # What the lost process held is gone with it: an object that lived on could write later, by a
    # descriptor that is another file's by then (pyarrow's writers do on their way out).
    lost: BaseException | None = error
    while lost is not None:
        traceback.clear_frames(lost.__traceback__)
        lost = lost.__context__
    return End(disk, error, appended)


@contextmanager
def watched(on_commit: Callable[[int, bool], object]) -> Iterator[None]:
    """Tell where each commit ends that is appended to a journal, and whether it was synced. Those
    without which a run that replaces another has not begun are no loss.
    """
    append = JournalWriter.append

    def append_and_tell(self: JournalWriter, commit: Commit) -> None:
        replaces = self._new is not None and self._new.replaces
        append(self, commit)
        if self.is_begun or not replaces:
            on_commit(self.offset, self.fsync)

    JournalWriter.append = append_and_tell  # type: ignore[method-assign]
    try:
        yield
    finally:
        JournalWriter.append = append  # type: ignore[method-assign]


@contextmanager
def temporary_folder(room: Path) -> Iterator[Path]:
    """A new folder."""
    folder = room / "folder"
    folder.mkdir()
    try:
        yield folder
    finally:
        shutil.rmtree(folder)


def _is_temporary(path: Path) -> bool:
    return any(files.is_temporary(part) for part in path.parts)
