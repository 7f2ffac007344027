"""`export` as tables; as JSON lines it is tested beside the other commands that print."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import pandas as pd
import pytest

from goldrush.kernel.journal import START, Commit
from goldrush.replay.data.encoded import csv_table
from tests.cli.helpers import ROOT, assert_refused, goldrush
from tests.journals import commits_of, write
from tests.mining import record

NAMES = ("events", "rounds", "measures", "agents", "spells")


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


@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_all_tables_of_a_folder_go_into_a_folder(kept: Path, tmp_path: Path, form: str) -> None:
    ran = goldrush("export", "runs", "--format", form, "--out", tmp_path / "out", cwd=kept)
    told = [f"{tmp_path}/out/{name}.{form}: " for name in NAMES]

    assert (0, "") == (ran.code, ran.err)
    assert [True] * len(NAMES) == [
        line.startswith(start) for line, start in zip(ran.out.splitlines(), told, strict=True)
    ]
    assert f"{tmp_path}/out/agents.{form}: 90 rows" in ran.out
    assert {f"{name}.{form}" for name in NAMES} == {p.name for p in (tmp_path / "out").iterdir()}


def test_the_tables_are_those_of_the_library_under_the_names_given(
    kept: Path, tmp_path: Path
) -> None:
    for form in ("csv", "parquet"):
        goldrush("export", "runs", "--format", form, "--out", tmp_path, cwd=kept)
    rounds = pd.read_parquet(tmp_path / "rounds.parquet")

    assert ["runs/a.journal"] * 4 + ["runs/deep/b.journal"] * 5 == list(rounds["journal"])
    assert [0] * 4 + [3] * 5 == list(rounds["seed"])
    for name in NAMES:
        expected = text_of(name, [kept / "runs" / "a.journal", kept / "runs/deep/b.journal"])

        assert expected.replace(f"{kept}/", "") == (tmp_path / f"{name}.csv").read_text()


@pytest.mark.parametrize("table", NAMES)
def test_one_table_as_csv_is_printed(kept: Path, table: str) -> None:
    ran = goldrush("export", "runs", "--format", "csv", "--table", table, cwd=kept)

    assert (0, "") == (ran.code, ran.err)
    expected = text_of(table, [kept / "runs" / "a.journal", kept / "runs/deep/b.journal"])
    assert expected.replace(f"{kept}/", "") == ran.out


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


def test_with_a_folder_only_the_table_that_is_asked_for_is_written(
    kept: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    ran = goldrush(
        "export", "runs", "--format", "parquet", "--table", "spells", "--out", out, cwd=kept
    )

    assert 0 == ran.code
    assert ["spells.parquet"] == [path.name for path in out.iterdir()]


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


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--format", "parquet"], "--out"),
        (["--format", "parquet", "--table", "events"], "--out"),
        (
            ["--format", "csv"],
            "5 tables cannot be printed at once; give --out, a folder, or one --table",
        ),
        (["--format", "csv", "--table", "events", "--force"], "--force"),
        ([], "jsonl takes one journal, and 2 were given"),
        (["--table", "events"], "--table is not for this: jsonl has no tables"),
        (["--out", "x"], "--out is not for this: jsonl has no tables"),
        (["--force"], "--force is not for this: jsonl has no tables"),
        (["--format", "csv", "--out", "file"], "file is not a folder"),
        (["--format", "csv", "--out", "no/such"], "cannot write no/such"),
        (["--format", "xlsx"], "xlsx"),
        (["--table", "plots", "--format", "csv"], "no table 'plots'; take one of events, rounds"),
        (["missing.journal", "--format", "csv", "--out", "x"], "missing.journal"),
        (["empty", "--format", "csv", "--out", "x"], "empty holds no journal"),
    ],
    ids=" ".join,
)
def test_what_cannot_be_done_is_told_in_a_line(
    kept: Path, tmp_path: Path, arguments: list[str], says: str
) -> None:
    (tmp_path / "runs").symlink_to(kept / "runs")
    (tmp_path / "file").touch()
    (tmp_path / "empty").mkdir()

    assert_refused(goldrush("export", "runs", *arguments, cwd=tmp_path), says)
    assert {"runs", "file", "empty"} == {path.name for path in tmp_path.iterdir()}


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


def test_a_damaged_journal_is_printed_as_far_as_it_is_whole(kept: Path, tmp_path: Path) -> None:
    (tmp_path / "z.journal").write_bytes((kept / "runs" / "a.journal").read_bytes()[:-3])
    ran = goldrush("export", "z.journal", "--format", "csv", "--table", "events", cwd=tmp_path)

    assert (2, 1) == (ran.code, len(ran.err.splitlines()))
    assert "torn tail" in ran.err
    assert ",round_closed," in ran.out.splitlines()[-1]


def test_help_names_the_page_with_the_columns(tmp_path: Path) -> None:
    assert "goldrush columns" in goldrush("export", "--help", cwd=tmp_path).out


def test_a_terminal_is_shown_csv_with_nothing_that_moves_its_cursor(tmp_path: Path) -> None:
    options = ("--format", "csv", "--table", "agents")
    source, path = tmp_path / "sound", tmp_path / "run.journal"
    record(source, {"rounds": 1}, "raid*2")
    start, *rest = commits_of(source)
    roster = [dict(entry, policy="\x1b[2J\u202e") for entry in (start.setup or {})["roster"]]
    write(path, [Commit(START, 0, start.digest, setup={**(start.setup or {}), "roster": roster}),
                 *rest])  # fmt: skip
    master, slave = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "goldrush", "export", path, *options],
        cwd=tmp_path, env={**os.environ, "PYTHONPATH": str(ROOT)}, stdout=slave,
    )  # fmt: skip
    os.close(slave)
    shown = b""
    with suppress(OSError):  # the other side has closed
        while piece := os.read(master, 4096):
            shown += piece
    os.close(master)

    assert 0 == process.wait()
    assert rb"\x1b[2J\u202e" in shown
    assert b"\x1b" not in shown
