"""Forks in the format: where a FORK may stand, journals that branch off another one, reading from a
place on.
"""

import os
from collections.abc import Callable, Sequence
from pathlib import Path

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
    FORK,
    FORKS_MAX,
    START,
    UNIT,
    Commit,
    JournalReader,
    JournalWriter,
    Location,
)
from goldrush.kernel.world import Block
from tests.faults.disk import NO_LIMIT, Disk
from tests.journals import commits_of
from tests.kernel.tiny import (
    DRAWN,
    FACTS,
    content,
    end,
    error_of,
    fork,
    opened,
    placed,
    raw,
    run,
    start,
    unit,
    write,
)


@pytest.fixture
def out(tmp_path: Path) -> Path:
    return tmp_path / "fork.journal"


# Where a FORK may stand.


def test_a_fork_is_its_kind_its_unit_the_facts_and_the_digest(path: Path) -> None:
    write(path, [start(), unit(1), fork(1, 2**64 - 1)])
    with JournalReader(path) as reader:
        [*_, found] = reader

        assert not reader.ended
    assert found.raw == pack((FORK, 1, FACTS, 2**64 - 1))
    assert content(found) == (FORK, 1, 2**64 - 1, FACTS, ())


OUT_OF_PLACE: dict[str, list[Commit]] = {
    "before the start": [fork(0)],
    "inside a unit": [start(), opened(1), fork(1)],
    "inside the first unit": [start(), opened(1), fork(0)],
    "of a unit before": [start(), unit(1), fork(0)],
    "of a unit to come": [start(), unit(1), fork(2)],
    "before the same unit again": [start(), unit(1), fork(1), unit(1)],
    "before a unit too far": [start(), unit(1), fork(1), unit(3)],
    "before the wrong end": [start(), unit(1), fork(1), end(0)],
    "one too many": [start(), *[fork(0)] * (FORKS_MAX + 1)],
}


@pytest.mark.parametrize("commits", OUT_OF_PLACE.values(), ids=OUT_OF_PLACE)
def test_a_fork_out_of_place_or_what_does_not_go_on_after_it_is_malformed(
    path: Path, commits: list[Commit]
) -> None:
    before, error = error_of(path, write(path, commits))

    assert isinstance(error, MalformedEvents)
    assert before == len(commits) - 1


@pytest.mark.parametrize(
    "body",
    [
        (FORK, 0, FACTS), (FORK, 0, FACTS, 5, 5), (FORK, 0, FACTS, None), (FORK, 0, (1, 2), 5),
        (FORK, 0, FACTS, -1), (FORK, 0, FACTS, True), (FORK, -1, FACTS, 5), (FORK, False, FACTS, 5),
        (3.0, 0, FACTS, 5), (4, 0, FACTS, 5),
    ],
)  # fmt: skip
def test_a_body_that_is_nearly_a_fork_is_malformed(path: Path, body: object) -> None:
    before, error = error_of(path, write(path, [start(), raw(body)]))

    assert isinstance(error, MalformedEvents)
    assert before == 1


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


def test_a_parent_longer_than_what_is_copied_in_one_piece_is_copied_whole(
    path: Path, out: Path
) -> None:
    large = Block([(0, [("x" * 700_000,)])])
    units = [Commit(UNIT, number, 1, [large, DRAWN]) for number in range(1, 5)]
    parent = write(path, [start(), *units])
    data = branch(out, path, 4, [fork(4)])

    assert data[: len(parent)] == parent
    assert [commit.kind for commit in commits_of(out)] == [START, *[UNIT] * 4, FORK]


def test_what_a_branch_replaces_stays_until_its_first_unit(path: Path, out: Path) -> None:
    write(path, run())
    out.write_bytes(files.JOURNAL)
    with (
        JournalReader(path) as reader,
        JournalWriter.branch(out, reader, list(reader)[3], force=True) as journal,
    ):
        journal.append(fork(1))
        before = out.read_bytes()
        with pytest.raises(JournalInUse):
            branch(out, path, 3, [fork(1)], force=True)
        journal.append(unit(2))

        assert before == files.JOURNAL
        assert (journal.commits, journal.offset) == (6, out.stat().st_size)
    assert len(commits_of(out)) == 6


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


# An interrupted branch. At every call that fails, and where the power goes: tests/faults.


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
        with pytest.raises(WriteFailed):
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


@pytest.mark.parametrize("last", CLOSED[:-1])
def test_reading_from_any_closed_place_gives_the_rest_of_the_commits(path: Path, last: int) -> None:
    """Whatever is broken before it; what is broken behind it is found."""
    data = bytearray(write(path, run()))
    whole = commits_of(path)
    place = whole[last].after
    data[whole[last].offset + 12] ^= 1
    path.write_bytes(data)
    with JournalReader(path) as reader:
        rest = list(reader.commits(place))

        assert place == Location(whole[last].end, last + 1, whole[last].unit)
        assert [placed(commit) for commit in rest] == [placed(c) for c in whole[last + 1 :]]
        assert reader.ended
    data[whole[-1].offset + 12] ^= 1
    path.write_bytes(data)
    with JournalReader(path) as reader, pytest.raises(DamagedJournal) as caught:
        list(reader.commits(place))
    assert (caught.value.commit, caught.value.offset) == (len(whole) - 1, whole[-1].offset)


def test_a_place_that_is_none_is_found_out(path: Path) -> None:
    data = write(path, run())
    whole = commits_of(path)
    ends = {commit.end for commit in whole} | {whole[0].offset}
    fifth = whole[4].after
    places = [Location(offset, 4, 1) for offset in range(len(data)) if offset not in ends]
    places += [Location(fifth.offset, fifth.index, unit) for unit in (0, 2, 3)]
    places += [Location(fifth.offset, 0, fifth.unit), Location(len(data) + 100, 11, 3)]
    with JournalReader(path) as reader:
        for place in places:
            with pytest.raises(JournalError):
                list(reader.commits(place))
