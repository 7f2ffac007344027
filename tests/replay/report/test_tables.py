"""Tables of a report: on the page, as CSV and as LaTeX, and their files."""

import csv
import io
import re
from pathlib import Path

import attrs
import pytest

from goldrush.kernel.errors import BadInput
from goldrush.replay.report.folder import tex, write_folder
from goldrush.replay.report.page import StudyPage
from goldrush.replay.report.reported import study_of
from goldrush.replay.report.tables import TABLES, Marked, ReportTable
from goldrush.replay.study.records import Cell
from goldrush.replay.worlds.mining.measures import MEASURES
from tests.replay.report.pages import Page
from tests.replay.study.made_up import made, results

TABLE = ReportTable(
    "it", ["h", "n ± 95%", "s", "v"],
    [
        ["a_1", "1.5 ± 0.2", "10 of 20", Marked("supported", "p < 0.05")],
        ["a_1", "−12.25 ± 10.00", "9 of 20", "seed 1"],
        ["c & d", "–", "–", "50%"],
    ],
    "All of it.",
)  # fmt: skip


def test_csv_has_the_numbers_of_the_page_with_a_minus_that_programs_read() -> None:
    assert {1} == TABLE.numeric
    assert [
        ["h", "n ± 95%", "s", "v"],
        ["a_1", "1.5 ± 0.2", "10 of 20", "supported (p < 0.05)"],
        ["a_1", "-12.25 ± 10.00", "9 of 20", "seed 1"],
        ["c & d", "–", "–", "50%"],
    ] == list(csv.reader(io.StringIO(TABLE.csv)))


def test_latex_has_booktabs_and_escapes_what_is_special() -> None:
    lines = attrs.evolve(TABLE, rows=TABLE.rows[1:]).latex.splitlines()

    assert [
        r"\begin{tabular}{lrll}",
        r"\toprule", r"h & n $\pm$ 95\% & s & v \\", r"\midrule",
        r"a\_1 & $-$12.25 $\pm$ 10.00 & 9 of 20 & seed 1 \\", r"c \& d & -- & -- & 50\% \\",
        r"\bottomrule", r"\end{tabular}}", r"\end{table}",
    ] == lines[7:]  # fmt: skip
    assert r"\textbackslash{}x\{\}\#\$\textasciitilde{}\textasciicircum{}" == tex(r"\x{}#$~^")
    assert r"\textbackslash{}u202e" == tex("\u202e")
    unknown = re.compile(r"[^\x00-\xff]")  # to LaTeX without further packages
    assert not unknown.search(tex(" ".join(each.definition for each in MEASURES.values())))


def test_every_table_of_the_page_is_a_file_with_the_same_rows(tmp_path: Path) -> None:
    runs = [
        made(Cell(t, r, 9), n) for t in ("baseline", "scarce") for r in ("raid", "random")
        for n in (0, 1)
    ]  # fmt: skip
    page = StudyPage(study_of(results(*runs), criteria=True))
    write_folder(list(page.tables.values()), tmp_path / "tables", TABLES, jobs=1)
    names, shown = list(page.tables), Page(page.html()).tables

    assert {f"{name}.{kind}" for name in names for kind in ("csv", "tex")} == {
        path.name for path in (tmp_path / "tables").iterdir()
    }
    assert len(shown) == len(names)
    captions = {re.sub(r"^Table \d+\. ", "", table.caption): table for table in shown}
    for name in names:
        text = (tmp_path / "tables" / f"{name}.csv").read_text(encoding="utf-8")
        read = list(csv.reader(io.StringIO(text)))
        assert f"{{tab:{name}}}" in (tmp_path / "tables" / f"{name}.tex").read_text("utf-8")
        seen = captions[page.tables[name].caption]
        assert len(seen.rows) == len(read) - 1
        assert [row[0] for row in seen.rows] == [row[0] for row in read[1:]]


def test_earlier_tables_are_replaced_by_force_and_nothing_else_is(tmp_path: Path) -> None:
    folder = tmp_path / "tables"
    write_folder([TABLE, ReportTable("two", ["a"], [], "")], folder, TABLES, jobs=1)
    with pytest.raises(BadInput):
        write_folder([TABLE], folder, TABLES, jobs=1)
    write_folder([TABLE], folder, TABLES, jobs=1, force=True)
    assert {"it.csv", "it.tex"} == {path.name for path in folder.iterdir()}

    for name in ("thesis.tex", "notes.csv"):
        (folder / name).write_text("mine")
        with pytest.raises(BadInput, match=name.partition(".")[0]):
            write_folder([TABLE], folder, TABLES, jobs=1, force=True)
        assert "mine" == (folder / name).read_text()
        (folder / name).unlink()
