"""Append-only journal. A commit, once appended, never changes; a reader returns it whole or says
where the file is broken.

    journal  = header commit*
    header   = [magic, format, world, rules, checksum]
    commit   = [length, check, body, checksum]              length = bytes of body
    body     = [0, setup, digest]                           START, first and only first
             | [1, unit, digest or null, block, block, ...] UNIT: inputs, derived, inputs, ...
             | [2, unit]                                    END, last
             | [3, unit, facts, digest]                     FORK, where a run leaves its parent's
    block    = [[code, [row, row, ...]], ...]

Each line is one msgpack array, so any msgpack library can walk the file. Checksums are xxh3-64,
each seeded with the one before: a commit proves itself and all that precedes it. `check` covers
the length alone (its low 32 bits), or one flipped bit in a length would make the rest of the file
look like an unfinished tail. One frame a commit, because a frame an event costs three times the
reading. kernel/README.md has the page for writers of readers, with an example in hex.
"""

from __future__ import annotations

import hashlib
import io
import os
import stat
import struct
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple, Self

import attrs
import msgpack
from xxhash import xxh3_64_intdigest

from goldrush.kernel import files
from goldrush.kernel.codec import (
    MALFORMED,
    MAPS_MAX,
    Undecodable,
    is_readable,
    pack,
    undecodable,
    unpacker,
)
from goldrush.kernel.errors import (
    BadInput,
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
    from _typeshed import WriteableBuffer

MAGIC = "goldrush"
FORMAT = 1
HEADER_MAX = 128  # bytes
BODY_MAX = 1 << 26  # bytes of one commit's body: 671 for each of the most agents there can be
PENDING_MAX = 1 << 27  # bytes of commits that hold one step's inputs, before they are judged
FORKS_MAX = 100  # forks that lead to a run, one after the other; each may make a reader look back

START, UNIT, END, FORK = range(4)

_PREFIX = files.JOURNAL
_HEAD = struct.Struct(">2sIcI")  # 94, ce length, ce check
_TAIL = struct.Struct(">cQ")  # cf checksum
_FORK_FRONT = bytes((0x94, FORK))  # how the body of a FORK begins
_END_FRONT = bytes((0x92, END))
_NO_UNITS = (bytes((0x93, START)), _END_FRONT, _FORK_FRONT)
_PIECE = 1 << 20  # bytes read at once, at most
_BUFFER = 1 << 16  # bytes read ahead
_HEAD_BYTES, _TAIL_BYTES = _HEAD.size, _TAIL.size


@attrs.frozen
class Header:
    """What the first bytes say: the world played and the version of its rules."""

    world: str
    rules: int

    def packed(self, version: int = FORMAT) -> bytes:
        """The header's bytes; every version of the format begins like this."""
        fields = pack((MAGIC, version, self.world, self.rules, 0))[:-1]
        return fields + b"\xcf" + xxh3_64_intdigest(fields).to_bytes(8, "big")


@attrs.frozen
class Location:
    """A place between two commits, with no unit open: where reading can begin.

    `offset`: the byte where the next commit starts; `index`: its number; `unit`: the last closed.
    """

    offset: int
    index: int
    unit: int


class Commit:
    """One commit as it stands in the file.

    `kind` is START, UNIT, END or FORK; `index` counts from 0, `offset` and `end` are bytes. `unit`
    is the round (0 for START; for END and FORK the last one closed), `digest` the state's after it
    (None while the unit is still open), `setup` what START holds, or the facts of a FORK, `blocks`
    the events: inputs at even places, derived at odd ones. `raw` is the body as it was read.
    """

    __slots__ = ("blocks", "digest", "end", "index", "kind", "offset", "raw", "setup", "unit")

    def __init__(
        self,
        kind: int,
        unit: int,
        digest: int | None = None,
        blocks: Sequence[Block] = (),
        setup: Mapping[str, Any] | None = None,
    ) -> None:
        self.kind = kind
        self.unit = unit
        self.digest = digest
        self.blocks = blocks
        self.setup = setup
        self.index = self.offset = self.end = -1
        self.raw = b""

    @property
    def where(self) -> str:
        """The commit's place in the file, in words."""
        return f"commit {self.index} at byte {self.offset}"

    @property
    def after(self) -> Location:
        """The place after a commit with a digest."""
        return Location(self.end, self.index + 1, self.unit)

    def body(self) -> bytes:
        """The canonical body."""
        if self.kind == UNIT:
            front = _array_of(3 + len(self.blocks)) + b"\x01" + pack(self.unit) + pack(self.digest)
            return front + b"".join([block.packed for block in self.blocks])
        if self.kind == START:
            return pack((START, self.setup, self.digest))
        if self.kind == FORK:
            return pack((FORK, self.unit, self.setup, self.digest))
        return pack((END, self.unit))


def _array_of(size: int) -> bytes:
    """The bytes with which an array of so many items begins."""
    if size < 16:  # nearly always, and a Packer costs as much as the rest of a commit
        return bytes((0x90 | size,))
    header: bytes = msgpack.Packer().pack_array_header(size)
    return header


class JournalWriter:
    """Writes a journal, one commit a call, each in one write to the file.

    The file is written under a temporary name and gets its own with the first commit, so a path
    never names a journal without a START, and what is overwritten stays until then. It is locked
    while it is open; it is not buffered here, so a commit that returned survives the death of this
    process (and, with `fsync`, of the machine).
    """

    _new: files.Unfinished | None  # until the file has its name
    _front: Callable[[], Iterable[bytes]]  # what goes out before the first commit

    def __init__(
        self, path: str | Path, header: Header, *, force: bool = False, fsync: bool = False
    ) -> None:
        """Start a new journal at `path`; an empty file there is replaced, any other with `force`.

        Raises BadInput when the folder is missing or the path cannot take a file, or when
        something is there already and not `force`; JournalInUse when another writer has it.
        """
        packed = header.packed()
        if (type(header.world), type(header.rules)) != (str, int) or len(packed) > HEADER_MAX:
            raise BadInput(
                f"world {format_value(header.world)} under rules {format_value(header.rules)}",
                "name it by a short text and number its rules",
            )
        self._open(path, fsync)
        self._new = files.Unfinished(self.path, force=force, is_own=files.is_empty, is_journal=True)
        self._fd = self._new.fd
        self._checksum = int.from_bytes(packed[-8:], "big")
        self._front = lambda: (packed,)

    def _open(self, path: str | Path, fsync: bool) -> None:
        self.path = os.fspath(path)
        self.fsync = fsync
        self.offset = 0
        self.commits = 0
        self._new = None
        self._is_branch = False
        self._is_name_synced = False

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
        """Start a journal whose bytes, up to the end of this commit, are those of its parent.

        They go out with the first commit that is appended; until then `parent` must stay open.
        Raises as starting a new one does, and BadInput where `path` is the parent itself.
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
        """Lock a journal that exists, to go on with it; then read it, then call `go_on_after`.

        Raises BadInput if it cannot be opened for writing, JournalInUse.
        """
        journal = cls.__new__(cls)
        journal._open(path, fsync)
        files.sweep(os.path.dirname(journal.path))
        journal._fd = files.locked(journal.path, os.O_RDWR)
        return journal

    def go_on_after(self, commit: Commit) -> None:
        """Append after this commit, which was read from the file; drop whatever follows it."""
        self.offset, self.commits = commit.end, commit.index + 1
        try:
            self._checksum = int.from_bytes(os.pread(self._fd, 8, commit.end - 8), "big")
            files.system.truncate(self._fd, self.offset)
        except OSError as error:
            raise WriteFailed(self.path, files.format_reason(error)) from None

    def reader(self) -> JournalReader:
        """A reader of the very file that is open for writing, whatever its path names by now.

        Raises as opening one does.
        """
        return JournalReader.over(self._fd, self.path)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        try:
            self.close()
        except WriteFailed:
            if error is None:  # else that one says more
                raise

    def append(self, commit: Commit) -> None:
        """Append one commit.

        Raises WriteFailed if the system refuses; what was committed before stays whole, and
        the unfinished piece is taken back where the system still allows that. Raises JournalLost
        where the path does not name the file any more.
        """
        body = commit.body()
        if len(body) > BODY_MAX:
            raise WriteFailed(self.path, f"a commit of {len(body)} bytes is over {BODY_MAX}")
        if len(body) > MAPS_MAX and not is_readable(body):
            raise WriteFailed(self.path, f"a commit of more than {MAPS_MAX} maps")
        frame, checksum = _framed(body, self._checksum)
        before = self.offset, self.commits, self._checksum
        try:
            if self._new is None:
                self._check_named()
            self.offset = self._write(frame)
            # Ctrl-C from here on loses nothing: the commit is whole, and may have been paid for.
            self.commits, self._checksum = self.commits + 1, checksum
            self._finish()
        except JournalLost:
            raise  # the file is somebody else's by now
        except (OSError, WriteFailed) as error:
            self.offset, self.commits, self._checksum = before
            self._take_back()
            if isinstance(error, WriteFailed):
                raise
            whole = self.commits if self.offset else 0
            says = f"{files.format_reason(error)} after {whole} whole commits"
            raise WriteFailed(self.path, says) from None
        except BaseException:  # Ctrl-C between two partial writes
            self._take_back()
            raise
        if self.fsync and not self._is_name_synced:
            files.sync_folder(self.path)  # where that fails the commit stays: the file has its name
            self._is_name_synced = True

    def close(self) -> None:
        """Release the file, and leave none where nothing was committed. May be called twice.

        Raises WriteFailed where the system says only now that it could not write.
        """
        if self._new is not None:
            self._new.discard()
            self._new, self._fd = None, -1
        if self._fd >= 0:
            fd, self._fd = self._fd, -1
            try:
                files.system.close(fd)
            except OSError as error:
                says = f"{files.format_reason(error)} when it was closed"
                raise WriteFailed(self.path, says) from None

    def _write(self, data: bytes) -> int:
        """Write behind what is committed, and give where the file ends then."""
        end = self.offset
        if self._new is not None:
            for piece in self._front():
                files.write_all(self._fd, piece, end)
                end += len(piece)
        files.write_all(self._fd, data, end)
        return end + len(data)

    def _finish(self) -> None:
        """Name a new file; sync what was written to an older one where that is asked for."""
        if self._new is not None:
            # A sync takes half as long as a run of 200 rounds. But of a fork that lost its end with
            # the power, what is left would be its parent's run.
            self._new.publish(sync=self.fsync or self._is_branch)
            self._fd, self._new = self._new.release(), None
        elif self.fsync:
            files.system.sync(self._fd)

    def _check_named(self) -> None:
        """Raises JournalLost where the path names another file by now, or none, or the file is not
        what was written.
        """
        here = os.fstat(self._fd)
        try:
            there = os.stat(self.path)
        except FileNotFoundError:
            raise JournalLost(self.path, "removed") from None
        if (here.st_dev, here.st_ino) != (there.st_dev, there.st_ino):
            raise JournalLost(self.path, "replaced by another file")
        if here.st_size != self.offset:
            raise JournalLost(self.path, "changed by somebody else")

    def _take_back(self) -> None:
        with suppress(OSError):  # a torn tail stays, which every reader recognises
            files.system.truncate(self._fd, self.offset)


def _proven(parent: JournalReader, end: int) -> Iterator[bytes]:
    """The bytes of a journal up to the end of a commit, each commit proven by its checksum again.

    Raises DamagedJournal where they are not what `parent` has met.
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
    """A commit with this body behind that checksum; and its own checksum."""
    length = b"\x94\xce" + len(body).to_bytes(4, "big")
    check = xxh3_64_intdigest(length, checksum) & 0xFFFFFFFF
    frame = length + b"\xce" + check.to_bytes(4, "big") + body
    checksum = xxh3_64_intdigest(frame, checksum)
    return frame + b"\xcf" + checksum.to_bytes(8, "big"), checksum


class _Reached(NamedTuple):
    """A place between two commits, and what proves the bytes before it."""

    offset: int
    checksum: int
    sha256: hashlib._Hash | None


class JournalReader:
    """Reads a journal commit by commit, in memory bounded by one commit.

    Iterating gives every whole commit and then, if the file does not end there, raises:
    DamagedJournal for bytes that are not what was written, TornTail for an unfinished last
    commit (one that ends in zeros, as after a power loss, included), MalformedEvents for sound
    bytes that are no commit. `ended` tells, once the iteration is over, whether the run had come
    to its end.

    What is read is the file that was opened, as long as it was then, whatever becomes of its path.
    """

    def __init__(self, path: str | Path, *, hashed: bool = False) -> None:
        """Open `path` and read the header; `hashed`: to be asked for `sha256`.

        Raises BadInput if it cannot be opened, NotAJournal, UnsupportedJournal, DamagedJournal.
        """
        self._open(_opened(os.fspath(path)), os.fspath(path), hashed)

    @classmethod
    def over(cls, fd: int, path: str, *, hashed: bool = False) -> Self:
        """A reader of a file that is open already; `fd` stays its owner's to close.

        Raises BadInput for what is no ordinary file, and otherwise as opening `path` does.
        """
        reader = cls.__new__(cls)
        reader._open(_regular(os.dup(fd), path), path, hashed)
        return reader

    def again(self) -> Self:
        """Another reader of the same file, to look back with: this one stays where it is.

        It raises DamagedJournal if what it meets on the way there is not what this one has met,
        because the file was edited meanwhile.
        """
        other = self.over(self._fd, self.path, hashed=self._sha256 is not None)
        other.size = other._bytes.size = self.size
        other._known = self._reached
        return other

    def _open(self, fd: int, path: str, hashed: bool) -> None:
        self.path = path
        self.ended = False
        self._fd = fd
        self.size = os.fstat(fd).st_size
        self._bytes = _Bytes(fd, self.size)
        self._file = io.BufferedReader(self._bytes, _BUFFER)
        self._reached = self._known = _Reached(0, 0, None)
        try:
            self.header = self._read_header()
        except BaseException:
            self._file.close()
            raise
        self._sha256 = hashlib.sha256() if hashed else None
        self._begin_at(len(self.header.packed()))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """Release the file."""
        self._file.close()

    def stat(self) -> os.stat_result:
        """What the system says of the file by now."""
        return os.fstat(self._fd)

    def sha256(self) -> str:
        """The SHA-256 of the file in hex, to pin it with: of the bytes that an iteration from the
        start has met, and of those behind them where it stopped early. The reader is `hashed`.
        """
        assert self._sha256 is not None
        while self._read(_PIECE):
            pass
        return self._sha256.hexdigest()

    def reached(self) -> tuple[int, str]:
        """The byte where the commit given last begins (once the iteration is over: where the whole
        commits end), and the SHA-256 in hex of all before it. The reader is `hashed`.
        """
        assert self._reached.sha256 is not None
        return self._reached.offset, self._reached.sha256.hexdigest()

    def checksum_before(self, offset: int) -> int:
        """The checksum on which the commit that starts at this byte builds."""
        return int.from_bytes(os.pread(self._fd, 8, offset - 8), "big")

    def pieces(self, start: int, end: int) -> Iterator[bytes]:
        """The bytes of the file from one place to another, or to where it ends."""
        end = min(end, self.size)
        while start < end and (piece := os.pread(self._fd, min(end - start, _PIECE), start)):
            yield piece
            start += len(piece)

    def __iter__(self) -> Iterator[Commit]:
        """All commits from the first on."""
        return self.commits()

    def commits(self, place: Location | None = None) -> Iterator[Commit]:
        """The commits from a place on, one iteration at a time; from the first without one.

        A commit proves itself together with the eight bytes before it, so nothing before `place` is
        read, and an invalid offset is reported as damage. (The numbers of the commits are counted
        on from the one it gives, and not proven.)
        """
        first = place or Location(len(self.header.packed()), 0, 0)
        if not len(self.header.packed()) <= first.offset <= self.size:
            raise DamagedJournal(self.path, first.index, first.offset, "a commit", "no such place")
        closed, is_open, forks = first.unit, False, 0
        pending = 0
        index = first.index - 1
        parser = _BodyParser()
        self.ended = False
        for index, (offset, end, body) in enumerate(self.frames(first), first.index):
            commit = self._parsed(parser, index, offset, end, body)
            if commit.kind != UNIT or commit.unit != closed + 1 or index == 0:
                forks += commit.kind == FORK
                self._check_place(commit, closed, is_open, forks)
            is_open = commit.digest is None
            if is_open:
                pending = (pending if len(commit.blocks) == 1 else 0) + len(body)
                if pending > PENDING_MAX and len(commit.blocks) % 2:
                    says = f"more than {PENDING_MAX} bytes of inputs that wait to be judged"
                    raise MalformedEvents(self.path, commit.where, says)
            else:
                closed, pending = commit.unit, 0
            self.ended = commit.kind == END
            yield commit
        if index < 0:
            raise TornTail(self.path, 0, self.size, 0)

    def outline(self) -> Iterator[Commit]:
        """START, every FORK and END, and behind them the last UNIT of the file: how far a run has
        come, without decoding it. Checksums are checked as `frames` does; what the other units hold
        is unread.

        Raises what iterating raises, when what stands before is given.
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

    def _check_place(self, commit: Commit, closed: int, is_open: bool, forks: int) -> None:
        """Raise MalformedEvents for a commit that does not belong where it stands: behind unit
        `closed`, in an open one or not, as the last of so many forks.
        """
        is_first = commit.index == 0
        is_unit = commit.kind == UNIT
        if is_first != (commit.kind == START) or commit.unit != closed + is_unit or is_open:
            raise MalformedEvents(self.path, commit.where, "it does not belong there")
        if forks > FORKS_MAX:
            raise MalformedEvents(self.path, commit.where, f"more than {FORKS_MAX} forks")

    def frames(self, place: Location | None = None) -> Iterator[tuple[int, int, bytes]]:
        """(offset, end, body) of each commit whose checksums hold, its content unread; otherwise as
        `commits`.
        """
        place = place or Location(len(self.header.packed()), 0, 0)
        read, size, path = self._read, self.size, self.path
        offset, index = place.offset, place.index
        checksum = self._begin_at(offset)
        while True:
            self._reached = _Reached(offset, checksum, self._sha256 and self._sha256.copy())
            if offset >= size:
                return
            if self.ended:  # what stands behind END was never written by a recorder
                raise DamagedJournal(
                    path, index, offset, "the end of the file", f"{size - offset} bytes more"
                )
            head = read(_HEAD_BYTES)
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
            if len(rest) < length + _TAIL_BYTES:  # the file shrank while it was read
                raise self._torn(index, offset, _HEAD_BYTES + len(rest))
            body = rest[:length]
            checksum = xxh3_64_intdigest(head + body, checksum)
            mark, found = _TAIL.unpack_from(rest, length)
            if found != checksum or mark != b"\xcf":
                raise self._zeroed(index, offset, end) or DamagedJournal(
                    path, index, offset, f"checksum cf{checksum:016x}", rest[length:].hex()
                )
            if offset < self._known.offset <= end:
                self._check_known(index, offset, _Reached(end, checksum, self._sha256))
            yield offset, end, body
            offset = end
            index += 1

    def _begin_at(self, offset: int) -> int:
        """Go to a byte, to hash from the start on if that is it; the checksum before it."""
        self._file.seek(offset)
        header = self.header.packed()
        if offset > len(header):
            self._sha256 = None
            return self.checksum_before(offset)
        if self._sha256 is not None:
            self._sha256 = hashlib.sha256(header)
        return int.from_bytes(header[-8:], "big")

    def _read(self, count: int) -> bytes:
        data = self._file.read(count)
        if self._sha256 is not None:
            self._sha256.update(data)
        return data

    def _check_known(self, index: int, offset: int, found: _Reached) -> None:
        known = self._known
        same = found[:2] == known[:2]
        if same and found.sha256 is not None and known.sha256 is not None:
            same = found.sha256.digest() == known.sha256.digest()
        if not same:
            raise DamagedJournal(
                self.path, index, offset, "what was read there before", "a file edited meanwhile"
            )

    def _zeroed(self, index: int, offset: int, end: int) -> TornTail | None:
        """The torn tail of which a machine that lost its power has kept the size alone: a commit
        that is zeros from some byte on, the last one before `end` at the latest, and so is all that
        follows it. START is no such tail: without it there is nothing to go on from.
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
            # A few wrong bytes are damage to a journal; more, and it never was one.
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
    """Turns bodies into commits, keeping the bytes of each block beside its decoded batches.

    One msgpack Unpacker serves all small bodies, because making one costs as much as parsing a
    round. It bounds every declared length, so that no small file can ask for much memory.
    """

    SMALL = 1 << 16

    def __init__(self) -> None:
        self._small = unpacker(self.SMALL)

    def parse(self, body: bytes) -> Commit:
        """The commit. Raises Undecodable, whatever the bytes."""
        reads = self._small if len(body) <= self.SMALL else unpacker(len(body))
        start: int = reads.tell()
        try:
            reads.feed(body)
            commit = self._commit(body, reads, start)
            if reads.tell() != start + len(body):
                raise Undecodable("bytes after the commit's content")
        except MALFORMED as error:
            self._small = unpacker(self.SMALL)
            raise undecodable(error) from None
        return commit

    def _commit(self, body: bytes, unpacker: msgpack.Unpacker, start: int) -> Commit:
        size = unpacker.read_array_header()
        unpack = unpacker.unpack
        kind = unpack()
        if type(kind) is int and kind == UNIT and size >= 3:
            return self._unit(body, unpacker, start, size - 3)
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
        raise Undecodable(f"no commit of kind {format_value(kind)} has {size} parts")

    def _unit(self, body: bytes, unpacker: msgpack.Unpacker, start: int, count: int) -> Commit:
        unpack, tell = unpacker.unpack, unpacker.tell
        unit, digest = unpack(), unpack()
        _check_numbers(unit, digest)
        if digest is not None and (count == 0 or count % 2):
            raise Undecodable("a unit that closes without what was derived in it")
        blocks = []
        at = tell() - start
        for _ in range(count):
            batches = unpack()
            end = tell() - start
            if type(batches) is not tuple:
                raise Undecodable("a block is no list of batches")
            for batch in batches:
                if type(batch) is not tuple or len(batch) != 2:
                    raise Undecodable("a batch is no list of two")
                code, rows = batch
                if type(code) is not int or code < 0 or type(rows) is not tuple or not rows:
                    raise Undecodable("a batch is not [code, [row, ...]]")
            blocks.append(Block(batches, body[at:end]))
            at = end
        return Commit(UNIT, unit, digest, blocks)


def _check_numbers(unit: Any, digest: Any) -> None:
    if type(unit) is not int or unit < 0:
        raise Undecodable(f"unit {format_value(unit)}, which is no number")
    if digest is not None and (type(digest) is not int or digest < 0):
        raise Undecodable(f"digest {format_value(digest)}, which is no 64-bit number")


class _Bytes(io.RawIOBase):
    """The first `size` bytes of an open file. They are read by their place: the file's own position
    is shared by all who have the descriptor, and is neither used nor moved.
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
    """The SHA-256 of a file in hex, to pin it with. Raises BadInput if it cannot be read."""
    with open_regular(os.fspath(path)) as file:
        return sha256_in(file)


def sha256_in(file: BinaryIO) -> str:
    """The SHA-256 in hex of an open file, as long as it is now, from its start."""
    digest = hashlib.sha256()
    file.seek(0)
    left = os.fstat(file.fileno()).st_size
    while left and (piece := file.read(min(left, _PIECE))):
        digest.update(piece)
        left -= len(piece)
    return digest.hexdigest()


def open_regular(path: str, what: str = "a journal") -> BinaryIO:
    """Open an ordinary file for reading; `what` is wanted there, in words.

    Raises BadInput where there is none that can be read.
    """
    return os.fdopen(_opened(path, what), "rb")


def _opened(path: str, what: str = "a journal") -> int:
    try:
        # A pipe would block, a device never end. Looked at before, because opening a device can do
        # something to it, and again when it is open, because it may be another by then.
        if stat.S_ISREG(os.stat(path).st_mode):
            fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)  # noqa: TID251  # to read
            return _regular(fd, path, what)
    except (OSError, ValueError) as error:
        raise BadInput(
            f"cannot read {path}: {files.format_reason(error)}", f"give the path of {what}"
        ) from None
    raise _irregular(path, what)


def _regular(fd: int, path: str, what: str = "a journal") -> int:
    if not stat.S_ISREG(os.fstat(fd).st_mode):
        os.close(fd)
        raise _irregular(path, what)
    return fd


def _irregular(path: str, what: str) -> BadInput:
    return BadInput(f"{path} is no ordinary file", f"give the path of {what}")
