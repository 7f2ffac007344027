"""What can happen to the bytes of a file: generators of (what was done, the bytes afterwards).

Systematic kinds go through every bit, cut or commit; random ones are drawn from a seeded generator.
None of them knows what the readers make of it: that follows from the bytes alone (see `readers`).
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from itertools import combinations

Damaged = tuple[str, bytes]

SPANS = (1, 2, 3, 8, 64, 512)  # bytes of a range that is wiped, removed or put in


def flipped(data: bytes, start: int = 0, stop: int | None = None) -> Iterator[Damaged]:
    """Every bit of these bytes flipped, one at a time."""
    for bit in range(start * 8, (len(data) if stop is None else stop) * 8):
        changed = bytearray(data)
        changed[bit // 8] ^= 1 << bit % 8
        yield f"bit {bit % 8} of byte {bit // 8} flipped", bytes(changed)


def cuts(data: bytes) -> Iterator[Damaged]:
    """Every cut, from nothing left to all but the last byte."""
    for size in range(len(data)):
        yield f"cut to {size} bytes", data[:size]


def swapped(header: bytes, pieces: Sequence[bytes]) -> Iterator[Damaged]:
    """Every two commits in each other's place."""
    for one, other in combinations(range(len(pieces)), 2):
        parts = list(pieces)
        parts[one], parts[other] = parts[other], parts[one]
        yield f"commits {one} and {other} swapped", header + b"".join(parts)


def repeated(header: bytes, pieces: Sequence[bytes]) -> Iterator[Damaged]:
    """Every commit once more, at every place behind it."""
    for place, piece in enumerate(pieces):
        for to in range(place + 1, len(pieces) + 1):
            parts = [*pieces[:to], piece, *pieces[to:]]
            yield f"commit {place} again as commit {to}", header + b"".join(parts)


def removed(header: bytes, pieces: Sequence[bytes]) -> Iterator[Damaged]:
    """Every run of commits left out, the header alone included. Without the last ones, what is left
    is a sound journal that is not finished, which the readers' contract knows.
    """
    for start, stop in combinations(range(len(pieces) + 1), 2):
        parts = [*pieces[:start], *pieces[stop:]]
        yield f"commits {start} to {stop - 1} left out", header + b"".join(parts)


def replaced(header: bytes, pieces: Sequence[bytes], others: Sequence[bytes]) -> Iterator[Damaged]:
    """Every commit in the form that it has in another run; alone, and with all that follows it. Not
    START: in front of commits that are not its own it is the sound beginning of that other run.
    """
    for place in range(1, min(len(pieces), len(others))):
        alone = [*pieces[:place], others[place], *pieces[place + 1 :]]
        yield f"commit {place} of another run", header + b"".join(alone)
        tail = [*pieces[:place], *others[place:]]
        yield f"commits from {place} on of another run", header + b"".join(tail)


def appended(data: bytes, others: Sequence[bytes]) -> Iterator[Damaged]:
    """Bytes after the end: rubbish, commits of this and of other runs, a second journal."""
    tails = [b"\x00", b"\x94", b"\xff" * 10, bytes(11), bytes(4096), b"a line of text\n" * 3]
    for tail in [*tails, data, data[28:], *others]:
        yield f"{len(tail)} bytes appended", data + tail


def inserted(data: bytes) -> Iterator[Damaged]:
    """A byte put in at every place: nothing, everything, and the one that stands there."""
    for place in range(len(data) + 1):
        for byte in (b"\x00", b"\xff", data[place : place + 1] or b"\x94"):
            yield f"a byte put in at {place}", data[:place] + byte + data[place:]


def deleted(data: bytes) -> Iterator[Damaged]:
    """Every byte, and ranges from every place on, taken out."""
    for place in range(len(data)):
        for span in SPANS:
            if span == 1 or place % 7 == 0:
                yield f"{span} bytes taken out at {place}", data[:place] + data[place + span :]


def zeroed(data: bytes) -> Iterator[Damaged]:
    """Ranges from every place on wiped, as of a page that never reached the disk."""
    for place in range(len(data)):
        for span in (*SPANS, len(data)):
            size = min(span, len(data) - place)
            changed = data[:place] + bytes(size) + data[place + size :]
            if changed != data and (span == 1 or place % 7 == 0):
                yield f"{size} bytes wiped at {place}", changed


Corrupt = Callable[[random.Random, bytes, bytes], bytes]


def _flip_some(chance: random.Random, data: bytes, other: bytes) -> bytes:
    changed = bytearray(data)
    for _ in range(chance.randint(1, 8)):
        bit = chance.randrange(len(data) * 8)
        changed[bit // 8] ^= 1 << bit % 8
    return bytes(changed)


def _overwrite(chance: random.Random, data: bytes, other: bytes) -> bytes:
    start, size = _range(chance, data)
    return data[:start] + chance.randbytes(size) + data[start + size :]


def _splice(chance: random.Random, data: bytes, other: bytes) -> bytes:
    start, size = _range(chance, data)
    begin, length = _range(chance, other)
    return data[:start] + other[begin : begin + length] + data[start + size :]


def _cut_and_flip(chance: random.Random, data: bytes, other: bytes) -> bytes:
    return _flip_some(chance, data[: chance.randrange(1, len(data))], other)


def _duplicate(chance: random.Random, data: bytes, other: bytes) -> bytes:
    start, size = _range(chance, data)
    to = chance.randrange(len(data) + 1)
    return data[:to] + data[start : start + size] + data[to:]


def _range(chance: random.Random, data: bytes) -> tuple[int, int]:
    start = chance.randrange(len(data))
    most = len(data) - start
    return start, min(most, chance.choice((1, 2, 4, 8, 9, 11, 20, chance.randint(1, 600), most)))


CORRUPTIONS: dict[str, Corrupt] = {
    "bits flipped": _flip_some,
    "a range overwritten": _overwrite,
    "a range spliced in": _splice,
    "cut, then bits flipped": _cut_and_flip,
    "a range repeated": _duplicate,
}


def corrupted(chance: random.Random, data: bytes, other: bytes) -> Damaged:
    """One random corruption; now and then it leaves the bytes as they were. `other` must not be
    sound: copied whole, it would be no damage.
    """
    kind = chance.choice(tuple(CORRUPTIONS))
    return kind, CORRUPTIONS[kind](chance, data, other)
