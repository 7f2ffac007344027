"""Figures for papers: their files open, hold the data of the page, and replace only their own."""

import csv
import io
import re
import sys
from pathlib import Path
from urllib.parse import unquote
from xml.etree import ElementTree

import pypdfium2
import pytest

import goldrush
from goldrush.kernel.errors import BadInput
from goldrush.replay.colours import GREY
from goldrush.replay.report.figure import FIGURES, Figure, figure_named
from goldrush.replay.report.folder import SUFFIXES, write_folder
from goldrush.replay.report.page import StudyPage
from goldrush.replay.report.paper import DPI, KINDS, WIDTHS, paper_bytes, paper_figure
from goldrush.replay.report.plot import LINES, SCATTER, Row, Style
from goldrush.replay.report.svg import panel_svg
from tests.replay.report.test_figures import HOSTILE, asked, cells

PIL = pytest.importorskip("PIL.Image", reason="needs goldrush-sim[figures]")
STYLES = {f"roster {n}": Style(n, label=f"roster {n}") for n in range(GREY)}


def figure(name: str = "f", caption: str = "It.") -> Figure:
    """Two panels with the same points, one of each colour."""
    rows = [
        Row(f"title {n}", series, float(at), 2.0 * at)
        for n in range(2)
        for at, series in enumerate(STYLES)
    ]
    return Figure(
        name=name, shows=caption, kind=SCATTER, rows=rows, styles=STYLES, x_label="round"
    )  # fmt: skip


@pytest.mark.parametrize("width", WIDTHS)
def test_a_file_of_each_kind_opens_and_has_the_width_of_its_columns(width: str) -> None:
    files = paper_bytes(figure(), KINDS, width)
    [page] = pypdfium2.PdfDocument(files["pdf"])
    text = page.get_textpage().get_text_range()
    root = ElementTree.fromstring(files["svg"])

    assert set(KINDS) == set(files)
    assert WIDTHS[width] * 72 == pytest.approx(page.get_width(), abs=0.5)
    assert WIDTHS[width] * DPI == pytest.approx(PIL.open(io.BytesIO(files["png"])).width, abs=1)
    for shown in ("title 0", "title 1", "round", *STYLES):
        assert shown in text
        assert any(shown in each for each in root.itertext())
    # Fonts are embedded as TrueType: publishers refuse drawings of letters.
    assert (1, 0) == (files["pdf"].count(b"/FontFile2 "), files["pdf"].count(b"/Type3"))


def test_marks_have_the_values_of_the_rows_and_grow_to_the_right_and_upwards_on_a_page() -> None:
    found = figure()
    axes = paper_figure(found, "double").axes
    expected = {(row.x, row.y) for row in found.rows}

    for panel, drawn in zip(found.panels, axes, strict=True):
        svg = panel_svg(found, panel)
        dots = re.findall(r"dot c\d\" d=\"M([\d.]+) ([\d.]+)m", svg)
        across, down = zip(*[(float(x), float(y)) for x, y in dots], strict=True)
        marks = {(x, y) for each in drawn.lines for x, y in zip(*each.get_data(), strict=True)}

        assert expected == marks
        assert len(found.styles) == len({*across}) == len({*down})
        assert sorted(across) == list(across)
        assert sorted(down, reverse=True) == list(down)


def test_a_users_settings_of_matplotlib_change_nothing() -> None:
    matplotlib = pytest.importorskip("matplotlib")
    before = paper_bytes(figure(), KINDS)
    with matplotlib.rc_context({"font.size": 20, "savefig.bbox": "tight", "pdf.fonttype": 3}):
        assert before == paper_bytes(figure(), KINDS)
        assert 20 == matplotlib.rcParams["font.size"]


def test_columns_are_3_3_and_6_9_inches_wide_and_there_is_no_other_width() -> None:
    assert (3.3, 6.9) == tuple(figure().matplotlib(width).get_figwidth() for width in WIDTHS)
    with pytest.raises(BadInput):
        paper_figure(figure(), "wide")


# data


