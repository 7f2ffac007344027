"""Figures of runs: what they show, in the colours of policies, in every world."""

from pathlib import Path

import pytest

import goldrush
from goldrush.games.fishery import Fishery
from goldrush.kernel.errors import BadInput
from goldrush.replay.report import figures
from goldrush.replay.report.plot import Row
from goldrush.replay.run import Run

ROSTER = "greedy-mine*4,raid*2,random"


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    path = tmp_path_factory.mktemp("runs") / "r.journal"
    return goldrush.record(path, seed=7, rounds=20, roster=ROSTER)


def series_of(figure: goldrush.Figure) -> dict[str, list[Row]]:
    [panel] = figure.panels
    return {name: list(rows) for name, rows in panel.series.items()}


def test_gold_has_a_line_for_each_policy_with_its_agents_mean(run: Run) -> None:
    figure = run.figure("gold")
    lines = series_of(figure)

    for number, unit in enumerate(run, 1):
        gold = unit.state.gold
        for name, agents in (("greedy-mine", gold[:4]), ("raid", gold[4:6]), ("random", gold[6:])):
            row = lines[name][number - 1]
            assert number == row.x
            assert sum(agents) / len(agents) == pytest.approx(row.y)
    assert figure == run.figure()


def test_a_measure_of_units_is_drawn_as_it_was_measured_and_parted_where_undefined(
    run: Run,
) -> None:
    values = run.measured().values["defense_trigger"]
    found = {row["x"]: row["y"] for row in run.figure("defense_trigger").data}

    assert dict(enumerate(values, 1)) == found
    assert None in values
    for name in run.figures():
        assert run.figure(name).data
    with pytest.raises(BadInput):
        run.figure("half_life")


def test_a_long_run_is_drawn_at_some_of_its_units_the_last_included(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(figures, "SAMPLES_MAX", 7)

    assert [1, 5, 9, 13, 17, 20] == [row["x"] for row in run.figure("hhi").data]


def test_a_game_has_a_figure_of_its_score_and_of_its_own_measures(tmp_path: Path) -> None:
    game = goldrush.record(Fishery, tmp_path / "g.journal", seed=1)

    assert ["score", "stock", "landed"] == list(game.figures())
    assert {"share", "greedy"} == set(series_of(game.figure("score")))
    assert game.figure("stock").save(tmp_path / "stock.csv").exists()


def test_a_season_has_a_line_of_scores_for_each_policy(tmp_path: Path) -> None:
    season = goldrush.record(tmp_path / "s.journal", world="competition", seed=3, assignments=2)
    figure = season.figure("score")
    outcome = season.outcome()

    assert {one.policy: one.mean for one in outcome.standings if one.mean is not None} == {
        row["series"]: row["y"] for row in figure.data if row["x"] == 1
    }
    assert "score" == season.figure().name
    assert "percentile" in season.figures()
