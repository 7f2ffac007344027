"""A power loss may keep a file's new size and lose its last bytes, which then read as zeros: behind
whole commits that is a torn tail, told apart, which `resume` drops; anywhere else it is damage.
"""

import os
from pathlib import Path

import pytest

from goldrush.kernel.errors import DamagedJournal, JournalError, TornTail
from goldrush.kernel.journal import END, FORK, Commit, JournalReader
from goldrush.replay.journal.verify import verify
from tests.journals import commits_of, peak
from tests.mining import fork, record, resume

SETTINGS = {"rounds": 3, "rows": 2, "cols": 2, "agents": 2, "seed": 5}
MORE = (0, 1, 9, 4096)  # bytes by which the file is longer than what was lost of it


@pytest.fixture
def journal(tmp_path: Path) -> Path:
    path = tmp_path / "run.journal"
    record(path, SETTINGS)
    return path


@pytest.fixture
def forked(journal: Path) -> Path:
    out = journal.with_name("fork.journal")
    fork(journal, 2, out, settings={"alpha": 0.25})
    return out


def error_of(path: Path, data: bytes) -> JournalError | None:
    """How the reading of a file with these bytes ends."""
    path.write_bytes(data)
    try:
        commits_of(path)
    except JournalError as error:
        return error
    return None


def zeroed(data: bytes, commit: Commit, start: int, more: int) -> bytes:
    """The bytes up to a place in a commit, then zeros to its end and some more."""
    return data[:start] + bytes(commit.end - start + more)


@pytest.mark.parametrize("more", MORE)
def test_zeros_from_any_byte_of_a_commit_on_are_a_torn_tail(journal: Path, more: int) -> None:
    data, commits = journal.read_bytes(), commits_of(journal)
    path = journal.with_name("zeroed.journal")
    for commit in commits[1:]:
        for start in range(commit.offset, commit.end):
            left = zeroed(data, commit, start, more)
            if left[: commit.end] == data[: commit.end]:
                continue  # a checksum that ends in zeros
            error = error_of(path, left)

            assert isinstance(error, TornTail), (commit.index, start)
            assert error.zeros, (commit.index, start)
            assert (error.commits, error.offset) == (commit.index, commit.offset)
            assert error.extra == len(left) - commit.offset


@pytest.mark.parametrize("size", [11, 12, 4096])
def test_zeros_behind_whole_commits_are_a_torn_tail(journal: Path, size: int) -> None:
    data, commits = journal.read_bytes(), commits_of(journal)
    path = journal.with_name("zeroed.journal")
    for commit in commits[:-1]:
        error = error_of(path, data[: commit.end] + bytes(size))

        assert isinstance(error, TornTail)
        assert (error.zeros, error.extra) == (True, size)
        assert "zeros to the end of the file" in str(error)


@pytest.mark.parametrize("size", [1, 10, 11, 4096])
def test_zeros_behind_the_end_are_damage(journal: Path, size: int) -> None:
    assert commits_of(journal)[-1].kind == END
    assert isinstance(error_of(journal, journal.read_bytes() + bytes(size)), DamagedJournal)


@pytest.mark.parametrize("more", MORE)
def test_a_start_of_zeros_is_damage(journal: Path, more: int) -> None:
    data, start = journal.read_bytes(), commits_of(journal)[0]
    path = journal.with_name("zeroed.journal")
    for place in range(start.offset, start.end):
        left = zeroed(data, start, place, more)
        if len(left) - start.offset >= 11 and left != data[: len(left)]:
            assert isinstance(error_of(path, left), DamagedJournal), place


def test_one_byte_behind_the_zeros_makes_it_damage(journal: Path) -> None:
    data, commit = journal.read_bytes(), commits_of(journal)[2]
    path = journal.with_name("zeroed.journal")
    for start in (commit.offset, commit.offset + 10, commit.offset + 20, commit.end - 1):
        for more in (1, 3 << 20):
            left = zeroed(data, commit, start, more)[:-1] + b"\x01"

            assert isinstance(error_of(path, left), DamagedJournal), (start, more)


def test_zeros_that_begin_behind_the_commit_do_not_excuse_it(journal: Path) -> None:
    data, commit = journal.read_bytes(), commits_of(journal)[2]
    broken = bytearray(data[: commit.end])
    broken[-1] = broken[-1] ^ 1 or 2  # its last byte, and not into a zero
    path = journal.with_name("zeroed.journal")

    assert isinstance(error_of(path, bytes(broken) + bytes(100)), DamagedJournal)


def test_a_cut_is_not_told_as_zeros(journal: Path) -> None:
    data, commit = journal.read_bytes(), commits_of(journal)[2]
    error = error_of(journal.with_name("cut.journal"), data[: commit.end - 3])

    assert isinstance(error, TornTail)
    assert not error.zeros


def test_verify_says_torn_and_resume_goes_on_to_the_same_bytes(journal: Path) -> None:
    data, commits = journal.read_bytes(), commits_of(journal)
    for commit in commits[1:]:
        for start in (commit.offset, commit.offset + 5, commit.end - 4):
            journal.write_bytes(zeroed(data, commit, start, 512))
            broken = verify(journal).broken

            assert (broken.level, broken.torn) == (1, True)
            assert "zeros" in broken.found
            resume(journal)
            assert journal.read_bytes() == data


def test_a_fork_of_zeros_is_known_from_its_13th_byte_on(forked: Path) -> None:
    data = forked.read_bytes()
    commit = next(commit for commit in commits_of(forked) if commit.kind == FORK)
    for known in range(commit.end - commit.offset):
        error = error_of(forked, zeroed(data, commit, commit.offset + known, 100))

        assert isinstance(error, TornTail), known
        assert error.in_fork == (known >= 13), known


def test_a_sparse_file_is_judged_in_constant_memory(journal: Path) -> None:
    data, commit = journal.read_bytes(), commits_of(journal)[2]
    journal.write_bytes(data[: commit.offset + 20])
    os.truncate(journal, 1 << 27)

    def read() -> None:
        with JournalReader(journal) as reader, pytest.raises(TornTail) as caught:
            list(reader)
        assert caught.value.zeros

    assert peak(read) < 8 << 20
