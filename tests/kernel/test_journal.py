"""The journal's writer and reader: what was appended comes back whole, or the place where the file
is broken is named.

The journal under test is small and written by hand, in no world: the format does not know any.
Damage is systematic: every bit, every cut, every commit swapped, repeated or removed.
"""

import errno
import hashlib
import io
import os
import tracemalloc
from collections.abc import Callable, Sequence
from itertools import combinations, pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from xxhash import xxh3_64_intdigest as xxh3

from goldrush.kernel import files
from goldrush.kernel import journal as module
from goldrush.kernel.codec import pack
from goldrush.kernel.errors import (
    BadInput,
    CommitTooLarge,
    DamagedJournal,
    JournalError,
    JournalInUse,
    JournalLost,
    MalformedEvents,
    NotAJournal,
    TornTail,
    UnsupportedJournal,
    WriteFailed,
)
from goldrush.kernel.journal import (
    BODY_MAX,
    END,
    FORMAT,
    HEADER_MAX,
    START,
    UNIT,
    Commit,
    Header,
    JournalReader,
    JournalWriter,
    sha256_in,
    sha256_of,
)
from goldrush.kernel.world import Block
from goldrush.replay.find import open_world as world_of

HEADER = Header("tiny", 3)
SETUP = {"players": 2, "name": "Zoë", "rate": 0.5}


def commits() -> list[Commit]:
    """A run of two units; the first one's inputs come in two commits."""
    asked = Block([(0, [(0, "yes", None)]), (2, [(1,)])])
    return [
        Commit(START, 0, 0x1122334455667788, setup=SETUP),
        Commit(UNIT, 1, None, [asked]),
        Commit(UNIT, 1, 2**64 - 1, [Block([(0, [(1, "no", -1.5)])]), Block([(1, [(7,), (8,)])])]),
        Commit(UNIT, 2, 0, [asked, Block([])]),
        Commit(END, 2),
    ]


def write(path: Path, commits: Sequence[Commit], header: Header = HEADER) -> bytes:
    """Write a journal and return its bytes."""
    with JournalWriter(path, header) as journal:
        for commit in commits:
            journal.append(commit)
    return path.read_bytes()


def content(commit: Commit) -> tuple[Any, ...]:
    """What a commit says, wherever it stands."""
    blocks = [(block.packed, listed(block.batches)) for block in commit.blocks]
    return commit.kind, commit.unit, commit.digest, commit.setup, blocks


def listed(value: Any) -> Any:
    """The value with lists for tuples."""
    return [listed(item) for item in value] if isinstance(value, (list, tuple)) else value


def read(path: Path) -> tuple[list[Commit], JournalReader, JournalError | None]:
    """All whole commits, the reader afterwards, and what reading ended with."""
    found: list[Commit] = []
    with JournalReader(path) as reader:
        try:
            found.extend(reader)
        except JournalError as error:
            return found, reader, error
    return found, reader, None


def error_of(path: Path, data: bytes) -> tuple[int, JournalError | None]:
    """How many commits of a file are read before what error."""
    path.write_bytes(data)
    try:
        found, _, error = read(path)
    except JournalError as refused:
        return -1, refused
    return len(found), error


def spans(path: Path) -> list[tuple[int, int]]:
    """First and last offset of each commit."""
    return [(commit.offset, commit.end) for commit in read(path)[0]]


def forged(bodies: Sequence[bytes], header: bytes = b"") -> bytes:
    """A journal with these bodies under right checksums, written without the writer."""
    data = header or HEADER.packed()
    checksum = int.from_bytes(data[-8:], "big")
    for body in bodies:
        length = b"\x94\xce" + len(body).to_bytes(4, "big")
        check = xxh3(length, checksum) & 0xFFFFFFFF
        frame = length + b"\xce" + check.to_bytes(4, "big") + body
        checksum = xxh3(frame, checksum)
        data += frame + b"\xcf" + checksum.to_bytes(8, "big")
    return data


@pytest.fixture
def sound(path: Path) -> bytes:
    """The bytes of a whole journal, which stands at `path` too."""
    return write(path, commits())


# What was appended comes back.


def test_an_outline_is_all_but_the_units_before_the_last(path: Path, sound: bytes) -> None:
    for end in range(len(HEADER.packed()), len(sound) + 1):
        path.write_bytes(sound[:end])
        found, whole, error = read(path)
        outlined: list[Commit] = []
        trouble: JournalError | None = None
        with JournalReader(path) as reader:
            try:
                outlined.extend(reader.outline())
            except JournalError as met:
                trouble = met
        units = [commit for commit in found if commit.kind == UNIT]
        wanted = [commit for commit in found if commit.kind != UNIT] + units[-1:]

        assert list(map(content, wanted)) == list(map(content, outlined))
        assert [commit.where for commit in wanted] == [commit.where for commit in outlined]
        assert str(error) == str(trouble)
        assert whole.ended == reader.ended


def test_the_writer_writes_the_format(sound: bytes) -> None:
    assert sound == forged([commit.body() for commit in commits()])


def test_commits_know_their_place_in_the_file(path: Path, sound: bytes) -> None:
    found = read(path)[0]

    assert [commit.index for commit in found] == [0, 1, 2, 3, 4]
    assert found[0].offset == len(HEADER.packed())
    assert all(one.end == next.offset for one, next in pairwise(found))
    assert found[-1].end == len(sound)
    assert found[2].where == f"commit 2 at byte {found[1].end}"


def test_a_journal_can_be_read_twice(path: Path, sound: bytes) -> None:
    with JournalReader(path) as reader:
        assert len(list(reader)) == len(list(reader)) == 5


def test_a_writer_that_appends_nothing_leaves_no_file(path: Path) -> None:
    JournalWriter(path, HEADER).close()

    assert not path.exists()


