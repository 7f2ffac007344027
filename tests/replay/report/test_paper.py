"""Figures for papers, as renderers that are no browser show them, and their files."""

import csv
import io
import itertools
import re
import sys
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from urllib.parse import unquote
from xml.etree import ElementTree

import attrs
import numpy as np
import pypdfium2
import pytest
import resvg_py
from pypdfium2 import raw

import goldrush
from goldrush.kernel.errors import BadInput
from goldrush.replay.colours import GREY
from goldrush.replay.report.figure import Figure, figure_named, write_figures
from goldrush.replay.report.html import as_html
from goldrush.replay.report.marks import TOP, Area, Curve, Key, Mark, Panel, Point, Sample
from goldrush.replay.report.page import FigureBlock as Block
from goldrush.replay.report.page import Heading
from goldrush.replay.report.paper import DPI, KINDS, WIDTHS, paper_bytes, paper_figure
from goldrush.replay.report.plot import panel_of
from goldrush.replay.report.styles import styles_of
from goldrush.replay.report.svg import LIGHT, figure_svg
from goldrush.replay.report.tidy import COLUMNS
from tests.replay.report.pages import Page
from tests.replay.report.test_figures import EVERY, HOSTILE, cells, drawn

PIL = pytest.importorskip("PIL.Image", reason="needs goldrush-sim[figures]")
POINT = 72 / 25.4  # points per mm
ZOOM = DPI / 72
STYLES = list(styles_of([f"roster {n}" for n in range(GREY)]).values())
NAMES = [style.colour for style in STYLES]


def panels() -> list[Panel]:
    """Two panels with the same points, one of each colour."""
    marks = [Point(style, n, 2.0 * n) for n, style in enumerate(STYLES)]
    ends = (-1.0, GREY), (-2.0, 2.0 * GREY)
    return [panel_of(f"title {n}", *ends, marks, "", x_label="round") for n in range(2)]


def pixels(png: bytes) -> np.ndarray:
    return np.asarray(PIL.open(io.BytesIO(png)).convert("RGB"))


def rendered(kind: str, data: bytes) -> np.ndarray:
    """A file as pixels, 300 to an inch."""
    if kind == "pdf":
        [page] = pypdfium2.PdfDocument(data)
        return page.render(scale=ZOOM).to_numpy()[:, :, ::-1]
    if kind == "svg":
        return pixels(resvg_py.svg_to_bytes(svg_string=data.decode(), dpi=DPI))
    return pixels(data)


def centres(rows: np.ndarray, box: Sequence[float]) -> dict[str, tuple[float, float]]:
    """By colour, the centre of its pixels in a box (left, top, right, bottom), in shares of it."""
    left, top, right, bottom = box
    inside = rows[round(top) : round(bottom), round(left) : round(right)]
    found = {}
    for name in NAMES:
        colour = [int(LIGHT[name][at : at + 2], 16) for at in (1, 3, 5)]
        y, x = np.nonzero((inside == colour).all(2))
        assert len(x), name
        found[name] = ((x.mean() + 0.5) / (right - left), (y.mean() + 0.5) / (bottom - top))
    return found


@cache
def on_page() -> dict[str, tuple[float, float]]:
    """The centres of the marks of the second panel on a page."""
    both = panels()
    zoom, edge = 4, 10
    rows = pixels(resvg_py.svg_to_bytes(svg_string=figure_svg(both, []), zoom=zoom))
    start, panel = edge + both[0].width + 16, both[1]
    box = (start + panel.left, edge + TOP, start + panel.right, edge + panel.bottom)
    return centres(rows, [zoom * at for at in box])


@pytest.mark.turns
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("width", WIDTHS)
def test_marks_stand_where_they_do_on_the_page_in_the_same_colours(kind: str, width: str) -> None:
    figure = paper_figure(panels(), [], width)
    rows = rendered(kind, paper_bytes(panels(), [], [kind], width)[kind])
    height, across = rows.shape[:2]
    place = figure.axes[1].get_position()
    box = (place.x0 * across, (1 - place.y1) * height, place.x1 * across, (1 - place.y0) * height)
    expected = on_page()

    if kind != "svg":
        assert pytest.approx(WIDTHS[width] / 25.4 * DPI, abs=1) == across
    for name, (x, y) in centres(rows, box).items():
        assert abs(x - expected[name][0]) * (box[2] - box[0]) < 2, name
        assert abs(y - expected[name][1]) * (box[3] - box[1]) < 2, name


