"""Whether a journal is the fork of another that it says it is."""

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import attrs
import pytest

from goldrush.agents.worlds.mining.players import fork, record, resume
from goldrush.kernel.errors import BadInput
from goldrush.kernel.journal import FORK, Commit, sha256_of
from goldrush.replay.journal.batch import BatchResult, verify_all
from goldrush.replay.journal.parent import fault_of
from goldrush.replay.journal.verify import verify
from tests.journals import commits_of, write

SETTINGS = {"rounds": 8, "rows": 3, "cols": 3}


@pytest.fixture
def parent(tmp_path: Path) -> Path:
    path = tmp_path / "parent.journal"
    record(path, SETTINGS)
    return path


@pytest.fixture
def out(tmp_path: Path) -> Path:
    return tmp_path / "fork.journal"


def judged(path: Path, parent: Path, level: int = 4) -> BatchResult:
    [outcome] = verify_all([str(path)], level, jobs=1, parent=str(parent))
    return outcome


@pytest.mark.parametrize("at", [0, 3, 8])
@pytest.mark.parametrize("level", [1, 2, 3, 4])
def test_a_fork_of_its_parent_is_proven(parent: Path, out: Path, at: int, level: int) -> None:
    fork(parent, at, out)
    outcome = judged(out, parent, level)

    assert (True, (), (f"forked from {parent}",)) == (
        outcome.holds, outcome.faults, outcome.notes,
    )  # fmt: skip


def test_who_is_no_fork_and_who_is_one_of_another_run_fails(parent: Path, out: Path) -> None:
    other = parent.with_name("other.journal")
    record(other, {**SETTINGS, "seed": 1})
    fork(other, 3, out)

    assert ("it is no fork",) == judged(parent, parent).faults
    [fault] = judged(out, parent).faults
    assert "its bytes up to its fork" in fault
    assert judged(out, out).holds is False
    assert judged(out, other).holds


def with_parent(path: Path, parent: Any) -> Path:
    """The journal with another parent in its last FORK, under checksums that hold."""
    commits = commits_of(path)
    last = max(n for n, commit in enumerate(commits) if commit.kind == FORK)
    facts = {**(commits[last].setup or {}), "parent": parent}
    commits[last] = Commit(FORK, commits[last].unit, commits[last].digest, (), facts)
    path.unlink()
    return write(path, commits)


def test_another_hash_of_the_parent_is_found_though_all_levels_hold(
    parent: Path, out: Path
) -> None:
    fork(parent, 3, out)
    with_parent(out, "ab" * 32)

    assert verify(out).holds
    [fault] = judged(out, parent).faults
    assert "forked from a file with SHA-256 'abab" in fault
    assert sha256_of(parent) in fault
    assert "resume" not in fault  # it is finished


def ends(path: Path) -> list[int]:
    return [commit.end for commit in commits_of(path)]


def test_only_whole_commits_behind_the_fork_are_a_parent_that_was_gone_on_with(
    parent: Path, out: Path
) -> None:
    fork(parent, 3, out)
    data, places = parent.read_bytes(), ends(parent)
    header = data[: commits_of(parent)[0].offset]
    for size in (len(header), *places, places[4] + 5, len(data) - 1):
        with_parent(out, hashlib.sha256(data[:size]).hexdigest())
        outcome = judged(out, parent)

        assert (size in places and size >= places[3]) == outcome.holds, size
        if outcome.holds and size < len(data):
            assert f"when that had {size} bytes; it was resumed since" in outcome.notes[0]


def test_a_parent_that_was_resumed_since_is_told_and_holds(parent: Path, out: Path) -> None:
    whole, cut = parent.read_bytes(), ends(parent)[5]
    parent.write_bytes(whole[:cut])
    fork(parent, 3, out)
    before = judged(out, parent)
    resume(parent)
    after = judged(out, parent)

    assert whole == parent.read_bytes()
    assert (f"forked from {parent}",) == before.notes
    assert after.holds
    assert (f"forked from {parent}, when that had {cut} bytes; it was resumed since",) == (
        after.notes
    )


def test_of_forks_of_forks_the_last_one_counts(parent: Path, out: Path, tmp_path: Path) -> None:
    """The earlier ones are part of the bytes that it shares; also where two follow one round."""
    for at in (3, 5):
        fork(parent, 3, out, force=True)
        second = tmp_path / f"second {at}.journal"
        fork(out, at, second)

        assert judged(second, out).holds
        assert "its bytes up to its fork" in judged(second, parent).faults[0]


def test_what_is_broken_in_the_parent_behind_the_fork_does_not_matter(
    parent: Path, out: Path
) -> None:
    data = bytearray(parent.read_bytes())
    data[ends(parent)[5] + 30] ^= 1
    parent.write_bytes(data)
    fork(parent, 3, out)

    assert judged(out, parent).holds
    parent.write_bytes(data[:-9])
    assert judged(out, parent).holds is False  # another file than that one


@pytest.mark.parametrize("loses", ["zeroed", "torn", "cut"])
def test_a_parent_that_lost_its_end_is_to_be_resumed(parent: Path, out: Path, loses: str) -> None:
    fork(parent, 3, out)
    data, last = parent.read_bytes(), commits_of(parent)[-3]
    kept = data[: last.offset + (0 if loses == "cut" else 20)]
    parent.write_bytes(kept.ljust(len(data), b"\0") if loses == "zeroed" else kept)
    [fault] = judged(out, parent).faults

    assert fault.endswith(f"; {parent} is unfinished: if it lost its end, `goldrush resume "
                          f"{parent}` restores it")  # fmt: skip
    resume(parent)
    assert judged(out, parent).holds


def test_a_parent_that_is_damaged_is_not_to_be_resumed(parent: Path, out: Path) -> None:
    fork(parent, 3, out)
    data = bytearray(parent.read_bytes())
    data[ends(parent)[5] + 30] ^= 1
    parent.write_bytes(data)
    [fault] = judged(out, parent).faults

    assert fault.endswith("had another one at every earlier commit")


def test_a_parent_that_is_no_journal_cannot_be_judged(parent: Path, out: Path) -> None:
    fork(parent, 3, out)
    data, header = parent.read_bytes(), commits_of(parent)[0].offset
    for size in range(header + 10):
        parent.write_bytes(data[:size])

        assert (None if size < header else False) == judged(out, parent).holds, size


def test_a_parent_that_is_missing_cannot_be_judged(parent: Path, out: Path) -> None:
    fork(parent, 3, out)
    branch = verify(out).branch
    with pytest.raises(BadInput, match="no such file"):
        fault_of(branch, parent.with_name("missing"))


@pytest.mark.parametrize("stated", [5, b"ab" * 32, "x", None, "y" * 10_000])
def test_what_can_be_no_hash_is_no_parent(parent: Path, out: Path, stated: Any) -> None:
    fork(parent, 3, out)
    branch = verify(with_parent(out, stated), 1).branch

    assert branch.parent is None
    assert fault_of(branch, parent)[0] is not None


def test_each_part_of_a_branch_is_looked_at(parent: Path, out: Path) -> None:
    fork(parent, 3, out)
    branch = verify(out).branch
    changes: Sequence[dict[str, Any]] = (
        {"offset": branch.offset + 1}, {"offset": ends(parent)[2]}, {"shared": "0" * 64},
        {"parent": "0" * 64}, {"parent": branch.shared[::-1]},
    )  # fmt: skip

    assert fault_of(branch, parent)[0] is None
    for change in changes:
        assert fault_of(attrs.evolve(branch, **change), parent)[0] is not None
