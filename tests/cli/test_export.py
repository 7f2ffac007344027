"""`export` as tables; as JSON lines it is tested beside the other commands that print."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from goldrush.replay.data.encoded import csv_table
from tests.cli.helpers import assert_refused, goldrush
from tests.mining import record


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder `runs` with two journals, one of them a level further down."""
    folder = tmp_path_factory.mktemp("kept")
    (folder / "runs" / "deep").mkdir(parents=True)
    record(folder / "runs" / "a.journal", {"rounds": 4})
    record(folder / "runs" / "deep" / "b.journal", {"rounds": 5, "seed": 3})
    return folder


def text_of(table: str, paths: Sequence[Path]) -> str:
    return "".join(csv_table(paths, table))


LOUD = """
from goldrush.kernel.worlds.mining.submit import Plan
class Loud:
    def plan(self, seen, draws):
        return Plan([], memo="\u6f22 \x1b[2J")
"""


def test_what_is_printed_is_utf_8_whatever_the_terminal(tmp_path: Path) -> None:
    (tmp_path / "loud.py").write_text(LOUD)
    goldrush("record", "--rounds", 2, "--roster", "loud:Loud", "--out", "a.journal", cwd=tmp_path)
    ran = goldrush(
        "export", "a.journal", "--format", "csv", "--table", "events", cwd=tmp_path,
        PYTHONIOENCODING="ascii",
    )  # fmt: skip

    assert (0, "") == (ran.code, ran.err)
    assert text_of("events", [tmp_path / "a.journal"]).replace(f"{tmp_path}/", "") == ran.out
    assert 20 == ran.out.count('"\u6f22 \x1b[2J"')


def test_tables_that_are_there_want_force(kept: Path, tmp_path: Path) -> None:
    arguments = ("export", "runs", "--format", "csv", "--out", tmp_path)
    first = goldrush(*arguments, cwd=kept)
    table = tmp_path / "agents.csv"
    whole = table.read_text()
    table.write_text(whole.partition("\n")[0] + "\nmine")
    again = goldrush(*arguments, cwd=kept)

    assert 0 == first.code
    assert_refused(again, "events.csv already exists", "--force")
    assert table.read_text().endswith("mine")

    forced = goldrush(*arguments, "--force", cwd=kept)

    assert first == forced
    assert whole == table.read_text()


def test_a_journal_that_is_read_is_kept_in_spite_of_force(kept: Path, tmp_path: Path) -> None:
    journal = tmp_path / "events.csv"
    journal.write_bytes((kept / "runs" / "a.journal").read_bytes())
    before = journal.read_bytes()
    ran = goldrush("export", journal, "--format", "csv", "--out", ".", "--force", cwd=tmp_path)

    assert_refused(ran, "events.csv is a journal")
    assert [before] == [path.read_bytes() for path in tmp_path.iterdir()]


@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_a_damaged_journal_is_told_and_nothing_is_written(
    kept: Path, tmp_path: Path, form: str
) -> None:
    data = bytearray((kept / "runs" / "a.journal").read_bytes())
    data[-300] ^= 1
    (tmp_path / "z.journal").write_bytes(data)
    ran = goldrush(
        "export", kept / "runs", "z.journal", "--format", form, "--out", "out", cwd=tmp_path
    )

    assert_refused(ran, "z.journal", "expected", "found", "fork z.journal --at ")
    assert ["z.journal"] == [path.name for path in tmp_path.iterdir()]