def test_a_pdf_has_its_text_in_embedded_fonts_of_seven_points() -> None:
    legend = [Key(style.label, style) for style in STYLES]
    data = paper_bytes(panels(), legend, ["pdf"])["pdf"]
    [page] = pypdfium2.PdfDocument(data)
    text = page.get_textpage().get_text_range()
    fonts = set()
    for item in page.get_objects([raw.FPDF_PAGEOBJ_TEXT]):
        font, size, name = raw.FPDFTextObj_GetFont(item.raw), raw.c_float(), (raw.c_char * 100)()
        raw.FPDFTextObj_GetFontSize(item.raw, size)
        raw.FPDFFont_GetBaseFontName(font, name, 100)
        is_embedded = raw.FPDFFont_GetIsEmbedded(font)
        fonts.add((name.value.decode().rpartition("+")[2], is_embedded, size.value))

    for shown in ("title 0", "title 1", "round", "10", *(style.label for style in STYLES)):
        assert shown in text
    assert {("DejaVuSans", 1, 7.0), ("DejaVuSans-Bold", 1, 8.0)} == fonts
    assert (2, 0) == (data.count(b"/FontFile2 "), data.count(b"/Type3"))  # TrueType, no drawings


@pytest.mark.turns
@pytest.mark.parametrize("name", EVERY)
def test_names_are_text_in_every_figure(name: str) -> None:
    """Whatever they hold, nothing of it is markup or mathematics."""
    found = drawn(name, cells(*HOSTILE))
    files = paper_bytes(found.panels, found.legend, ["svg"])
    root = ElementTree.fromstring(files["svg"])
    text = ["".join(each.itertext()) for each in root.iter("{http://www.w3.org/2000/svg}text")]

    assert {style.label for style in styles_of(HOSTILE).values()} <= set(text)
    assert {panel.title for panel in found.panels} <= set(text)


def test_a_legend_has_lines_only_if_its_figure_has() -> None:
    [style, *_] = STYLES
    legend = [Key("it", style)]
    ends = (0.0, 2.0), (0.0, 2.0)
    marks: list[Mark] = [Curve(style, [[Sample(0.0, 1.0), Sample(2.0, 1.0)]])]
    points, lines = (
        [panel_of("it", *ends, drawn, "")] for drawn in ([Point(style, 1.0, 1.0)], marks)
    )
    for panels_, expected in ((points, 0), (lines, 1)):
        [key] = paper_figure(panels_, legend, "single").legends[0].get_lines()
        page = as_html([Heading(1, "x", "top"), Block("f", panels_, legend, "It.", [], [], 1)])
        shown = page.partition('<ul class="legend')[2].partition("</ul>")[0]

        assert expected == (key.get_linestyle() != "None") == shown.count('class="line')
        drawn_ = figure_svg(panels_, legend)
        assert 2 * expected == drawn_.count('class="line')


LONG = "greedy-mine*8,tit-for-tat-raid*1,defend*1"  # too long for a page's label


def test_names_stand_in_full_on_two_lines_with_room_beside_them() -> None:
    given = cells(LONG, "raid")
    for name in ("half_against_half", "stamina", "over_units"):
        found = drawn(name, given)
        for width in WIDTHS:
            figure = paper_figure(found.panels, found.legend, width)
            labels = [label for axes in figure.axes for label in axes.get_yticklabels()]
            titles = [axes.get_title(loc="left") for axes in figure.axes]
            keys = [text for of in figure.legends for text in of.get_texts()]
            texts = {text.get_text().replace("\n", "") for text in (*labels, *keys)}
            assert LONG in {*texts, *titles}, (name, width)
            assert not any("…" in text for text in (*texts, *titles))
            boxes = [label.get_window_extent() for label in labels]
            assert all(box.x0 > -1 for box in boxes)  # pixels
            for above, below in itertools.pairwise(boxes if name == "half_against_half" else ()):
                assert not above.overlaps(below)
    rows = Figure("f", "It.", drawn("half_against_half", given).panels, []).data
    assert {LONG, "raid"} == {row["x"] for row in rows}


