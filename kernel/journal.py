"""Append-only journal. A commit never changes; a reader returns it or reports where damage is.

    journal  = header commit*
    header   = [magic, format, world, rules, checksum]
    commit   = [length, check, body, checksum]              length = bytes of body
    body     = [0, setup, digest]                           START, first and only first
             | [1, unit, digest or null, block, block, ...] UNIT: inputs, derived, inputs, ...
             | [2, unit]                                    END, last
             | [3, unit, facts, digest]                     FORK, where a run leaves its parent's
    block    = [[code, [row, row, ...]], ...]

Each line is one msgpack array, so any msgpack library can walk the file. Checksums are xxh3-64,
each seeded with the one before: it verifies its commit and all that precede it. `check` covers
the length alone (its low 32 bits): otherwise a flipped bit in a length would make the rest of the
file look like an unfinished tail. There is one frame a commit, because a frame an event triples the
time to read. kernel/README.md specifies the format for readers in other languages, with an example
in hex.
"""

from __future__ import annotations

import io
import os
import struct
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple, Self

import msgpack
import msgspec
from msgspec import Raw
from xxhash import xxh3_64_intdigest

from goldrush.kernel import files
from goldrush.kernel.codec import (
    MALFORMED,
    MAPS_MAX,
    Undecodable,
    encode,
    is_readable,
    pack,
    undecodable,
    unpacker,
)
from goldrush.kernel.collector import CollectorPaused
from goldrush.kernel.errors import (
    BadInput,
    CommitTooLarge,
    DamagedJournal,
    JournalError,
    JournalLost,
    MalformedEvents,
    NotAJournal,
    TornTail,
    UnsupportedJournal,
    WriteFailed,
    format_value,
)
from goldrush.kernel.world import Block

if TYPE_CHECKING:
    from hashlib import _Hash

    from _typeshed import WriteableBuffer

MAGIC = "goldrush"
FORMAT = 1
HEADER_MAX = 128  # bytes
BODY_MAX = 1 << 26  # bytes of one commit's body: 671 for each of 100,000 agents
PENDING_MAX = 1 << 27  # bytes of the commits with one step's inputs, before they are judged
FORKS_MAX = 100  # successive forks of a run; each may make a reader look back

START, UNIT, END, FORK = range(4)

_PREFIX = files.JOURNAL
_HEAD = struct.Struct(">2sIcI")  # 94, ce length, ce check
_TAIL = struct.Struct(">cQ")  # cf checksum
_FORK_FRONT = bytes((0x94, FORK))  # how the body of a FORK begins
_END_FRONT = bytes((0x92, END))
_NO_UNITS = (bytes((0x93, START)), _END_FRONT, _FORK_FRONT)
_CHECKED_EVERY = 0.1  # seconds between two looks at the path of a file that is written
_PIECE = 1 << 20  # bytes read at once, at most
_BUFFER = 1 << 16  # bytes read ahead
_HEAD_BYTES, _TAIL_BYTES = _HEAD.size, _TAIL.size


class Header(msgspec.Struct, frozen=True):
    """The header: the world and the version of its rules."""

    world: str
    rules: int

    def packed(self, version: int = FORMAT) -> bytes:
        """The header's bytes. They begin alike in every version of the format."""
        fields = pack((MAGIC, version, self.world, self.rules, 0))[:-1]
        return fields + b"\xcf" + xxh3_64_intdigest(fields).to_bytes(8, "big")


class Location(msgspec.Struct, frozen=True):
    """A location between two commits with no unit open: reading can begin here.

    Attributes:
        offset: the byte at which the next commit starts.
        index: the index of that commit, from 0.
        unit: the last closed unit.
    """

    offset: int
    index: int
    unit: int


