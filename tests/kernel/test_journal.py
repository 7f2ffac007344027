"""The journal's writer and reader: what was appended comes back whole, or the place where the file
is broken is named.
"""

import errno
import hashlib
import io
import os
import time
from collections.abc import Callable, Iterable, Mapping
from itertools import islice, pairwise
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
from tests.faults import damage
from tests.journals import commits_of, peak
from tests.kernel.tiny import (
    HEADER,
    SETUP,
    content,
    error_of,
    forged,
    placed,
    put,
    raw,
    run,
    start,
    unit,
    write,
)
from tests.kernel.tiny_reader import DAMAGE, NO_JOURNAL, TORN, WHOLE, Verdict, frame, judged


@pytest.fixture
def sound(path: Path) -> bytes:
    """The bytes of a whole journal, which stands at `path` too."""
    return write(path, run())


# What was appended comes back.

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
def test_whatever_is_appended_comes_back_from_the_bytes_of_the_format(
    units: list[Any], ended: bool
) -> None:
    appended = [Commit(START, 0, 1, setup=SETUP)]
    for number, (parts, closing) in enumerate(units, 1):
        appended += [Commit(UNIT, number, None, blocks) for blocks in parts]
        blocks = [block for step in closing for block in step]
        appended.append(Commit(UNIT, number, number * 7, blocks))
    if ended:
        appended.append(Commit(END, len(units)))
    with TemporaryDirectory() as folder:
        data = write(path := Path(folder, "a.journal"), appended)
        with JournalReader(path) as reader:
            found, again = list(reader), list(reader)

    assert [content(commit) for commit in found] == [content(commit) for commit in appended]
    assert [placed(commit) for commit in again] == [placed(commit) for commit in found]
    assert data == forged([commit.body() for commit in appended])
    assert reader.ended == ended
    ends = [len(HEADER.packed()), *(commit.end for commit in found)]
    assert ends == [*(commit.offset for commit in found), len(data)]
    assert [commit.index for commit in found] == list(range(len(found)))


@pytest.mark.parametrize("blocks", [12, 13, 65_532, 65_533])
def test_many_blocks_stand_in_one_commit(path: Path, blocks: int) -> None:
    many = [Block([(0, [(place,)])]) for place in range(blocks)]
    write(path, [start(), Commit(UNIT, 1, None if blocks % 2 else 5, many)])
    [_, found] = commits_of(path)

    assert [list(block.rows(0)) for block in found.blocks] == [
        [(place,)] for place in range(blocks)
    ]


FEW_BLOCKS = st.sampled_from(
    [Block([]), Block([(0, [(1,)])]), Block([(0, [(1,), (2,)])]), Block([(1, [(1,)]), (0, [(1,)])])]
    + [Block([(0, [("x" * size,)])]) for size in (1, 70_000)]
)


@given(st.lists(st.lists(FEW_BLOCKS, min_size=2, max_size=4).filter(lambda b: len(b) != 3)))
def test_a_commit_is_read_the_same_after_any_other_as_alone(units: list[list[Block]]) -> None:
    """Blocks that repeat are not decoded again."""
    with TemporaryDirectory() as folder:
        path = Path(folder, "a.journal")
        write(path, [start(), *(Commit(UNIT, n, 1, blocks) for n, blocks in enumerate(units, 1))])
        with JournalReader(path) as reader:
            for before, commit in pairwise(list(reader)):
                alone = next(reader.commits(before.after))

                assert [b.batches for b in alone.blocks] == [b.batches for b in commit.blocks]
                assert [b.packed for b in alone.blocks] == [b.packed for b in commit.blocks]


