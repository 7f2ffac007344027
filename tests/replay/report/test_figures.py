"""The figures: what is drawn, what is left out and told, and that all of it can be read."""

import re
from collections.abc import Callable, Sequence
from typing import Any
from xml.etree import ElementTree

import attrs
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from goldrush.kernel.world import Vocabulary
from goldrush.replay.report import figures
from goldrush.replay.report.figures import band
from goldrush.replay.report.marks import Drawn
from goldrush.replay.report.outcome import answer_figure, runs_figure
from goldrush.replay.report.plot import axis_of, panel_of, reach
from goldrush.replay.report.question import StudyQuestion
from goldrush.replay.report.sections import ReportedStudy, study_of
from goldrush.replay.report.styles import styles_of
from goldrush.replay.report.svg import _Drawing, panel_svg
from goldrush.replay.report.tidy import rows_of
from goldrush.replay.study.comparisons import Against
from goldrush.replay.study.inference import interval
from goldrush.replay.study.records import Cell, Result
from goldrush.replay.worlds.mining import sections
from goldrush.replay.worlds.mining.measures import MEASURES
from goldrush.replay.worlds.mining.study import STUDIES
from tests.replay.report.pages import words
from tests.replay.study.made_up import EXPECTED, Halves, made, results

POINTS = (0.2, 0.4, 0.6, 0.4)
SHARES = {f"share_{kind}": [0.25] * 4 for kind in ("defend", "mine", "claim", "raid")}
OVER_ROUNDS = {name: MEASURES[name] for name in STUDIES.curves or ()}
COMPARED = {name: MEASURES[name] for name in STUDIES.compared or ()}
JUDGED = {name: MEASURES[name] for name in EXPECTED}
CURVES: dict[str, Sequence[float | None]] = {
    name: tuple(value + place / 100 for value in POINTS) for place, name in enumerate(OVER_ROUNDS)
}


def cells(
    *rosters: str, seeds: int = 3, rounds: int = 4, **others: Any
) -> dict[Cell, Sequence[Result[Any, Any]]]:
    """Runs of 4 rounds with a curve for everything, no two alike."""
    given = {"curves": CURVES | SHARES, "lengths": {(2, True): 3, (4, False): 2}} | others
    found = {}
    for roster in rosters:
        cell = Cell("baseline", roster, rounds)
        found[cell] = [made(cell, seed, **given) for seed in range(seeds)]
    return found


def asked(cells: Any) -> ReportedStudy:
    """The study of these runs, asked about a measure of the run."""
    every = (run for runs in cells.values() for run in runs)
    return study_of(results(*every), question=StudyQuestion(outcome="gini"))


def drawn(name: str, given: Any) -> Drawn:
    return EVERY[name](given, styles_of([cell.roster for cell in given]))


EVERY: dict[str, Callable[[Any, Any], Drawn]] = {
    "over_units": lambda cells, styles: figures.over_units(
        cells, styles, OVER_ROUNDS, Vocabulary()
    ),
    "half_against_half": lambda cells, styles: figures.half_against_half(
        cells, styles, JUDGED, EXPECTED
    ),
    "lorenz_and_survival": sections.lorenz_and_survival,
    "stamina": sections.stamina,
    "trade_off": lambda cells, styles: sections.trade_off(cells, styles, {}),
    "answer": lambda cells, styles: answer_figure(asked(cells)),
    "runs": lambda cells, styles: runs_figure(asked(cells)),
}
HOSTILE = ("$x$", "<b>&", "y" * 300, "y" * 299 + "z", "\x00\x1b", "a_b^c\\frac", "%s--", '" id="a')


@pytest.mark.parametrize("name", EVERY)
def test_names_are_text_and_every_panel_says_what_it_shows(name: str) -> None:
    """And a figure is the same each time."""
    found = drawn(name, cells(*HOSTILE))
    text = [*words(found.panels), *(key.label for key in found.legend)]

    assert found == drawn(name, cells(*HOSTILE))
    assert {style.label for style in styles_of(HOSTILE).values()} <= set(text)
    assert all(panel.title and panel.alt for panel in found.panels)
    assert () == tuple(found.omitted)
    parsed = [ElementTree.fromstring(f"<svg>{panel_svg(panel)}</svg>") for panel in found.panels]
    assert not {"id", "style", "href"} & {
        name for svg in parsed for e in svg.iter() for name in e.attrib
    }