class Commit(msgspec.Struct, eq=False):
    """One commit of a journal.

    Attributes:
        kind: START, UNIT, END or FORK.
        unit: the round; 0 for START, the last closed one for END and FORK.
        digest: of the state after the commit; None while the unit is open.
        setup: the setup of a START, or the facts of a FORK.
        blocks: the events: inputs at even indices, derived ones at odd indices.
        index: its index in the journal, from 0.
        offset, end: the bytes between which it lies.
        raw: the body as read.
    """

    kind: int
    unit: int
    digest: int | None = None
    blocks: Sequence[Block] = ()
    setup: Mapping[str, Any] | None = None
    index: int = -1
    offset: int = -1
    end: int = -1
    raw: bytes = b""

    @property
    def where(self) -> str:
        """The commit's location as text."""
        return f"commit {self.index} at byte {self.offset}"

    @property
    def closed(self) -> int:
        """The last unit that is closed after it."""
        return self.unit - (self.kind == UNIT and self.digest is None)

    @property
    def after(self) -> Location:
        """The location after a commit with a digest."""
        return Location(self.end, self.index + 1, self.unit)

    def body(self) -> bytes:
        """The canonical body."""
        if self.kind == UNIT:
            blocks = [Raw(block.packed) for block in self.blocks]
            return encode((UNIT, self.unit, self.digest, *blocks))
        parts = {START: (self.setup, self.digest), FORK: (self.unit, self.setup, self.digest)}
        return pack((self.kind, *parts.get(self.kind, (self.unit,))))


IsOpening = Callable[[Commit], bool]  # whether a commit is of the opening of every run


def _starts(commit: Commit) -> bool:
    return commit.kind in (START, FORK)