def test_an_outline_is_all_but_the_units_before_the_last(path: Path, sound: bytes) -> None:
    def collected(commits: Iterable[Commit]) -> tuple[list[Commit], str]:
        found: list[Commit] = []
        try:
            found.extend(commits)
        except JournalError as error:
            return found, str(error)
        return found, ""

    for size in range(len(HEADER.packed()), len(sound) + 1):
        put(path, sound[:size])
        with JournalReader(path) as reader:
            whole, error = collected(reader)
            ended = reader.ended
        with JournalReader(path) as reader:
            outlined, trouble = collected(reader.outline())
        units = [commit for commit in whole if commit.kind == UNIT]
        wanted = [commit for commit in whole if commit.kind != UNIT] + units[-1:]

        assert [placed(commit) for commit in wanted] == [placed(commit) for commit in outlined]
        assert (error, ended) == (trouble, reader.ended)


# Damage. What all readers of a journal make of it: tests/faults.


def verdict_of(path: Path, data: bytes) -> Verdict:
    """`judged`, by the code."""
    commits, error = error_of(path, data)
    if error is None:
        return Verdict(WHOLE, commits, len(data))
    if isinstance(error, TornTail):
        assert (error.commits, error.extra) == (commits, len(data) - error.offset)
        return Verdict(TORN, commits, error.offset, error.zeros, error.in_fork)
    if isinstance(error, NotAJournal):
        return Verdict(NO_JOURNAL, commits, 0)
    assert isinstance(error, DamagedJournal)
    assert error.commit == commits
    return Verdict(DAMAGE, commits, error.offset)


OTHERS = [
    b"", b"\n", b"goldrush", b"\x89PNG\r\n\x1a\n" + bytes(100), bytes(1_000),
    b'{"event": "run_started"}\n', b"\x95\xa8otherrun" + bytes(100),
]  # fmt: skip
KINDS: Mapping[str, Callable[[bytes, list[bytes], list[bytes]], Iterable[damage.Damaged]]] = {
    "flipped bits": lambda data, pieces, others: islice(damage.flipped(data), 0, None, 3),
    "cuts": lambda data, pieces, others: damage.cuts(data),
    "commits swapped": lambda data, pieces, others: damage.swapped(pieces[0], pieces[1:]),
    "commits repeated": lambda data, pieces, others: damage.repeated(pieces[0], pieces[1:]),
    "commits left out": lambda data, pieces, others: damage.removed(pieces[0], pieces[1:]),
    "commits of others": lambda data, pieces, others: [
        *damage.replaced(pieces[0], pieces[1:], others[1:]),
        ("another header", Header("tinY", 3).packed() + data[len(pieces[0]) :]),
    ],
    "bytes behind the end": lambda data, pieces, others: damage.appended(data, others),
    "bytes wiped": lambda data, pieces, others: damage.zeroed(data),
    "bytes put in": lambda data, pieces, others: damage.inserted(data),
    "bytes taken out": lambda data, pieces, others: damage.deleted(data),
    "a tail of zeros": lambda data, pieces, others: [
        ("", data[:at] + bytes(zeros) + tail)
        for at in range(len(pieces[0]), len(data))
        for zeros in (1, 40, len(data) - at)
        for tail in (b"", b"\x01")
    ],
    "other files": lambda data, pieces, others: [("", other) for other in OTHERS],
}


@pytest.mark.parametrize("kind", KINDS)
def test_whatever_happened_to_the_bytes_the_reader_says_what_the_page_says(
    kind: str, path: Path, sound: bytes
) -> None:
    """The page is kernel/README.md, as tiny_reader.py reads it."""

    def pieces_of(data: bytes) -> list[bytes]:
        cuts = [0, *(commit.offset for commit in commits_of(path)), len(data)]
        return [data[start:end] for start, end in pairwise(cuts)]

    pieces = pieces_of(sound)
    others = pieces_of(write(path, [Commit(START, 0, 1, setup={"players": 3}), *run()[1:]]))
    wrong = [
        (what, expected, found)
        for what, data in KINDS[kind](sound, pieces, others)
        if (expected := judged(data)) != (found := verdict_of(path, data))
    ]

    assert wrong[:3] == []