@pytest.mark.parametrize("name", EVERY)
def test_nothing_is_drawn_outside_of_a_panel(name: str) -> None:
    for panel in drawn(name, cells(*(f"roster-{n}" for n in range(12)))).panels:
        for x, y in re.findall(
            r'(?:[ML]|x="|cx=")(-?[\d.]+)(?:" c?y="| )(-?[\d.]+)', panel_svg(panel)
        ):
            assert 0 <= float(x) <= panel.width
            assert 0 <= float(y) <= panel.height


# what there are no data for


def test_panels_without_data_or_of_nothing_new_are_left_out_and_told() -> None:
    curves = CURVES | {
        "respect": [None] * 4, "contention": [0.0] * 4, "hhi": CURVES["gini"],
    }  # fmt: skip
    found = drawn("over_units", cells("random", curves=curves | SHARES))

    assert [
        "No data for: respect for first possession.",
        "0 throughout: contention rate.",
        "Not drawn again, because identical: HHI of plots (as Gini of gold).",
    ] == list(found.omitted)
    assert len(OVER_ROUNDS) - 3 == len(found.panels)


def test_a_curve_that_is_hardly_ever_defined_is_not_drawn() -> None:
    curves = {name: (0.2, 0.3 + n / 100) * 20 for n, name in enumerate(OVER_ROUNDS)}
    curves["respect"] = (None,) * 36 + (0.1,) * 4
    found = drawn("over_units", cells("random", rounds=200, curves=curves))

    [said] = found.omitted
    assert said.endswith("respect for first possession.")
    assert "defined in at most 1 of 10 windows" in said


@pytest.mark.parametrize("name", EVERY)
def test_without_any_data_there_is_no_panel(name: str) -> None:
    nothing = cells(
        "random",
        curves=dict.fromkeys((*CURVES, *SHARES), [None] * 4),
        halves=dict.fromkeys(MEASURES, (None, None)),
        run=dict.fromkeys(MEASURES),
        gold=[0.0] * 10,
        lengths={},
    )
    found = drawn(name, nothing)

    assert [] == list(found.panels)
    assert found.omitted or name in ("answer", "runs")


def test_rosters_without_data_are_named_as_such_in_a_panel_that_has_some() -> None:
    given = cells("random") | cells("raid", halves=dict.fromkeys(MEASURES, (None, 1.0)))
    found = drawn("half_against_half", given)

    assert 7 == words(found.panels).count("no data")


# what is drawn


def test_a_line_ends_where_the_mean_does_and_the_band_is_its_interval() -> None:
    found = band([[0.2, None], [0.4, None], [0.6, 0.5]], MEASURES["turnover"].limits)
    whole = interval([0.2, 0.4, 0.6])

    assert (0, 1) == tuple(found.positions)
    assert [0.4, 0.5] == pytest.approx(list(found.mean))
    assert (0.0, 0.5) == (found.low[0], found.low[1])  # the interval goes below 0, a rate does not
    assert whole.low is not None
    assert whole.low < 0
    assert whole.high == pytest.approx(found.high[0])


def test_equal_runs_do_not_narrow_a_band() -> None:
    limits = MEASURES["targeting"].limits

    assert band([[0.5], [1.0]], limits) == band([[0.5], [1.0]] * 4, limits, [0, 1] * 4)


def test_no_band_goes_where_a_rate_cannot() -> None:
    rate = band([[0.5], [1.0]], MEASURES["turnover"].limits)
    ratio = band([[0.5], [1.0]], MEASURES["targeting"].limits)

    assert (1.0, True) == (rate.high[0], ratio.high[0] > 1)


def test_every_measure_is_known_to_be_a_rate_or_not() -> None:
    """A measure is one if its definition says 0 to 1."""
    says = {n for n, m in MEASURES.items() if re.search(r"\b0( \([^)]*\))? to 1\b", m.definition)}
    rates = {name for name, measure in MEASURES.items() if measure.limits == (0, 1)}

    assert rates - {"gini", "hhi"} == says