class JournalWriter:
    """Writes a journal: one commit a call, each in one write to the file.

    The file has a temporary name until the first commit, so a path never names a journal without a
    START. A file to be replaced stays until `is_begun`. Both are locked while open. Nothing is
    buffered, so a commit survives the death of this process once `append` has returned (and, with
    `fsync`, a crash of the machine); where a file is replaced, from `is_begun` on.

    Attributes:
        is_begun: whether a new journal has more than the opening. Without more, nothing is lost
            with it.
    """

    _new: files.Unfinished | None  # until the file has its name
    _front: Callable[[], Iterable[bytes]]  # the bytes before the first commit

    def __init__(
        self,
        path: str | Path,
        header: Header,
        *,
        force: bool = False,
        fsync: bool = False,
        is_opening: IsOpening = _starts,
    ) -> None:
        """Start a new journal. An empty file at the path is replaced. `force`: replace a journal;
        `fsync`: wait for the disk at every commit; `is_opening`: whether a commit is of the
        opening, with which every run begins.

        Raises BadInput if the folder is missing, the path cannot take a file, or a file there may
        not be replaced; JournalInUse if another process is writing it.
        """
        packed = header.packed()
        if (type(header.world), type(header.rules)) != (str, int) or len(packed) > HEADER_MAX:
            raise BadInput(
                f"world {format_value(header.world)} under rules {format_value(header.rules)}",
                "name it by a short text and number its rules",
            )
        self._open(path, fsync)
        self.is_begun, self._is_opening = False, is_opening
        self._new = files.Unfinished(self.path, force=force, by_force=files.is_journal)
        self._fd, self._file = self._new.fd, os.path.abspath(self.path)
        self._checksum = int.from_bytes(packed[-8:], "big")
        self._front = lambda: (packed,)

    def _open(self, path: str | Path, fsync: bool) -> None:
        self.path = os.fspath(path)
        self.fsync = fsync
        self.offset = self.commits = 0
        self.is_begun, self._is_opening = True, _starts
        self._new = None
        self._is_branch = self._is_name_synced = False
        self._inode: tuple[int, int] | None = None  # with its device; None: not asked for yet
        self._checked = 0.0  # when the path was looked at, on the clock `monotonic`
        self._process = os.getpid()

    @classmethod
    def branch(
        cls,
        path: str | Path,
        parent: JournalReader,
        commit: Commit,
        *,
        force: bool = False,
        fsync: bool = False,
    ) -> Self:
        """Start a journal whose bytes, up to the end of a commit, are those of its parent.

        They are written with the first commit that is appended; until then `parent` must stay open.
        `force`, `fsync`: as for a new journal.

        Raises BadInput as for a new journal, and if `path` is the parent itself; JournalInUse if
        another process is writing it.
        """
        if os.path.exists(path) and os.path.samefile(path, parent.path):
            raise BadInput(f"{os.fspath(path)} is the parent itself", "give another path")
        journal = cls(path, parent.header, force=force, fsync=fsync)
        journal._checksum = parent.checksum_before(commit.end)
        journal._front = lambda: _proven(parent, commit.end)
        journal._is_branch = True
        journal.commits = commit.index + 1
        return journal

    @classmethod
    def reopen(cls, path: str | Path, *, fsync: bool = False) -> Self:
        """Lock an existing journal to continue it. Then read it (`reader`) and call `go_on_after`.

        Raises BadInput if it cannot be opened for writing; JournalInUse if another process is
        writing it.
        """
        journal = cls.__new__(cls)
        journal._open(path, fsync)
        journal._fd = files.locked(journal.path, os.O_RDWR)
        journal._file = os.path.abspath(journal.path)
        return journal

    def go_on_after(self, commit: Commit) -> None:
        """Continue after this commit, which was read from the file; truncate the rest.

        Raises WriteFailed.
        """
        self.offset, self.commits = commit.end, commit.index + 1
        try:
            self._checksum = int.from_bytes(os.pread(self._fd, 8, commit.end - 8), "big")
            files.system.truncate(self._fd, self.offset)
        except OSError as error:
            raise WriteFailed(self.path, files.format_reason(error)) from None

    def reader(self) -> JournalReader:
        """A reader of the open file itself, even if the path names another one by now.

        Raises as opening a reader.
        """
        return JournalReader.over(self._fd, self.path)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        try:
            self.close()
        except WriteFailed:
            if error is None:  # else that error explains more
                raise

    def append(self, commit: Commit) -> None:
        """Append one commit.

        On failure the commits before it stay intact, and the partial write is truncated if the
        system allows that.

        Raises WriteFailed if the system refuses, the commit exceeds a limit, or this process was
        forked from the one that writes; JournalLost if the file has another length, or the path no
        longer names it: that is looked at by the first commit after a tenth of a second, by END,
        and before each wait for the disk.
        """
        files.check_process(self.path, self._process)
        body = commit.body()
        if len(body) > BODY_MAX:
            fault = f"a commit of {len(body):,} bytes, and one has at most {BODY_MAX:,}"
            raise CommitTooLarge(self.path, fault)
        if len(body) > MAPS_MAX and not is_readable(body):
            raise WriteFailed(self.path, f"a commit of more than {MAPS_MAX} maps")
        frame, checksum = _framed(body, self._checksum)
        before = self.offset, self.commits, self._checksum, self.is_begun
        try:
            if self._new is None:
                if os.lseek(self._fd, 0, os.SEEK_END) != self.offset:
                    raise JournalLost(self.path, "changed by another process")
                now = time.monotonic()  # each time, a look takes a tenth of a short run
                if self.fsync or commit.kind == END or now - self._checked >= _CHECKED_EVERY:
                    self._check_named()
                    self._checked = now
            self.offset = self._write(frame)
            # Ctrl-C from here on loses nothing: the commit is whole, and may have been paid for.
            self.commits, self._checksum = self.commits + 1, checksum
            self.is_begun = self.is_begun or not self._is_opening(commit)
            self._finish()
        except JournalLost:
            raise  # the file belongs to another process now
        except (OSError, WriteFailed) as error:
            self.offset, self.commits, self._checksum, self.is_begun = before
            self._take_back()
            if isinstance(error, WriteFailed):
                raise
            whole = self.commits if self.offset else 0
            reason = f"{files.format_reason(error)} after {whole} whole commits"
            raise WriteFailed(self.path, reason) from None
        except BaseException:  # Ctrl-C between two partial writes
            self._take_back()
            raise
        if self.fsync and self._new is None and not self._is_name_synced:
            files.sync_folder(self._file)  # where that fails the commit stays, with its name
            self._is_name_synced = True

    def close(self) -> None:
        """Close the file, and remove it if it has no name yet: nothing was committed, or it would
        have replaced another file and is not begun. May be called twice.

        Raises WriteFailed if the system reports an earlier write error only now.
        """
        if self._new is not None:
            self._new.discard()
            self._new, self._fd = None, -1
        if self._fd >= 0:
            fd, self._fd = self._fd, -1
            try:
                files.system.close(fd)
            except OSError as error:
                reason = f"{files.format_reason(error)} when it was closed"
                raise WriteFailed(self.path, reason) from None

    def discard(self) -> None:
        """Remove the file, unless it has no name yet. No-op in a process forked from the one that
        writes, and where the system refuses: then it stays, and can be resumed.
        """
        with suppress(OSError, WriteFailed):
            files.check_process(self.path, self._process)
            self._check_named()
            files.system.unlink(self._file)

    def _write(self, data: bytes) -> int:
        """Write behind the last commit, and return the new end of the file."""
        end = self.offset
        if not end:
            for piece in self._front():
                files.write_all(self._fd, piece, end)
                end += len(piece)
        files.write_all(self._fd, data, end)
        return end + len(data)

    def _finish(self) -> None:
        """Name a new file, if it need not wait; sync an older one if `fsync` is set."""
        if self._new is not None:
            if self._new.replaces and not self.is_begun:
                return
            # A sync takes half as long as a run of 200 rounds. But a fork that loses its end with
            # the power would leave a journal that looks like its parent's run.
            self._new.publish(sync=self.fsync or self._is_branch)
            self._fd, self._new = self._new.release(), None
        elif self.fsync:
            files.system.sync(self._fd)

    def _check_named(self) -> None:
        """Raise JournalLost if the path no longer names this file."""
        if self._inode is None:
            here = os.fstat(self._fd)
            self._inode = here.st_dev, here.st_ino
        try:
            there = os.stat(self._file)
        except FileNotFoundError:
            raise JournalLost(self.path, "removed") from None
        if (there.st_dev, there.st_ino) != self._inode:
            raise JournalLost(self.path, "replaced by another file")

    def _take_back(self) -> None:
        with suppress(OSError):  # a torn tail stays, which every reader recognises
            files.system.truncate(self._fd, self.offset)


