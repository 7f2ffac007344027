"""The figures: what is drawn, what is left out and told, and that all of it can be read.

They are drawn in this process, so that a warning of matplotlib (no room, say) is an error.
"""

import re
from collections.abc import Callable, Sequence
from typing import Any
from xml.etree import ElementTree

import attrs
import pytest

from goldrush.replay.mining import figures as mining
from goldrush.replay.mining.measures import MEASURES
from goldrush.replay.mining.study import STUDIES
from goldrush.replay.report import figures
from goldrush.replay.report.looks import looks_of
from goldrush.replay.report.panels import Drawn, _unstyled, band
from goldrush.replay.study.comparisons import Against
from goldrush.replay.study.inference import interval
from goldrush.replay.study.plan import Cell
from goldrush.replay.study.results import Result
from tests.replay.report.pages import words
from tests.replay.study.made_up import EXPECTED, Halves, made

POINTS = (0.2, 0.4, 0.6, 0.4)
SHARES = {f"share_{kind}": [0.25] * 4 for kind in ("defend", "mine", "claim", "raid")}
OVER_ROUNDS = {name: MEASURES[name] for name in STUDIES.curves or ()}
COMPARED = {name: MEASURES[name] for name in STUDIES.compared or ()}
JUDGED = {name: MEASURES[name] for name in EXPECTED}
CURVES = dict.fromkeys(OVER_ROUNDS, POINTS) | SHARES


def cells(
    *rosters: str, seeds: int = 3, rounds: int = 4, **others: Any
) -> dict[Cell, Sequence[Result[Any, Any]]]:
    """Runs of 4 rounds with a curve for everything, the same in every seed but for a hundredth."""
    given = {"curves": CURVES, "lengths": {(2, True): 3, (4, False): 2}} | others
    found = {}
    for roster in rosters:
        cell = Cell("baseline", roster, rounds)
        found[cell] = [made(cell, seed, **given) for seed in range(seeds)]
    return found


def drawn(name: str, given: Any) -> Drawn:
    return EVERY[name](given, looks_of([cell.roster for cell in given]))


def parsed(found: Drawn) -> ElementTree.Element:
    return ElementTree.fromstring(found.svg)


EVERY: dict[str, Callable[[Any, Any], Drawn]] = {
    "over_units": lambda cells, looks: figures.over_units(cells, looks, OVER_ROUNDS, "round"),
    "half_against_half": lambda cells, looks: figures.half_against_half(
        cells, looks, JUDGED, EXPECTED
    ),
    "lorenz_and_survival": mining.lorenz_and_survival,
    "stamina": mining.stamina,
    "trade_off": mining.trade_off,
}


@pytest.mark.parametrize("name", EVERY)
def test_a_figure_is_the_same_bytes_each_time_and_refers_to_nothing_outside(name: str) -> None:
    given = cells("greedy-mine", "random")
    found = drawn(name, given)

    assert found == drawn(name, given)
    assert {"greedy-mine", "random"} <= set(words(parsed(found)))
    assert () == tuple(found.without)
    assert "metadata" not in found.svg
    assert {"xmlns", "xmlns:xlink"} == set(re.findall(r'([\w:]+)="http', found.svg))


HOSTILE = ("$x$", "<b>&", "y" * 300, "y" * 299 + "z", "\x00\x1b", "a_b^c\\frac", "%s--", '" id="a')


@pytest.mark.parametrize("name", EVERY)
def test_names_are_text_and_have_room(name: str) -> None:
    found = drawn(name, cells(*HOSTILE))
    text = "\n".join(words(parsed(found)))

    for look in looks_of(HOSTILE).values():
        assert look.label in text or (name == "stamina" and look.label[:9] in text)
    width = float(parsed(found).get("width", "")[:-2])
    for each in re.findall(r'transform="translate\(([-\d.]+) ', found.svg):
        assert 0 <= float(each) <= width


@pytest.mark.parametrize("name", EVERY)
def test_many_rosters_have_room_and_are_told_apart(name: str) -> None:
    rosters = [f"a-policy-of-ones-own-{n:02}" for n in range(16)]
    found = drawn(name, cells(*rosters))

    text = " ".join(words(parsed(found)))
    assert all(roster in text or name == "stamina" for roster in rosters)


def test_where_colours_repeat_lines_are_dashed() -> None:
    rosters = [f"roster-{n}" for n in range(9)]
    svg = drawn("lorenz_and_survival", cells(*rosters)).svg

    assert 0 < svg.count("stroke-dasharray")
    colour = looks_of(rosters)["roster-7"].colour.lower()
    assert re.search(rf'stroke-dasharray="[^"]*"[^>]*stroke="{colour}"', svg) or re.search(
        rf'stroke="{colour}"[^>]*stroke-dasharray', svg
    )


# what there are no data for


def test_panels_without_data_are_left_out_and_told() -> None:
    curves = CURVES | dict.fromkeys(("respect", "contention"), [None] * 4)
    found = drawn("over_units", cells("random", curves=curves))

    titles = [MEASURES[name].title for name in ("respect", "contention")]
    assert titles == list(found.without)
    assert not set(titles) & set(words(parsed(found)))
    assert "turnover rate" in words(parsed(found))


@pytest.mark.parametrize("name", EVERY)
def test_without_any_data_there_is_no_picture(name: str) -> None:
    nothing = cells(
        "random",
        curves=dict.fromkeys(CURVES, [None] * 4),
        halves=dict.fromkeys(MEASURES, (None, None)),
        run=dict.fromkeys(MEASURES),
        gold=[0.0] * 10,
        lengths={},
    )
    found = drawn(name, nothing)

    assert "" == found.svg
    assert found.without


