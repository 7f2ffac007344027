"""The index of a long journal: where its units stand, and frozen states on the way.

Any unit is reached from the frozen state before it, without folding from the start. An index is
derived and disposable: it lies beside the journal (`run.journal.index`), is made when it is first
needed (over whatever has that name and is no journal), and is thrown away when the journal's size
or time of change is no longer what it was made from. Nor is it believed: a frozen state counts only
if its digest, worked out anew from its fields, is the one in the journal. So a wrong, stale or
foreign index can cost time and cannot change an answer. What stands before the place where reading
begins is not read: `verify` is for that. Nor is it a guard against somebody who forges the journal
itself, no more than checksums are.

    index  = frozen* entry* foot
    entry  = unit, offset and number of its first commit, place and size of the state, checksum
    foot   = magic, size and time of the journal, its first and last checksum, entries, checksum

All numbers have 64 bits, big-endian. Short journals need no index and get none.
"""

from __future__ import annotations

import os
import stat
import struct
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from itertools import chain
from typing import Any, BinaryIO, Final, NamedTuple, Self, TypeVar

from xxhash import xxh3_64_intdigest

from kernel import fold
from kernel.codec import Undecodable, pack, unpack
from kernel.errors import BadInput, JournalError, NotAJournal
from kernel.journal import UNIT, Commit, JournalReader, Place, open_regular
from kernel.world import Step, World

S = TypeVar("S")
T = TypeVar("T")

INDEX_FROM: Final = 1 << 20  # bytes of a journal; a shorter one is folded in an instant
SPACING: Final = 50  # units from one frozen state to the next, at least
SHARE: Final = 16  # frozen states take at most this part of the journal's size

_MAGIC = b"goldidx1"
_ENTRY = struct.Struct(">5QQ")
_FOOT = struct.Struct(">8s5QQ")

# What the reading of a wrong index, or of a journal at a wrong place, can raise.
_WRONG = (JournalError, BadInput, Undecodable, OSError, struct.error, *fold.REFUSED)


def index_path(path: str) -> str:
    """Where the index of a journal lies."""
    return path + ".index"


def commits_near(world: World[Any], reader: JournalReader, unit: int) -> Iterator[Commit]:
    """The commits from somewhere before a unit on, to the end. Raises as reading them all does."""
    use = partial(_proven_place, reader=reader, unit=unit)
    place = _by_index(world, reader, use) if unit > SPACING else None
    return reader.commits(place)


def states_near(world: World[S], reader: JournalReader, unit: int) -> Iterator[tuple[Commit, S]]:
    """As `fold.states`, from somewhere before a unit on, to the end."""
    use = partial(_proven_state, world=world, reader=reader, unit=unit)
    found = _by_index(world, reader, use) if unit > SPACING else None
    if found is None:
        return fold.states(world, reader)
    commit, state = found
    return chain([found], fold.states(world, reader, reader.commits(commit.after), state))


class Entry(NamedTuple):
    """A frozen state: the unit that it is the end of, the place before that unit, its bytes."""

    unit: int
    offset: int
    commit: int
    at: int
    size: int

    @property
    def before(self) -> Place:
        """The place before the first commit of the unit."""
        return Place(self.offset, self.commit, self.unit - 1)


class Index:
    """An index file, opened. It belongs to the journal; whether it is right shows in use."""

    def __init__(self, file: BinaryIO, entries: int, table: int) -> None:
        self._file = file
        self._entries = entries
        self._table = table

    @classmethod
    def open(cls, reader: JournalReader) -> Self | None:
        """The index beside a journal, if there is one made from these bytes."""
        try:
            file = open_regular(index_path(reader.path))
        except BadInput:
            return None
        try:
            size = os.fstat(file.fileno()).st_size
            foot = os.pread(file.fileno(), _FOOT.size, max(0, size - _FOOT.size))
            *facts, entries, checksum = _FOOT.unpack(foot)
            table = size - _FOOT.size - entries * _ENTRY.size
            if (
                tuple(facts) == _facts(reader)
                and checksum == xxh3_64_intdigest(foot[:-8])
                and table >= 0
            ):
                return cls(file, entries, table)
        except (struct.error, OSError):
            pass
        file.close()
        return None

    def close(self) -> None:
        """Release the file."""
        self._file.close()

    def before(self, unit: int) -> Entry | None:
        """The last entry of a unit before this one. Raises ValueError for a damaged one."""
        low, high = 0, self._entries
        while low < high:
            middle = (low + high) // 2
            if self._entry(middle)[0].unit < unit:
                low = middle + 1
            else:
                high = middle
        if low == 0:
            return None
        entry, checksum = self._entry(low - 1)
        if checksum != xxh3_64_intdigest(_ENTRY.pack(*entry, 0)) or entry.unit >= unit:
            raise ValueError("a damaged entry")
        return entry

    def frozen(self, entry: Entry) -> Any:
        """The frozen state of an entry. Raises ValueError for one that is none."""
        if entry.at + entry.size > self._table:
            raise ValueError("a frozen state outside the file")
        return unpack(os.pread(self._file.fileno(), entry.size, entry.at))

    def _entry(self, number: int) -> tuple[Entry, int]:
        at = self._table + number * _ENTRY.size
        *fields, checksum = _ENTRY.unpack(os.pread(self._file.fileno(), _ENTRY.size, at))
        return Entry(*fields), checksum