def _proven(parent: JournalReader, end: int) -> Iterator[bytes]:
    """The bytes of a journal up to the end of a commit, each commit verified by its checksum again.

    Raises DamagedJournal if they differ from those that `parent` has read.
    """
    header = parent.header.packed()
    yield header
    checksum = int.from_bytes(header[-8:], "big")
    with parent.again() as reader, suppress(TornTail):
        for _, reached, body in reader.frames():
            frame, checksum = _framed(body, checksum)
            yield frame
            if reached == end:
                return
    raise DamagedJournal(parent.path, -1, end, "the end of a commit", "a shorter file")


def _framed(body: bytes, checksum: int) -> tuple[bytes, int]:
    """The frame of a commit with this body after that checksum, and the new checksum."""
    length = b"\x94\xce" + len(body).to_bytes(4, "big")
    check = xxh3_64_intdigest(length, checksum) & 0xFFFFFFFF
    frame = length + b"\xce" + check.to_bytes(4, "big") + body
    checksum = xxh3_64_intdigest(frame, checksum)
    return frame + b"\xcf" + checksum.to_bytes(8, "big"), checksum


def _sha256(data: bytes = b"") -> _Hash:
    # Imported late: it loads OpenSSL, which takes milliseconds, and most commands need no SHA-256.
    from hashlib import sha256

    return sha256(data)


class _Reached(NamedTuple):
    """A location between two commits, and hashes of the bytes before it."""

    offset: int
    checksum: int
    sha256: _Hash | None