def test_damage_is_told_with_both_values(path: Path, sound: bytes) -> None:
    second = commits_of(path)[1]
    data = bytearray(sound)
    data[second.end - 1] ^= 1
    _, error = error_of(path, data)

    assert isinstance(error, DamagedJournal)
    assert error.expected.endswith(sound[second.end - 9 : second.end].hex())
    assert error.found == data[second.end - 9 : second.end].hex()


def test_a_file_that_shrinks_while_it_is_read_has_a_torn_tail(path: Path) -> None:
    write(path, [start(), Commit(UNIT, 1, None, [Block([(0, [("x" * 100_000,)])])])])
    large = commits_of(path)[1]
    with JournalReader(path) as reader:
        os.truncate(path, large.end - 1_000)

        with pytest.raises(TornTail) as caught:
            list(reader)

    assert (caught.value.commits, caught.value.offset) == (1, large.offset)
    assert caught.value.extra == large.end - 1_000 - large.offset


# Headers.


@given(st.binary(max_size=HEADER_MAX + 20))
def test_any_bytes_after_the_magic_are_refused_in_the_header(
    tmp_path_factory: pytest.TempPathFactory, data: bytes
) -> None:
    path = tmp_path_factory.mktemp("any") / "run.journal"
    path.write_bytes(HEADER.packed()[:10] + data)

    with pytest.raises((DamagedJournal, UnsupportedJournal)):
        JournalReader(path)


@pytest.mark.parametrize("version", [0, 2, 2**64 - 1])
def test_a_sound_header_of_another_format_is_unsupported(path: Path, version: int) -> None:
    path.write_bytes(HEADER.packed(version))

    with pytest.raises(UnsupportedJournal, match=f"journal format {version}"):
        JournalReader(path)


LONG_FORM = HEADER.packed()[:-10] + b"\xcc\x03"
WRONG_HEADERS = {
    "rules that are text": Header("tiny", "3").packed(),  # type: ignore[arg-type]
    "rules that are true": Header("tiny", True).packed(),
    "a name of bytes": Header(b"tiny", 3).packed(),  # type: ignore[arg-type]
    "a format that is true": HEADER.packed(True),
    "a number in a longer form": LONG_FORM + b"\xcf" + xxh3(LONG_FORM).to_bytes(8, "big"),
}


@pytest.mark.parametrize("header", WRONG_HEADERS.values(), ids=WRONG_HEADERS)
def test_a_header_of_other_fields_is_refused_though_its_checksum_holds(
    path: Path, header: bytes
) -> None:
    path.write_bytes(header)

    with pytest.raises((DamagedJournal, UnsupportedJournal)):
        JournalReader(path)


LONGEST = "w" * (HEADER_MAX - len(Header("", 2**63).packed()) - 1)  # from 32 on a byte more


def test_a_header_up_to_the_limit_comes_back_and_none_over_it_is_written(path: Path) -> None:
    path.write_bytes(Header(LONGEST, 2**63).packed())
    with JournalReader(path) as reader:
        assert reader.header == Header(LONGEST, 2**63)
    path.unlink()
    with pytest.raises(BadInput, match="short text"):
        JournalWriter(path, Header(LONGEST + "w", 2**63), force=True)

    assert not path.exists()


# Hostile bodies: the checksums are right, the content is not. More of them: tests/faults/forge.py.

START_BODY, UNIT_BODY = pack((START, SETUP, 1)), pack((UNIT, 1, None))


def unit_with(block: Any) -> bytes:
    return pack((UNIT, 1, None, block))


