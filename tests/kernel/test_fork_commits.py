"""Forks in the format: where a FORK may stand, journals that branch off another one, reading from a
place on.

The journals are small and written by hand, in no world, as those of test_journal.py.
"""

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from goldrush.kernel import files
from goldrush.kernel.codec import pack
from goldrush.kernel.errors import (
    BadInput,
    DamagedJournal,
    JournalError,
    JournalInUse,
    MalformedEvents,
    WriteFailed,
)
from goldrush.kernel.journal import (
    END,
    FORK,
    FORKS_MAX,
    START,
    UNIT,
    Commit,
    Header,
    JournalReader,
    JournalWriter,
    Location,
)
from goldrush.kernel.world import Block
from tests.faults.disk import NO_LIMIT, Disk
from tests.journals import commits_of

HEADER = Header("tiny", 3)
FACTS = {"why": "to see", "rates": (0.5, None)}
ASKED = Block([(0, [(0, "yes")])])
DRAWN = Block([(1, [(7,)])])


def start() -> Commit:
    return Commit(START, 0, 1, setup={"players": 2})


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
        start(), fork(0), opened(1), unit(1), fork(1), fork(1, 6), unit(2), opened(3), unit(3),
        fork(3), end(3),
    ]  # fmt: skip


def write(path: Path, commits: Sequence[Commit]) -> bytes:
    with JournalWriter(path, HEADER, force=True) as journal:
        for commit in commits:
            journal.append(commit)
    return path.read_bytes()


def content(commit: Commit) -> tuple[Any, ...]:
    blocks = tuple(block.packed for block in commit.blocks)
    return commit.kind, commit.unit, commit.digest, commit.setup, blocks


def placed(commit: Commit) -> tuple[Any, ...]:
    return commit.index, commit.offset, commit.end, *content(commit)


@pytest.fixture
def out(tmp_path: Path) -> Path:
    return tmp_path / "fork.journal"


# Where a fork may stand.


def test_a_fork_is_its_kind_its_unit_the_facts_and_the_digest(path: Path) -> None:
    write(path, [start(), unit(1), fork(1, 2**64 - 1)])
    [*_, found] = commits_of(path)

    assert found.raw == pack((3, 1, FACTS, 2**64 - 1))
    assert content(found) == (FORK, 1, 2**64 - 1, FACTS, ())


def test_a_fork_stands_after_the_start_after_closed_units_and_after_forks(path: Path) -> None:
    write(path, run())

    assert [content(commit) for commit in commits_of(path)] == [content(commit) for commit in run()]


def test_a_fork_may_be_the_last_commit_of_an_unfinished_run(path: Path) -> None:
    write(path, [start(), unit(1), fork(1)])
    with JournalReader(path) as reader:
        found = list(reader)

        assert (len(found), reader.ended) == (3, False)


@pytest.mark.parametrize(
    "commits",
    [
        [fork(0), unit(1)],
        [start(), opened(1), fork(1)],
        [start(), opened(1), fork(0)],
        [start(), unit(1), opened(2), fork(1)],
        [start(), unit(1), fork(0)],
        [start(), unit(1), fork(2)],
        [start(), fork(1)],
        [start(), unit(1), fork(1), unit(1)],
        [start(), unit(1), fork(1), unit(3)],
        [start(), unit(1), fork(1), end(0)],
    ],
    ids=[
        "before the start", "inside a unit", "inside the first unit", "inside a later unit",
        "of a unit before", "of a unit to come", "of a unit to come at the start",
        "before the same unit again", "before a unit too far", "before the wrong end",
    ],
)  # fmt: skip
def test_a_fork_out_of_place_or_what_does_not_go_on_after_it_is_malformed(
    path: Path, commits: list[Commit]
) -> None:
    write(path, commits)

    with JournalReader(path) as reader, pytest.raises(MalformedEvents, match="not valid here"):
        list(reader)


def test_nothing_not_even_a_fork_stands_behind_the_end(path: Path) -> None:
    write(path, [start(), unit(1), end(1), fork(1)])

    with JournalReader(path) as reader, pytest.raises(DamagedJournal, match="end of the file"):
        list(reader)


class Raw(Commit):
    """A commit whose body is given as bytes."""

    def __init__(self, body: object) -> None:
        super().__init__(UNIT, 0)
        self._body = body

    def body(self) -> bytes:
        return pack(self._body)