class JournalReader:
    """Reads a journal commit by commit, in memory bounded by one commit.

    Iterating gives every complete commit. It reads the file as it was opened, to the length it had
    then, whatever happens to its path.

    Iterating raises DamagedJournal if bytes differ from those written, TornTail for an unfinished
    last commit (also one of zeros, as a power loss leaves it), and MalformedEvents if checksums
    hold but the bytes are not a commit.

    Attributes:
        path: the journal.
        header: its header.
        size: its bytes.
        ended: after the iteration: whether the run has ended.
        on_bytes: called, while it is iterated, with the end of each commit that was read and used,
            in bytes; None: nothing is.
    """

    on_bytes: Callable[[int], None] | None

    def __init__(self, path: str | Path, *, hashed: bool = False) -> None:
        """Open a journal and read its header. `hashed`: whether `sha256` and `reached` will be
        called.

        Raises BadInput if it cannot be opened; NotAJournal, UnsupportedJournal, DamagedJournal if
        the header is not one this version reads.
        """
        self._open(files.opened(os.fspath(path)), os.fspath(path), hashed)

    @classmethod
    def over(cls, fd: int, path: str, *, hashed: bool = False) -> Self:
        """A reader of an open file; the caller still has to close `fd`.

        Raises BadInput if it is not an ordinary file, and otherwise as opening `path`.
        """
        reader = cls.__new__(cls)
        reader._open(files.regular(os.dup(fd), path), path, hashed)
        return reader

    def again(self, size: int | None = None) -> Self:
        """Another reader of the same file, to look back while this one stays at its position.

        `size`: the number of bytes that it reads from the start; None: as many as this one.

        It raises DamagedJournal if the bytes it reads differ from those read by this one, because
        the file was edited in between.
        """
        other = self.over(self._fd, self.path, hashed=self._sha256 is not None)
        other.size = other._bytes.size = self.size if size is None else size
        other._known = _Reached(self._offset, self._checksum, self._sha256 and self._sha256.copy())
        return other

    def _open(self, fd: int, path: str, hashed: bool) -> None:
        self.path = path
        self.ended = False
        self.on_bytes = None
        self._fd = fd
        self.size = os.fstat(fd).st_size
        self._bytes = _Bytes(fd, self.size)
        self._file = io.BufferedReader(self._bytes, _BUFFER)
        self._offset = self._checksum = 0  # where the frame given last begins, and its seed
        self._frame = b""  # the bytes read of that frame; `_sha256` covers those before it
        self._hexdigest: str | None = None  # of the whole file, once it was asked for
        self._known = _Reached(0, 0, None)
        try:
            self.header = self._read_header()
        except BaseException:
            self._file.close()
            raise
        self._packed_header = self.header.packed()
        self._sha256: _Hash | None = _sha256() if hashed else None
        self._begin_at(len(self._packed_header))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        self._file.close()

    def stat(self) -> os.stat_result:
        return os.fstat(self._fd)

    def sha256(self) -> str:
        """The SHA-256 of the file in hex: of the bytes iterated over, and of the rest behind them.

        The reader must be `hashed` and have been iterated from the start.
        """
        assert self._sha256 is not None
        if self._hexdigest is None:
            whole = self._sha256.copy()
            whole.update(self._frame)
            while piece := self._file.read(_PIECE):
                whole.update(piece)
            self._hexdigest = whole.hexdigest()
        return self._hexdigest

    def checksum_before(self, offset: int) -> int:
        """The checksum that seeds that of the commit at this byte."""
        return int.from_bytes(os.pread(self._fd, 8, offset - 8), "big")

    def pieces(self, start: int, end: int) -> Iterator[bytes]:
        """The bytes from `start` to `end`, or to the end of the file, in pieces."""
        end = min(end, self.size)
        while start < end and (piece := os.pread(self._fd, min(end - start, _PIECE), start)):
            yield piece
            start += len(piece)

    def __iter__(self) -> Iterator[Commit]:
        """All commits, from the first."""
        return self.commits()

    def commits(self, location: Location | None = None) -> Iterator[Commit]:
        """The commits from a location on; None: from the first. Only one iteration at a time.

        A commit is verified with the eight bytes before it, so nothing before `location` is read,
        and an invalid offset is reported as damage. The index of the location is not verified.
        """
        first = location or Location(len(self._packed_header), 0, 0)
        if not len(self._packed_header) <= first.offset <= self.size:
            raise DamagedJournal(self.path, first.index, first.offset, "a commit", "no such offset")
        closed, is_open, forks = first.unit, False, 0
        pending = 0
        index = first.index - 1
        parser = _BodyParser()
        self.ended = False
        for offset, end, body in self.frames(first):
            index += 1
            commit = self._parsed(parser, index, offset, end, body)
            if commit.kind != UNIT or commit.unit != closed + 1 or index == 0:
                forks += commit.kind == FORK
                self._check_order(commit, closed, is_open, forks)
            is_open = commit.digest is None
            if is_open:
                pending = (pending if len(commit.blocks) == 1 else 0) + len(body)
                if pending > PENDING_MAX and len(commit.blocks) % 2:
                    fault = f"more than {PENDING_MAX} bytes of pending inputs"
                    raise MalformedEvents(self.path, commit.where, fault)
            else:
                closed, pending = commit.unit, 0
            self.ended = commit.kind == END
            yield commit
            if self.on_bytes is not None:
                self.on_bytes(end)
        if index < 0:
            raise TornTail(self.path, 0, self.size, 0)

    def outline(self) -> Iterator[Commit]:
        """START, every FORK and END, then the last UNIT: the progress of a run without decoding it.

        All checksums are verified; the content of other units is not decoded. Raises as iterating,
        after the commits before the error.
        """
        parser = _BodyParser()
        last: tuple[int, int, int, bytes] | None = None
        trouble: JournalError | None = None
        self.ended = False
        index = -1
        try:
            for index, (offset, end, body) in enumerate(self.frames()):
                if body[:2] in _NO_UNITS:
                    yield self._parsed(parser, index, offset, end, body)
                    self.ended = body[:2] == _END_FRONT
                else:
                    last = index, offset, end, body
        except JournalError as error:
            trouble = error
        if last is not None:
            yield self._parsed(parser, *last)
        if trouble is not None:
            raise trouble
        if index < 0:
            raise TornTail(self.path, 0, self.size, 0)

    def _parsed(
        self, parser: _BodyParser, index: int, offset: int, end: int, body: bytes
    ) -> Commit:
        """The commit with this body. Raises MalformedEvents."""
        try:
            commit = parser.parse(body)
        except Undecodable as error:
            where = f"commit {index} at byte {offset}"
            raise MalformedEvents(self.path, where, str(error)) from None
        commit.index, commit.offset, commit.end, commit.raw = index, offset, end, body
        return commit

    def _check_order(self, commit: Commit, closed: int, is_open: bool, forks: int) -> None:
        """Raise MalformedEvents for a commit that is not valid at its position. `is_open`: whether
        the next unit has begun; `forks`: the number of forks so far, this commit included.
        """
        is_first = commit.index == 0
        is_unit = commit.kind == UNIT
        if is_first != (commit.kind == START) or commit.unit != closed + is_unit or is_open:
            raise MalformedEvents(
                self.path, commit.where, "a commit of this kind or unit is not valid here"
            )
        if forks > FORKS_MAX:
            raise MalformedEvents(self.path, commit.where, f"more than {FORKS_MAX} forks")

    def frames(self, location: Location | None = None) -> Iterator[tuple[int, int, bytes]]:
        """(offset, end, body) of each commit whose checksums hold, undecoded; otherwise as
        `commits`.
        """
        location = location or Location(len(self._packed_header), 0, 0)
        read, size, path = self._file.read, self.size, self.path
        offset, index = location.offset, location.index
        checksum = self._begin_at(offset)
        sha256 = self._sha256
        while True:
            if sha256 is not None:
                sha256.update(self._frame)
            self._offset, self._checksum, self._frame = offset, checksum, b""
            if offset >= size:
                return
            if self.ended:  # no recorder writes anything behind END
                raise DamagedJournal(
                    path, index, offset, "the end of the file", f"{size - offset} bytes more"
                )
            self._frame = head = read(_HEAD_BYTES)
            if len(head) < _HEAD_BYTES:
                raise self._torn(index, offset, len(head))
            front, length, mark, found = _HEAD.unpack(head)
            check = xxh3_64_intdigest(head[:6], checksum) & 0xFFFFFFFF
            if found != check or front != b"\x94\xce" or mark != b"\xce":
                raise self._zeroed(index, offset, offset + _HEAD_BYTES) or DamagedJournal(
                    path, index, offset, f"a commit's length under check {check:08x}", head.hex()
                )
            if length > BODY_MAX:
                raise MalformedEvents(
                    path, f"commit {index} at byte {offset}", f"a body of {length} bytes"
                )
            end = offset + _HEAD_BYTES + length + _TAIL_BYTES
            if end > size:
                raise self._torn(index, offset, size - offset)
            rest = read(length + _TAIL_BYTES)
            self._frame = frame = head + rest
            if len(rest) < length + _TAIL_BYTES:  # the file shrank while it was read
                raise self._torn(index, offset, _HEAD_BYTES + len(rest))
            checksum = xxh3_64_intdigest(frame[:-_TAIL_BYTES], checksum)
            mark, found = _TAIL.unpack_from(rest, length)
            if found != checksum or mark != b"\xcf":
                raise self._zeroed(index, offset, end) or DamagedJournal(
                    path, index, offset, f"checksum cf{checksum:016x}", rest[length:].hex()
                )
            if offset < self._known.offset <= end:
                self._check_known(index, offset, _Reached(end, checksum, sha256), frame)
            yield offset, end, rest[:length]
            offset = end
            index += 1

    def _begin_at(self, offset: int) -> int:
        """Seek to a byte and return the checksum before it; hash only from the first commit on."""
        self._file.seek(offset)
        self._frame, self._hexdigest = b"", None
        if offset > len(self._packed_header):
            self._sha256 = None
            return self.checksum_before(offset)
        if self._sha256 is not None:
            self._sha256 = _sha256(self._packed_header)
        return int.from_bytes(self._packed_header[-8:], "big")

    def _check_known(self, index: int, offset: int, found: _Reached, frame: bytes) -> None:
        known = self._known
        same = found[:2] == known[:2]
        if same and found.sha256 is not None and known.sha256 is not None:
            sha256 = found.sha256.copy()
            sha256.update(frame)
            same = sha256.digest() == known.sha256.digest()
        if not same:
            raise DamagedJournal(
                self.path, index, offset, "what was read there before", "a file edited meanwhile"
            )

    def _zeroed(self, index: int, offset: int, end: int) -> TornTail | None:
        """The TornTail for zeros at the end of the file, where a machine that lost its power kept
        only the size; None for other bytes.

        The zeros begin in this commit, before `end` at the latest. START is excluded: without it
        there is nothing to continue.
        """
        if index == 0 or any(piece.strip(b"\0") for piece in self.pieces(end - 1, self.size)):
            return None
        return self._torn(index, offset, self.size - offset, zeros=True)

    def _torn(self, index: int, offset: int, extra: int, *, zeros: bool = False) -> TornTail:
        at = offset + _HEAD_BYTES
        front = b"".join(self.pieces(at, at + len(_FORK_FRONT)))
        return TornTail(self.path, index, offset, extra, in_fork=front == _FORK_FRONT, zeros=zeros)

    def _read_header(self) -> Header:
        start = self._file.read(HEADER_MAX)
        front = start[: len(_PREFIX)]
        if front != _PREFIX:
            # A few wrong bytes are damage; with more of them the file never was a journal.
            if sum(a == b for a, b in zip(front, _PREFIX, strict=False)) > len(_PREFIX) // 2:
                raise DamagedJournal(self.path, -1, 0, _PREFIX.hex(), front.hex())
            found = f"a file that begins {front!r}" if start else "an empty file"
            raise NotAJournal(
                self.path, f"not a goldrush journal but {found}; give one that `record` wrote"
            )
        unpacker = msgpack.Unpacker(use_list=False, max_buffer_size=HEADER_MAX)
        unpacker.feed(start)
        try:
            unpacker.read_array_header()
            unpacker.skip()
            version, world, rules = (unpacker.unpack() for _ in range(3))
            unpacker.unpack()
            end: int = unpacker.tell()
            expected = Header(world, rules).packed(version)
        except (ValueError, TypeError, OverflowError, msgpack.UnpackException):
            raise DamagedJournal(self.path, -1, 0, "a whole header", start.hex()) from None
        if start[:end] != expected or (str, int, int) != (type(world), type(rules), type(version)):
            raise DamagedJournal(self.path, -1, 0, expected.hex(), start[:end].hex())
        if version != FORMAT:
            raise UnsupportedJournal(
                self.path, f"journal format {version}; this goldrush reads format {FORMAT}"
            )
        return Header(world, rules)