def _facts(reader: JournalReader) -> tuple[bytes, int, int, int, int]:
    """What an index is made from: if one of these has changed, it is stale or foreign."""
    changed = os.stat(reader.path).st_mtime_ns
    first = int.from_bytes(reader.header.packed()[-8:], "big")
    return _MAGIC, reader.size, changed, first, reader.checksum_before(reader.size)


def _by_index(world: World[Any], reader: JournalReader, use: Callable[[Index], T]) -> T | None:
    """What is found with the help of the index, made anew where it is of no use; None without."""
    if reader.size < INDEX_FROM or world.freeze is None or world.thaw is None:
        return None
    for make in (Index.open, lambda reader: _built(world, reader)):
        index = make(reader)
        if index is not None:
            try:
                return use(index)
            except _WRONG:
                continue  # it is made anew; and where that does not help, it is done without
            finally:
                index.close()
    return None


def _proven_place(index: Index, reader: JournalReader, unit: int) -> Place | None:
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
        return fold.past(world, reader.path, entry.unit, start and start.before)(first)

    state = world.thaw(index.frozen(entry), past)
    fold.check_digest(world, reader.path, state, closing)
    return closing, state


def _closing(reader: JournalReader, entry: Entry) -> Commit:
    """The commit that closes an entry's unit, read from the journal."""
    for commit in reader.commits(entry.before):
        if commit.kind != UNIT:
            break
        if commit.digest is not None:
            return commit
    raise ValueError("no unit closes there")


def _built(world: World[Any], reader: JournalReader) -> Index | None:
    """A new index, from one fold over the journal; None where none can be kept."""
    path = index_path(reader.path)
    temporary = ""
    if not _is_free(path):
        return None
    try:
        facts = _facts(reader)
        with tempfile.NamedTemporaryFile(
            dir=os.path.dirname(path) or ".", prefix=".goldrush-", suffix=".index", delete=False
        ) as file:
            temporary = file.name
            os.fchmod(file.fileno(), stat.S_IMODE(os.stat(reader.path).st_mode))
            entries = list(_freeze_all(world, reader, file))
            file.writelines(
                _ENTRY.pack(*entry, xxh3_64_intdigest(_ENTRY.pack(*entry, 0))) for entry in entries
            )
            foot = _FOOT.pack(*facts, len(entries), 0)[:-8]
            file.write(foot + xxh3_64_intdigest(foot).to_bytes(8, "big"))
        os.replace(temporary, path)
    except OSError:  # a folder that cannot be written, a full disk
        return None
    finally:
        if temporary:
            with suppress(OSError):
                os.unlink(temporary)
    return Index.open(reader)


def _is_free(path: str) -> bool:
    """Whether there is nothing of somebody's own at a path: a pipe, a folder, a journal."""
    if not os.path.exists(path):
        return True
    try:
        JournalReader(path).close()
    except NotAJournal:
        return True
    except (JournalError, BadInput):
        pass
    return False


def _freeze_all(world: World[Any], reader: JournalReader, file: Any) -> Iterator[Entry]:
    """Write frozen states, as many as are worth it, and give their entries."""
    assert world.freeze is not None
    at = size = 0
    before = last = Place(0, 0, 0)  # before the unit under way; after the last one frozen
    try:
        for commit, state in fold.states(world, reader):
            if commit.digest is None:
                continue
            place = commit.after
            if (
                commit.kind == UNIT
                and place.unit - last.unit >= SPACING
                and place.offset - last.offset >= SHARE * size
            ):
                fold.check_digest(world, reader.path, state, commit)
                frozen = pack(world.freeze(state))
                file.write(frozen)
                size, last = len(frozen), place
                yield Entry(place.unit, before.offset, before.index, at, size)
                at += size
            before = place
    except JournalError:
        pass  # whoever reads so far will meet it there
