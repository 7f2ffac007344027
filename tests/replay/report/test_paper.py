"""Figures for papers, as renderers that are no browser show them, and their files."""

import csv
import io
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from urllib.parse import unquote
from xml.etree import ElementTree

import numpy as np
import pypdfium2
import pytest
import resvg_py
from pypdfium2 import raw

import goldrush
from goldrush.kernel.errors import BadInput
from goldrush.replay.colours import GREY
from goldrush.replay.report.figure import SUFFIXES, Figure, figure_named, write_figures
from goldrush.replay.report.page import StudyPage
from goldrush.replay.report.paper import DPI, KINDS, WIDTHS, paper_bytes, paper_figure
from goldrush.replay.report.plot import (
    COLUMNS,
    DOTS,
    LINES,
    SCATTER,
    TICKS_MIN,
    Chart,
    Row,
    Style,
    labels_of,
)
from goldrush.replay.report.svg import LIGHT, key_svg, panel_svg
from tests.replay.report.test_figures import HOSTILE, asked, cells, drawn

PIL = pytest.importorskip("PIL.Image", reason="needs goldrush-sim[figures]")
ZOOM = DPI / 72
STYLES = {f"roster {n}": Style(n, label=f"roster {n}") for n in range(GREY)}
NAMES = [f"hue-{n}" for n in range(GREY)]


def figure(name: str = "f", caption: str = "It.", kind: str = SCATTER) -> Figure:
    """Two panels with the same points, one of each colour."""
    rows = [
        Row(f"title {n}", series, float(at), 2.0 * at)
        for n in range(2)
        for at, series in enumerate(STYLES)
    ]
    return Figure(
        name=name, shows=caption, kind=kind, rows=rows, styles=STYLES, x_label="round"
    )  # fmt: skip


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


def apart(found: dict[str, tuple[float, float]]) -> list[tuple[float, float]]:
    """How far marks stand to the right of the first of them and above it, in shares of the
    distance of the last.
    """
    (left, bottom), (right, top) = found[NAMES[0]], found[NAMES[-1]]
    width, height = abs(right - left), abs(bottom - top)
    return [((x - left) / width, (bottom - y) / height) for x, y in found.values()]


@pytest.mark.turns
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("width", WIDTHS)
def test_marks_stand_where_they_do_on_the_page_in_the_same_colours(kind: str, width: str) -> None:
    one = Chart(SCATTER, [row for row in figure().rows if row.panel == "title 1"], STYLES)
    rows = rendered(kind, paper_bytes(one, [kind], width)[kind])
    height, across = rows.shape[:2]
    legend = 0.22 if width == "single" else 0.13
    found = centres(rows, (0, 0, across, (1 - legend) * height))
    on_page = re.findall(r"dot (c\d)\" d=\"M([\d.]+) ([\d.]+)m", panel_svg(one, one.panels[0]))

    if kind != "svg":
        assert pytest.approx(WIDTHS[width] * DPI, abs=1) == across
    assert np.allclose(apart(found), [(n / (GREY - 1),) * 2 for n in range(GREY)], atol=0.02)
    assert np.allclose(
        apart({name: (float(x), float(y)) for name, (_, x, y) in zip(NAMES, on_page, strict=True)}),
        apart(found), atol=0.02,
    )  # fmt: skip
    assert [f"c{n}" for n in range(GREY)] == [hue for hue, *_ in on_page]


def test_a_pdf_has_its_text_in_embedded_fonts_of_seven_points() -> None:
    data = paper_bytes(figure(), ["pdf"])["pdf"]
    [page] = pypdfium2.PdfDocument(data)
    text = page.get_textpage().get_text_range()
    fonts = set()
    for item in page.get_objects([raw.FPDF_PAGEOBJ_TEXT]):
        font, size, name = raw.FPDFTextObj_GetFont(item.raw), raw.c_float(), (raw.c_char * 100)()
        raw.FPDFTextObj_GetFontSize(item.raw, size)
        raw.FPDFFont_GetBaseFontName(font, name, 100)
        is_embedded = raw.FPDFFont_GetIsEmbedded(font)
        fonts.add((name.value.decode().rpartition("+")[2], is_embedded, size.value))

    for shown in ("title 0", "title 1", "round", "10", *STYLES):
        assert shown in text
    assert {("DejaVuSans", 1, 7.0)} == fonts
    assert (1, 0) == (data.count(b"/FontFile2 "), data.count(b"/Type3"))  # TrueType, no drawings