class _BodyParser:
    """Turns bodies into commits, keeping the bytes of each block with its decoded batches.

    One msgpack Unpacker serves all small bodies, because making one costs as much as parsing a
    round. It limits every declared length, so that a small file cannot ask for much memory.

    A block whose bytes equal those of the block at the same index in the commit before is not
    decoded again: the commit has that block itself. To compare the first bytes is enough, because
    no msgpack value is the beginning of another one. In runs that have settled, most blocks repeat.
    """

    SMALL = 1 << 16

    def __init__(self) -> None:
        self._small = unpacker(self.SMALL)
        self._before: Sequence[Block] = ()  # of the last small body

    def parse(self, body: bytes) -> Commit:
        """The commit. Raises Undecodable for any invalid bytes."""
        if len(body) <= self.SMALL:
            return self._read(body, self._small)
        with CollectorPaused():  # or it walks through the rows of many agents again and again
            return self._read(body, unpacker(len(body)))

    def _read(self, body: bytes, reads: msgpack.Unpacker) -> Commit:
        start: int = reads.tell()
        try:
            reads.feed(body)
            size = reads.read_array_header()
            kind = reads.unpack()
            if type(kind) is int and kind == UNIT and size >= 3:
                commit = self._unit(body, reads, start, size - 3)
            else:
                commit = self._other(kind, size, reads)
            if reads.tell() != start + len(body):
                raise Undecodable("bytes after the commit's content")
        except MALFORMED as error:
            self._small = unpacker(self.SMALL)
            raise undecodable(error) from None
        if reads is self._small:
            self._before = commit.blocks
        return commit

    def _other(self, kind: Any, size: int, unpacker: msgpack.Unpacker) -> Commit:
        unpack = unpacker.unpack
        if type(kind) is int and kind == START and size == 3:
            setup, digest = unpack(), unpack()
            if type(setup) is not dict or digest is None:
                raise Undecodable("a START without a setup or a digest")
            _check_numbers(0, digest)
            return Commit(START, 0, digest, (), setup)
        if type(kind) is int and kind == END and size == 2:
            unit = unpack()
            _check_numbers(unit, None)
            return Commit(END, unit)
        if type(kind) is int and kind == FORK and size == 4:
            unit, facts, digest = unpack(), unpack(), unpack()
            if type(facts) is not dict or digest is None:
                raise Undecodable("a FORK without facts or a digest")
            _check_numbers(unit, digest)
            return Commit(FORK, unit, digest, (), facts)
        raise Undecodable(f"a commit of kind {format_value(kind)} cannot have {size} parts")

    def _unit(self, body: bytes, unpacker: msgpack.Unpacker, start: int, count: int) -> Commit:
        unpack, tell = unpacker.unpack, unpacker.tell
        unit, digest = unpack(), unpack()
        _check_numbers(unit, digest)
        if digest is not None and (count == 0 or count % 2):
            raise Undecodable("a unit that closes without derived events")
        blocks = []
        before = self._before
        at: int = tell()
        for index in range(count):
            if index < len(before) and body.startswith(before[index].packed, at - start):
                blocks.append(before[index])
                at += len(unpacker.read_bytes(len(before[index].packed)))
                continue
            batches = unpack()
            end = tell()
            if type(batches) is not tuple:
                raise Undecodable("a block is not a list of batches")
            for batch in batches:
                if type(batch) is not tuple or len(batch) != 2:
                    raise Undecodable("a batch is not a list of two")
                code, rows = batch
                if type(code) is not int or code < 0 or type(rows) is not tuple or not rows:
                    raise Undecodable("a batch is not [code, [row, ...]]")
            blocks.append(Block(batches, body[at - start : end - start]))
            at = end
        return Commit(UNIT, unit, digest, blocks)