FIRST_BODIES = {
    "no bytes": b"",
    "a map": pack({0: SETUP}),
    "an empty array": b"\x90",
    "an unknown kind": pack((4, SETUP, 1)),
    "no digest": pack((START, SETUP)),
    "a digest that is nil": pack((START, SETUP, None)),
    "a digest below 0": pack((START, SETUP, -1)),
    "a digest that is true": pack((START, SETUP, True)),
    "a setup that is an array": pack((START, (1, 2), 1)),
    "a unit first": UNIT_BODY,
    "bytes after the content": START_BODY + b"\x00",
    "text that is not UTF-8": b"\x93\x00\x81\xa1\xff\x00\x01",
    "4294967295 parts": b"\xdd\xff\xff\xff\xff" + START_BODY[1:],
    "keys in keys": b"\x93\x00" + b"\x81" * 10_000,
}
NEXT_BODIES = {
    "a second start": START_BODY,
    "a unit without digest": pack((UNIT, 1)),
    "unit 2": pack((UNIT, 2, None)),
    "a unit that is true": pack((UNIT, True, None)),
    "a kind that is true": pack((True, 1, None)),
    "a digest that is text": pack((UNIT, 1, "digest", (), ())),
    "a unit closed without blocks": pack((UNIT, 1, 2)),
    "a unit closed by inputs": pack((UNIT, 1, 2, (), (), ())),
    "a block that is nil": unit_with(None),
    "a block that is a map of batches": b"\x94" + UNIT_BODY[1:] + b"\x81\x92\x00\x91\x91\x01\xc0",
    "a batch that is text": unit_with(("ab",)),
    "a batch that is a map": b"\x94" + UNIT_BODY[1:] + b"\x91\x82\x00\xc0\x91\x91\x01\xc0",
    "a batch of three": unit_with(((0, ((1,),), 3),)),
    "a code below 0": unit_with(((-1, ((1,),)),)),
    "a code that is true": unit_with(((True, ((1,),)),)),
    "rows that are nil": unit_with(((0, None),)),
    "a batch without rows": unit_with(((0, ()),)),
    "a block cut short": unit_with(((0, ((1,),)),))[:-1],
    "fewer blocks than declared": b"\x95" + unit_with(())[1:],
    "more blocks than declared": b"\x93" + unit_with(())[1:],
    "4294967295 rows": b"\x94" + UNIT_BODY[1:] + b"\x91\x92\x00\xdd\xff\xff\xff\xff",
    "a row in a row": b"\x94" + UNIT_BODY[1:] + b"\x91\x92\x00" + b"\x91" * 10_000 + b"\x90",
    "an end with three parts": pack((END, 0, 0)),
    "an end of unit 1": pack((END, 1)),
    "an end of unit -1": pack((END, -1)),
}
MALFORMED = {name: [body] for name, body in FIRST_BODIES.items()} | {
    name: [START_BODY, body] for name, body in NEXT_BODIES.items()
}


@pytest.mark.parametrize("bodies", MALFORMED.values(), ids=MALFORMED)
def test_a_body_that_is_no_commit_is_malformed(path: Path, bodies: list[bytes]) -> None:
    before, error = error_of(path, forged(bodies))

    assert isinstance(error, MalformedEvents)
    place = len(forged(bodies[:-1]))
    assert (before, error.where) == (len(bodies) - 1, f"commit {before} at byte {place}")
    assert error.fault


@pytest.mark.parametrize(
    ("body", "fault"),
    [("a batch of three", "not a list of two"), ("an end of unit -1", "unit -1, which is not")],
)
def test_the_fault_of_a_body_is_named(path: Path, body: str, fault: str) -> None:
    _, error = error_of(path, forged([START_BODY, NEXT_BODIES[body]]))

    assert isinstance(error, MalformedEvents)
    assert fault in error.fault


CHANGES = st.lists(st.tuples(st.integers(0, 100), st.binary(min_size=1, max_size=3)), max_size=3)


@given(
    st.sampled_from([START_BODY, *(c.body() for c in run())]), CHANGES, st.binary(max_size=60),
    st.booleans(),
)  # fmt: skip
def test_any_body_under_right_checksums_is_a_commit_or_malformed(
    tmp_path_factory: pytest.TempPathFactory,
    body: bytes, changes: list[tuple[int, bytes]], random: bytes, is_random: bool,
) -> None:  # fmt: skip
    path = tmp_path_factory.mktemp("any") / "run.journal"
    for place, piece in changes:
        place %= len(body)
        body = body[:place] + piece + body[place + 1 :]
    _, error = error_of(path, forged([START_BODY, random if is_random else body]))

    assert error is None or isinstance(error, MalformedEvents)