@pytest.mark.parametrize(
    "body",
    [
        (3, 0, FACTS),
        (3, 0, FACTS, 5, 5),
        (3, 0, FACTS, None),
        (3, 0, None, 5),
        (3, 0, (1, 2), 5),
        (3, 0, FACTS, -1),
        (3, 0, FACTS, 5.0),
        (3, 0, FACTS, True),
        (3, None, FACTS, 5),
        (3, -1, FACTS, 5),
        (3, False, FACTS, 5),
        (3.0, 0, FACTS, 5),
        (4, 0, FACTS, 5),
    ],
)
def test_a_body_that_is_nearly_a_fork_is_malformed(path: Path, body: object) -> None:
    write(path, [start(), Raw(body)])

    with JournalReader(path) as reader, pytest.raises(MalformedEvents, match="commit 1 at byte"):
        list(reader)


def test_a_commit_is_told_apart_from_another_fork_by_every_part_of_it(path: Path) -> None:
    bodies = {fork(1).body(), fork(1, 6).body(), fork(2).body(), Commit(FORK, 1, 5, (), {}).body()}

    assert len(bodies) == 4


# Branching off.


def branch(
    out: Path, parent: Path, last: int, commits: Sequence[Commit], *, force: bool = False
) -> bytes:
    """Branch off after a commit of the parent, append these, and return the bytes."""
    with (
        JournalReader(parent) as reader,
        JournalWriter.branch(out, reader, list(reader)[last], force=force) as journal,
    ):
        for commit in commits:
            journal.append(commit)
    return out.read_bytes()


# The commits of run() after which a unit is closed.
CLOSED = [index for index, commit in enumerate(run()) if commit.digest is not None]


@pytest.mark.parametrize("last", CLOSED)
def test_up_to_the_fork_the_bytes_are_the_parents_and_from_there_on_its_own(
    path: Path, out: Path, last: int
) -> None:
    parent = write(path, run())
    here = run()[last].unit
    data = branch(out, path, last, [fork(here, 9), unit(here + 1), end(here + 1)])
    common = commits_of(path)[last].end
    whole = [*run()[: last + 1], fork(here, 9), unit(here + 1), end(here + 1)]

    assert data[:common] == parent[:common]
    assert [content(commit) for commit in commits_of(out)] == [content(commit) for commit in whole]
    assert data == write(path.with_name("in one go"), whole)


def test_a_parent_longer_than_what_is_copied_in_one_piece_is_copied_whole(
    path: Path, out: Path
) -> None:
    large = Block([(0, [("x" * 700_000,)])])
    units = [Commit(UNIT, number, 1, [large, DRAWN]) for number in range(1, 5)]
    parent = write(path, [start(), *units])
    data = branch(out, path, 4, [fork(4)])

    assert data[: len(parent)] == parent
    assert [commit.kind for commit in commits_of(out)] == [START, *[UNIT] * 4, FORK]


def test_the_writer_counts_the_commits_and_bytes_of_the_parent(path: Path, out: Path) -> None:
    write(path, run())
    with (
        JournalReader(path) as reader,
        JournalWriter.branch(out, reader, list(reader)[3]) as journal,
    ):
        journal.append(fork(1))

        assert journal.commits == 5
        assert journal.offset == out.stat().st_size


def test_the_parent_is_not_touched(path: Path, out: Path) -> None:
    parent = write(path, run())
    changed = path.stat().st_mtime_ns
    branch(out, path, 3, [fork(1), end(1)])

    assert path.read_bytes() == parent
    assert path.stat().st_mtime_ns == changed


def test_a_parent_that_is_being_written_can_be_branched_off(path: Path, out: Path) -> None:
    with JournalWriter(path, HEADER) as journal:
        journal.append(start())
        journal.append(unit(1))
        branch(out, path, 1, [fork(1), end(1)])
        journal.append(unit(2))

    assert [commit.kind for commit in commits_of(path)] == [START, UNIT, UNIT]
    assert [commit.kind for commit in commits_of(out)] == [START, UNIT, FORK, END]


def test_what_a_branch_replaces_stays_until_its_first_unit(path: Path, out: Path) -> None:
    write(path, run())
    out.write_bytes(files.JOURNAL)
    with (
        JournalReader(path) as reader,
        JournalWriter.branch(out, reader, list(reader)[3], force=True) as journal,
    ):
        journal.append(fork(1))
        before = out.read_bytes()
        journal.append(unit(2))

        assert before == files.JOURNAL
        assert len(commits_of(out)) == 6


