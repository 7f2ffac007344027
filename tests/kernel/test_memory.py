"""Reading takes no more memory than kernel/README.md says, whatever is in the file."""

import re
from pathlib import Path
from typing import Any

import msgpack
import pytest

from goldrush import kernel
from goldrush.kernel import codec, journal, run
from goldrush.kernel.codec import MAPS_MAX, Undecodable, pack, unpack
from goldrush.kernel.errors import MalformedEvents, WriteFailed
from goldrush.kernel.journal import START, UNIT, Commit, JournalReader, JournalWriter
from goldrush.kernel.world import Block
from tests.faults.sampling import in_turn
from tests.journals import commits_of, peak
from tests.kernel import choir
from tests.kernel.tiny import HEADER, error_of, forged

SIZE = 3 << 19  # bytes of a body that is all of one kind

KINDS = {
    "empty maps": b"\x80",
    "maps of one": b"\x81\xc0\xc0",
    "arrays of one": b"\x91\xc0",
    "arrays in arrays": b"\x91" * 500 + b"\xc0",
    "texts of two": b"\xa2ab",
    "texts of one wide letter": b"\xa3\xe4\xb8\xad",
    "negative numbers": b"\xe0",
    "doubles": b"\xcb@\x12\x34\x56\x78\x9a\xbc\xde",
}


def body_of(kind: str) -> bytes:
    """A UNIT whose one block is full of this."""
    item = KINDS[kind]
    count = SIZE // len(item)
    return b"\x94\x01\x01\xc0\xdd" + count.to_bytes(4, "big") + item * count


def stated() -> tuple[int, int, int]:
    """What kernel/README.md says: the factor, and bytes for maps and for lengths."""
    page = Path(kernel.__file__).with_name("README.md").read_text("utf-8")
    found = re.search(
        r"at most (\d+) times its bytes .*?, (\d+)\s+MB for .*? and (\d+) MB", page, re.S
    )
    assert found is not None
    factor, maps, lengths = map(int, found.groups())
    return factor, maps * 10**6, lengths * 10**6


def taken_by(path: Path, body: bytes) -> int:
    """The memory that reading this body takes, which is malformed."""
    data = forged([b"\x93\x00\x80\x00", body])
    ends: list[Any] = []
    taken = peak(lambda: ends.append(error_of(path, data)))

    assert [(1, MalformedEvents)] == [(before, type(error)) for before, error in ends]
    return taken


@pytest.mark.parametrize("kind", in_turn(KINDS))
def test_no_body_takes_more_memory_than_the_page_says(path: Path, kind: str) -> None:
    body = body_of(kind)
    factor, maps, _ = stated()
    taken = taken_by(path, body)

    assert taken < factor * len(body) + ("map" in kind) * maps
    if kind == "negative numbers":  # the worst, or the page says too much
        assert taken > 0.8 * factor * len(body)


@pytest.mark.parametrize(
    "length", [b"\xdc\xff\xff", b"\xdd\x03\xff\xff\xff", b"\xdf\x03\xff\xff\xff"]
)
def test_lengths_that_nothing_follows_take_no_more_memory_than_the_page_says(
    path: Path, length: bytes
) -> None:
    body = b"\x94\x01\x01\xc0" + length * 1000 + bytes(70_000)

    assert taken_by(path, body) < stated()[2]


def test_a_value_of_too_many_maps_is_refused_before_they_are_made() -> None:
    count = 4 << 20
    packed = b"\xdd" + count.to_bytes(4, "big") + b"\x80" * count

    def refused() -> None:
        with pytest.raises(Undecodable, match="more than 1048576 maps"):
            unpack(packed)

    assert peak(refused) < 100 << 20


@pytest.mark.parametrize("maps", [MAPS_MAX, MAPS_MAX + 1])
def test_what_is_written_can_be_read(path: Path, maps: int) -> None:
    commit = Commit(START, 0, 1, setup={"all": [{}] * (maps - 1)})
    with JournalWriter(path, HEADER) as journal:
        if maps > MAPS_MAX:
            with pytest.raises(WriteFailed, match="more than 1048576 maps"):
                journal.append(commit)
            return
        journal.append(commit)
    with JournalReader(path) as reader:
        [found] = reader

    assert len(found.setup["all"]) == maps - 1


def test_bytes_that_look_like_maps_are_none() -> None:
    assert codec.is_readable(pack(["\u0420" * (MAPS_MAX + 1)]))  # d0 a0
    assert codec.is_readable(pack(["\u0400" * (MAPS_MAX + 1)]))  # d0 80


@pytest.mark.parametrize(
    "packed",
    [
        msgpack.packb(msgpack.ExtType(5, b"x")), msgpack.packb(msgpack.ExtType(5, b"")),
        msgpack.packb(msgpack.Timestamp(5)), b"\xc7\x00\xff",
    ],
)  # fmt: skip
def test_ext_values_are_refused(path: Path, packed: bytes) -> None:
    with pytest.raises(Undecodable):
        unpack(packed)
    _, error = error_of(path, forged([b"\x93\x00\x81\xa1x" + packed + b"\x00"]))

    assert isinstance(error, MalformedEvents)


def test_inputs_that_wait_are_bounded_together(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(journal, "PENDING_MAX", 1500)
    piece = Block([(0, [("x" * 400,)])])
    with JournalWriter(path, HEADER) as writer:
        writer.append(Commit(START, 0, 1, setup={}))
        for _ in range(2):  # a step that is judged is no longer among them
            writer.append(Commit(UNIT, 1, None, [piece]))
            writer.append(Commit(UNIT, 1, None, [piece, Block([]), piece]))
        for _ in range(3):
            writer.append(Commit(UNIT, 1, None, [piece]))

    with JournalReader(path) as reader, pytest.raises(MalformedEvents, match=r"commit 6 .* 1500"):
        list(reader)


def test_a_run_stops_before_it_writes_more_than_can_be_read(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run, "BODY_MAX", 20)
    with pytest.raises(WriteFailed, match="20"):
        choir.record(path, choir.Asked("in order"))

    assert all(len(commit.raw) <= 20 for commit in commits_of(path)[1:])
    assert len(commits_of(path)) > 1