@pytest.mark.turns
def test_names_are_text_in_every_figure() -> None:
    """Whatever they hold, nothing of it is markup or mathematics."""
    for found in drawn(cells(*HOSTILE)).values():
        root = ElementTree.fromstring(paper_bytes(found, ["svg"])["svg"])
        text = ["".join(each.itertext()).strip() for each in
                root.iter("{http://www.w3.org/2000/svg}text")]  # fmt: skip
        if found.name in ("answer", "by-run"):
            assert set(labels_of(HOSTILE).values()) <= set(text)
        for panel in found.panels:
            assert any(each.endswith(panel.label) for each in text)


def test_a_legend_has_lines_only_if_its_figure_has() -> None:
    for kind, expected in ((SCATTER, 0), (LINES, 1)):
        both = figure(kind=kind)
        [key, *_] = paper_figure(both, "single").legends[0].get_lines()
        shown = key_svg(both, STYLES["roster 0"])

        assert expected == (key.get_linestyle() != "None")
        assert bool(expected) == ('class="line' in shown)


def test_one_panel_has_the_width_of_a_column() -> None:
    one = Chart(LINES, [row for row in figure().rows if row.panel == "title 0"], STYLES)

    assert WIDTHS["single"] == pytest.approx(paper_figure(one, None).get_figwidth())


def test_every_axis_of_numbers_has_three_ticks_or_more() -> None:
    for found in drawn(cells("raid") | cells("raid", treatment="scarce", rounds=4)).values():
        for axes in paper_figure(found, "single").axes:
            ticks = [axes.get_xticks(), *([] if found.kind == DOTS else [axes.get_yticks()])]
            assert all(len(each) >= TICKS_MIN for each in ticks), found.name


def test_a_users_settings_of_matplotlib_change_nothing() -> None:
    matplotlib = pytest.importorskip("matplotlib")
    before = paper_bytes(figure(), KINDS)
    with matplotlib.rc_context({"font.size": 20, "savefig.bbox": "tight", "pdf.fonttype": 3}):
        assert before == paper_bytes(figure(), KINDS)
        assert 20 == matplotlib.rcParams["font.size"]


def test_what_is_drawn_can_be_changed_with_matplotlib() -> None:
    drawing = figure().matplotlib("double")
    axes = drawing.axes[1]

    assert "b  title 1" == axes.get_title(loc="left")
    assert (6.9, 3.3) == (WIDTHS["double"], WIDTHS["single"])
    assert WIDTHS["double"] == pytest.approx(drawing.get_figwidth())
    with pytest.raises(BadInput, match="there is no width 'wide'; give single or double"):
        paper_figure(figure(), "wide")


# data


def test_every_row_of_the_data_is_what_is_drawn() -> None:
    for found in drawn(cells(*HOSTILE)).values():
        assert set(COLUMNS) == set(found.data[0])
        assert found.csv.count("\n") >= len(found.data) + 1
        if found.kind == DOTS:
            svg = "".join(panel_svg(found, panel) for panel in found.panels)
            assert len([row for row in found.rows if row.y is not None]) == svg.count("<title>")


def test_the_data_are_the_values_their_intervals_and_the_number_of_runs() -> None:
    rows = [Row("a, b", "roster 0", 1.5, 1234567.0, 1.0 / 3, 2e-7, 4),
            Row("a, b", "roster 0", 2.0, -0.5)]  # fmt: skip
    found = Figure(name="f", shows="It.", kind=LINES, rows=rows, styles=STYLES)

    assert {
        "panel": "a, b", "series": "roster 0", "x": 1.5, "y": 1234567.0, "low": 1.0 / 3,
        "high": 2e-7, "n": 4, "label": None,
    } == found.data[0]  # fmt: skip
    assert "f: It." == repr(found)


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


@pytest.mark.turns
@pytest.mark.parametrize("kind", [*KINDS, "csv"])
def test_a_figure_is_saved_over_an_earlier_one_and_over_nothing_else(
    kind: str, tmp_path: Path
) -> None:
    path = tmp_path / f"f.{kind.upper()}"
    figure().save(path)
    whole = path.read_bytes()
    path.write_bytes(whole + b" ")

    assert whole == figure().save(str(path)).read_bytes()
    for other in (b"mine", whole.replace(b"goldrush", b"somebody").replace(b"series", b"run")):
        path.write_bytes(other)
        with pytest.raises(BadInput, match="not recognised as an output of goldrush"):
            figure().save(path, force=True)
        assert other == path.read_bytes()