def test_the_data_are_the_values_their_intervals_and_the_number_of_runs() -> None:
    rows = [Row("a, b", "roster 0", 1.5, 1234567.0, 1.0 / 3, 2e-7, 4)]
    found = Figure(name="f", shows="It.", kind=LINES, rows=rows, styles=STYLES)

    assert [
        {
            "panel": "a, b", "series": "roster 0", "x": 1.5, "y": 1234567.0, "low": 1.0 / 3,
            "high": 2e-7, "n": 4, "label": None,
        }
    ] == found.data  # fmt: skip


def test_a_page_holds_the_data_of_each_figure(tmp_path: Path) -> None:
    page = StudyPage(asked(cells(*HOSTILE)))
    links = re.findall(
        r'download="([^"]+)" href="data:text/csv;charset=utf-8,([^"]*)"', page.html()
    )
    held = {name: unquote(data) for name, data in links}
    answer = page.figures["answer"]

    assert {f"{name}.csv" for name in page.figures} == set(held)
    assert held["answer.csv"] == answer.save(tmp_path / "f.csv").read_text(encoding="utf-8")
    assert len(answer.data) == len(list(csv.DictReader(io.StringIO(held["answer.csv"]))))


# files


@pytest.mark.parametrize("kind", [*KINDS, "csv"])
def test_a_figure_is_saved_over_an_earlier_one_and_over_nothing_else(
    kind: str, tmp_path: Path
) -> None:
    path = tmp_path / f"f.{kind.upper()}"
    whole = figure().save(path).read_bytes()
    path.write_bytes(whole + b" ")

    assert whole == figure().save(str(path)).read_bytes()
    for other in (b"mine", whole.replace(b"goldrush", b"somebody").replace(b"series", b"run")):
        path.write_bytes(other)
        with pytest.raises(BadInput):
            figure().save(path, force=True)
        assert other == path.read_bytes()
    with pytest.raises(BadInput):
        figure().save(tmp_path / f"f.{kind}.gz")


def test_a_figure_is_found_by_its_name_or_by_a_beginning_that_only_one_has() -> None:
    every = [figure(name) for name in ("forest-100", "rounds-a", "rounds-b")]

    assert every[0] is figure_named(every, "forest") is figure_named(every, "forest-100")
    for name in ("rounds", "gold"):
        with pytest.raises(BadInput):
            figure_named(every, name)


def test_a_folder_of_figures_is_replaced_whole_by_force_unless_it_has_anything_else(
    tmp_path: Path,
) -> None:
    folder = tmp_path / "figures"
    one, two = (figure(name, f"{name}. 50%") for name in ("one", "two"))
    write_folder([one, two], folder, FIGURES, jobs=1)
    there = {path.name for path in folder.iterdir()}
    with pytest.raises(BadInput):
        write_folder([two], folder, FIGURES, jobs=1)
    write_folder([two], folder, FIGURES, force=True, jobs=1)
    after = {path.name: path.read_bytes() for path in folder.iterdir()}

    assert {f"{name}.{suffix}" for name in ("one", "two") for suffix in SUFFIXES} == there
    assert {f"two.{suffix}" for suffix in SUFFIXES} == set(after)
    assert rb"\caption{two. 50\%}\label{fig:two}" == after["two.tex"].splitlines()[1]
    for name in ("thesis.tex", "of-mine.png"):
        (folder / name).write_text("mine")
        with pytest.raises(BadInput, match=name.partition(".")[0]):
            write_folder([one], folder, FIGURES, force=True, jobs=1)
        (folder / name).unlink()
    assert after == {path.name: path.read_bytes() for path in folder.iterdir()}


def test_a_study_gives_the_figures_of_its_report(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    study = goldrush.study(
        tmp_path / "study", treatments=["baseline", "scarce"], rosters="raid", seeds=2, rounds=5,
        jobs=1,
    )  # fmt: skip
    study.report(criteria=True, figures=tmp_path / "figures")
    saved = study.figure("answer").save(tmp_path / "f.pdf")

    assert set(study.figures()) == {path.stem for path in (tmp_path / "figures").glob("*.tex")}
    assert (tmp_path / "figures" / "answer.pdf").read_bytes() == saved.read_bytes()
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(BadInput, match="pip install"):
        study.report(figures=tmp_path / "figures")
    assert study.figure("answer").save(tmp_path / "f.csv").exists()
