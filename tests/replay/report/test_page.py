"""A page in HTML: whatever names and texts hold, they are shown as text."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goldrush.replay.colours import GREY, HUES
from goldrush.replay.report.html import as_html
from goldrush.replay.report.marks import Area, Key, Mark, Point
from goldrush.replay.report.page import (
    Block,
    Code,
    FigureBlock,
    Heading,
    Link,
    Marked,
    TableBlock,
    Text,
    Tile,
    Tiles,
    bounds,
    number,
    numbered,
    p_value,
    printable,
    within_bounds,
)
from goldrush.replay.report.plot import panel_of
from goldrush.replay.report.styles import LABEL_MAX, labels_of, styles_of
from goldrush.replay.report.svg import LIGHT, figure_svg
from goldrush.replay.study.inference import Interval
from tests.pictures import counted, pixels_of
from tests.replay.report.pages import Page

HOSTILE = [
    "<script>alert(1)</script>", "$x$ $$y$$", "a|b\\|c", "`code` ```", "\"quoted\" 'text'",
    "</svg></figure>", "&amp; &lt;", "*b* _i_ # h", "[a](http://x.invalid)", "![i](x)", "--> <!--",
    'id="x" url(#y) href="#z"', "]]>", "- item", "1. item", "+ item", "=", "supported by none",
    "undecided", "x" * 500, "\x1b[2J\x07\x00", "\u202eturned", "line\nbreak", "ü 金 🪙", "%s {0}",
]  # fmt: skip


def figure(name: str, text: str, commands: list[str], journals: list[str]) -> FigureBlock:
    style = styles_of([text])[text]
    marks = [Point(style, 0.5, 0.5, text=text, href=text)]
    drawn = panel_of(text, (0, 1), (0, 1), marks, text, x_label=text, y_label=text)
    return FigureBlock(name, [drawn], [Key(style.label, style)], text, commands, journals)


def blocks(text: str) -> list[Block]:
    return [
        Heading(1, text, "top"),
        Tiles([Tile(text, "supported", text), Tile("other", "varies", text)]),
        Text(text),
        Heading(2, f"Two {text}", "part"),
        TableBlock(
            ["a", text],
            [[text, Marked("not supported", text)], ["b", Link(text, text)], ["c", text]],
            text,
        ),
        Code(text),
        figure("one", text, [f"goldrush measure '{text}'"], [text, "x/"]),
        figure("two", "again", ["goldrush"], []),
    ]


@pytest.mark.parametrize("text", HOSTILE)
def test_a_page_shows_names_as_they_are(text: str) -> None:
    page = Page(as_html(blocks(text)))
    shown = printable(text)

    assert "script" not in page.tags
    for tag in ("h1", "h2", "p", "td", "th", "figcaption", "title", "small", "a", "b", "code"):
        assert any(shown in text for at, text in page.texts if at == tag), tag
    assert [[f"goldrush measure '{shown}'"], ["goldrush"]] == page.commands
    assert len(page.svgs) == 2 * 2


@given(st.text())
def test_any_text_at_all_leaves_a_page_well_formed(text: str) -> None:
    page = Page(as_html(blocks(text)))

    assert ["one", "part", "top", "two"] == sorted(page.ids)
    assert all(c.isprintable() or c in "\n\u00a0\u2007\u2008" for c in page.html)


def test_a_verdict_is_marked_and_what_only_begins_like_one_is_not() -> None:
    near = Marked("as expected with N = 10", "why")
    rows = [["a", Marked("supported", "why"), "supported by none", Marked("not supported"), near]]
    page = Page(as_html([Heading(1, "x", "top"), TableBlock(["h"] * 5, rows, "it")]))

    assert ["supported", "not-supported"] == [
        value for tag, _, value in page.attributes if tag == "td"
    ]
    assert [
        ["a", "supported why", "supported by none", "not supported", "as expected with N = 10 why"]
    ] == page.tables[0].rows


def test_the_contents_name_every_section_before_the_first() -> None:
    page = as_html([Heading(1, "x", "top"), Heading(2, "A", "a"), Heading(3, "B", "b"),
                    Heading(2, "C", "c")])  # fmt: skip

    assert page.index('<a href="#a">A</a>') < page.index('<h2 id="a">')
    assert ["#a", "#c"] == Page(page).links
    assert 1 == Page(page).tags.count("main")


def test_numbers_of_a_column_stand_with_their_points_below_each_other() -> None:
    rows = [["a", "1.5 ± 0.2", "10 of 20"], ["b", "−12.25 ± 10.00", "9 of 20"], ["c", "–", "–"]]
    html = as_html([Heading(1, "x", "top"), TableBlock(["h", "n", "s"], rows, "it")])

    cells = re.findall(r'<td class="number">(.*?)</td>', html)
    assert ["1.5\u2007 ± \u20070.2\u2007", "−12.25 ± 10.00"] == cells[:2]
    assert 1 == len({len(cell) - cell.index(".") for cell in cells[:2]})
    assert rows == [[cell.strip() for cell in row] for row in Page(html).tables[0].rows]


def test_tables_and_figures_are_numbered() -> None:
    found = numbered([*blocks("x"), TableBlock(["a"], [], "y")])

    assert ["Table 1. x", "Table 2. y"] == [b.caption for b in found if isinstance(b, TableBlock)]
    assert ["Figure 1", "Figure 2"] == [b.label for b in found if isinstance(b, FigureBlock)]
    assert "<figcaption>Figure 2. again<br>" in as_html(found)


def test_a_figure_that_stands_alone_needs_no_browser_for_its_colours() -> None:
    styles = styles_of([f"roster {n}" for n in range(GREY)]).values()
    marks: list[Mark] = [Point(style, place, place) for place, style in enumerate(styles)]
    marks.append(Area(f"c{GREY}", "", (5, 6), [0], [1]))
    drawn = panel_of("title", (0, GREY), (0, GREY), marks, "")
    svg = figure_svg([drawn], [])
    rows = pixels_of(svg)
    pixels = counted(rows)
    colours = {name: (*bytes.fromhex(colour[1:]), 255) for name, colour in LIGHT.items()}

    assert colours["paper"] == rows[0][0] == rows[-1][-1] == pixels.most_common(1)[0][0]
    assert not [n for n in range(len(HUES)) if not pixels[colours[f"c{n}"]]]
    assert (0, 0, 0, 255) not in pixels
    assert f"svg text {{ fill: {LIGHT['ink']}; font-size: 11px;" in svg
    assert "var(" not in svg


# figures for people


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "–"), (0.0, "0"), (-0.0, "0"), (1.0, "1"), (0.12345, "0.123"), (-1.5, "−1.5"),
        (90.0, "90"), (999.96, "1,000"), (1234.5, "1,234"), (-1041.2, "−1,041"),
        (0.00075, "0.00075"), (0.0000481, "4.8e−05"), (1e-12, "1.0e−12"), (99.99, "100"),
    ],
)  # fmt: skip
def test_a_figure_has_three_digits_that_count(value: float | None, text: str) -> None:
    assert text == number(value)


def test_an_effect_has_both_bounds_and_a_zero_no_sign() -> None:
    assert "0.00 [−0.25,\u00a00.50]" == within_bounds(-0.001, -0.25, 0.5)


def test_an_interval_stands_behind_its_mean_where_there_is_one() -> None:
    assert "2.0 ± 1.0" == bounds(Interval(5, 2.0, 1.0, 3.0))
    assert "0.01235 ± 0.00012" == bounds(Interval(5, 0.0123456, 0.01222, 0.0124656))
    assert "1,235 ± 120" == bounds(Interval(5, 1234.56, 1114.56, 1354.56))
    assert "2 ± 0" == bounds(Interval(5, 2.0, 2.0, 2.0))
    assert "2" == bounds(Interval(1, 2.0, None, None))
    assert "–" == bounds(Interval(0, None, None, None))


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "–"), (0.0, "<\u00a00.001"), (0.00099, "<\u00a00.001"), (0.001, "0.001"),
        (0.0123, "0.012"), (0.05, "0.050"), (0.0496, "0.0496"), (0.049999, "0.049999"),
        (0.0504, "0.0504"), (1.0, "1.000"),
    ],
)  # fmt: skip
def test_a_p_value_is_not_rounded_across_the_line(value: float | None, text: str) -> None:
    assert text == p_value(value)


# names in figures


def test_a_look_is_no_other_rosters() -> None:
    rosters = [f"roster {n}" for n in range(28)]
    styles = styles_of(rosters)

    assert 28 == len({(style.colour, style.dash) for style in styles.values()})
    assert 28 == len({(style.colour, style.marker) for style in styles.values()})
    assert GREY == len({styles[name].colour for name in rosters[:GREY]})
    assert 4 == len({styles[name].dash for name in rosters[:4]})
    assert 7 == len({styles[name].marker for name in rosters[:7]})


def test_a_roster_of_one_policy_has_the_hue_of_that_policy() -> None:
    rosters = ["raid*2", "mixed", "b", "raid*9", "random"]
    policies = {"raid*2": "raid", "b": "b", "raid*9": "raid", "random": "random"}
    styles = styles_of(rosters, policies, ["a", "b", "raid"], "random")

    assert ["c2", "c0", "c1", "c2", f"c{GREY}"] == [styles[name].colour for name in rosters]
    assert styles["raid*2"].dash != styles["raid*9"].dash
    assert styles["raid*2"].marker != styles["raid*9"].marker


def test_long_names_are_cut_in_the_middle_and_stay_apart() -> None:
    names = ["a" * 40 + str(n) + "b" * 40 for n in range(3)]
    labels = labels_of([*names, "short"])

    assert 4 == len(set(labels.values()))
    assert "short" == labels["short"]
    assert "aaaaaaaaaaaaa…bbbbbbbbbbbb" == labels[names[0]]
    assert all(len(label) <= LABEL_MAX + 4 for label in labels.values())
    assert [labels[names[0]], f"{labels[names[0]]} (2)", f"{labels[names[0]]} (3)"] == [
        labels[name] for name in names
    ]


def test_a_long_name_is_cut_before_the_options_that_differ() -> None:
    name, all = "llm:some-model-0.5b-instruct", "[wording=neutral-goal;notes=false;order=agent]"
    labels = labels_of([f"{name}[wording=plain]", f"{name}[sample=1]*10", name, name + all])

    assert [
        "llm:s…truct[wording=plain]", "llm:so…struct[sample=1]*10", "llm:some-mode….5b-instruct",
        "llm…ct[wordin…order=agent]",
    ] == list(labels.values())  # fmt: skip


def test_what_cannot_be_seen_is_shown_as_an_escape_in_a_figure() -> None:
    assert {"a\x00\n": "a\\x00\\n"} == labels_of(["a\x00\n"])
