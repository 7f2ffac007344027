"""Many journals verified at once: which, in what order, and what is said of those that fail."""

import os
from pathlib import Path

import pytest

from goldrush.agents.players import Resources
from goldrush.kernel.errors import BadInput
from goldrush.kernel.journal import START, Commit
from goldrush.replay.journal.batch import journals_in, verify_all
from tests.golden import path_of
from tests.journals import commits_of, write
from tests.mining import record

# From 3.12 on Python warns of a fork beside threads, which the test runner has.
pytestmark = pytest.mark.filterwarnings("ignore:.*multi-threaded:DeprecationWarning")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two folders of journals, good and bad, and what is no journal among them."""
    root = tmp_path / "runs"
    (root / "more" / "deep").mkdir(parents=True)
    (root / "empty").mkdir()
    good = path_of("baseline").read_bytes()
    (root / "b.journal").write_bytes(good)
    (root / "a.journal").write_bytes(good[:2000] + b"\0" + good[2001:])
    (root / "more" / "torn.journal").write_bytes(good[:-5])
    (root / "more" / "deep" / "c.journal").write_bytes(path_of("truce-0").read_bytes())
    (root / "more" / "none.journal").write_bytes(b"hello, this is no journal")
    (root / "notes.txt").write_text("no journal")
    (root / "b.journal.index").write_bytes(b"no journal either")
    (root / "a-folder.journal").mkdir()
    return root


IN_ORDER = [
    "a.journal", "b.journal", "more/deep/c.journal", "more/none.journal", "more/torn.journal",
]  # fmt: skip


def test_a_folder_stands_for_the_journals_in_and_below_it_by_name(folder: Path) -> None:
    assert [str(folder / name) for name in IN_ORDER] == journals_in([folder])
    assert [str(folder / name) for name in IN_ORDER[2:]] == journals_in([str(folder / "more")])


@pytest.mark.parametrize("spelled", ["{0}/", "{0}/."])
def test_a_journal_that_is_named_in_two_ways_is_still_one(folder: Path, spelled: str) -> None:
    found = journals_in([folder, spelled.format(folder)])

    assert 5 == len({os.path.realpath(path) for path in found}) == len(found)


def test_a_folder_without_journals_is_refused(folder: Path) -> None:
    """A check that is green because there was nothing to check fools whoever reads it."""
    for given_ in ([folder / "empty"], [folder, folder / "empty"]):
        with pytest.raises(BadInput, match=r"empty holds no journal \(\*.journal\)"):
            journals_in(given_)


@pytest.mark.parametrize("jobs", [2, 50, None])
def test_outcomes_come_in_the_order_given_and_are_the_same_whatever_the_jobs(
    folder: Path, jobs: int | None
) -> None:
    paths = [str(folder / "missing"), *journals_in([folder]), str(folder)]
    outcomes = list(verify_all(paths, jobs=jobs))

    assert paths == [outcome.path for outcome in outcomes]
    assert [None, False, True, True, None, False, None] == [o.holds for o in outcomes]
    assert list(verify_all(paths, jobs=1)) == outcomes


@pytest.mark.parametrize("policy", [{}, None, 3])
def test_a_forged_policy_takes_no_other_journal_with_it(tmp_path: Path, policy: object) -> None:
    [start, *commits] = commits_of(path_of("baseline"))
    assert start.setup is not None
    roster = [{**entry, "policy": policy} for entry in start.setup["roster"]]
    changed = Commit(START, 0, start.digest, start.blocks, {**start.setup, "roster": roster})
    write(tmp_path / "forged.journal", [changed, *commits])
    paths = [str(tmp_path / "forged.journal"), str(path_of("baseline"))]

    assert [False, True] == [outcome.holds for outcome in verify_all(paths)]


# Policies of somebody's own, asked in other processes.

QUITTER = """
import multiprocessing
import os

class Quitter:
    def plan(self, seen, draws):
        if multiprocessing.parent_process() is not None:  # asked again, in a worker
            os._exit(1)
        return []
"""


@pytest.fixture
def quitter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A journal whose policy, asked again in a worker, ends that process."""
    (tmp_path / "quitters.py").write_text(QUITTER)
    monkeypatch.syspath_prepend(tmp_path)
    record(tmp_path / "quitter.journal", {"rounds": 2}, "quitters:Quitter*2")
    return tmp_path / "quitter.journal"


def test_a_process_that_dies_takes_no_other_journal_with_it(quitter: Path) -> None:
    good = str(path_of("baseline"))
    paths = [good, str(quitter), good, good]
    judged = list(verify_all(paths, resources=Resources(trust=["quitters:Quitter"]), jobs=2))

    assert paths == [outcome.path for outcome in judged]
    assert [True, None, True, True] == [outcome.holds for outcome in judged]
    assert f"{quitter}: the process that verified it died" == judged[1].error


def test_without_trust_nobody_elses_code_is_run_in_any_process(quitter: Path) -> None:
    outcomes = list(verify_all([str(quitter), str(path_of("baseline"))], jobs=2))

    assert [True, True] == [outcome.holds for outcome in outcomes]
    assert ("quitters:Quitter (2 agents)",) == outcomes[0].verdict.not_asked


def test_a_folder_that_cannot_be_read_is_not_passed_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def closed(path: str) -> None:
        raise PermissionError(13, "Permission denied", path)

    record(tmp_path / "a.journal", {"rounds": 1})
    (tmp_path / "below").mkdir()
    scan = os.scandir
    monkeypatch.setattr(os, "scandir", lambda p: closed(p) if str(p).endswith("below") else scan(p))

    with pytest.raises(BadInput, match=r"cannot read .*below: Permission denied"):
        journals_in([tmp_path])


def test_a_link_to_nowhere_is_not_passed_over(tmp_path: Path) -> None:
    record(tmp_path / "a.journal", {"rounds": 1})
    (tmp_path / "b.journal").symlink_to(tmp_path / "gone")
    outcomes = list(verify_all(journals_in([tmp_path]), jobs=1))

    assert [outcome.holds for outcome in outcomes] == [True, None]