@pytest.mark.parametrize(
    ("length", "error"), [(BODY_MAX, TornTail), (BODY_MAX + 1, MalformedEvents)]
)
def test_a_length_is_judged_before_anything_is_read(
    path: Path, length: int, error: type[JournalError]
) -> None:
    data = HEADER.packed() + frame(bytes(1_000), int.from_bytes(HEADER.packed()[-8:]), length)
    ends: list[tuple[int, JournalError | None]] = []

    assert peak(lambda: ends.append(error_of(path, data))) < 1 << 20
    assert [(0, error)] == [(before, type(end)) for before, end in ends]


@pytest.mark.parametrize(("place", "byte"), [(0, 0x93), (1, 0xCF), (6, 0xCF)])
def test_a_frame_of_another_form_is_damage_even_under_a_right_check(
    path: Path, place: int, byte: int
) -> None:
    head = bytearray(b"\x94\xce\x00\x00\x00\x64\xce")
    head[place] = byte
    check = xxh3(bytes(head[:6]), int.from_bytes(HEADER.packed()[-8:], "big")) & 0xFFFFFFFF
    data = HEADER.packed() + head + check.to_bytes(4, "big")

    assert verdict_of(path, data) == Verdict(DAMAGE, 0, len(HEADER.packed()))


# Writing. Which places are refused, and what is replaced: test_files.py.


def test_nothing_is_at_the_path_before_the_first_commit(path: Path) -> None:
    JournalWriter(path, HEADER).close()
    assert not path.exists()
    with JournalWriter(path, HEADER) as journal:
        assert not path.exists()
        journal.append(start())
        assert [path] == list(path.parent.iterdir())


@pytest.mark.parametrize("first", [0, 1, 2])
def test_what_is_overwritten_stays_until_more_than_the_opening_is_there(
    path: Path, sound: bytes, first: int
) -> None:
    bodies = [commit.body() for commit in run()[:first]]
    opening = {"force": True, "is_opening": lambda commit: commit.body() in bodies}
    with JournalWriter(path, HEADER, **opening) as journal:
        for commit in run()[:first]:
            journal.append(commit)

        assert not journal.is_begun
        assert path.read_bytes() == sound
        with pytest.raises(JournalInUse):  # before anybody pays for an answer
            JournalWriter(path, HEADER, force=True)

    assert path.read_bytes() == sound
    assert [path] == list(path.parent.iterdir())

    with JournalWriter(path, HEADER, **opening) as journal:
        for commit in run()[: first + 1]:
            journal.append(commit)

        assert journal.is_begun
        assert len(commits_of(path)) == first + 1


@pytest.mark.parametrize("change", ["removed", "replaced", "emptied", "longer"])
def test_a_writer_whose_file_somebody_else_changes_leaves_it_alone(path: Path, change: str) -> None:
    with JournalWriter(path, HEADER) as journal:
        journal.append(start())
        if change in ("emptied", "longer"):  # noticed at once; the path is looked at now and then
            journal.append(unit(1))
        sizes = {"emptied": 0, "replaced": journal.offset}
        thesis = b"x" * sizes.get(change, 2_000)
        if change in ("removed", "replaced"):
            path.rename(path.with_name("aside"))
        if change != "removed":
            path.write_bytes(thesis)

        with pytest.raises(JournalLost):
            journal.append(unit(journal.commits))

    assert change == "removed" or path.read_bytes() == thesis


@pytest.mark.parametrize("later", ["a tenth of a second", "the end", "a wait for the disk"])
def test_a_file_that_is_gone_is_noticed_within_a_tenth_of_a_second_and_at_the_end(
    path: Path, monkeypatch: pytest.MonkeyPatch, later: str
) -> None:
    clock = [1000.0]
    monkeypatch.setattr(time, "monotonic", lambda: clock[0])
    with JournalWriter(path, HEADER) as journal:
        for commit in (start(), unit(1)):
            journal.append(commit)
        path.unlink()
        clock[0] += 0.09
        journal.append(unit(2))
        clock[0] += 0.02 if later == "a tenth of a second" else 0
        journal.fsync = later == "a wait for the disk"

        with pytest.raises(JournalLost):
            journal.append(Commit(END, 2) if later == "the end" else unit(3))