def test_a_name_of_three_lines_is_cut_as_on_a_page() -> None:
    found = drawn("half_against_half", cells("y" * 300))
    [*axes] = paper_figure(found.panels, found.legend, "single").axes
    [label] = axes[0].get_yticklabels()

    assert found.panels[0].y.ticks[0][1] == label.get_text()
    assert 26 == len(label.get_text())


def test_the_first_tick_has_its_label() -> None:
    points = [Point(STYLES[0], value, 0) for value in (-1.0, 1.0)]
    rows = panel_of("it", (-1, 1), (0, 0), points, "", rows=["row"])
    plain = panel_of("it", (0, 1), (0, 1), points, "")
    for panel, first in ((rows, "−1.0"), (plain, "0.0")):
        [axes] = paper_figure([panel], [], "single").axes
        labels = [label.get_text() for label in axes.get_xticklabels()]
        assert first == labels[0], labels
        assert all(labels)


def test_a_figure_is_no_taller_than_a_page_and_its_parts_are_all_of_it() -> None:
    found = drawn("over_units", cells("raid", "random"))
    figure = Figure("f", "It.", found.panels, found.legend)
    pages = figure.pages("single")

    assert len(pages) > 1
    assert figure.data == [row for page in pages for row in page.data]
    assert [f"f-page-{n + 1}" for n in range(len(pages))] == [page.name for page in pages]
    assert pages[0].caption == f"It. Page 1 of {len(pages)}."
    for page in pages:
        assert 25.4 * page.matplotlib("single").get_figheight() < 240.01
    assert [figure] == figure.pages("double")
    tall = [attrs.evolve(found.panels[0], height=5000.0)]
    assert pytest.approx(240) == 25.4 * paper_figure(tall, [], "single").get_figheight()


def test_a_figure_that_is_taller_than_a_page_is_not_saved_as_one(tmp_path: Path) -> None:
    found = drawn("over_units", cells("raid"))
    figure = Figure("f", "It.", found.panels, found.legend)

    with pytest.raises(BadInput, match=r"taller than a page \(240 mm\); give the width double, or"):
        figure.save(tmp_path / "f.pdf", "single")
    assert figure.save(tmp_path / "f.pdf", "double").exists()
    folder = tmp_path / "figures"
    written = write_figures([figure], folder, width="single", jobs=1)
    assert written == [page.name for page in figure.pages("single")]
    assert {f"{n}.{s}" for n in written for s in (*KINDS, "csv", "txt")} == {
        path.name for path in folder.iterdir()
    }


def test_a_users_settings_of_matplotlib_change_nothing() -> None:
    matplotlib = pytest.importorskip("matplotlib")
    before = paper_bytes(panels(), [], KINDS)
    with matplotlib.rc_context({"font.size": 20, "savefig.bbox": "tight", "pdf.fonttype": 3}):
        assert before == paper_bytes(panels(), [], KINDS)
        assert 20 == matplotlib.rcParams["font.size"]


def test_what_is_drawn_can_be_changed_with_matplotlib() -> None:
    figure = Figure("f", "It.", panels(), []).matplotlib("double")
    axes = figure.axes[1]

    assert "title 1" == axes.get_title(loc="left")
    assert (-1, GREY) == pytest.approx(axes.get_xlim())
    assert WIDTHS["double"] == pytest.approx(25.4 * figure.get_figwidth())
    with pytest.raises(BadInput, match="there is no width 'wide'; give single or double"):
        paper_figure(panels(), [], "wide")


# data


@pytest.mark.parametrize("name", EVERY)
def test_every_mark_is_a_row_of_the_data(name: str) -> None:
    found = drawn(name, cells(*HOSTILE))
    figure = Figure("f", "It.", found.panels, found.legend)
    marks = [mark for panel in found.panels for mark in panel.marks]
    count = sum(
        len(mark.samples) if isinstance(mark, Curve) else len(mark.above) if isinstance(mark, Area)
        else isinstance(mark, Point)
        for mark in marks
    )  # fmt: skip

    assert count == len(figure.data)
    assert set(COLUMNS) == set(figure.data[0])
    assert all(isinstance(row["y"], float | int) for row in figure.data)
    if name not in ("stamina",):
        assert set(HOSTILE) <= {row["series"] for row in figure.data}


