"""What a page carries of the states of a run: kinds of fields, charts, scores, limits."""

import json
from pathlib import Path
from typing import Any

import pytest

import goldrush
from goldrush.games.double_auction import DoubleAuction
from goldrush.games.fishery import Fishery
from goldrush.replay.data.sampling import Sampling
from goldrush.replay.find import tools_at
from goldrush.replay.journal.rebuild import rebuild
from goldrush.replay.view import fields, walked
from goldrush.replay.view.chart import SINGLE_MAX, lines_of
from goldrush.replay.view.fields import ShownField
from goldrush.replay.view.shown import shown_of
from tests.games.board import Board

LEVELS = fields.LEVELS_MAX


@pytest.mark.parametrize(
    ("kind", "values"),
    [
        ("one", [1, 2.5, None]),
        ("agents", [[1, 2, 3], [None, 2, 3.5]]),
        ("agents", [["a", "b", "c"]]),
        ("values", [[1, 2], [0.5, None]]),
        ("values", [["a", "b", "a", "b"]]),
        ("grid", [[[0, 1], [1, 0]], [[0, 1, 2]]]),
        ("grid", [[["a"], ["b"], ["c"]]]),  # three rows, of whatever three agents
        ("tree", [[1, 2], [1, 2, 4, 5]]),
        ("tree", [[1, 2, 3], 1]),
        ("tree", [[[1, 2], [3]]]),
        ("tree", [{"a": 1}]),
        ("tree", [[str(n) for n in range(LEVELS + 1)]]),
    ],
)
def test_a_field_is_drawn_by_what_its_values_are_in_all_units(kind: str, values: list[Any]) -> None:
    assert kind == ShownField.of(values, [3] * len(values)).kind


def test_agents_without_any_value_have_no_line() -> None:
    field = ShownField.of([[1, None], [2, None]], [2, 2])
    [chart] = fields.charts({"gold": field}, lines_of(["mine", "raid"]))

    assert [(1, 2)] == chart["values"]


def test_a_few_values_have_a_colour_each_and_more_numbers_a_range() -> None:
    few = ShownField.of([[3, None, 0], [3, 0.5, 0]], [0, 0])
    many = ShownField.of([[*range(LEVELS), None], [-2.5] * (LEVELS + 1)], [0, 0])

    assert ShownField.of([[*range(LEVELS)]] * 2, [0, 0]).levels is not None
    assert ShownField.of([[*range(LEVELS)], [*range(1, LEVELS + 1)]], [0, 0]).levels is None
    assert ([3], [None, 0, 0.5, 3], [0, 3]) == (list(few.size), few.levels, list(few.range))
    assert ([LEVELS + 1], None, [-2.5, LEVELS - 1]) == (
        list(many.size), many.levels, list(many.range)
    )  # fmt: skip


@pytest.mark.parametrize("units", [1, 10, 11, 100])
def test_what_is_kept_is_at_equal_distances_and_within_the_limit(units: int) -> None:
    kept: Sampling[int] = Sampling(10, 3)
    for unit in range(3, 3 + units):
        if kept.wants(unit):
            kept.add(unit, -unit, 1)
    items = kept.items()

    assert [(unit, -unit) for unit in range(3, 3 + units, kept.every)] == items
    assert len(items) <= 10
    assert kept.every == 1 or 2 * len(items) > 10


def recorded(game: type[goldrush.Game], path: Path, **more: Any) -> dict[str, Any]:
    """What the page of a run carries of its states."""
    run = goldrush.record(game, path, seed=7, **more)
    return shown(run.path, 1, len(list(run)))


def shown(path: str | Path, first: int, last: int) -> dict[str, Any]:
    """What the page of these units shows."""
    return shown_of(path, tools_at(path), (first, last)).as_dict()


def values(carried: dict[str, Any]) -> list[dict[str, Any]]:
    """The states of the units of a page."""
    states: list[dict[str, Any]] = [
        {field["name"]: field["values"][index] for field in carried["fields"]}
        for index, _ in enumerate(carried["stated"])
    ]
    return states[carried["stated"][0] < carried["first"] :]