@pytest.mark.parametrize("blocks", [2, 12, 13, 14, 500, 65_532, 65_533])
def test_many_blocks_stand_in_one_commit(path: Path, blocks: int) -> None:
    many = [Block([(0, [(place,)])]) for place in range(blocks)]
    digest = None if blocks % 2 else 5
    write(path, [Commit(START, 0, 1, setup={}), Commit(UNIT, 1, digest, many)])
    found = read(path)[0]

    assert [block.rows(0) for block in found[1].blocks] == [[(place,)] for place in range(blocks)]


FEW_BLOCKS = st.sampled_from(
    [Block([]), Block([(0, [(1,)])]), Block([(0, [(1,), (2,)])]), Block([(1, [(1,)]), (0, [(1,)])])]
    + [Block([(0, [("x" * size,)])]) for size in (1, 70_000)]
)


@given(st.lists(st.lists(FEW_BLOCKS, min_size=2, max_size=4).filter(lambda b: len(b) != 3)))
def test_a_commit_is_read_the_same_after_any_other_as_alone(units: list[list[Block]]) -> None:
    """Blocks that repeat are not decoded again."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "a.journal"
        closed = [Commit(UNIT, unit, 1, blocks) for unit, blocks in enumerate(units, 1)]
        write(path, [Commit(START, 0, 1, setup={}), *closed])
        with JournalReader(path) as reader:
            for before, commit in pairwise(list(reader)):
                alone = next(reader.commits(before.after))

                assert [b.batches for b in alone.blocks] == [b.batches for b in commit.blocks]
                assert [b.packed for b in alone.blocks] == [b.packed for b in commit.blocks]


@pytest.mark.parametrize("size", [65_000, 65_536, 70_000, 2_000_000])
def test_large_bodies_come_back_between_small_ones(path: Path, size: int) -> None:
    sizes = [3, size, 3, size, size, 3]
    written = [[Block([(0, [("x" * n,), tuple(range(n // 10))])]), Block([])] for n in sizes]
    units = [Commit(UNIT, unit, 5, blocks) for unit, blocks in enumerate(written, 1)]
    write(path, [Commit(START, 0, 1, setup={}), *units])
    found, _, error = read(path)

    assert error is None
    assert [content(commit) for commit in found[1:]] == [content(commit) for commit in units]


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**64 - 1) | st.floats(allow_nan=False)
    | st.text(st.characters(exclude_categories=["Cs"]), max_size=5),
    lambda values: st.lists(values, max_size=3).map(tuple),
    max_leaves=5,
)  # fmt: skip
BATCHES = st.tuples(
    st.integers(0, 40), st.lists(st.lists(VALUES, max_size=3).map(tuple), min_size=1, max_size=3)
)
BLOCKS = st.lists(BATCHES, max_size=3).map(Block)
OPEN = st.lists(BLOCKS, max_size=4)  # the blocks of a commit that leaves its unit open
CLOSED = st.lists(st.tuples(BLOCKS, BLOCKS), min_size=1, max_size=2)  # steps
UNITS = st.lists(st.tuples(st.lists(OPEN, max_size=2), CLOSED), max_size=4)


@given(UNITS, st.booleans())
def test_whatever_is_appended_comes_back(
    tmp_path_factory: pytest.TempPathFactory, units: list[Any], ended: bool
) -> None:
    path = tmp_path_factory.mktemp("any") / "run.journal"
    appended = [Commit(START, 0, 1, setup=SETUP)]
    for unit, (parts, closing) in enumerate(units, 1):
        appended += [Commit(UNIT, unit, None, blocks) for blocks in parts]
        blocks = [block for step in closing for block in step]
        appended.append(Commit(UNIT, unit, unit * 7, blocks))
    if ended:
        appended.append(Commit(END, len(units)))
    data = write(path, appended)
    found, reader, error = read(path)

    assert [content(commit) for commit in found] == [content(commit) for commit in appended]
    assert (error, reader.ended) == (None, ended)
    assert write(path.with_name("copy"), found) == data


# Bits of every byte; tests/faults flips all of them.


def test_a_flipped_bit_of_any_byte_is_found_in_the_commit_that_it_breaks(
    path: Path, sound: bytes
) -> None:
    places = [(-1, 0, len(HEADER.packed()))]
    places += [(index, start, end) for index, (start, end) in enumerate(spans(path))]
    wrong = []
    for commit, start, end in places:
        for bit in range(start * 8, end * 8, 3):  # no byte is left out
            data = bytearray(sound)
            data[bit // 8] ^= 1 << bit % 8
            before, error = error_of(path, data)
            if data[-1] == 0:  # as if it had never reached the disk
                expected = TornTail(str(path), commit, start, end - start, zeros=True)
                if str(error) != str(expected):
                    wrong.append((bit, before, error))
            elif (type(error), before) != (DamagedJournal, commit) or (
                error.commit,
                error.offset,
            ) != (
                commit,
                start,
            ):
                wrong.append((bit, before, error))

    assert places[-1][2] == len(sound)
    assert wrong == []


@given(st.data())
def test_any_change_of_bytes_is_found(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    folder = tmp_path_factory.mktemp("any")
    sound = write(folder / "sound", commits())
    start = data.draw(st.integers(0, len(sound)))
    removed = data.draw(st.integers(0, 30))
    inserted = data.draw(st.binary(max_size=30))
    changed = sound[:start] + inserted + sound[start + removed :]
    _, error = error_of(folder / "changed", changed)

    assert changed == sound or sound.startswith(changed) or isinstance(error, JournalError)


def test_damage_is_told_with_both_values(path: Path, sound: bytes) -> None:
    start, end = spans(path)[1]
    data = bytearray(sound)
    data[end - 1] ^= 1
    _, error = error_of(path, data)

    assert isinstance(error, DamagedJournal)
    assert error.expected.endswith(sound[end - 9 : end].hex())
    assert error.found == data[end - 9 : end].hex()
    assert f"commit 1 at byte {start}" in str(error)
    assert str(path) in str(error)


# Every cut.


def test_every_cut_is_an_end_a_torn_tail_or_a_broken_header(path: Path, sound: bytes) -> None:
    places = spans(path)
    header = len(HEADER.packed())
    for size in range(len(sound)):
        before, error = error_of(path, sound[:size])
        if size < header:
            assert before == -1, size
            assert isinstance(error, (DamagedJournal, NotAJournal)), size
            continue
        whole = sum(end <= size for _, end in places)
        last = places[whole - 1][1] if whole else header
        assert before == whole, size
        if whole and size == last:
            assert error is None, size
        else:
            assert isinstance(error, TornTail), size
            assert (error.commits, error.offset, error.extra) == (whole, last, size - last), size


@pytest.mark.parametrize("size", range(6))
def test_the_first_few_bytes_alone_are_not_known_for_a_journal(
    path: Path, sound: bytes, size: int
) -> None:
    assert isinstance(error_of(path, sound[:size])[1], NotAJournal)


def test_a_file_that_shrinks_while_it_is_read_has_a_torn_tail(path: Path) -> None:
    large = Commit(UNIT, 1, None, [Block([(0, [("x" * 100_000,)])])])
    write(path, [commits()[0], large])
    start, end = spans(path)[1]
    with JournalReader(path) as reader:
        os.truncate(path, end - 1_000)

        with pytest.raises(TornTail) as caught:
            list(reader)

    assert (caught.value.commits, caught.value.offset) == (1, start)
    assert caught.value.extra == end - 1_000 - start


# Commits out of place.


def pieces(path: Path, sound: bytes) -> list[bytes]:
    return [sound[start:end] for start, end in spans(path)]


def test_every_swap_of_commits_is_found(path: Path, sound: bytes) -> None:
    header, parts = HEADER.packed(), pieces(path, sound)
    for one, other in combinations(range(len(parts)), 2):
        swapped = parts.copy()
        swapped[one], swapped[other] = parts[other], parts[one]
        before, error = error_of(path, header + b"".join(swapped))

        assert isinstance(error, DamagedJournal), (one, other)
        assert (before, error.commit) == (one, one)


def test_every_repeated_commit_is_found(path: Path, sound: bytes) -> None:
    header, parts = HEADER.packed(), pieces(path, sound)
    for place, part in enumerate(parts):
        data = header + b"".join([*parts[: place + 1], part, *parts[place + 1 :]])
        before, error = error_of(path, data)

        assert isinstance(error, DamagedJournal), place
        assert (before, error.commit) == (place + 1, place + 1)


def test_every_removed_commit_is_found_but_for_the_last(path: Path, sound: bytes) -> None:
    header, parts = HEADER.packed(), pieces(path, sound)
    for place in range(len(parts) - 1):
        before, error = error_of(path, header + b"".join([*parts[:place], *parts[place + 1 :]]))

        assert isinstance(error, DamagedJournal), place
        assert (before, error.commit) == (place, place)


def test_every_foreign_tail_is_found(path: Path, sound: bytes) -> None:
    parts = pieces(path, sound)
    other = commits()
    other[0] = Commit(START, 0, 1, setup={**SETUP, "players": 3})
    foreign = write(path.with_name("other"), other)
    tails = pieces(path.with_name("other"), foreign)
    for place in range(1, len(parts)):
        data = HEADER.packed() + b"".join([*parts[:place], *tails[place:]])
        before, error = error_of(path, data)

        assert isinstance(error, DamagedJournal), place
        assert (before, error.commit) == (place, place)


def test_commits_under_the_header_of_another_world_are_found(path: Path, sound: bytes) -> None:
    data = Header("tinY", 3).packed() + sound[len(HEADER.packed()) :]
    before, error = error_of(path, data)

    assert isinstance(error, DamagedJournal)
    assert (before, error.commit) == (0, 0)


@pytest.mark.parametrize("tail", [b"\x94", b"\x00" * 11, b"\xff" * 64, b"one more line of text\n"])
def test_bytes_after_the_end_are_damage(path: Path, sound: bytes, tail: bytes) -> None:
    before, error = error_of(path, sound + tail)

    assert isinstance(error, DamagedJournal)
    assert (before, error.commit, error.offset) == (5, 5, len(sound))


@pytest.mark.parametrize(
    "commit",
    [Commit(UNIT, 3, 1), Commit(UNIT, 2, 1), Commit(END, 2), Commit(START, 0, 1, setup={})],
)
def test_nothing_may_follow_the_end(path: Path, commit: Commit) -> None:
    data = forged([c.body() for c in [*commits(), commit]])
    before, error = error_of(path, data)

    assert isinstance(error, DamagedJournal)
    assert before == 5


# Headers.


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\n",
        b"goldrush",
        b"\x89PNG\r\n\x1a\n" + bytes(100),
        b"SQLite format 3\x00" + bytes(100),
        b'{"event": "run_started"}\n',
        b"\x95\xa8otherrun" + bytes(100),
        bytes(1_000),
    ],
)
def test_other_files_are_not_journals(path: Path, data: bytes) -> None:
    path.write_bytes(data)

    with pytest.raises(NotAJournal, match="not a goldrush journal"):
        JournalReader(path)


@given(st.binary(max_size=HEADER_MAX + 20))
def test_any_bytes_after_the_magic_are_refused_in_the_header(
    tmp_path_factory: pytest.TempPathFactory, data: bytes
) -> None:
    path = tmp_path_factory.mktemp("any") / "run.journal"
    path.write_bytes(HEADER.packed()[:10] + data)

    with pytest.raises((DamagedJournal, UnsupportedJournal)):
        JournalReader(path)


@pytest.mark.parametrize("version", [0, 2, 3, 200, 2**64 - 1])
def test_a_sound_header_of_another_format_is_unsupported(path: Path, version: int) -> None:
    path.write_bytes(HEADER.packed(version))

    with pytest.raises(UnsupportedJournal, match=f"journal format {version};.* format {FORMAT}"):
        JournalReader(path)


@pytest.mark.parametrize("version", [True, 1.0])
def test_a_format_that_only_equals_this_one_is_refused(path: Path, version: Any) -> None:
    path.write_bytes(HEADER.packed(version))

    with pytest.raises((UnsupportedJournal, DamagedJournal)):
        JournalReader(path)


@pytest.mark.parametrize(
    "fields",
    [
        ("tiny", "3"), (b"tiny", 3), (3, "tiny"), (None, 3), ("tiny", True), ("tiny", 3.0),
        (("tiny",), 3), ("tiny", None),
    ],
)  # fmt: skip
def test_a_header_whose_fields_are_no_name_and_number_is_damaged(
    path: Path, fields: tuple[Any, Any]
) -> None:
    path.write_bytes(Header(*fields).packed())

    with pytest.raises(DamagedJournal):
        JournalReader(path)


def test_a_header_that_is_not_in_the_shortest_form_is_damaged(path: Path) -> None:
    fields = HEADER.packed()[:-10] + b"\xcc\x03"
    path.write_bytes(fields + b"\xcf" + xxh3(fields).to_bytes(8, "big"))

    with pytest.raises(DamagedJournal):
        JournalReader(path)


def test_a_world_that_is_not_known_is_unsupported(path: Path, sound: bytes) -> None:
    with JournalReader(path) as reader, pytest.raises(UnsupportedJournal, match=r"'tiny'.*mining"):
        world_of(reader)


def test_a_world_is_found_by_the_name_in_the_header(path: Path) -> None:
    path.write_bytes(Header("mining", 1).packed())
    with JournalReader(path) as reader:
        assert world_of(reader).name == "mining"


LONGEST = "w" * (HEADER_MAX - len(Header("", 2**63).packed()) - 1)  # from 32 on a byte more


@pytest.mark.parametrize("name", ["w", "wörld", LONGEST])
def test_a_header_up_to_the_limit_comes_back(path: Path, name: str) -> None:
    path.write_bytes(Header(name, 2**63).packed())
    with JournalReader(path) as reader:
        assert reader.header == Header(name, 2**63)


@pytest.mark.parametrize("name", [LONGEST + "w", "w" * 100_000])
def test_a_header_over_the_limit_is_refused_before_anything_is_written(
    path: Path, name: str
) -> None:
    with pytest.raises(BadInput, match="short text"):
        JournalWriter(path, Header(name, 2**63), force=True)

    assert not path.exists()


# Hostile bodies: the checksums are right, the content is not.

START_BODY = pack((START, SETUP, 1))
UNIT_BODY = pack((UNIT, 1, None))


def unit_with(block: Any) -> bytes:
    return pack((UNIT, 1, None, block))


FIRST_BODIES = {
    "no bytes": b"",
    "a number": b"\x00",
    "nil": b"\xc0",
    "a byte that msgpack does not use": b"\xc1",
    "a text": pack("start"),
    "a map": pack({0: SETUP}),
    "an extension": b"\xc7\x03\x05abc",
    "an empty array": b"\x90",
    "the kind alone": b"\x91\x00",
    "an unknown kind": pack((3, SETUP, 1)),
    "a negative kind": pack((-1, SETUP, 1)),
    "a kind that is text": pack(("0", SETUP, 1)),
    "no digest": pack((START, SETUP)),
    "a part too many": pack((START, SETUP, 1, 1)),
    "a digest that is nil": pack((START, SETUP, None)),
    "a digest below 0": pack((START, SETUP, -1)),
    "a setup that is an array": pack((START, (1, 2), 1)),
    "a digest that is text": pack((START, SETUP, "1")),
    "a digest that is true": pack((START, SETUP, True)),
    "a unit first": UNIT_BODY,
    "an end first": pack((END, 0)),
    "bytes after the content": START_BODY + b"\x00",
    "a second commit after the content": START_BODY + START_BODY,
    "a map whose key is a map": b"\x93\x00\x81\x80\x00\x01",
    "text that is not UTF-8": b"\x93\x00\x81\xa1\xff\x00\x01",
    "a timestamp that is none": b"\x93\x00\x81\xa1a\xd7\xff" + b"\xff" * 8 + b"\x01",
    "4294967295 parts": b"\xdd\xff\xff\xff\xff" + START_BODY[1:],
    "65535 parts": b"\xdc\xff\xff" + START_BODY[1:],
    "a map of 4294967295": b"\x93\x00\xdf\xff\xff\xff\xff",
    "a map of 65535": b"\x93\x00\xde\xff\xff",
    "a text of 4294967295 bytes": b"\x93\x00\x81\xdb\xff\xff\xff\xff",
    "bytes of 4294967295": b"\x93\x00\x81\xc6\xff\xff\xff\xff",
    "an extension of 4294967295 bytes": b"\x93\x00\xc9\xff\xff\xff\xff\x01",
    "arrays in arrays": b"\x93\x00" + b"\x91" * 10_000 + b"\x90",
    "arrays without end": b"\x91" * 10_000,
    "maps in maps": b"\x93\x00" + b"\x81\x00" * 10_000 + b"\x80\x01",
    "keys in keys": b"\x93\x00" + b"\x81" * 10_000,
    "long arrays in arrays": b"\x93\x00" + b"\xdc\xff\xff" * 340,
    "longer arrays in arrays": b"\x93\x00" + b"\xdd\x00\x00\xff\xff" * 200,
    "long maps in maps": b"\x93\x00" + b"\xde\xff\xff\x00" * 250,
    "a large body of arrays": b"\x93\x00" + b"\x91" * 100_000,
    "a large body of nothing": bytes(100_000),
}

NEXT_BODIES = {
    "a second start": START_BODY,
    "a unit without digest": pack((UNIT, 1)),
    "unit 0": pack((UNIT, 0, None)),
    "unit 2": pack((UNIT, 2, None)),
    "unit -1": pack((UNIT, -1, None)),
    "a unit that is text": pack((UNIT, "1", None)),
    "a unit that is true": pack((UNIT, True, None)),
    "a digest that is text": pack((UNIT, 1, "digest", (), ())),
    "a digest that is true": pack((UNIT, 1, True, (), ())),
    "a digest below 0": pack((UNIT, 1, -1, (), ())),
    "a kind that is true": pack((True, 1, None)),
    "a unit closed without blocks": pack((UNIT, 1, 2)),
    "a unit closed by inputs": pack((UNIT, 1, 2, ())),
    "a unit closed by inputs after a step": pack((UNIT, 1, 2, (), (), ())),
    "a block that is nil": unit_with(None),
    "a block that is a map": unit_with({0: ((1,),)}),
    "a block that is an empty text": unit_with(""),
    "a block that is an empty map": unit_with({}),
    "a block that is a map of batches": b"\x94" + UNIT_BODY[1:] + b"\x81\x92\x00\x91\x91\x01\xc0",
    "a batch that is nil": unit_with((None,)),
    "a batch that is a map": b"\x94" + UNIT_BODY[1:] + b"\x91\x82\x00\xc0\x91\x91\x01\xc0",
    "a code below 0": unit_with(((-1, ((1,),)),)),
    "a batch that is text": unit_with(("ab",)),
    "a batch of one": unit_with(((0,),)),
    "a batch of three": unit_with(((0, ((1,),), 3),)),
    "a code that is text": unit_with((("0", ((1,),)),)),
    "a code that is true": unit_with(((True, ((1,),)),)),
    "rows that are nil": unit_with(((0, None),)),
    "rows that are a map": unit_with(((0, {1: 2}),)),
    "a batch without rows": unit_with(((0, ()),)),
    "a block cut short": unit_with(((0, ((1,),)),))[:-1],
    "fewer blocks than declared": b"\x95" + unit_with(())[1:],
    "more blocks than declared": b"\x93" + unit_with(())[1:],
    "65535 blocks": b"\xdc\xff\xff" + unit_with(())[1:],
    "4294967295 blocks": b"\xdd\xff\xff\xff\xff" + unit_with(())[1:],
    "a block of 4294967295 batches": b"\x94" + UNIT_BODY[1:] + b"\xdd\xff\xff\xff\xff",
    "4294967295 rows": b"\x94" + UNIT_BODY[1:] + b"\x91\x92\x00\xdd\xff\xff\xff\xff",
    "rows in rows": b"\x94" + UNIT_BODY[1:] + b"\x91" * 10_000 + b"\x90",
    "a row in a row": b"\x94" + UNIT_BODY[1:] + b"\x91\x92\x00" + b"\x91" * 10_000 + b"\x90",
    "an end without unit": pack((END,)),
    "an end with three parts": pack((END, 0, 0)),
    "an end of unit 1": pack((END, 1)),
    "an end of unit -1": pack((END, -1)),
    "an end of a unit that is text": pack((END, "0")),
}


@pytest.mark.parametrize("body", FIRST_BODIES.values(), ids=FIRST_BODIES)
def test_a_first_body_that_is_no_start_is_malformed(path: Path, body: bytes) -> None:
    before, error = error_of(path, forged([body]))

    assert isinstance(error, MalformedEvents)
    assert (before, error.where) == (0, f"commit 0 at byte {len(HEADER.packed())}")
    assert error.fault


@pytest.mark.parametrize("body", NEXT_BODIES.values(), ids=NEXT_BODIES)
def test_a_body_that_is_no_unit_and_no_end_is_malformed(path: Path, body: bytes) -> None:
    before, error = error_of(path, forged([START_BODY, body]))

    assert isinstance(error, MalformedEvents)
    assert (before, error.where) == (1, f"commit 1 at byte {len(forged([START_BODY]))}")
    assert error.fault


@pytest.mark.parametrize(
    ("body", "fault"),
    [
        ("a batch of three", "a batch is not a list of two"),
        ("an end of unit -1", "unit -1, which is not a number"),
    ],
)
def test_what_is_wrong_with_a_body_is_said(path: Path, body: str, fault: str) -> None:
    _, error = error_of(path, forged([START_BODY, NEXT_BODIES[body]]))

    assert isinstance(error, MalformedEvents)
    assert fault in error.fault


def test_a_body_over_the_limit_is_malformed_before_it_is_read(path: Path) -> None:
    header = HEADER.packed()
    length = b"\x94\xce" + (BODY_MAX + 1).to_bytes(4, "big")
    check = xxh3(length, int.from_bytes(header[-8:], "big")) & 0xFFFFFFFF
    before, error = error_of(path, header + length + b"\xce" + check.to_bytes(4, "big"))

    assert isinstance(error, MalformedEvents)
    assert before == 0


@pytest.mark.parametrize(("place", "byte"), [(0, 0x93), (1, 0xCF), (6, 0xCF)])
def test_a_frame_of_another_form_is_damage_even_under_a_right_check(
    path: Path, place: int, byte: int
) -> None:
    header = HEADER.packed()
    head = bytearray(b"\x94\xce\x00\x00\x00\x64\xce")
    head[place] = byte
    check = xxh3(bytes(head[:6]), int.from_bytes(header[-8:], "big")) & 0xFFFFFFFF
    before, error = error_of(path, header + head + check.to_bytes(4, "big"))

    assert isinstance(error, DamagedJournal)
    assert (before, error.commit, error.offset) == (0, 0, len(header))


def test_a_length_that_goes_over_the_end_takes_no_memory(path: Path) -> None:
    header = HEADER.packed()
    length = b"\x94\xce" + BODY_MAX.to_bytes(4, "big")
    check = xxh3(length, int.from_bytes(header[-8:], "big")) & 0xFFFFFFFF
    path.write_bytes(header + length + b"\xce" + check.to_bytes(4, "big") + bytes(1_000))
    peak, error = peak_of(path)

    assert isinstance(error, TornTail)
    assert peak < 1 << 20


def test_any_body_under_right_checksums_is_a_commit_or_malformed(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    path = tmp_path_factory.mktemp("any") / "run.journal"

    @given(st.binary(max_size=60) | st.tuples(st.sampled_from(SEEDS), CHANGES).map(changed))
    def holds(body: bytes) -> None:
        _, error = error_of(path, forged([START_BODY, body]))

        assert error is None or isinstance(error, MalformedEvents)

    holds()


SEEDS = [START_BODY, *(commit.body() for commit in commits())]
CHANGES = st.lists(st.tuples(st.integers(0, 100), st.binary(min_size=1, max_size=3)), max_size=3)


def changed(drawn: tuple[bytes, list[tuple[int, bytes]]]) -> bytes:
    """A body with a few bytes put in place of others."""
    body, changes = drawn
    for place, put in changes:
        place %= len(body)
        body = body[:place] + put + body[place + 1 :]
    return body


MEMORY_MAX = 64 << 20  # bytes


def peak_of(path: Path) -> tuple[int, JournalError | None]:
    """The most memory that reading a file takes, and what it ends with."""
    tracemalloc.start()
    try:
        _, _, error = read(path)
        return tracemalloc.get_traced_memory()[1], error
    finally:
        tracemalloc.stop()


HOSTILE = {
    name: body.ljust(1024, b"\xc0")
    for name, body in (FIRST_BODIES | NEXT_BODIES).items()
    if len(body) <= 1024
}


@pytest.mark.parametrize("body", HOSTILE.values(), ids=HOSTILE)
def test_a_hostile_kilobyte_takes_little_memory(path: Path, body: bytes) -> None:
    path.write_bytes(forged([body]))
    peak, error = peak_of(path)

    assert isinstance(error, MalformedEvents)
    assert peak < MEMORY_MAX


@pytest.mark.parametrize("mark", [b"\xdc", b"\xdd"])
@pytest.mark.parametrize("size", [4 << 10, 64 << 10, 100 << 10, 1 << 20])
def test_arrays_that_claim_more_than_there_is_take_bounded_memory(
    path: Path, size: int, mark: bytes
) -> None:
    claimed = min(size // 8 * 7, 65_535 if mark == b"\xdc" else size)
    head = mark + claimed.to_bytes(2 if mark == b"\xdc" else 4, "big")
    path.write_bytes(forged([(b"\x93\x00" + head * 500).ljust(size, b"\xc0")]))
    peak, error = peak_of(path)

    assert isinstance(error, MalformedEvents)
    assert peak < MEMORY_MAX + 24 * size


# Writing.


def test_a_second_writer_is_refused(path: Path) -> None:
    with JournalWriter(path, HEADER) as first:
        first.append(commits()[0])
        before = path.read_bytes()

        with pytest.raises(JournalInUse, match="another process is writing"):
            JournalWriter(path, HEADER, force=True)

        assert path.read_bytes() == before
        first.append(Commit(END, 0))
    assert len(read(path)[0]) == 2


def test_a_file_that_is_removed_between_opening_and_locking_is_not_written(
    path: Path, sound: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    path.write_bytes(sound)
    lock = files.fcntl.flock

    def removed_then_locked(fd: int, operation: int) -> None:
        path.unlink()
        lock(fd, operation)

    monkeypatch.setattr(files.fcntl, "flock", removed_then_locked)

    with pytest.raises(JournalInUse, match="just removed"):
        JournalWriter.reopen(path)


def test_of_two_writers_the_one_that_commits_first_has_the_path(tmp_path: Path) -> None:
    path = tmp_path / "run.journal"
    with JournalWriter(path, HEADER) as slow, JournalWriter(path, HEADER) as quick:
        for commit in commits():
            quick.append(commit)
        with pytest.raises(BadInput, match="was created by another process meanwhile; wait"):
            slow.append(commits()[0])

    assert len(read(path)[0]) == len(commits())
    assert [path] == list(path.parent.iterdir())


def test_nothing_is_at_the_path_before_the_first_commit(path: Path) -> None:
    with JournalWriter(path, HEADER) as journal:
        assert not path.exists()
        journal.append(commits()[0])
        assert [path] == list(path.parent.iterdir())


@pytest.mark.parametrize("first", [0, 1, 2])
def test_what_is_overwritten_stays_until_more_than_the_opening_is_there(
    path: Path, sound: bytes, first: int
) -> None:
    path.write_bytes(sound)
    bodies = [commit.body() for commit in commits()[:first]]
    opening = {"force": True, "is_opening": lambda commit: commit.body() in bodies}
    with JournalWriter(path, HEADER, **opening) as journal:
        for commit in commits()[:first]:
            journal.append(commit)

        assert not journal.is_begun
        assert path.read_bytes() == sound
        with pytest.raises(JournalInUse):  # before anybody pays for an answer
            JournalWriter(path, HEADER, force=True)

    assert path.read_bytes() == sound
    assert [path] == list(path.parent.iterdir())

    with JournalWriter(path, HEADER, **opening) as journal:
        for commit in commits()[: first + 1]:
            journal.append(commit)

        assert journal.is_begun
        assert len(read(path)[0]) == first + 1


@pytest.mark.parametrize("data", [b"", b"somebody's thesis", b"longer" * 100])
def test_a_writer_whose_file_is_changed_by_somebody_else_leaves_it_alone(
    path: Path, data: bytes
) -> None:
    with JournalWriter(path, HEADER) as journal:
        journal.append(commits()[0])
        path.write_bytes(data)

        with pytest.raises(JournalLost, match="was changed by another process while it"):
            journal.append(commits()[1])

    assert data == path.read_bytes()


@pytest.mark.parametrize("lose", ["removed", "replaced by another file"])
def test_a_writer_whose_file_is_gone_stops_and_says_so(path: Path, lose: str) -> None:
    with JournalWriter(path, HEADER) as journal:
        journal.append(commits()[0])
        path.rename(path.with_name("aside"))
        if lose != "removed":
            path.write_bytes(b"somebody's thesis")

        with pytest.raises(JournalLost, match=f"was {lose} while it was written"):
            journal.append(commits()[1])

    assert lose == "removed" or path.read_bytes() == b"somebody's thesis"


@pytest.mark.parametrize("begun", [0, 1])
def test_a_process_that_inherits_a_writer_changes_nothing(path: Path, begun: int) -> None:
    def inherit() -> None:
        try:
            journal.append(commits()[begun])
        except WriteFailed as error:
            os.write(told, str(error).encode())
        finally:
            journal.close()
            os._exit(0)

    reading, told = os.pipe()
    with JournalWriter(path, HEADER) as journal:
        for commit in commits()[:begun]:
            journal.append(commit)
        if os.fork() == 0:
            inherit()
        os.wait()
        for commit in commits()[begun:]:
            journal.append(commit)

    text = os.read(reading, 1000).decode()
    assert f"{path}: process {os.getpid()}, from which this one was forked, writes it; " in text
    assert [commit.body() for commit in commits()] == [commit.body() for commit in read(path)[0]]


def test_a_forked_process_does_not_remove_a_journal(path: Path) -> None:
    with JournalWriter(path, HEADER) as journal:
        journal.append(commits()[0])
        if os.fork() == 0:
            try:
                journal.discard()
            finally:
                os._exit(0)
        os.wait()
        for commit in commits()[1:]:
            journal.append(commit)
        assert len(read(path)[0]) == len(commits())
        journal.discard()

    assert not path.exists()


def test_a_writer_lets_the_next_one_in_after_an_error(path: Path) -> None:
    class Stopped(Exception):
        pass

    with pytest.raises(Stopped), JournalWriter(path, HEADER):
        raise Stopped

    JournalWriter(path, HEADER, force=True).close()


def test_closing_twice_is_harmless(path: Path) -> None:
    journal = JournalWriter(path, HEADER)
    journal.close()
    journal.close()


def test_a_closed_writer_writes_nothing(path: Path) -> None:
    journal = JournalWriter(path, HEADER)
    journal.append(commits()[0])
    journal.close()
    before = path.read_bytes()

    with pytest.raises(WriteFailed):
        journal.append(commits()[1])
    assert path.read_bytes() == before


def test_a_journal_that_exists_is_refused_and_left_untouched(path: Path, sound: bytes) -> None:
    path.write_bytes(sound)

    with pytest.raises(BadInput, match=r"already exists; .*--force"):
        JournalWriter(path, HEADER)
    assert path.read_bytes() == sound


def test_an_empty_file_is_replaced(path: Path, sound: bytes) -> None:
    empty = path.with_name("empty")
    empty.touch()

    assert write(empty, commits()) == sound


def test_a_journal_that_exists_is_overwritten_by_force(path: Path, sound: bytes) -> None:
    path.write_bytes(files.JOURNAL + b"something longer than the journal" * 1_000)
    with JournalWriter(path, HEADER, force=True) as journal:
        for commit in commits():
            journal.append(commit)

    assert path.read_bytes() == sound


def test_a_missing_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="create the folder first"):
        JournalWriter(tmp_path / "no" / "run.journal", HEADER)

    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("force", [False, True])
def test_a_folder_is_no_place_for_a_journal(tmp_path: Path, force: bool) -> None:
    with pytest.raises(BadInput):
        JournalWriter(tmp_path, HEADER, force=force)


@pytest.mark.parametrize("force", [False, True])
def test_a_device_or_a_link_is_no_place_for_a_journal(
    path: Path, sound: bytes, force: bool
) -> None:
    path.write_bytes(sound)
    link = path.with_name("link")
    link.symlink_to(path)
    for place in (os.devnull, link):
        with pytest.raises(BadInput, match="not an ordinary file"):
            JournalWriter(place, HEADER, force=force)

    assert path.read_bytes() == sound


def test_a_file_that_is_missing_cannot_be_read(path: Path) -> None:
    with pytest.raises(BadInput, match="no such file"):
        JournalReader(path)


def test_a_folder_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(BadInput):
        JournalReader(tmp_path)


def test_a_pipe_is_refused_unopened(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    os.mkfifo(path)
    monkeypatch.setattr(os, "open", lambda *_: pytest.fail("a pipe was opened"))

    with pytest.raises(BadInput, match="not an ordinary file"):
        JournalReader(path)


@pytest.mark.parametrize("make", [JournalReader, lambda path: JournalWriter(path, HEADER)])
def test_a_path_that_no_file_can_have_is_refused(make: Callable[[str], Any]) -> None:
    with pytest.raises(BadInput):
        make("run\0.journal")


def test_the_digest_of_a_file_is_its_sha256(path: Path, sound: bytes) -> None:
    assert sha256_of(path) == hashlib.sha256(sound).hexdigest()


def test_the_digest_of_a_file_that_grows_is_to_the_length_that_it_had(
    path: Path, sound: bytes
) -> None:
    class Growing(io.FileIO):
        def read(self, *given: Any) -> Any:
            path.write_bytes(sound + b"more")
            return super().read(*given)

    with Growing(path) as file:
        assert sha256_in(file) == hashlib.sha256(sound).hexdigest()


# A system that refuses to write.


Replace = Callable[..., None]


@pytest.fixture
def replace(monkeypatch: pytest.MonkeyPatch) -> Replace:
    """Replaces system calls of the modules that write."""
    return lambda **calls: monkeypatch.setattr(files, "system", files.System(**calls))


def failing_after(size: int, error: BaseException) -> Callable[[int, Any, int], int]:
    """A write that writes so many bytes at the first call and raises at the second."""
    left = [size]

    def write(fd: int, data: Any, offset: int) -> int:
        if not left or not left[0]:
            raise error
        return os.pwrite(fd, bytes(data)[: left.pop()], offset)

    return write


FULL = OSError(errno.ENOSPC, "No space left on device")


@pytest.mark.parametrize("size", [0, 1, 11, 30])
def test_a_write_that_fails_half_way_is_taken_back(path: Path, replace: Replace, size: int) -> None:
    journal = JournalWriter(path, HEADER)
    journal.append(commits()[0])
    before = path.read_bytes()
    replace(write=failing_after(size, FULL))

    with pytest.raises(WriteFailed, match="no space left on device after 1 whole commits"):
        journal.append(commits()[1])
    assert path.read_bytes() == before
    assert (journal.commits, journal.offset) == (1, len(before))
    journal.close()


@pytest.mark.parametrize("size", [0, 7, 30])
def test_a_first_write_that_fails_leaves_no_file(path: Path, replace: Replace, size: int) -> None:
    replace(write=failing_after(size, FULL))
    with (
        pytest.raises(WriteFailed, match="after 0 whole commits"),
        JournalWriter(path, HEADER) as journal,
    ):
        journal.append(commits()[0])

    assert not path.exists()


def test_an_interrupt_between_two_writes_is_taken_back(path: Path, replace: Replace) -> None:
    with JournalWriter(path, HEADER) as journal:
        journal.append(commits()[0])
        before = path.read_bytes()
        replace(write=failing_after(7, KeyboardInterrupt()))

        with pytest.raises(KeyboardInterrupt):
            journal.append(commits()[1])
        assert path.read_bytes() == before


def test_a_system_that_writes_in_pieces_is_asked_again(
    path: Path, sound: bytes, replace: Replace
) -> None:
    replace(write=lambda fd, data, offset: os.pwrite(fd, bytes(data)[:7], offset))

    assert write(path.with_name("pieces"), commits()) == sound


def test_where_nothing_can_be_taken_back_a_torn_tail_stays(path: Path, replace: Replace) -> None:
    def refuse(*_: object) -> None:
        raise OSError(errno.EIO, "Input/output error")

    journal = JournalWriter(path, HEADER)
    journal.append(commits()[0])
    whole = journal.offset
    replace(write=failing_after(5, FULL), truncate=refuse)

    with pytest.raises(WriteFailed):
        journal.append(commits()[1])
    found, _, error = read(path)
    journal.close()

    assert len(found) == 1
    assert isinstance(error, TornTail)
    assert (error.commits, error.offset, error.extra) == (1, whole, 5)


def test_a_body_over_the_limit_is_not_written(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "BODY_MAX", 100)
    with JournalWriter(path, HEADER) as journal, pytest.raises(CommitTooLarge, match="at most 100"):
        journal.append(Commit(START, 0, 1, setup={"text": "x" * 100}))

    assert not path.exists()


# Waiting for the disk.


@pytest.mark.parametrize("fsync", [False, True])
def test_the_disk_is_waited_for_after_each_commit_where_asked(
    path: Path, replace: Replace, fsync: bool
) -> None:
    calls: list[str] = []

    def counted(name: str) -> Callable[..., Any]:
        call = getattr(files.System(), name)
        return lambda *args: (calls.append(name), call(*args))[1]

    replace(**{name: counted(name) for name in ("write", "sync", "link", "rename")})
    with JournalWriter(path, HEADER, fsync=fsync) as journal:
        for commit in commits():
            journal.append(commit)

    synced = ["sync"] if fsync else []
    # header and START, which the disk has before they have a name; the folder; four more commits
    assert calls == ["write", "write", *synced, "link", *synced, *["write", *synced] * 4]


def test_an_interrupt_while_the_disk_is_waited_for_loses_no_commit(
    path: Path, replace: Replace
) -> None:
    def interrupted(fd: int) -> None:
        raise KeyboardInterrupt

    with JournalWriter(path, HEADER, fsync=True) as journal:
        journal.append(commits()[0])
        replace(sync=interrupted)
        with pytest.raises(KeyboardInterrupt):
            journal.append(commits()[1])

    with JournalReader(path) as reader:
        assert 2 == len(list(reader))


def test_a_later_commit_that_does_not_reach_the_disk_is_taken_back_and_can_come_again(
    path: Path, replace: Replace
) -> None:
    def refuse(fd: int) -> None:
        raise OSError(errno.EIO, "Input/output error")

    with JournalWriter(path, HEADER, fsync=True) as journal:
        journal.append(commits()[0])
        replace(sync=refuse)
        with pytest.raises(WriteFailed, match="after 1 whole commits"):
            journal.append(commits()[1])
        replace()
        journal.append(commits()[1])

    with JournalReader(path) as reader:
        assert 2 == len(list(reader))
