"""The lines of a page's events: links, explanations, what is left out for want of room."""

import re
from pathlib import Path
from typing import Any

import pytest

import goldrush
from goldrush.games.double_auction import DoubleAuction
from goldrush.replay.find import tools_at
from goldrush.replay.journal.log import Query, log
from goldrush.replay.journal.story import sentences_of
from goldrush.replay.view import shown as view_shown
from goldrush.replay.view import walked
from goldrush.replay.view.shown import shown_of
from goldrush.replay.worlds.mining.why import explained
from tests.golden import path_of, season_path

BASELINE = path_of("baseline")


def shown(path: Path = BASELINE) -> dict[str, Any]:
    return shown_of(path, tools_at(path), (None, None)).as_dict()


def told(run: dict[str, Any]) -> list[list[tuple[str, str, dict[str, Any]]]]:
    """By unit the lines of a page: events, texts, and what is behind them."""
    return [[_line(run, line) for _, of, _ in groups for line in of] for groups in run["lines"]]


def _line(run: dict[str, Any], line: list[Any]) -> tuple[str, str, dict[str, Any]]:
    event, _, parts = run["templates"][line[0]]
    values = iter(line[1:])
    text = "".join(
        part if isinstance(part, str) else _text(part[0], next(values)) for part in parts
    )
    return event, text, next(values, {})


def _text(form: str, value: Any) -> str:
    if form != "agent" or value is None:
        return "nobody" if form == "agent" else str(value)
    listed = value if isinstance(value, list) else [value]
    return f"agent{'s' * (len(listed) > 1)} {', '.join(map(str, listed))}"


def test_a_line_is_the_sentence_of_its_event() -> None:
    sentences = sentences_of(BASELINE)
    run = shown()
    for unit, found in enumerate(told(run), 1):
        events = [e for e in log(BASELINE, Query(unit, unit)) if e.name in {n for n, _, _ in found}]

        assert sorted(map(sentences.line, events)) == sorted(text for _, text, _ in found)
    forms = {
        part[0] for _, _, parts in run["templates"] for part in parts if isinstance(part, list)
    }
    assert {"agent", "place"} <= forms | {
        part[0] for _, _, parts in run["templates"] for part in parts if isinstance(part, tuple)
    }


def test_what_agents_wrote_is_marked() -> None:
    templates = shown(season_path("language-model"))["templates"]

    assert "said" in {
        part[0] for *_, parts in templates for part in parts if not isinstance(part, str)
    }


def test_a_page_has_its_most_units_of_those_that_are_asked_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(walked, "UNITS_MAX", 3)
    runs = [shown_of(BASELINE, tools_at(BASELINE), (4, last)) for last in (20, 5)]

    assert [(4, 6), (4, 5)] == [(run.first, run.last) for run in runs]


def test_numbers_of_states_have_twelve_digits() -> None:
    assert [0.3, {"1": 66.6666666667}] == walked._plain([0.1 + 0.2, {1: 200 / 3}])


def test_where_a_run_breaks_off_is_told_without_its_path(tmp_path: Path) -> None:
    path = tmp_path / "torn.journal"
    path.write_bytes(BASELINE.read_bytes()[:-1])
    trouble = shown_of(path, tools_at(path), (None, None)).trouble

    assert trouble
    assert str(path) not in trouble


def test_a_result_has_its_explanation_and_that_of_the_last_round_stands_in_any_case(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    by_place: dict[tuple[int, int | None], list[str]] = {}
    for one in explained(BASELINE):
        _, _, why = str(one).partition("\n")  # the line is that sentence
        by_place.setdefault((one.unit, one.location), []).append(why)
    whole = shown()
    compared = 0
    for unit, found in enumerate(told(whole), 1):
        for event, text, more in found:
            if event in ("raid_resolved", "claim_drawn") and "why" in more:
                plot = int(re.findall(r"plot (\d+)", text)[0])
                assert text not in more["why"]
                assert all(part in more["why"] for part in by_place[unit, plot])
                assert len(more["why"]) == len("\n".join(by_place[unit, plot]))
                compared += 1
    assert compared > 20
    monkeypatch.setattr(view_shown, "WHY_MAX", 0)
    few = told(shown())

    assert [any("why" in more for _, _, more in found) for found in few].count(True) == 2
    assert [line for line in few[-1] if "why" in line[2]] == [
        line for line in told(whole)[-1] if "why" in line[2]
    ]


def test_draws_of_a_unit_of_several_steps_are_told_by_step(tmp_path: Path) -> None:
    run = shown(goldrush.record(DoubleAuction, tmp_path / "a.journal", turns=2).path)

    assert ["call", "call: Draws", "quote"] == [heading for *_, heading in run["lines"][0]]