@pytest.mark.parametrize("begun", [0, 1])
def test_a_process_that_inherits_a_writer_changes_nothing(path: Path, begun: int) -> None:
    reading, told = os.pipe()
    with JournalWriter(path, HEADER) as journal:
        for commit in run()[:begun]:
            journal.append(commit)
        if os.fork() == 0:
            try:
                journal.append(run()[begun])
            except WriteFailed as error:
                os.write(told, str(error).encode())
            finally:
                journal.discard()
                os._exit(0)
        os.wait()
        for commit in run()[begun:]:
            journal.append(commit)
        found = commits_of(path)
        journal.discard()

    assert str(os.getpid()) in os.read(reading, 1000).decode()
    assert [commit.body() for commit in run()] == [commit.raw for commit in found]
    assert not path.exists()


def test_a_pipe_is_refused_unopened(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    os.mkfifo(path)
    monkeypatch.setattr(os, "open", lambda *_: pytest.fail("a pipe was opened"))

    with pytest.raises(BadInput):
        JournalReader(path)


@pytest.mark.parametrize("make", [JournalReader, lambda path: JournalWriter(path, HEADER)])
@pytest.mark.parametrize("path", ["run\0.journal", ".", "no/run.journal"])
def test_a_path_that_no_journal_can_have_is_refused(
    make: Callable[[str], Any], path: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(BadInput):
        make(path)


def test_the_digest_of_a_file_is_its_sha256_to_the_length_that_it_had(
    path: Path, sound: bytes
) -> None:
    class Growing(io.FileIO):
        def read(self, *given: Any) -> Any:
            path.write_bytes(sound + b"more")
            return super().read(*given)

    assert sha256_of(path) == hashlib.sha256(sound).hexdigest()
    with Growing(path) as file:
        assert sha256_in(file) == hashlib.sha256(sound).hexdigest()


# A system that refuses to write; at every call: tests/faults/test_disk.py.

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


def refuse(*_: object) -> None:
    raise OSError(errno.EIO, "Input/output error")


FULL = OSError(errno.ENOSPC, "No space left on device")


@pytest.mark.parametrize("size", [0, 11])
@pytest.mark.parametrize("error", [FULL, KeyboardInterrupt()])
def test_a_write_that_fails_half_way_is_taken_back(
    path: Path, replace: Replace, size: int, error: BaseException
) -> None:
    with JournalWriter(path, HEADER) as journal:
        journal.append(start())
        before = path.read_bytes()
        replace(write=failing_after(size, error))

        with pytest.raises(WriteFailed if error is FULL else KeyboardInterrupt):
            journal.append(unit(1))
        assert path.read_bytes() == before
        assert (journal.commits, journal.offset) == (1, len(before))


def test_a_body_over_the_limit_is_not_written(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "BODY_MAX", 100)
    with JournalWriter(path, HEADER) as journal, pytest.raises(CommitTooLarge):
        journal.append(raw(bytes(101)))

    assert not path.exists()


def test_a_commit_that_the_disk_may_have_is_kept_and_one_that_it_refuses_can_come_again(
    path: Path, replace: Replace
) -> None:
    def interrupted(fd: int) -> None:
        raise KeyboardInterrupt

    with JournalWriter(path, HEADER, fsync=True) as journal:
        journal.append(start())
        replace(sync=interrupted)
        with pytest.raises(KeyboardInterrupt):
            journal.append(unit(1))
        replace(sync=refuse)
        with pytest.raises(WriteFailed):
            journal.append(unit(2))
        replace()
        journal.append(unit(2))

    assert [0, 1, 2] == [commit.unit for commit in commits_of(path)]
