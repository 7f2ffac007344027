"""Small journals written by hand, of no world: the format does not know any."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from goldrush.kernel.codec import pack
from goldrush.kernel.errors import JournalError
from goldrush.kernel.journal import END, FORK, START, UNIT, Commit, Header, JournalReader
from goldrush.kernel.world import Block
from tests import journals
from tests.kernel.tiny_reader import framed

HEADER = Header("tiny", 3)
SETUP = {"players": 2, "name": "Zoë", "rate": 0.5}
FACTS = {"why": "to see", "rates": (0.5, None)}
ASKED = Block([(0, [(0, "yes", None)]), (2, [(1, -1.5)])])
DRAWN = Block([(1, [(7,), (8,)])])


def start() -> Commit:
    return Commit(START, 0, 0x1122334455667788, setup=SETUP)


def opened(number: int) -> Commit:
    return Commit(UNIT, number, None, [ASKED])


def unit(number: int) -> Commit:
    return Commit(UNIT, number, number * 11, [ASKED, DRAWN])


def fork(number: int, digest: int = 5) -> Commit:
    return Commit(FORK, number, digest, setup=FACTS)


def end(number: int) -> Commit:
    return Commit(END, number)


def run() -> list[Commit]:
    """A run of three units, forked at its start, twice after unit 1, and after the last one."""
    return [
        start(), fork(0), opened(1), unit(1), fork(1), fork(1, 2**64 - 1), unit(2), opened(3),
        unit(3), fork(3), end(3),
    ]  # fmt: skip


class Raw(Commit):
    """A commit whose body is given."""

    def body(self) -> bytes:
        return self.raw


def raw(body: object) -> Raw:
    """A commit of this body, as bytes or as plain values."""
    return Raw(UNIT, 0, raw=body if isinstance(body, bytes) else pack(body))


def write(path: Path, commits: Sequence[Commit]) -> bytes:
    """The bytes of a journal of these commits, which stands at `path` then."""
    return journals.write(path, commits, HEADER).read_bytes()


def forged(bodies: Sequence[bytes]) -> bytes:
    """A journal with these bodies, written without the writer."""
    return framed(bodies, HEADER.packed())


def content(commit: Commit) -> tuple[Any, ...]:
    """What a commit says, wherever it stands."""
    blocks = tuple(block.packed for block in commit.blocks)
    return commit.kind, commit.unit, commit.digest, commit.setup, blocks


def placed(commit: Commit) -> tuple[Any, ...]:
    """What it says, and where it stands."""
    return commit.index, commit.offset, commit.end, *content(commit)


def put(path: Path, data: bytes) -> None:
    """Write a file. It is not emptied first: some filesystems then wait for the disk."""
    fd = os.open(path, os.O_RDWR | os.O_CREAT)
    os.pwrite(fd, data, 0)
    os.ftruncate(fd, len(data))
    os.close(fd)


def error_of(path: Path, data: bytes) -> tuple[int, JournalError | None]:
    """How many commits of a file are read before what error; -1: its header is not."""
    put(path, data)
    found = -1
    try:
        with JournalReader(path) as reader:
            found = 0
            for _ in reader:
                found += 1
    except JournalError as error:
        return found, error
    return found, None
