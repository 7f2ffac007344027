"""A reader reads one file: the one that it opened, whatever becomes of the path meanwhile."""

import hashlib
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import msgspec
import pytest

from goldrush.kernel import journal, run
from goldrush.kernel.errors import BadInput, DamagedJournal, JournalInUse
from goldrush.kernel.journal import (
    FORK,
    UNIT,
    Commit,
    Header,
    JournalReader,
    JournalWriter,
    sha256_of,
)
from goldrush.kernel.world import Batch, Block
from goldrush.replay.journal.verify import verify
from tests.journals import commits_of, write
from tests.lessons import HEADER, LESSONS, SETUP, School, answer, forked, play


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return play(tmp_path / "a.journal")


@pytest.fixture
def other(tmp_path: Path) -> Path:
    """Another run of the same world; it holds, too."""
    return play(tmp_path / "other.journal", {**SETUP, "seed": 6})


def hash_of(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def replace(path: Path, other: Path) -> None:
    os.replace(other, path)


def edit(path: Path, other: Path) -> None:
    path.write_bytes(other.read_bytes())


def grow(path: Path, other: Path) -> None:
    with path.open("ab") as file:
        file.write(other.read_bytes())


CHANGES = [replace, edit, grow]
Change = Callable[[Path, Path], None]


# The hash.


@pytest.mark.parametrize("size", [0, 3, None])
def test_the_hash_is_that_of_the_file_however_far_it_was_read(path: Path, size: int | None) -> None:
    with JournalReader(path, hashed=True) as reader:
        for index, _ in enumerate(reader):
            if index == size:
                break

        assert hash_of(path.read_bytes()) == reader.sha256() == reader.sha256()
        assert len(list(reader)) == len(commits_of(path))  # from the start once more
        assert hash_of(path.read_bytes()) == reader.sha256() == sha256_of(path)


@pytest.mark.parametrize("size", [1 << 16, (1 << 20) + 17])
def test_the_hash_of_a_commit_longer_than_what_is_read_at_once(tmp_path: Path, size: int) -> None:
    commits = [Commit(0, 0, 1, setup={"x": "x" * size}), Commit(UNIT, 1, 1, [Block(())] * 2)]
    path = write(tmp_path / "long.journal", commits, Header("tiny", 1))
    with JournalReader(path, hashed=True) as reader:
        assert [0, UNIT] == [commit.kind for commit in reader]
        assert hash_of(path.read_bytes()) == reader.sha256()


# What a reader reads while its path changes.


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("after", [1, 4])
def test_what_is_judged_is_what_was_opened_and_so_is_its_hash(
    path: Path, other: Path, change: Change, after: int
) -> None:
    """The path is changed by the world itself, in the middle of the verification."""
    before = path.read_bytes()
    decided = 0

    def decide(school: School, inputs: Block) -> Any:
        nonlocal decided
        decided += 1
        if decided == after:
            change(path, other)
        return LESSONS.decide(school, inputs)

    verdict = verify(path, 3, world=msgspec.structs.replace(LESSONS, decide=decide))

    assert path.read_bytes() != before
    assert verdict.holds
    assert (hash_of(before), len(before)) == (verdict.sha256, verdict.bytes)


def test_an_edit_of_bytes_that_are_still_to_be_read_is_met(tmp_path: Path) -> None:
    """It is judged as it is met, and the hash is of what was met: of no file that ever was."""
    units = [Commit(UNIT, n, 1, [Block([(0, [("x" * 40_000,)])]), Block(())]) for n in range(1, 9)]
    commits = [Commit(0, 0, 1, setup={}), *units]
    path = write(tmp_path / "long.journal", commits, Header("tiny", 1))
    before = path.read_bytes()
    met = b""
    with JournalReader(path, hashed=True) as reader:
        found = iter(reader)
        for _ in range(3):
            commit = next(found)
            met = before[: commit.end]
        path.write_bytes(b"y" * len(before))
        with pytest.raises(DamagedJournal):
            list(found)
        digest = reader.sha256()

    edited = (before[:at] + b"y" * (len(before) - at) for at in range(0, len(before), 4096))
    assert digest not in (hash_of(before), hash_of(path.read_bytes()))
    assert digest in [hash_of(data) for data in edited if data.startswith(met)]


def test_who_looks_back_reads_the_file_that_was_opened(path: Path, other: Path) -> None:
    before = [commit.raw for commit in commits_of(path)]
    with JournalReader(path) as reader:
        first = next(found := iter(reader))
        replace(path, other)
        with reader.again() as again:
            assert before == [commit.raw for commit in again]
        assert before == [first.raw, *(commit.raw for commit in found)]


@pytest.mark.parametrize("hashed", [False, True])
def test_who_looks_back_does_not_take_an_edited_file_for_the_one_that_was_read(
    path: Path, other: Path, hashed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With a hash even where the other file was made to have the same checksums."""
    if hashed:
        monkeypatch.setattr(journal, "xxh3_64_intdigest", lambda data, seed=0: 7)
        for name, seed in ((path, 5), (other, 6)):
            name.unlink()
            play(name, {**SETUP, "seed": seed})
    reached = 3
    with JournalReader(path, hashed=hashed) as reader:
        found = iter(reader)
        for _ in range(reached):
            next(found)
        edit(path, other)
        again = reader.again()
        met: list[Commit] = []
        with again, pytest.raises(DamagedJournal, match="edited meanwhile"):
            met.extend(again)

    assert reached - 2 == len(met)  # not the one before where the first reader stands


def test_a_fork_that_looks_back_is_judged_by_the_file_that_was_opened(
    tmp_path: Path, path: Path, other: Path
) -> None:
    out = forked(path, 3, tmp_path / "fork.journal")
    before = out.read_bytes()
    looked: list[int] = []

    def fork(school: School, facts: Mapping[str, Any], past: Any) -> School:
        replace(out, other)
        looked.extend(number for number, _ in past(1))
        return LESSONS.fork(school, facts, past)

    verdict = verify(out, 3, world=msgspec.structs.replace(LESSONS, fork=fork))

    assert [1, 2, 3] == looked
    assert verdict.holds
    assert hash_of(before) == verdict.sha256


def test_a_child_has_the_hash_of_the_file_that_it_was_forked_from(
    tmp_path: Path, path: Path, other: Path
) -> None:
    before = path.read_bytes()
    out = tmp_path / "fork.journal"
    with JournalReader(path, hashed=True) as reader:
        replace(path, other)

        def facts_of(school: School) -> dict[str, Any]:
            return {"changes": {}, "cast": None, "replaced": [], "parent": reader.sha256()}

        run.last_of(run.fork_steps(LESSONS, reader, 2, facts_of, out, ask_of=lambda *_: answer))
    [fork] = [commit for commit in commits_of(out) if commit.kind == FORK]

    assert hash_of(before) == (fork.setup or {})["parent"]
    assert before[: fork.offset] == out.read_bytes()[: fork.offset]


class Stopped(Exception):
    pass


def test_the_file_that_is_gone_on_with_is_the_one_that_is_locked(
    tmp_path: Path, path: Path, other: Path
) -> None:
    """It is the one that the state is read from, and the answers that were paid for."""
    data = path.read_bytes()[: commits_of(path)[2].end]
    path.write_bytes(data)
    link, beside = tmp_path / "link.journal", other.read_bytes()
    os.link(path, link)
    read: list[Any] = []

    def ask_of(school: School, *_: Any) -> Callable[[School], list[Batch]]:
        with journal.reader() as reader:
            read.extend([school.lesson, school.seed, *(commit.unit for commit in reader)])
        with pytest.raises(JournalInUse):  # reading took no lock away
            JournalWriter.reopen(link)
        raise Stopped

    with JournalWriter.reopen(path) as journal:
        replace(path, other)
        with pytest.raises(Stopped):
            run.last_of(run.resume_steps(LESSONS, journal, ask_of))

    assert [2, 5, 0, 1, 2] == read
    assert (data, beside) == (link.read_bytes(), path.read_bytes())


def test_readers_leave_no_descriptor_open(path: Path) -> None:
    def opened() -> int:
        return len(os.listdir("/dev/fd"))

    before = opened()
    for _ in range(3):
        with JournalReader(path) as reader, reader.again() as again, again.again():
            pass
        with JournalWriter.reopen(path) as journal, journal.reader():
            pass
        verify(path, world=LESSONS)
        (damaged := path.with_name("damaged")).write_bytes(b"\x95\xa8goldrush")
        with pytest.raises(DamagedJournal):
            JournalReader(damaged)
        with pytest.raises(BadInput):
            JournalReader(path.parent)

    assert before == opened()
    assert HEADER == JournalReader(path).header