@pytest.mark.parametrize("rounds", [1, 2])
def test_short_runs_are_drawn(rounds: int) -> None:
    curves = {name: tuple(values)[:rounds] for name, values in (CURVES | SHARES).items()}
    given = cells("random", rounds=rounds, curves=curves)
    for name in EVERY:
        assert drawn(name, given).panels


def test_a_mean_stands_in_the_middle_of_its_window_and_a_last_value_at_its_end() -> None:
    """And a measure that is 0 in one cell is drawn; the axis ends with the longest run."""
    curves = {name: tuple(values) * 10 for name, values in (CURVES | SHARES).items()}
    zero = {"contention": (0.0,) * 40}
    given = cells("random", rounds=80, curves=curves)
    given |= cells("raid", rounds=40, curves=curves | zero)
    panels = {panel.title: panel for panel in drawn("over_units", given).panels}
    turnover, gini = (rows_of([panels[OVER_ROUNDS[name].title]]) for name in ("turnover", "gini"))

    assert {80.0} == {panel.x.high for panel in panels.values()}
    assert [1.5, 3.5, 1, 2] == [rows["x"] for rows in (*turnover[:2], *turnover[40:42])]
    assert [2, 4, 1, 2] == [rows["x"] for rows in (*gini[:2], *gini[40:42])]
    assert MEASURES["contention"].title in panels


def test_a_curve_is_drawn_through_the_means_of_its_seeds() -> None:
    [(cell, runs)] = cells("random").items()
    curves = dict.fromkeys(OVER_ROUNDS, (0.1, 0.2, 0.4, 0.4))
    runs = [attrs.evolve(runs[0], curves=curves), *runs[1:]]
    first = drawn("over_units", {cell: runs}).panels[0]
    [row, *_] = rows_of([first])
    name = next(name for name in OVER_ROUNDS if OVER_ROUNDS[name].title == first.title)
    values = [run.curves[name][0] for run in runs]

    assert interval(values).mean == pytest.approx(row["y"])
    assert row["low"] < row["y"] < row["high"]  # type: ignore[operator]
    outline = re.search(
        r'class="band [^"]*" d="M[\d.]+ ([\d.]+)L.*L[\d.]+ ([\d.]+)Z"', panel_svg(first)
    )
    place = _Drawing(first, None).y
    assert outline
    assert (f"{place(row['high']):.1f}", f"{place(row['low']):.1f}") == outline.groups()  # type: ignore[arg-type]


def test_the_first_half_is_hollow_and_stands_before_the_second() -> None:
    given = cells("random", halves=dict.fromkeys(MEASURES, (0.0, 0.0)))
    given |= cells("raid", halves=dict.fromkeys(MEASURES, (0.2, 0.4)))
    found = drawn("half_against_half", given)

    assert len(JUDGED) == len(found.panels)
    assert [
        ("random", "random", 0.0, "first half"), ("random", "random", 0.0, "second half"),
        ("raid", "raid", 0.2, "first half"), ("raid", "raid", 0.4, "second half"),
    ] == [tuple(row[name] for name in ("series", "x", "y", "label"))
          for row in rows_of(found.panels[:1])]  # fmt: skip
    assert {3} == {row["n"] for row in rows_of(found.panels)}
    assert [True, False] * 2 == [mark.hollow for mark in found.panels[0].marks]  # type: ignore[union-attr]


def test_no_line_leads_over_what_is_undefined() -> None:
    assert [[0], [1, 2], [3]] == figures._runs([1, 3, 4, 9])


def test_a_point_tells_its_run_and_leads_to_its_page() -> None:
    given = cells("random", "raid", run={"gini": 0.7, "turnover": 0.2})
    hrefs = {(cell, 1): f"pages/{cell.roster}.html" for cell in given}
    [gini, _] = sections.trade_off(given, styles_of(["random", "raid"]), hrefs).panels

    assert gini.has_links
    assert ["pages/random.html", "pages/raid.html"] == re.findall(
        r'href="([^"]+)"', panel_svg(gini)
    )
    assert 6 == panel_svg(gini).count("<title>baseline, ra")
    assert {(0.7, 0.2)} == {(row["x"], row["y"]) for row in rows_of([gini])}