@pytest.mark.parametrize("there_before", [False, True])
def test_a_branch_to_which_nothing_is_appended_leaves_what_was_there(
    path: Path, out: Path, there_before: bool
) -> None:
    write(path, run())
    if there_before:
        out.write_bytes(files.JOURNAL)
    with JournalReader(path) as reader:
        JournalWriter.branch(out, reader, list(reader)[3], force=there_before).close()

    assert out.exists() == there_before
    assert not there_before or out.read_bytes() == files.JOURNAL


def test_a_longer_file_that_is_overwritten_leaves_nothing_behind_the_branch(
    path: Path, out: Path
) -> None:
    write(path, run())
    out.write_bytes(files.JOURNAL + b"x" * 100_000)
    data = branch(out, path, 3, [fork(1), unit(2)], force=True)

    assert data == write(path.with_name("in one go"), [*run()[:4], fork(1), unit(2)])


def test_a_file_that_exists_is_refused_and_kept(path: Path, out: Path) -> None:
    write(path, run())
    out.write_text("precious")
    with pytest.raises(BadInput, match="already exists"):
        branch(out, path, 3, [fork(1)])

    assert out.read_text() == "precious"


@pytest.mark.parametrize("force", [False, True])
@pytest.mark.parametrize("link", [None, os.link, os.symlink])
def test_the_parent_under_whatever_name_is_refused_as_its_own_branch(
    path: Path, out: Path, force: bool, link: Callable[[Path, Path], None] | None
) -> None:
    parent = write(path, run())
    if link is not None:
        link(path, out)
    with pytest.raises(BadInput, match="is the parent itself"):
        branch(path if link is None else out, path, 3, [fork(1)], force=force)

    assert path.read_bytes() == parent


def test_a_branch_that_another_writer_has_is_refused(path: Path, out: Path) -> None:
    write(path, run())
    with JournalWriter(out, HEADER) as other:
        other.append(start())
        with pytest.raises(JournalInUse):
            branch(out, path, 3, [fork(1)], force=True)


# An interrupted branch. At every call that fails, and where the power goes: tests/faults.


def rooms(path: Path) -> list[int]:
    """Bytes after which to fail: at once, within the parent's, at the fork, within what follows."""
    at = commits_of(path)[3].end
    return [0, 1, 30, at - 12, at - 10, at - 9, at, at + 5]


@pytest.mark.parametrize("before", [None, files.JOURNAL])
@pytest.mark.parametrize("place", range(8))
def test_a_branch_that_fails_half_way_leaves_what_was_there(
    path: Path, out: Path, place: int, before: bytes | None
) -> None:
    parent = write(path, run())
    if before is not None:
        out.write_bytes(before)
    with (
        Disk(path.parent, room=rooms(path)[place], piece=25),
        pytest.raises(WriteFailed, match="no space left on device after 0 whole commits"),
    ):
        branch(out, path, 3, [fork(1)], force=True)

    assert before == (out.read_bytes() if out.exists() else None)
    assert path.read_bytes() == parent
    assert {path.name, out.name} >= set(os.listdir(path.parent))


@pytest.mark.parametrize("place", range(8))
def test_a_branch_that_is_interrupted_leaves_no_file(
    path: Path, out: Path, monkeypatch: pytest.MonkeyPatch, place: int
) -> None:
    write(path, run())
    room = rooms(path)[place]

    def stopped(fd: int, data: Any, offset: int) -> int:
        if offset >= room:
            raise KeyboardInterrupt
        return os.pwrite(fd, data[: room - offset], offset)

    monkeypatch.setattr(files, "system", files.System(write=stopped))
    with pytest.raises(KeyboardInterrupt):
        branch(out, path, 3, [fork(1)])

    assert [path.name] == os.listdir(path.parent)


def test_a_branch_that_failed_can_be_tried_again_by_the_same_writer(path: Path, out: Path) -> None:
    write(path, run())
    expected = write(path.with_name("in one go"), [*run()[:4], fork(1), unit(2)])
    with (
        JournalReader(path) as reader,
        Disk(path.parent, room=40, piece=7) as disk,
        JournalWriter.branch(out, reader, list(reader)[3]) as journal,
    ):
        with pytest.raises(WriteFailed):
            journal.append(fork(1))
        disk.room = NO_LIMIT
        journal.append(fork(1))
        disk.room = 20
        with pytest.raises(WriteFailed, match="after 5 whole commits"):
            journal.append(unit(2))
        assert expected.startswith(out.read_bytes())
        disk.room = NO_LIMIT
        journal.append(unit(2))

    assert out.read_bytes() == expected