def _check_numbers(unit: Any, digest: Any) -> None:
    if type(unit) is not int or unit < 0:
        raise Undecodable(f"unit {format_value(unit)}, which is not a number")
    if digest is not None and (type(digest) is not int or digest < 0):
        raise Undecodable(f"digest {format_value(digest)}, which is not a 64-bit number")


class _Bytes(io.RawIOBase):
    """The first `size` bytes of an open file, read with `pread`.

    The file's own position is shared by all users of the descriptor, so it is neither used nor
    moved.
    """

    def __init__(self, fd: int, size: int) -> None:
        self.size = size
        self._fd = fd
        self._at = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        self._at = offset + {os.SEEK_SET: 0, os.SEEK_CUR: self._at}[whence]
        return self._at

    def readinto(self, buffer: WriteableBuffer) -> int:
        with memoryview(buffer) as room:
            count = max(0, min(len(room), self.size - self._at, _PIECE))
            data = os.pread(self._fd, count, self._at)
            room[: len(data)] = data
        self._at += len(data)
        return len(data)

    def close(self) -> None:
        if not self.closed:
            os.close(self._fd)
        super().close()


def sha256_of(path: str | Path) -> str:
    """The SHA-256 of a file in hex. Raises BadInput if it cannot be read."""
    with files.open_regular(os.fspath(path)) as file:
        return sha256_in(file)


def sha256_in(file: BinaryIO) -> str:
    """The SHA-256 in hex of an open file from its start, to the length that it has now."""
    digest = _sha256()
    file.seek(0)
    left = os.fstat(file.fileno()).st_size
    while left and (piece := file.read(min(left, _PIECE))):
        digest.update(piece)
        left -= len(piece)
    return digest.hexdigest()