def test_lines_that_coincide_have_marks_at_other_places() -> None:
    curves = {name: tuple(values) * 10 for name, values in (CURVES | SHARES).items()}
    found = drawn("over_units", cells("random", "raid", rounds=40, curves=curves)).panels[0]
    marks = re.findall(r'class="dot (c\d)" (?:cx="|d="M)([\d.]+)', panel_svg(found))
    first, second = ({x for c, x in marks if c == colour} for colour in ("c0", "c1"))

    assert first
    assert second
    assert first.isdisjoint(second)
    styles = styles_of(["random", "raid"])
    assert styles["random"].dash != styles["raid"].dash
    assert styles["random"].marker != styles["raid"].marker


# axes


@pytest.mark.parametrize(
    ("low", "high", "labels"),
    [
        (0, 1, ["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"]),
        (0, 200, ["0", "50", "100", "150", "200"]),
        (-0.011, 0.013, ["−0.010", "−0.005", "0.000", "0.005", "0.010"]),
        (0, 2e6, ["0", "500,000", "1,000,000", "1,500,000", "2,000,000"]),
    ],
)
def test_an_axis_has_round_figures_of_the_same_length(
    low: float, high: float, labels: list[str]
) -> None:
    drawn = axis_of(low, high, 5)

    assert labels == [label for _, label in drawn.ticks]
    assert (0, 1) == (drawn.share(low), drawn.share(high))
    assert (0, 1) == (drawn.share(low - 1), drawn.share(high + 1))


@given(st.floats(-1e6, 1e6), st.floats(1e-6, 1e6), st.integers(1, 6))
def test_an_axis_has_two_ticks_or_more(low: float, span: float, most: int) -> None:
    high = low + span
    assume(high - low > 1e-9 * max(1.0, abs(high)))
    ticks = axis_of(low, high, most).ticks

    assert 2 <= len(ticks)
    assert all(low - 1e-8 * span <= tick <= high + 1e-8 * span for tick, _ in ticks)


def test_an_axis_of_one_value_has_room() -> None:
    assert 0.5 == pytest.approx(axis_of(3, 3, 4).share(3))
    assert (0.0, 0.0) == reach([])
    assert panel_of("t", (0, 0), (0, 0), [], "it").x.ticks


# the forest


def against(treatment: str, *values: float | None, roster: str = "r") -> Against:
    differences = dict.fromkeys(MEASURES, interval(values))
    return Against(
        Cell(treatment, roster, 9), Cell("baseline", roster, 9), differences, identical=False
    )


def forest(*compared: Against) -> Drawn:
    labels = {one.cell: f"{one.cell.treatment} (0.4)" for one in compared}
    return figures.forest(compared, labels, styles_of(["r", "s"]), COMPARED)


def test_a_forest_has_every_sub_measure_of_the_criteria() -> None:
    found = forest(against("scarce", 0.1, 0.2))

    assert {MEASURES[name].title for name in EXPECTED} <= {panel.title for panel in found.panels}


def test_a_forest_has_a_row_for_each_treatment_and_a_mark_for_each_roster() -> None:
    every = [against(f"treatment-{n}", 0.1 * n, 0.2) for n in range(45)]
    found = forest(*every, against("treatment-7", 0.1, 0.2, roster="s"))

    assert {f"treatment-{n} (0.4)" for n in range(45)} <= set(words(found.panels[:1]))
    assert ["r", "s"] == [key.label for key in found.legend]
    assert 46 == panel_svg(found.panels[0]).count("<title>")


def test_measures_without_any_difference_are_left_out_of_a_forest() -> None:
    one = against("scarce", 0.1, 0.2)
    none = {"idle": interval([]), "gini": interval([0.0, 0.0])}
    found = forest(attrs.evolve(one, differences=one.differences | none))

    assert [
        "No data for: idle stamina rate.", "No difference in any seed: Gini of gold.",
    ] == list(found.omitted)  # fmt: skip


def test_halves_of_nothing_but_zeros_are_told() -> None:
    same: Halves = (0.0, 0.0)
    found = drawn("half_against_half", cells("random", halves=dict.fromkeys(MEASURES, same)))

    assert [] == list(found.panels)
    assert found.omitted[0].startswith("0 in every half: ")
