"""A page in HTML: whatever names and texts hold, they are shown as text. Numbers, names, styles."""

from functools import cache

import attrs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from goldrush.replay.colours import GREY
from goldrush.replay.report.numbers import bounds, number, p_value, printable, within_bounds
from goldrush.replay.report.page import StudyPage
from goldrush.replay.report.plot import LABEL_MAX, labels_of, styles_of
from goldrush.replay.report.reported import study_of
from goldrush.replay.studies import NO_STUDIES
from goldrush.replay.study.inference import Correlation, Interval
from goldrush.replay.study.records import Cell
from tests.replay.report.pages import Page
from tests.replay.study.made_up import made, results

HOSTILE = ["</svg></figure><script>--> <!--]]>", "{{ 7 * 7 }} {% if %}", "\x1b[2J\x00\u202e\n"]


@cache
def page_of(text: str) -> str:
    """The page of a study whose treatment and roster have this name."""
    runs = [
        made(Cell(name, text, 9), seed, settings={"alpha": alpha})
        for name, alpha in (("baseline", 1.0), (text, 2.0))
        for seed in (0, 1)
    ]
    return StudyPage(study_of(results(*runs), criteria=True)).html()


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


# figures for people


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "–"), (-0.0, "0"), (0.12345, "0.123"), (-1.5, "−1.5"), (999.96, "1,000"),
        (1234.5, "1,234"), (0.00075, "0.00075"), (0.0000481, "4.81e−05"),
    ],
)  # fmt: skip
def test_a_figure_has_three_digits_that_count(value: float | None, text: str) -> None:
    assert text == number(value)


def test_an_effect_has_both_bounds_and_a_zero_no_sign() -> None:
    assert "0.00 [−0.25,\u00a00.50]" == within_bounds(Correlation(9, -0.001, -0.25, 0.5))


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
        (None, "–"), (0.00099, "<\u00a00.001"), (0.001, "0.001"), (0.0123, "0.012"),
        (0.05, "0.050"), (0.049999, "0.049999"), (0.0504, "0.0504"),
    ],
)  # fmt: skip
def test_a_p_value_is_not_rounded_across_the_line(value: float | None, text: str) -> None:
    assert text == p_value(value)


# names in figures


def test_each_roster_has_a_look_of_its_own() -> None:
    styles = styles_of([f"roster {n}" for n in range(28)]).values()

    assert 28 == len({(style.hue, style.dash) for style in styles})
    assert 28 == len({(style.hue, style.marker) for style in styles})


def test_a_roster_of_one_policy_has_the_hue_of_that_policy() -> None:
    rosters = ["raid*2", "mixed", "b", "raid*9", "random"]
    policies = {"raid*2": "raid", "b": "b", "raid*9": "raid", "random": "random"}
    studies = attrs.evolve(NO_STUDIES, policies=["a", "b", "raid"], null="random")
    styles = styles_of(rosters, policies, studies)

    assert [2, 0, 1, 2, GREY] == [styles[name].hue for name in rosters]


def test_long_names_are_cut_in_the_middle_and_stay_apart() -> None:
    names = ["a" * 40 + str(n) + "b" * 40 for n in range(3)]
    labels = labels_of([*names, "short", "a\x00"])

    assert 5 == len(set(labels.values()))
    assert ("short", "a\\x00") == (labels["short"], labels["a\x00"])
    assert all(len(label) <= LABEL_MAX + 4 for label in labels.values())