@pytest.mark.parametrize("name", ["f", "f.jpg", "f.pdf.gz"])
def test_what_names_no_kind_of_figure_is_refused(name: str, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"names no kind of figure; end it in \.pdf, \.png, \.svg"):
        figure().save(tmp_path / name)
    assert [] == list(tmp_path.iterdir())


def test_a_figure_shows_itself_with_its_caption_and_keeps_its_styles_to_itself(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)  # is not installed
    shown = figure("f", "<b>It</b>.")._repr_html_()

    assert shown.startswith('<figure><img src="data:image/svg+xml;base64,')
    assert "<figcaption>&lt;b&gt;It&lt;/b&gt;.</figcaption>" in shown
    assert "<style" not in shown


def test_a_figure_is_found_by_its_name_or_by_a_beginning_that_only_one_has() -> None:
    every = [figure(name) for name in ("forest-100", "rounds-a", "rounds-b")]

    assert every[0] is figure_named(every, "forest") is figure_named(every, "forest-100")
    with pytest.raises(BadInput, match="several figures are 'rounds'; give one of rounds-a, r"):
        figure_named(every, "rounds")
    with pytest.raises(BadInput, match="there is no figure 'gold'; give one of forest-100, r"):
        figure_named(every, "gold")


def test_a_folder_of_figures_is_written_whole_and_replaced_whole(tmp_path: Path) -> None:
    folder, told = tmp_path / "figures", []
    both = [figure(name, f"{name}. 50%") for name in ("one", "two")]
    write_figures(both, folder, jobs=1, on_figure=lambda *done: told.append(done))
    names = {f"{n}.{suffix}" for n in ("one", "two") for suffix in SUFFIXES}

    assert names == {path.name for path in folder.iterdir()}
    assert r"\caption{two. 50\%}\label{fig:two}" == (folder / "two.tex").read_text()
    assert [(1, 2), (2, 2)] == told
    write_figures(both[:1], folder, force=True, jobs=1)
    assert {name for name in names if name.startswith("one.")} == {p.name for p in folder.iterdir()}


def test_an_edited_figure_is_kept_unless_forced(tmp_path: Path) -> None:
    one = [figure("one", "One.")]
    (tmp_path / "figures").mkdir()
    write_figures(one, tmp_path / "figures", jobs=1)
    caption = tmp_path / "figures" / "one.tex"
    caption.write_text("One, as I say it.")
    with pytest.raises(BadInput, match=r"figures already exists; .*--force"):
        write_figures(one, tmp_path / "figures", jobs=1)

    assert "One, as I say it." == caption.read_text()
    write_figures(one, tmp_path / "figures", force=True, jobs=1)
    assert r"\caption{One.}\label{fig:one}" == caption.read_text()


@pytest.mark.turns
@pytest.mark.parametrize("name", ["thesis.tex", "of-mine.csv", "of-mine.png"])
def test_a_folder_with_anything_else_is_left_as_it_is(name: str, tmp_path: Path) -> None:
    write_figures([figure("one", "One.")], tmp_path / "figures", jobs=1)
    (tmp_path / "figures" / name).write_text("mine")
    before = {path: path.read_bytes() for path in (tmp_path / "figures").iterdir()}
    with pytest.raises(BadInput, match=r"of-mine|thesis"):
        write_figures([figure("two", "Two.")], tmp_path / "figures", force=True, jobs=1)

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
    captions = {path.stem: path.read_text() for path in (tmp_path / "figures").glob("*.tex")}
    saved = study.figure("answer").save(tmp_path / "f.pdf", "single")

    assert set(study.figures()) == set(captions)
    for caption in captions.values():
        assert "with seeds 0--1 in each cell" in caption
        assert re.search(r"Treatments?: (baseline; )?(scarce|baseline)\. Roster: raid\.", caption)
    assert (tmp_path / "figures" / "answer.pdf").read_bytes() == saved.read_bytes()
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(BadInput, match=r"need matplotlib; .*pip install 'goldrush-sim\[figures\]'"):
        study.report(figures=tmp_path / "figures")
    assert study.figure("answer").save(tmp_path / "f.csv").exists()