def test_the_data_of_a_curve_are_its_means_their_intervals_and_the_number_of_runs() -> None:
    samples = [Sample(1.5, 1234567.0, 1.0 / 3, 2e-7, 4), Sample(2.0, -0.5)]
    marks: list[Mark] = [Curve(STYLES[0], [samples])]
    figure = Figure("f", "It.", [panel_of("a, b", (0, 2), (0, 9), marks, "")], [])

    assert {
        "panel": "a, b", "series": "roster 0", "x": 1.5, "y": 1234567.0, "low": 1.0 / 3,
        "high": 2e-7, "n": 4, "label": None,
    } == figure.data[0]  # fmt: skip
    caption, table = repr(figure).split("\n\n")
    assert "f: It." == caption
    assert [
        ["panel", "series", "x", "y", "low", "high", "n"],
        ["a, b", "roster 0", "1.5", "1234567", "0.333333", "2e-07", "4"],
        ["a, b", "roster 0", "2", "-0.5"],
    ] == [re.split("  +", line.strip()) for line in table.splitlines()]


def test_a_page_holds_the_data_and_the_drawing_of_each_figure(tmp_path: Path) -> None:
    found = drawn("over_units", cells(*HOSTILE))
    page = as_html(
        [Heading(1, "x", "top"), Block("f-1", found.panels, found.legend, "It.", [], [], 2)]
    )
    links = re.findall(r'download="([^"]+)" href="data:([^;]+);charset=utf-8,([^"]*)"', page)
    figure = Figure("f-1", "It.", found.panels, found.legend)
    held = {name: unquote(data) for name, _, data in links}

    assert {"f-1.csv": "text/csv", "f-1.svg": "image/svg+xml"} == {n: kind for n, kind, _ in links}
    assert figure_svg(found.panels, found.legend) == held["f-1.svg"]
    assert held["f-1.csv"] == figure.save(tmp_path / "f.csv").read_text(encoding="utf-8")
    assert len(figure.data) == len(list(csv.DictReader(io.StringIO(held["f-1.csv"]))))
    assert "script" not in Page(page).tags
    labels = {value for _, name, value in Page(page).attributes if name == "aria-label"}
    assert {"Download Figure 2 as CSV", "Download Figure 2 as SVG"} <= labels


# files


@pytest.mark.turns
@pytest.mark.parametrize("kind", [*KINDS, "csv"])
def test_a_figure_is_saved_over_an_earlier_one_and_over_nothing_else(
    kind: str, tmp_path: Path
) -> None:
    figure = Figure("f", "It.", panels(), [])
    path = tmp_path / f"f.{kind.upper()}"
    figure.save(path)
    whole = path.read_bytes()
    path.write_bytes(whole + b" ")

    assert whole == figure.save(str(path)).read_bytes()
    for other in (b"mine", whole.replace(b"goldrush", b"somebody").replace(b"series", b"run")):
        path.write_bytes(other)
        with pytest.raises(BadInput, match="not recognised as an output of goldrush"):
            figure.save(path, force=True)
        assert other == path.read_bytes()


@pytest.mark.parametrize("name", ["f", "f.jpg", "f.pdf.gz"])
def test_what_names_no_kind_of_figure_is_refused(name: str, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"names no kind of figure; end it in \.pdf, \.png, \.svg"):
        Figure("f", "It.", panels(), []).save(tmp_path / name)
    assert [] == list(tmp_path.iterdir())


def test_a_figure_shows_itself_with_its_caption_and_keeps_its_styles_to_itself() -> None:
    shown = Figure("f", "<b>It</b>.", panels(), [])._repr_html_()

    assert shown.startswith('<figure><img src="data:image/svg+xml;base64,')
    assert "<figcaption>&lt;b&gt;It&lt;/b&gt;.</figcaption>" in shown
    assert "<style" not in shown