def test_rosters_without_data_are_named_as_such_in_a_panel_that_has_some() -> None:
    given = cells("random") | cells("raid", halves=dict.fromkeys(MEASURES, (None, 1.0)))
    found = drawn("half_against_half", given)

    assert 7 == words(parsed(found)).count("no data")


# what is drawn


def test_a_line_ends_where_the_mean_does_and_the_band_is_its_interval() -> None:
    """Half of five seeds at 0.2, say: in points of the picture, as far as 0.95 ÷ 1.96."""
    points, mean, low, high = band(
        [[0.2, None], [0.4, None], [0.6, 0.5]], MEASURES["turnover"].limits
    )
    whole = interval([0.2, 0.4, 0.6])

    assert [0, 1] == list(points)
    assert [0.4, 0.5] == pytest.approx(list(mean))
    assert (0.0, 0.5) == (low[0], low[1])  # the interval goes below 0, a rate does not
    assert whole.low is not None
    assert whole.low < 0
    assert whole.high == pytest.approx(high[0])


def test_no_band_goes_where_a_rate_cannot() -> None:
    _, _, _, rate = band([[0.5], [1.0]], MEASURES["turnover"].limits)
    _, _, _, ratio = band([[0.5], [1.0]], MEASURES["targeting"].limits)

    assert (1.0, True) == (rate[0], ratio[0] > 1)


def test_every_measure_is_known_to_be_a_rate_or_not() -> None:
    """A measure is one if its definition says 0 .. 1."""
    says = {n for n, m in MEASURES.items() if re.search(r"0( \([^)]*\))? \.\. 1\b", m.definition)}
    rates = {name for name, measure in MEASURES.items() if measure.limits == (0, 1)}

    assert rates - {"gini", "hhi"} == says


def test_one_seed_has_a_line_and_a_band_of_no_width() -> None:
    _, mean, low, high = band([[0.2, None, 0.4]], MEASURES["turnover"].limits)

    assert [0.2, 0.4] == list(mean) == list(low) == list(high)


@pytest.mark.parametrize("rounds", [1, 2])
def test_short_runs_are_drawn(rounds: int) -> None:
    curves = {name: list(values)[:rounds] for name, values in CURVES.items()}
    curves = {name: (values * 2)[:rounds] for name, values in curves.items()}
    given = cells("random", rounds=rounds, curves=curves)
    for name in EVERY:
        assert drawn(name, given).svg


def test_curves_are_drawn_over_all_rounds() -> None:
    curves = dict.fromkeys(CURVES, [0.25] * 40)
    found = drawn("over_units", cells("random", rounds=200, curves=curves))

    assert len(OVER_ROUNDS) == words(parsed(found)).count("200")


def test_points_that_stand_alone_are_seen() -> None:
    import numpy as np

    for points, alone in (
        ([0], [True]), ([3], [True]), ([0, 1], [False, False]), ([0, 2, 3], [True, False, False]),
        ([1, 3, 5], [True] * 3), ([0, 1, 9], [False, False, True]),
    ):  # fmt: skip
        assert alone == list(figures._alone(np.array(points)))


# the forest


def against(treatment: str, *values: float | None) -> Against:
    differences = dict.fromkeys(MEASURES, interval(values))
    return Against(Cell(treatment, "r", 9), Cell("baseline", "r", 9), differences, False)


def forest(*compared: Against) -> Drawn:
    labels = {one.cell: f"{one.cell.treatment} (0.4)" for one in compared}
    return figures.forest(compared, labels, looks_of(["r"])["r"], COMPARED)


def test_a_forest_has_every_sub_measure_of_the_criteria() -> None:
    text = " ".join(words(parsed(forest(against("scarce", 0.1, 0.2)))))

    for name in EXPECTED:
        assert MEASURES[name].title in text


def test_a_forest_has_a_row_for_each_treatment() -> None:
    found = forest(against("scarce", 0.1, 0.2), against("cap-2", 0.3), against("cap-4", None))
    text = words(parsed(found))

    assert {"scarce (0.4)", "cap-2 (0.4)", "cap-4 (0.4)"} <= set(text)
    assert len(COMPARED) == text.count("no data")


def test_a_forest_of_forty_treatments_has_room() -> None:
    found = forest(*(against(f"treatment-{n}", 0.1 * n, 0.2) for n in range(45)))

    assert {f"treatment-{n} (0.4)" for n in range(45)} <= set(words(parsed(found)))


def test_measures_without_any_difference_are_left_out_of_a_forest() -> None:
    one = against("scarce", 0.1, 0.2)
    found = forest(attrs.evolve(one, differences=one.differences | {"idle": interval([])}))

    assert ["idle stamina rate"] == list(found.without)


def test_a_forest_where_nothing_differs_is_drawn() -> None:
    assert forest(against("scarce", 0.0, 0.0)).svg


def test_halves_of_one_value_are_drawn() -> None:
    same: Halves = (0.0, 0.0)
    assert drawn("half_against_half", cells("random", halves=dict.fromkeys(MEASURES, same))).svg


def test_styles_become_attributes_and_text_stays_as_it_is() -> None:
    svg = (
        '<svg width="1pt"><defs><style type="text/css">*{stroke-linejoin: round}</style></defs>'
        '<text style="font: 7px \'DejaVu Sans\', serif; fill: #777777">a style="b: c"</text>'
        '<text style="font: 700 7.5px serif"/><path d="M 0 0" style=""/></svg>'
    )

    assert (
        '<svg stroke-linejoin="round" width="1pt"><defs></defs>'
        '<text font-size="7px" font-family="\'DejaVu Sans\', serif" fill="#777777">a style="b: c"'
        '</text><text font-weight="700" font-size="7.5px" font-family="serif"/>'
        '<path d="M 0 0"/></svg>'
    ) == _unstyled(svg)