@pytest.mark.parametrize("is_cut", [True, False])
def test_a_parent_that_was_changed_since_it_was_read_makes_no_branch(
    path: Path, out: Path, is_cut: bool
) -> None:
    data = write(path, run())
    with JournalReader(path) as reader:
        whole = list(reader)
        if is_cut:
            os.truncate(path, whole[3].end - 30)
        else:
            path.write_bytes(data[: whole[2].end - 12] + b"?" + data[whole[2].end - 11 :])
        with (
            pytest.raises(DamagedJournal),
            JournalWriter.branch(out, reader, whole[3]) as journal,
        ):
            journal.append(fork(1))

    assert not out.exists()


# Reading from a place on.


@pytest.mark.parametrize("last", CLOSED)
def test_reading_from_any_closed_place_gives_the_rest_of_the_commits(path: Path, last: int) -> None:
    write(path, run())
    with JournalReader(path) as reader:
        whole = list(reader)
        rest = list(reader.commits(whole[last].after))

        assert [placed(commit) for commit in rest] == [placed(c) for c in whole[last + 1 :]]
        assert reader.ended


def test_a_place_is_told_by_the_commit_before_it(path: Path) -> None:
    write(path, run())
    fifth = commits_of(path)[5]

    assert fifth.after == Location(fifth.end, 6, 1)


def test_reading_from_a_place_does_not_tell_what_is_broken_before_it(path: Path) -> None:
    write(path, run())
    whole = commits_of(path)
    data = bytearray(path.read_bytes())
    data[whole[2].offset + 12] ^= 1
    path.write_bytes(data)
    with JournalReader(path) as reader:
        rest = list(reader.commits(whole[4].after))

        assert [placed(commit) for commit in rest] == [placed(c) for c in whole[5:]]
        with pytest.raises(DamagedJournal):
            list(reader)


def test_what_is_broken_behind_a_place_is_found_from_there(path: Path) -> None:
    write(path, run())
    whole = commits_of(path)
    data = bytearray(path.read_bytes())
    data[whole[8].offset + 12] ^= 1
    path.write_bytes(data)
    with JournalReader(path) as reader, pytest.raises(DamagedJournal) as caught:
        list(reader.commits(whole[4].after))

    assert (caught.value.commit, caught.value.offset) == (8, whole[8].offset)


def test_an_offset_that_is_not_between_commits_is_found_out(path: Path) -> None:
    data = write(path, run())
    ends = {commit.end for commit in commits_of(path)}
    with JournalReader(path) as reader:
        for offset in range(8, len(data)):
            if offset in ends or offset == len(HEADER.packed()):
                continue
            with pytest.raises(JournalError):
                list(reader.commits(Location(offset, 4, 1)))


@pytest.mark.parametrize("unit", [0, 2, 3])
def test_a_place_with_another_unit_is_found_out(path: Path, unit: int) -> None:
    write(path, run())
    place = commits_of(path)[4].after
    with JournalReader(path) as reader, pytest.raises(MalformedEvents, match="not valid here"):
        list(reader.commits(Location(place.offset, place.index, unit)))


def test_a_place_that_is_said_to_be_the_first_and_is_not_is_found_out(path: Path) -> None:
    write(path, run())
    place = commits_of(path)[4].after
    with JournalReader(path) as reader, pytest.raises(MalformedEvents, match="not valid here"):
        list(reader.commits(Location(place.offset, 0, place.unit)))


@pytest.mark.parametrize("beyond", [False, True])
def test_a_place_outside_the_file_is_found_out(path: Path, beyond: bool) -> None:
    size = len(write(path, run()))
    place = Location(size + 100, 11, 3) if beyond else Location(0, 1, 0)
    with JournalReader(path) as reader, pytest.raises(JournalError):
        list(reader.commits(place))


def test_more_forks_than_the_limit_are_malformed(path: Path) -> None:
    start, *_ = run()
    write(path, [start, *[fork(0)] * FORKS_MAX])
    assert len(commits_of(path)) == FORKS_MAX + 1
    path.unlink()
    write(path, [start, *[fork(0)] * (FORKS_MAX + 1)])

    with pytest.raises(MalformedEvents, match=f"more than {FORKS_MAX} forks"):
        commits_of(path)
