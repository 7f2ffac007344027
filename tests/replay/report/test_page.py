"""A page in HTML: whatever names and texts hold, they are shown as text. Numbers, names, styles."""

import re
from functools import cache

import attrs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from goldrush.replay.colours import GREY
from goldrush.replay.report.numbers import bounds, number, p_value, printable, within_bounds
from goldrush.replay.report.page import StudyPage
from goldrush.replay.report.plot import LABEL_MAX, labels_of, styles_of
from goldrush.replay.report.reported import StudyQuestion, study_of
from goldrush.replay.studies import NO_STUDIES
from goldrush.replay.study.inference import Interval
from goldrush.replay.study.records import Cell
from tests.replay.report.pages import Page
from tests.replay.study.made_up import made, results

HOSTILE = [
    "<script>alert(1)</script>", "$x$ $$y$$", "a|b\\|c", "`code` ```", "\"quoted\" 'text'",
    "</svg></figure>", "&amp; &lt;", "--> <!--", "{{ 7 * 7 }} {% if %}", 'id="x" url(#y) href="#z"',
    "]]>", "supported by none", "undecided", "x" * 500, "\x1b[2J\x07\x00", "\u202eturned",
    "line\nbreak", "ü 金 🪙", "%s {0}",
]  # fmt: skip


@cache
def page_of(text: str) -> str:
    """The page of a study whose treatment and roster have this name."""
    runs = [
        made(Cell(name, text, 9), seed, settings={"alpha": alpha})
        for name, alpha in (("baseline", 1.0), (text, 2.0))
        for seed in (0, 1)
    ]
    return StudyPage(study_of(results(*runs), StudyQuestion(criteria=True))).html()


@pytest.mark.parametrize("text", HOSTILE)
def test_a_page_shows_names_as_they_are(text: str) -> None:
    page = Page(page_of(text))
    shown = printable(text)

    assert "script" not in page.tags
    for tag in ("p", "td", "th", "h3"):
        assert any(shown in text for at, text in page.texts if at == tag), tag
    assert len(page.ids) == len(set(page.ids))
    assert len(page.svgs) > 3


@settings(max_examples=10)
@given(st.text(min_size=1))
def test_any_text_at_all_leaves_a_page_well_formed(text: str) -> None:
    page = Page(page_of(text))

    assert {"top", "answer", "outcome", "methods"} <= set(page.ids)
    assert all(c.isprintable() or c in "\n\u00a0\u2007\u2008" for c in page.html)


def test_the_contents_name_every_section_before_the_first() -> None:
    html = page_of("raid")
    page = Page(html)
    titles = re.findall(r'<h2 id="([^"]+)">', html)

    assert [f"#{anchor}" for anchor in titles] == re.findall(
        r'href="(#[^"]+)"', html.partition("</nav>")[0]
    )
    assert html.index("<nav") < html.index("<h2")
    assert 1 == page.tags.count("main")


def test_tables_and_figures_are_numbered_in_their_order() -> None:
    page = Page(page_of("raid"))
    tables = [table.caption for table in page.tables]
    figures = [text for tag, text in page.texts if tag == "figcaption" and "Figure" in text]

    assert [f"Table {n + 1}." for n in range(len(tables))] == [
        " ".join(caption.split()[:2]) for caption in tables
    ]
    assert [f"Figure {n + 1}." for n in range(page.tags.count("figure"))] == [
        " ".join(caption.split()[:2]) for caption in figures
    ]


# figures for people


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "–"), (0.0, "0"), (-0.0, "0"), (1.0, "1"), (0.12345, "0.123"), (-1.5, "−1.5"),
        (90.0, "90"), (999.96, "1,000"), (1234.5, "1,234"), (-1041.2, "−1,041"),
        (0.00075, "0.00075"), (0.0000481, "4.81e−05"), (1e-12, "1e−12"), (99.99, "100"),
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

    assert 28 == len({(style.hue, style.dash) for style in styles.values()})
    assert 28 == len({(style.hue, style.marker) for style in styles.values()})
    assert GREY == len({styles[name].hue for name in rosters[:GREY]})
    assert 4 == len({styles[name].dash for name in rosters[:4]})
    assert 7 == len({styles[name].marker for name in rosters[:7]})


def test_a_roster_of_one_policy_has_the_hue_of_that_policy() -> None:
    rosters = ["raid*2", "mixed", "b", "raid*9", "random"]
    policies = {"raid*2": "raid", "b": "b", "raid*9": "raid", "random": "random"}
    studies = attrs.evolve(NO_STUDIES, policies=["a", "b", "raid"], null="random")
    styles = styles_of(rosters, policies, studies)

    assert [2, 0, 1, 2, GREY] == [styles[name].hue for name in rosters]
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
