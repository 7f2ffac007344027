"""The index of a long journal: the offsets of its units, and frozen states along the way.

Any unit is reached from the frozen state before it, without folding from the start. An index is
derived and disposable. It lies in the user's cache folder (see replay/cache.py), is made on first
use, and belongs to one state of one file: its path, device, inode, size, times of change, and first
and last checksum. Where it cannot be kept, reading takes longer and gives the same answers.

A frozen state is used only if its digest, computed again from its fields, is the one in the
journal. So damage to an index cannot change an answer. A digest is no signature, though: whoever
can write in the cache folder can forge a state with the right digest. That folder is the user's
alone, and an index in any other folder is not read. The bytes before the frozen state are not read
either; `verify` checks the whole journal.

    index  = frozen* entry* facts foot
    entry  = unit, offset and number of its first commit, offset and size of the state, checksum
    facts  = [path, device, inode, size, mtime, ctime, first checksum, last checksum]
    foot   = magic, entries, checksum of facts and foot

`facts` is a msgpack array, times in nanoseconds; the other numbers have 64 bits, big-endian. The
name of the file is the hash of its facts. Short journals need no index and get none.
"""

from __future__ import annotations

import os
import struct
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from itertools import chain
from typing import Any, BinaryIO, Final, NamedTuple, Self, TypeVar

from xxhash import xxh3_64_intdigest, xxh3_128_hexdigest

from goldrush.kernel import fold
from goldrush.kernel.codec import Undecodable, pack, unpack
from goldrush.kernel.errors import BadInput, JournalError
from goldrush.kernel.journal import UNIT, Commit, JournalReader, Location
from goldrush.kernel.walk import Walk, check_digest
from goldrush.kernel.world import Step, World
from goldrush.replay import cache

S = TypeVar("S")
T = TypeVar("T")

INDEX_FROM: Final = 1 << 20  # bytes of a journal; folding a shorter one is fast
SPACING: Final = 50  # units from one frozen state to the next, at least
SHARE: Final = 16  # frozen states take at most this part of the journal's size

_MAGIC = b"goldidx2"
_ENTRY = struct.Struct(">5QQ")
_FOOT = struct.Struct(">8sQQ")

# What reading a wrong index, or a journal at a wrong offset, can raise.
_WRONG = (JournalError, BadInput, Undecodable, OSError, struct.error, *fold.REFUSED)


def commits_near(world: World[Any], reader: JournalReader, unit: int) -> Iterator[Commit]:
    """The commits from some commit before a unit on. Raises as reading all commits does."""
    use = partial(_proven_location, reader=reader, unit=unit)
    start = _by_index(world, reader, use) if unit > SPACING else None
    return reader.commits(start)


def states_near(world: World[S], reader: JournalReader, unit: int) -> Iterator[tuple[Commit, S]]:
    """The walk over a journal from some commit before a unit on, to the end."""
    world = world.under(reader.header.rules)
    use = partial(_proven_state, world=world, reader=reader, unit=unit)
    found = _by_index(world, reader, use) if unit > SPACING else None
    if found is None:
        return iter(Walk(world, reader))
    commit, state = found
    rest = Walk(world, reader, commits=reader.commits(commit.after), state=state)
    return chain([found], rest)


class IndexEntry(NamedTuple):
    """A frozen state.

    Attributes:
        unit: the unit at whose end it was frozen.
        offset: the offset of the unit's first commit, in bytes.
        commit: the number of that commit.
        at: the offset of the frozen state in the index, in bytes.
        size: its size in bytes.
    """

    unit: int
    offset: int
    commit: int
    at: int
    size: int

    @property
    def before(self) -> Location:
        """The location before the first commit of the unit."""
        return Location(self.offset, self.commit, self.unit - 1)


class Index:
    """An open index file. It belongs to the journal; its content is checked in use."""

    def __init__(self, file: BinaryIO, entries: int, table: int) -> None:
        self._file = file
        self._entries = entries
        self._table = table

    @classmethod
    def open(cls, facts: bytes) -> Self | None:
        """The index of the file with these facts; None if there is none."""
        file = cache.opened(_name(facts))
        if file is None:
            return None
        try:
            size = os.fstat(file.fileno()).st_size
            length = len(facts) + _FOOT.size
            tail = os.pread(file.fileno(), length, max(0, size - length))
            magic, entries, checksum = _FOOT.unpack(tail[len(facts) :])
            table = size - length - entries * _ENTRY.size
            if (
                tail.startswith(facts)
                and magic == _MAGIC
                and checksum == xxh3_64_intdigest(tail[:-8])
                and table >= 0
            ):
                return cls(file, entries, table)
        except (struct.error, OSError):
            pass
        file.close()
        return None

    def close(self) -> None:
        self._file.close()

    def before(self, unit: int) -> IndexEntry | None:
        """The last entry of a unit before this one. Raises ValueError for a damaged entry."""
        entries = range(self._entries)
        number = bisect_left(entries, unit, key=lambda number: self._entry(number)[0].unit)
        if number == 0:
            return None
        entry, checksum = self._entry(number - 1)
        if checksum != xxh3_64_intdigest(_ENTRY.pack(*entry, 0)) or entry.unit >= unit:
            raise ValueError("a damaged entry")
        return entry

    def frozen(self, entry: IndexEntry) -> Any:
        """The frozen state of an entry. Raises ValueError for an invalid entry."""
        if entry.at + entry.size > self._table:
            raise ValueError("a frozen state outside the file")
        return unpack(os.pread(self._file.fileno(), entry.size, entry.at))

    def _entry(self, number: int) -> tuple[IndexEntry, int]:
        at = self._table + number * _ENTRY.size
        *fields, checksum = _ENTRY.unpack(os.pread(self._file.fileno(), _ENTRY.size, at))
        return IndexEntry(*fields), checksum


