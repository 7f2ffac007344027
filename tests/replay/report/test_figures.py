"""The figures of a study: what is drawn, what is left out and told, and that all can be read."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

import attrs
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from goldrush.replay.data.course import Course
from goldrush.replay.report import figures
from goldrush.replay.report.figure import Figure
from goldrush.replay.report.page import StudyPage
from goldrush.replay.report.plot import (
    DOTS,
    LINES,
    LINES_MAX,
    SCATTER,
    TICKS_MIN,
    Chart,
    Row,
    Style,
    axis_of,
    labels_of,
    reach,
)
from goldrush.replay.report.reported import ReportedStudy, study_of
from goldrush.replay.report.svg import panel_svg
from goldrush.replay.study.inference import interval
from goldrush.replay.study.records import Cell, Result
from goldrush.replay.worlds.mining.measures import MEASURES
from goldrush.replay.worlds.mining.study import STUDIES
from tests.replay.report.pages import words
from tests.replay.study.made_up import made, results

POINTS = (0.2, 0.4, 0.6, 0.4)
OVER_ROUNDS = {name: MEASURES[name] for name in STUDIES.compared or () if MEASURES[name].by_unit}
CURVES: dict[str, Sequence[float | None]] = {
    name: tuple(value + place / 100 for value in POINTS) for place, name in enumerate(OVER_ROUNDS)
}
HOSTILE = ("$x$", "<b>&", "y" * 300, "y" * 299 + "z", "\x00\x1b", "a_b^c\\frac", "%s--", '" id="a')
Cells = Mapping[Cell, Sequence[Result[Any, Any]]]


def cells(
    *rosters: str, treatment: str = "baseline", seeds: int = 3, rounds: int = 4, **others: Any
) -> dict[Cell, Sequence[Result[Any, Any]]]:
    """Runs of 4 rounds with a curve for everything, no two alike."""
    given = {"curves": CURVES, "lengths": {(2, True): 3, (4, False): 2}} | others
    found = {}
    for roster in rosters:
        cell = Cell(treatment, roster, rounds)
        found[cell] = [made(cell, seed, **given) for seed in range(seeds)]
    return found


def asked(given: Cells) -> ReportedStudy:
    """The study of these runs, asked about a measure of the run, with change over time."""
    every = (run for runs in given.values() for run in runs)
    return study_of(results(*every), "gini", criteria=True)


def drawn(given: Cells) -> dict[str, Figure]:
    return StudyPage(asked(given)).figures


def over_time(given: Cells) -> list[Figure]:
    return figures.over_time(asked(given), next(iter(given)).rounds)


# what is there and can be read


def test_names_are_text_whatever_they_hold_and_a_figure_is_the_same_each_time() -> None:
    both = cells(*HOSTILE) | cells(*HOSTILE, treatment="scarce", run={"gini": 0.3})
    found = drawn(both)
    labels = set(labels_of(HOSTILE).values())

    assert {"answer", "differences", "by-run", "forest", "rounds-gini",
            "survival", "trade-off"} <= set(found)  # fmt: skip
    assert {name: each.csv for name, each in found.items()} == {
        name: each.csv for name, each in drawn(both).items()
    }
    for figure in found.values():
        text = [*words(figure), *(style.label for style in figure.legend.values())]
        assert figure.name not in ("answer", "by-run") or labels <= set(text)


# what there are no data for


def test_measures_without_data_or_0_throughout_are_left_out() -> None:
    curves = CURVES | {"respect": [None] * 4, "raid_rate": [0.0] * 4}
    nothing = cells("random", curves=curves)
    found, beside = over_time(nothing), over_time(nothing | cells("random", treatment="scarce"))

    assert {f"rounds-{name}" for name in ("respect", "raid_rate")} == (
        {figure.name for figure in beside} - {figure.name for figure in found}
    )
    assert len(OVER_ROUNDS) - 2 == len(found)


def test_without_any_data_there_is_no_figure() -> None:
    nothing = cells(
        "random", curves=dict.fromkeys(CURVES, [None] * 4), run=dict.fromkeys(MEASURES),
        halves=dict.fromkeys(MEASURES, (None, None)), gold=[0.0] * 10, lengths={},
    )  # fmt: skip

    assert {} == drawn(nothing)


# measures over time


def test_a_measure_over_time_has_a_line_for_each_treatment_with_its_interval() -> None:
    given = cells("raid") | cells("raid", treatment="scarce")
    [first, *others] = given[Cell("baseline", "raid", 4)]
    given[Cell("baseline", "raid", 4)] = [
        attrs.evolve(first, curves=first.curves | {"turnover": (0.1, 0.2, 0.4, 0.4)}), *others
    ]  # fmt: skip
    figure = drawn(given)["rounds-turnover"]
    values = [run.curves["turnover"][0] for run in given[Cell("baseline", "raid", 4)]]
    whole = interval(values)
    row = figure.data[0]

    assert (LINES, 1) == (figure.kind, len(figure.panels))
    assert ["baseline"] * 4 + ["scarce"] * 4 == [each["series"] for each in figure.data]
    assert [1, 2, 3, 4] * 2 == [each["x"] for each in figure.data]
    assert (whole.mean, max(0.0, whole.low or 0), whole.high, 3) == (
        row["y"], row["low"], row["high"], row["n"]
    )  # fmt: skip


def test_one_treatment_has_a_line_for_each_roster_in_its_own_style() -> None:
    given = cells("random", "raid")
    figure = drawn(given)["rounds-gini"]

    assert {"random", "raid"} == {each["series"] for each in figure.data}
    assert asked(given).styles["random"] == figure.styles["random"]


def test_more_lines_than_one_panel_takes_are_parted_by_roster() -> None:
    given = {}
    for n in range(LINES_MAX // 2 + 1):
        given |= cells("raid", "mine", treatment=f"own-{n}")
    study = study_of(results(*(run for runs in given.values() for run in runs)))
    names, styles = study.lines(list(given))

    assert {"raid", "mine"} == {panel for panel, _ in names.values()}
    assert {f"own-{n}" for n in range(LINES_MAX // 2 + 1)} == set(styles)
    some = list(given)[:LINES_MAX]
    assert {""} == {panel for panel, _ in study.lines(some)[0].values()}
    assert "own-0, raid" in study.lines(some)[1]


def test_a_measure_of_agents_has_a_line_for_each_policy() -> None:
    given = {}
    for treatment in ("baseline", "scarce"):
        for cell, runs in cells("mixed", treatment=treatment).items():
            means = {"gold": {"raid": (1.0, 3.0), "mine": (2.0, 4.0)}}
            given[cell] = [attrs.evolve(run, course=Course((2, 4), means)) for run in runs]
    figure = drawn(given)["rounds-gold"]

    assert ["gold, baseline", "gold, scarce"] == [panel.title for panel in figure.panels]
    assert [("raid", 2, 1.0), ("raid", 4, 3.0), ("mine", 2, 2.0), ("mine", 4, 4.0)] == [
        (row["series"], row["x"], row["y"]) for row in figure.data[:4]
    ]


def test_no_band_goes_where_a_rate_cannot() -> None:
    values = interval([0.5, 1.0])
    cut, whole = (
        figures.row_of("p", "s", 1, values, MEASURES[name].limits)
        for name in ("turnover", "targeting")
    )

    assert (True, 1.0) == ((values.high or 0) > 1, cut.high)
    assert values.high == whole.high


def test_equal_runs_do_not_narrow_a_band() -> None:
    given = cells("raid", seeds=2)
    [cell] = given
    [first, second] = given[cell]
    other = attrs.evolve(second, curves=dict.fromkeys(second.curves, (0.9,) * 4))
    once = drawn({cell: [first, other]})["rounds-gini"].data
    again = [attrs.evolve(run, seed=run.seed + 2, equal_to=run.seed) for run in (first, other)]

    assert [row["high"] for row in once] == pytest.approx(
        [row["high"] for row in drawn({cell: [first, other, *again]})["rounds-gini"].data]
    )


def test_a_mean_stands_in_the_middle_of_its_window_and_a_last_value_at_its_end() -> None:
    curves = {name: tuple(values) * 10 for name, values in CURVES.items()}
    found = drawn(cells("random", rounds=80, curves=curves))

    assert [1.5, 3.5] == [row["x"] for row in found["rounds-turnover"].data[:2]]
    assert [2, 4] == [row["x"] for row in found["rounds-gini"].data[:2]]
    assert 80 == found["rounds-gini"].panels[0].x.high


def line(*values: float | None) -> Chart:
    rows = [Row("it", "a", at, value, value, value) for at, value in enumerate(values)]
    return Chart(LINES, rows, {"a": Style(0, label="a")})


def test_no_line_leads_over_what_is_undefined() -> None:
    plot = line(None, 0.1, None, 0.2, 0.3, None)
    svg = panel_svg(plot, plot.panels[0])
    places = [len(re.findall(r"[ML]", d)) for d in re.findall(r'class="line c0" d="([^"]*)"', svg)]

    assert [1, 2, 2] == sorted(places)  # a lone value has its interval, too


def test_lines_that_coincide_have_marks_at_other_places() -> None:
    curves = {name: tuple(values) * 10 for name, values in CURVES.items()}
    figure = drawn(cells("random", "raid", rounds=40, curves=curves))["rounds-gini"]
    marks = re.findall(r'class="dot (c\d)" d="M([\d.]+)', panel_svg(figure, figure.panels[0]))
    hues = [f"c{style.hue}" for style in (figure.styles["random"], figure.styles["raid"])]
    first, second = ({x for c, x in marks if c == hue} for hue in hues)

    assert first
    assert second
    assert first.isdisjoint(second)


# differences, runs


def test_a_forest_has_a_row_for_each_treatment_and_every_judged_measure() -> None:
    given = cells("raid", "mine")
    for n in range(3):
        others = {"run": {"gini": 0.1 * n, "hhi": 1.0}, "settings": {"alpha": 2.0 + n}}
        given |= cells("raid", "mine", treatment=f"own-{n}", **others)
    study = asked(given)
    found = figures.forest(study, 4)
    [figure] = found
    gini = [row for row in figure.data if row["panel"] == MEASURES["gini"].title]

    assert 6 == len(gini)
    expected = {
        (cell.treatment, cell.roster): differences["gini"].mean
        for cell, differences in study.against.items()
    }
    assert expected == {(str(row["x"]).partition(" ")[0], row["series"]): row["y"] for row in gini}
    assert MEASURES["hhi"].title not in {row["panel"] for row in figure.data}


def test_a_point_is_of_its_run() -> None:
    found = StudyPage(asked(cells("random", "raid", run={"gini": 0.7, "turnover": 0.2}))).figures
    scatter, runs = found["trade-off"], found["by-run"]

    assert SCATTER == scatter.kind
    assert {(0.7, 0.2)} == {
        (row["x"], row["y"]) for row in scatter.data if row["panel"] == "Gini of gold"
    }
    assert ["seed 0", "seed 1", "seed 2"] == [row["label"] for row in runs.data[:3]]


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
    axis = axis_of(low, high)

    assert labels == [label for _, label in axis.ticks]
    assert (0, 1) == (axis.share(low), axis.share(high))
    assert (0, 1) == (axis.share(low - 1), axis.share(high + 1))


@given(st.floats(-1e6, 1e6), st.floats(1e-6, 1e6))
@example(1.0, 10.5)  # 5 and 10 would be the only ones
def test_an_axis_has_three_ticks_or_more(low: float, span: float) -> None:
    high = low + span
    assume(high - low > 1e-9 * max(1.0, abs(high)))
    ticks = axis_of(low, high).ticks

    assert TICKS_MIN <= len(ticks)
    assert all(low - 1e-8 * span <= tick <= high + 1e-8 * span for tick, _ in ticks)


def test_an_axis_of_one_value_has_room() -> None:
    assert 0.5 == pytest.approx(axis_of(3, 3).share(3))
    assert (0.0, 0.0) == reach([])


def test_dots_stand_in_the_row_of_their_name_apart_by_series() -> None:
    rows = [Row("it", series, name, 1.0) for name in ("x", "y") for series in ("a", "b")]
    panel = Chart(DOTS, rows, {name: Style(0, label=name) for name in "ab"}).panels[0]
    heights = [panel.down(row) for row in rows]

    assert [0, 0, 1, 1] == [round(height) for height in heights]
    assert sorted({*heights}) == heights


def test_differences_have_zero_on_their_axis() -> None:
    row = Row("it", "a", "b − a", 5.0, 4.0, 6.0)
    axis = Chart(DOTS, [row], {"a": Style(0, label="a")}, has_zero=True).panels[0].x

    assert axis.low <= 0 < 6 <= axis.high