def test_a_figure_is_found_by_its_name_or_by_a_beginning_that_only_one_has() -> None:
    every = [Figure(name, "It.", [], []) for name in ("forest-100", "rounds-a", "rounds-b")]

    assert every[0] is figure_named(every, "forest", {}) is figure_named(every, "forest-100", {})
    with pytest.raises(BadInput, match="several figures are 'rounds'; give one of rounds-a, r"):
        figure_named(every, "rounds", {"rounds": "it is late"})
    with pytest.raises(BadInput, match="there is no figure 'gold'; give one of forest-100, r"):
        figure_named(every, "gold", {"forest": "it is late"})
    with pytest.raises(BadInput, match="there is no figure 'effects', because it is late; give"):
        figure_named(every, "effects", {"effects": "it is late"})


def test_a_folder_of_figures_is_written_whole_and_replaced_whole(tmp_path: Path) -> None:
    folder, told = tmp_path / "figures", []
    both = [Figure(name, f"{name}.", panels(), []) for name in ("one", "two")]
    write_figures(both, folder, jobs=1, on_figure=lambda *done: told.append(done))
    names = {f"{n}.{suffix}" for n in ("one", "two") for suffix in (*KINDS, "csv", "txt")}

    assert names == {path.name for path in folder.iterdir()}
    assert "two.\n" == (folder / "two.txt").read_text()
    assert [(1, 2), (2, 2)] == told
    write_figures(both[:1], folder, force=True, jobs=1)
    assert {name for name in names if name.startswith("one.")} == {p.name for p in folder.iterdir()}


def test_an_edited_figure_is_kept_unless_forced(tmp_path: Path) -> None:
    one = [Figure("one", "One.", panels(), [])]
    (tmp_path / "figures").mkdir()
    write_figures(one, tmp_path / "figures", jobs=1)
    caption = tmp_path / "figures" / "one.txt"
    caption.write_text("One, as I say it.")
    with pytest.raises(BadInput, match=r"figures already exists; .*--force"):
        write_figures(one, tmp_path / "figures", jobs=1)

    assert "One, as I say it." == caption.read_text()
    write_figures(one, tmp_path / "figures", force=True, jobs=1)
    assert "One.\n" == caption.read_text()


@pytest.mark.turns
@pytest.mark.parametrize("name", ["thesis.tex", "of-mine.png", "of-mine.svg"])
def test_a_folder_with_anything_else_is_left_as_it_is(name: str, tmp_path: Path) -> None:
    write_figures([Figure("one", "One.", panels(), [])], tmp_path / "figures", jobs=1)
    (tmp_path / "figures" / name).write_text("mine")
    before = {path: path.read_bytes() for path in (tmp_path / "figures").iterdir()}
    with pytest.raises(BadInput, match=r"of-mine|thesis"):
        write_figures(
            [Figure("two", "Two.", panels(), [])], tmp_path / "figures", force=True, jobs=1
        )

    assert before == {path: path.read_bytes() for path in (tmp_path / "figures").iterdir()}
    assert ["figures"] == [path.name for path in tmp_path.iterdir()]


def test_a_study_gives_the_figures_of_its_report(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    study = goldrush.study(
        tmp_path / "study", treatments=["baseline", "scarce"], rosters="raid", seeds=2, rounds=5,
        jobs=1,
    )  # fmt: skip
    study.report(criteria=True, figures=tmp_path / "figures", width="single")
    captions = {path.stem: path.read_text() for path in (tmp_path / "figures").glob("*.txt")}
    pages = [page for name in study.figures() for page in study.figure(name).pages("single")]
    saved = study.figure("answer").save(tmp_path / "f.pdf", "single")

    assert {page.name: f"{page.caption}\n" for page in pages} == captions
    for caption in study.figures().values():
        assert "with seeds 0–1 under each" in caption
        assert re.search(r"Treatments?: (baseline; )?(scarce|baseline)\. Roster: raid\.", caption)
    assert (tmp_path / "figures" / "answer.pdf").read_bytes() == saved.read_bytes()
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(BadInput, match=r"need matplotlib; .*pip install 'goldrush-sim\[figures\]'"):
        study.report(figures=tmp_path / "figures")
    assert study.figure("answer").save(tmp_path / "f.csv").exists()