def _facts(reader: JournalReader) -> bytes:
    """The identity of the file that an index is made from: if it differs, the index is stale or
    foreign.

    Raises OSError if the journal's path is relative to a removed folder.
    """
    now = reader.stat()
    return pack(
        (
            os.fsencode(os.path.realpath(reader.path)),
            now.st_dev,
            now.st_ino,
            reader.size,
            now.st_mtime_ns,
            now.st_ctime_ns,
            int.from_bytes(reader.header.packed()[-8:], "big"),
            reader.checksum_before(reader.size),
        )
    )


def _name(facts: bytes) -> str:
    return xxh3_128_hexdigest(facts)


def _by_index(world: World[Any], reader: JournalReader, use: Callable[[Index], T]) -> T | None:
    """The result of `use` on the index, made again if `use` fails; None without an index."""
    if reader.size < INDEX_FROM or world.freeze is None or world.thaw is None:
        return None
    try:
        facts = _facts(reader)
    except OSError:
        return None
    for make in (Index.open, partial(_built, world, reader)):
        index = make(facts)
        if index is not None:
            try:
                return use(index)
            except _WRONG:
                continue  # with an index made anew, or else with none
            finally:
                index.close()
    return None


def _proven_location(index: Index, reader: JournalReader, unit: int) -> Location | None:
    entry = index.before(unit)
    if entry is None:
        return None
    _closing(reader, entry)
    return entry.before


def _proven_state(
    index: Index, world: World[S], reader: JournalReader, unit: int
) -> tuple[Commit, S] | None:
    entry = index.before(unit)
    if entry is None:
        return None
    assert world.thaw is not None
    closing = _closing(reader, entry)

    def past(first: int) -> Iterable[tuple[int, Sequence[Step]]]:
        start = index.before(first)
        return fold.past(world, reader, entry.unit, start and start.before)(first)

    state = world.thaw(index.frozen(entry), past)
    check_digest(world, reader.path, state, closing)
    return closing, state


def _closing(reader: JournalReader, entry: IndexEntry) -> Commit:
    """The commit that closes an entry's unit, read from the journal."""
    for commit in reader.commits(entry.before):
        if commit.kind != UNIT:
            break
        if commit.digest is not None:
            return commit
    raise ValueError("no unit closes there")


def _built(world: World[Any], reader: JournalReader, facts: bytes) -> Index | None:
    """A new index from one fold over the journal, or the one that another process has made
    meanwhile; None where none can be kept.

    It is not synced to the disk: damage by a power loss is found in use.
    """
    with suppress(BadInput, JournalError):  # a full disk, a file that is being written
        file = cache.unfinished(_name(facts))
        if file is None:
            return None
        with file:
            table = bytearray()
            for entry, frozen in _freeze_all(world, reader):
                cache.append(file, frozen)
                table += _ENTRY.pack(*entry, xxh3_64_intdigest(_ENTRY.pack(*entry, 0)))
            tail = facts + _FOOT.pack(_MAGIC, len(table) // _ENTRY.size, 0)[:-8]
            cache.append(file, bytes(table) + tail + xxh3_64_intdigest(tail).to_bytes(8, "big"))
            file.publish(sync=False)
        cache.trim()
    return Index.open(facts)


def _freeze_all(world: World[Any], reader: JournalReader) -> Iterator[tuple[IndexEntry, bytes]]:
    """Frozen states with their entries, as many as SPACING and SHARE allow, up to damage in the
    journal.
    """
    assert world.freeze is not None
    at = size = 0
    before = last = Location(0, 0, 0)  # before the unit under way; after the last one frozen
    try:
        for commit, state in Walk(world, reader):
            if commit.digest is None:
                continue
            after = commit.after
            if (
                commit.kind == UNIT
                and after.unit - last.unit >= SPACING
                and after.offset - last.offset >= SHARE * size
            ):
                check_digest(world, reader.path, state, commit)
                frozen = pack(world.freeze(state))
                size, last = len(frozen), after
                yield IndexEntry(after.unit, before.offset, before.index, at, size), frozen
                at += size
            before = after
    except JournalError:
        pass  # reading on raises it again
