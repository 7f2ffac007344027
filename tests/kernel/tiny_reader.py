"""A reader of journals written from kernel/README.md alone: msgpack, xxhash and nothing of the
kernel. What it makes of a file is compared with what the code makes of it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import attrs
import msgpack
from xxhash import xxh3_64_intdigest as xxh3

MASK = 2**64 - 1
NO_JOURNAL, DAMAGE, TORN, WHOLE = "no journal", "damage", "torn tail", "whole"


def frame(body: bytes, checksum: int, length: int | None = None) -> bytes:
    """A commit with this body behind this checksum; `length`: what it claims, if that is not so."""
    head = b"\x94\xce" + (len(body) if length is None else length).to_bytes(4, "big")
    head += b"\xce" + (xxh3(head, checksum) & 0xFFFFFFFF).to_bytes(4, "big")
    return head + body + b"\xcf" + xxh3(head + body, checksum).to_bytes(8, "big")


def framed(bodies: Sequence[bytes], header: bytes) -> bytes:
    """A journal of these bodies behind a header, its checksums right."""
    data = header
    for body in bodies:
        data += frame(body, int.from_bytes(data[-8:], "big"))
    return data


@attrs.frozen
class Verdict:
    """What a file is: `kind`, its whole commits (-1: its header is not), the byte where it ends or
    breaks, and of what is torn, whether it reads as zeros and is known to be a FORK.
    """

    kind: str
    commits: int
    offset: int
    zeros: bool = False
    in_fork: bool = False


def header_size(data: bytes) -> int | None:
    """Bytes of the header; None for one that is broken."""
    unpacker = msgpack.Unpacker()
    unpacker.feed(data[:128])
    try:
        *_, checksum = unpacker.unpack()
    except Exception:  # whatever msgpack makes of it
        return None
    size: int = unpacker.tell()
    return size if checksum == xxh3(data[: size - 9]) else None


def judged(data: bytes) -> Verdict:
    """Whether a file is whole, torn or damaged."""
    at = header_size(data)
    if at is None:
        same = sum(a == b for a, b in zip(data, b"\x95\xa8goldrush", strict=False))
        return Verdict(NO_JOURNAL if same <= 5 else DAMAGE, -1, 0)
    checksum, commits, ended = int.from_bytes(data[at - 8 : at], "big"), 0, False

    def broken(first: int) -> Verdict:
        """`first`: the place of the last byte that need not be zero."""
        is_torn = bool(commits) and not any(data[first:])
        return torn(zeros=True) if is_torn else Verdict(DAMAGE, commits, at)

    def torn(*, zeros: bool) -> Verdict:
        return Verdict(TORN, commits, at, zeros, data[at + 11 : at + 13] == b"\x94\x03")

    while left := len(data) - at:
        if ended:
            return Verdict(DAMAGE, commits, at)
        if left < 11:
            return torn(zeros=False)
        check = (xxh3(data[at : at + 6], checksum) % 2**32).to_bytes(4, "big")
        if data[at : at + 2] + data[at + 6 : at + 11] != b"\x94\xce\xce" + check:
            return broken(at + 10)
        end = at + 11 + int.from_bytes(data[at + 2 : at + 6], "big") + 9
        if end > len(data):
            return torn(zeros=False)
        checksum = xxh3(data[at : end - 9], checksum)
        if data[end - 9 : end] != b"\xcf" + checksum.to_bytes(8, "big"):
            return broken(end - 1)
        ended = data[at + 11 : at + 13] == b"\x92\x02"
        at, commits = end, commits + 1
    return Verdict(WHOLE if commits else TORN, commits, at)


def read_frames(data: bytes) -> tuple[Any, list[bytes]]:
    """World and rules of a whole journal, and its bodies."""
    start = header_size(data)
    assert start is not None
    magic, version, world, rules, _ = msgpack.unpackb(data[:start])
    assert (magic, version) == ("goldrush", 1)
    assert judged(data).kind == WHOLE
    bodies, at = [], start
    while at < len(data):
        end = at + 11 + int.from_bytes(data[at + 2 : at + 6], "big") + 9
        bodies.append(data[at + 11 : end - 9])
        at = end
    return (world, rules), bodies


def items_of(body: bytes) -> list[tuple[Any, bytes]]:
    """The items of a body, each with its own bytes."""
    unpacker = msgpack.Unpacker(use_list=True, max_buffer_size=2**30)
    unpacker.feed(body)
    items = []
    for _ in range(unpacker.read_array_header()):
        start = unpacker.tell()
        value = unpacker.unpack()
        items.append((value, body[start : unpacker.tell()]))
    assert unpacker.tell() == len(body)
    return items


def fp(value: Any) -> int:
    """The fingerprint of a value."""
    return xxh3(msgpack.packb(value), 0)


def joined(blocks: Sequence[tuple[Any, bytes]]) -> tuple[Any, bytes]:
    """The inputs of a step that were spread over commits, as one block."""
    if len(blocks) == 1:
        return blocks[0]
    batches: list[list[Any]] = []
    for block, _ in blocks:
        for code, rows in block:
            if batches and batches[-1][0] == code:
                batches[-1][1] += rows
            else:
                batches.append([code, [*rows]])
    for _, rows in batches:
        rows.sort(key=lambda row: row[0])  # the order of agents, in the mining world
    return batches, msgpack.packb(batches)


class TinyState:
    """The parts of the mining world's state that its digest covers."""

    def __init__(self, setup: dict[str, Any]) -> None:
        self.config, self.roster = setup["config"], setup["roster"]
        agents = range(self.config["agents"])
        self.round = 0
        self.plots: dict[int, tuple[int, int, int]] = {}  # plot -> owner, since, how
        self.memos: dict[int, str | None] = {}
        self.prints: list[int] = []
        self.gold = [0.0 for _ in agents]
        self.spent = [[0, 0, 0, 0] for _ in agents]

    def fork(self, facts: dict[str, Any]) -> None:
        self.config.update(facts["changes"])
        self.roster = self.roster if facts["roster"] is None else facts["roster"]

    def play(self, inputs: tuple[Any, bytes], derived: tuple[Any, bytes]) -> None:
        round = self.round + 1
        plans: dict[int, Any] = {}
        before_capture = {}
        for code, rows in inputs[0] + derived[0]:
            for row in rows:
                if code == 0:
                    agent, actions, _, _, memo, _ = row
                    plans[agent] = list(actions)
                    self.memos[agent] = memo
                elif code == 1:
                    agent, removed, _ = row
                    for index, _ in removed:
                        plans[agent][index] = None
                elif code == 2:
                    plot, _, winner, _ = row
                    self.plots[plot] = (winner, round, 1)
                elif code == 3:
                    plot, _, _, _, outcome, winner, _ = row
                    if outcome == 3:
                        before_capture[plot] = self.plots[plot]
                        self.plots[plot] = (winner, round, 2)
                elif code == 4:
                    plot, captor, _, _, remedy, fine, _ = row
                    if remedy == 0:
                        self.plots[plot] = before_capture[plot]
                    self.gold[captor] -= fine
                elif code == 5:
                    _, agent, _, gold = row
                    self.gold[agent] += gold
        for agent, plan in plans.items():
            for action in plan:
                if action is not None:
                    self.spent[agent][action[0]] += action[2]
        self.prints.append(xxh3(derived[1], xxh3(inputs[1], round)))

    def digest(self) -> int:
        window = self.config["visibility"]
        seen = self.prints if window == "all" else self.prints[-window:]
        plots = sum(fp([plot, *held]) for plot, held in self.plots.items())
        memos = sum(fp([a, memo]) for a, memo in self.memos.items() if memo is not None)
        sums = [plots & MASK, memos & MASK, sum(seen) & MASK]
        return fp([fp([self.config, self.roster]), self.round, *sums, self.gold, self.spent])


def read_digests(data: bytes) -> Iterator[tuple[int, int, int]]:
    """(round, digest in the journal, digest worked out) of START, every round and every fork."""
    _, bodies = read_frames(data)
    (_, _), (setup, _), (digest, _) = items_of(bodies[0])
    state = TinyState(setup)
    yield 0, digest, state.digest()
    inputs = []
    for body in bodies[1:]:
        (kind, _), (unit, _), *rest = items_of(body)
        if kind == 2:
            assert unit == state.round
            continue
        if kind == 3:
            (facts, _), (digest, _) = rest
            assert list(facts) == ["parent", "changes", "roster", "replaced"]
            assert unit == state.round
            state.fork(facts)
            yield unit, digest, state.digest()
            continue
        (digest, _), *blocks = rest
        for place, block in enumerate(blocks):
            if place % 2 == 0:
                inputs.append(block)
            else:
                state.play(joined(inputs), block)
                inputs = []
        if digest is not None:
            state.round += 1
            assert unit == state.round
            yield unit, digest, state.digest()