def test_fields_are_tables_grids_values_or_a_tree(path: Path) -> None:
    carried = recorded(Board, path)
    kinds = {field["name"]: field["kind"] for field in carried["fields"]}

    assert {
        "squares": "grid", "heat": "grid", "lit": "grid", "pairs": "grid", "codes": "values",
        "marks": "agents", "luck": "agents", "notes": "agents", "partner": "agents",
        "last": "one", "marked": "one", "mean": "one", "title": "one",
        "history": "tree", "ragged": "tree", "score": "agents",
    } == kinds  # fmt: skip


def test_charts_hold_the_states_of_all_units(path: Path) -> None:
    """There is none of what identifies agents, of texts, and of what does not change."""
    carried = recorded(Board, path)
    charts = {chart["name"]: chart for chart in carried["charts"]}
    seen = [rebuild(path, unit).state for unit in range(1, 7)]

    assert ["squares", "lit", "codes", "marks", "luck", "marked", "mean"] == list(charts)
    assert [[s.marks[agent] for s in seen] for agent in range(3)] == [
        list(line) for line in charts["marks"]["values"]
    ]
    assert [[s.marked for s in seen]] == charts["marked"]["values"]
    squares = [[item for row in s.squares for item in row] for s in seen]
    assert [None, 0, 1, 2] == charts["squares"]["titles"]
    assert [[each.count(level) for each in squares] for level in (None, 0, 1, 2)] == (
        charts["squares"]["values"]
    )


def test_of_many_agents_the_means_of_policies_are_charted(path: Path, tmp_path: Path) -> None:
    """Of marks 1, 2, 3, ... by agent."""
    few = recorded(Board, path, agents=SINGLE_MAX)["charts"]
    count = SINGLE_MAX + 1
    many = recorded(Board, tmp_path / "many.journal", agents=count)["charts"]
    [few_marks], [marks] = ([c for c in each if c["name"] == "marks"] for each in (few, many))

    assert list(range(SINGLE_MAX)) == few_marks["titles"]
    assert SINGLE_MAX == len(few_marks["values"])
    assert ["agents", 1, 11] == [marks["kind"], len(marks["titles"]), marks["values"][0][0]]


def test_a_field_that_is_a_measure_or_the_score_is_not_charted_twice(path: Path) -> None:
    assert ["landed"] == [chart["name"] for chart in recorded(Fishery, path)["charts"]]


def test_scores_are_those_of_the_rules_and_null_in_a_game_without(
    path: Path, tmp_path: Path
) -> None:
    board, auction = recorded(Board, path), recorded(DoubleAuction, tmp_path / "a.journal")

    assert [[None, unit, 1.5 * unit] for unit in range(1, 7)] == [
        state["score"] for state in values(board)
    ]
    assert "score" not in values(auction)[0]


def test_what_does_not_fit_is_at_equal_distances(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = recorded(Board, path, rounds=40)
    monkeypatch.setattr(walked, "STATES_MAX", len(json.dumps(values(whole))) // 3)
    monkeypatch.setattr(fields, "POINTS_MAX", 6)
    carried = shown(path, 3, 38)

    assert (1, 1, 4, 8) == (
        whole["every"], whole["spacing"], carried["every"], carried["spacing"]
    )  # fmt: skip
    assert values(whole)[2:38:4] == values(carried)
    assert [
        [line[2:38:8] for line in chart["values"]] for chart in whole["charts"]
    ] == [chart["values"] for chart in carried["charts"]]  # fmt: skip


def test_long_lists_and_large_grids_are_cut_and_their_sizes_told(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = recorded(Board, path)
    monkeypatch.setattr(fields, "ITEMS_MAX", 30)
    monkeypatch.setattr(fields, "SIDE_MAX", 4)
    carried = shown(path, 1, 6)
    before, state = (values(each)[-1] for each in (whole, carried))

    assert [row[:4] for row in before["squares"][:4]] == state["squares"]
    assert before["codes"][:30] == state["codes"]
    assert before["marks"] == state["marks"]
    assert whole["charts"] == carried["charts"]  # they are of all items
    assert {"squares": (6, 6), "codes": (60,), "marks": (3,)} == {
        field["name"]: field["size"]
        for field in carried["fields"]
        if field["name"] in ("squares", "codes", "marks")
    }
