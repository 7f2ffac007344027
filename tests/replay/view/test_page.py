"""The page of a run as a file: what is in it, and what is refused."""

import re
import shutil
from collections import Counter
from hashlib import sha256
from pathlib import Path

import pytest

from goldrush.replay.data.run_data import measured_at
from goldrush.replay.find import tools_at
from goldrush.replay.run import Run
from goldrush.replay.view import walked
from goldrush.replay.view.page import modules_of, page_of, write_page
from tests.cli.helpers import goldrush
from tests.golden import path_of, season_path
from tests.journals import commits_of
from tests.pages import data_of, unpacked


@pytest.mark.parametrize("journal", [path_of("language-models"), season_path("short")])
def test_the_same_journal_gives_the_same_page_wherever_it_lies(
    journal: Path, tmp_path: Path
) -> None:
    shutil.copy(journal, tmp_path / "other name.journal")
    page, _ = page_of(journal)

    assert page == page_of(tmp_path / "other name.journal")[0]
    assert journal.name not in page
    assert 2 * journal.stat().st_size + 300_000 >= len(page.encode())


def test_the_journal_of_a_page_is_the_one_that_it_names() -> None:
    parent, fork = path_of("baseline"), path_of("forked")
    page, _ = page_of(parent, fork)
    data = data_of(page)

    for index, journal in enumerate((parent, fork)):
        content = journal.read_bytes()
        assert content == unpacked(page, f"journal-{index}")
        run = data["runs"][index]
        assert sha256(content).hexdigest() == run["sha256"]
        assert run["sha256"] in page


def test_a_part_of_a_run_has_its_units_and_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(walked, "UNITS_MAX", 3)
    written = write_page(path_of("baseline"), tmp_path / "part.html", units=(4, None))
    [run] = written.runs

    assert (4, 6, False) == (run.first, run.last, run.whole)
    assert "rounds 4 to 6 of 20" in (tmp_path / "part.html").read_text()


def test_the_measures_of_a_part_are_those_of_its_rounds_that_have_a_value(tmp_path: Path) -> None:
    """With as many digits as a page has. Rounds 4 to 9 are no two windows of convergence."""
    [run] = write_page(path_of("baseline"), tmp_path / "part.html", units=(4, 9)).runs
    measured = measured_at(path_of("baseline")).values
    parts = {name: list(values)[3:9] for name, values in measured.items()}
    expected = {
        name: [None if value is None else float(f"{value:.6g}") for value in values]
        for name, values in parts.items()
        if set(values) != {None}
    }

    assert expected == {measure["name"]: measure["values"] for measure in run.data["measures"]}
    assert "convergence" in set(parts) - set(expected)


@pytest.mark.parametrize("damage", ["torn", "damaged"])
def test_what_is_whole_of_a_broken_run_is_shown_and_said(damage: str, tmp_path: Path) -> None:
    whole = path_of("baseline").read_bytes()
    middle = len(whole) // 2
    rest = bytes([whole[middle] ^ 1]) + whole[middle + 1 :] if damage == "damaged" else b""
    (tmp_path / "run.journal").write_bytes(whole[:middle] + rest)
    ran = goldrush("view", "run.journal", cwd=tmp_path)
    page = (tmp_path / "run.html").read_text()
    [commit] = [c for c in commits_of(path_of("baseline")) if c.offset < middle < c.end]
    [run] = data_of(page)["runs"]

    assert 0 == ran.code
    assert "breaks off" in ran.err
    (tmp_path / "whole.journal").write_bytes(whole[: commit.offset])
    outcome = Run(tmp_path / "whole.journal").outcome()
    far = f"After {commit.unit - 1} of 20 rounds"
    assert outcome.sentences[0].replace(far, f"{far}, where the file breaks off") in page
    assert commit.unit - 1 == run["last"]


def test_a_page_lies_beside_its_journal_and_is_replaced_by_the_next(tmp_path: Path) -> None:
    shutil.copy(path_of("baseline"), tmp_path / "run.journal")
    first = goldrush("view", "run.journal", cwd=tmp_path)
    again = goldrush("view", "run.journal", cwd=tmp_path)

    assert "page: run.html" in first.out
    assert (0, first.out) == (again.code, again.out)


_NAMES = re.compile(
    r"^(?:export )?(?:const|let|class|(?:async )?function) (?:\[([^\]]+)\]|(\w+))", re.MULTILINE
)


@pytest.mark.parametrize("journal", [path_of("baseline"), season_path("short")])
def test_the_modules_of_a_page_have_names_of_their_own(journal: Path) -> None:
    """They are joined into one script."""
    found = [
        name.strip()
        for module in modules_of(tools_at(journal).view)
        for several, one in _NAMES.findall(module.read_text())
        for name in (several or one).split(",")
    ]

    assert [] == [name for name, count in Counter(found).items() if count > 1]
