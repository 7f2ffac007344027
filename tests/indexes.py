"""Index files taken apart and put together, from the page of replay/journal/index.py alone; and a
cache folder that is not that of whoever runs the tests.
"""

from __future__ import annotations

import os
import struct
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import accumulate
from pathlib import Path
from unittest import mock

import attrs
from xxhash import xxh3_64_intdigest, xxh3_128_hexdigest

from goldrush.kernel.codec import pack
from goldrush.kernel.journal import JournalReader

ENTRY, FOOT = struct.Struct(">6Q"), struct.Struct(">8s2Q")


@contextmanager
def cache_apart() -> Iterator[None]:
    """A cache folder for this process and those that it starts, removed afterwards."""
    with (
        tempfile.TemporaryDirectory() as folder,
        mock.patch.dict(os.environ, {"XDG_CACHE_HOME": folder}),
    ):
        yield


def cached() -> Path:
    """The folder of indexes in these tests."""
    return Path(os.environ["XDG_CACHE_HOME"], "goldrush", "indexes")


def facts_of(path: Path) -> bytes:
    """What the index of a journal is made from."""
    found, data = path.stat(), path.read_bytes()
    with JournalReader(path) as reader:
        header = reader.header.packed()
    first, last = (int.from_bytes(end, "big") for end in (header[-8:], data[-8:]))
    times = found.st_mtime_ns, found.st_ctime_ns
    where = os.fsencode(path.resolve()), found.st_dev, found.st_ino
    return pack((*where, len(data), *times, first, last))


def index_of(path: Path) -> Path:
    """Where the index of a journal as it is now lies, made already or not."""
    return cached() / f"{xxh3_128_hexdigest(facts_of(path))}.index"


@attrs.define
class Parts:
    """The entries of an index, [unit, offset, commit, offset and size of the state], the frozen
    states, and the facts of its journal.
    """

    entries: list[list[int]]
    states: list[bytes]
    facts: bytes

    @classmethod
    def of(cls, path: Path) -> Parts:
        """The parts of a journal's index."""
        data, facts = index_of(path).read_bytes(), facts_of(path)
        front, foot = data[: -FOOT.size - len(facts)], data[-FOOT.size :]
        entries = [list(row[:5]) for row in ENTRY.iter_unpack(_table(front, FOOT.unpack(foot)[1]))]
        return cls(entries, [data[at : at + size] for *_, at, size in entries], facts)

    def changed(self, change: Callable[[list[list[int]], list[bytes]], object]) -> Parts:
        """A copy whose entries and states were changed; where states were, the entries follow."""
        copy = Parts([list(entry) for entry in self.entries], list(self.states), self.facts)
        change(copy.entries, copy.states)
        if copy.states != self.states:
            ends = list(accumulate(map(len, copy.states), initial=0))
            for entry, at, state in zip(copy.entries, ends, copy.states, strict=False):
                entry[3:] = [at, len(state)]
        return copy

    def whole(self) -> bytes:
        """An index of these parts under right checksums; `entries` say where the states are."""
        table = b""
        for fields in self.entries:
            table += ENTRY.pack(*fields, xxh3_64_intdigest(ENTRY.pack(*fields, 0)))
        tail = self.facts + FOOT.pack(b"goldidx2", len(self.entries), 0)[:-8]
        checksum = struct.pack(">Q", xxh3_64_intdigest(tail))
        return b"".join(self.states) + table + tail + checksum


def _table(front: bytes, entries: int) -> bytes:
    return front[len(front) - entries * ENTRY.size :]
