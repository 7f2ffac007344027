"""Figures of runs: what they show, in the colours of policies, in every world."""

from itertools import pairwise
from pathlib import Path

import pytest

import goldrush
from goldrush.games.fishery import Fishery
from goldrush.kernel.errors import BadInput
from goldrush.replay.find import tools_named
from goldrush.replay.report import run_figures
from goldrush.replay.report.marks import Curve
from goldrush.replay.run import Run

ROSTER = "greedy-mine*4,raid*2,random"


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    path = tmp_path_factory.mktemp("runs") / "r.journal"
    return goldrush.record(path, seed=7, rounds=20, roster=ROSTER)


def curves_of(figure: goldrush.Figure) -> list[Curve]:
    [panel] = figure._panels
    return panel.curves


def test_gold_has_a_line_for_each_policy_in_its_hue_with_its_agents_mean_and_range(
    run: Run,
) -> None:
    figure = run.figure("gold")
    curves = {curve.style.name: curve for curve in curves_of(figure)}

    assert {"greedy-mine": "c0", "raid": "c6", "random": "c7"} == {
        name: curve.style.colour for name, curve in curves.items()
    }
    assert {"greedy-mine × 4", "raid × 2", "random"} == {c.style.label for c in curves.values()}
    for number, unit in enumerate(run, 1):
        gold = unit.state.gold
        for name, agents in (("greedy-mine", gold[:4]), ("raid", gold[4:6]), ("random", gold[6:])):
            sample = curves[name].samples[number - 1]
            assert (number, len(agents)) == (sample.x, sample.n)
            assert sum(agents) / len(agents) == pytest.approx(sample.y)
            if len(agents) > 1:
                assert (min(agents), max(agents)) == (sample.low, sample.high)
    assert figure == run.figure()


def test_policies_of_one_hue_differ_in_line_and_marker(run: Run, tmp_path: Path) -> None:
    known = tools_named("mining")
    recorded = f"recorded:{run.path}"
    roster = ",".join([recorded, *known.hue_order, known.null])
    run = goldrush.record(tmp_path / "many.journal", rounds=3, agents=9, roster=roster)
    styles = [curve.style for curve in curves_of(run.figure("gold"))]

    assert len({style.colour for style in styles}) < len(styles)
    assert len(styles) == len({(style.colour, style.dash) for style in styles})
    assert len(styles) == len({(style.colour, style.marker) for style in styles})


def test_a_measure_of_units_is_drawn_as_it_was_measured_and_parted_where_undefined(
    run: Run,
) -> None:
    values = run.measured().values["defense_trigger"]
    found = {row["x"]: row["y"] for row in run.figure("defense_trigger").data}

    assert {n: value for n, value in enumerate(values, 1) if value is not None} == found
    [curve] = curves_of(run.figure("defense_trigger"))
    assert {1.0} == {b.x - a.x for of in curve.segments for a, b in pairwise(of)}
    for name in run.figures():
        assert run.figure(name).caption.startswith(run.figures()[name])


def test_a_name_that_is_none_is_refused_with_those_there_are(run: Run) -> None:
    with pytest.raises(BadInput, match="there is no figure of a run 'half_life'; take one of gold"):
        run.figure("half_life")


def test_a_long_run_is_drawn_at_some_of_its_units_the_last_included(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run_figures, "SAMPLES_MAX", 7)

    assert [1, 5, 9, 13, 17, 20] == [s.x for s in curves_of(run.figure("plots"))[0].samples]
    assert [1, 5, 9, 13, 17, 20] == [row["x"] for row in run.figure("hhi").data]


def test_labels_at_the_ends_of_lines_are_apart(run: Run) -> None:
    [panel] = run.figure("gold")._panels
    for gap in (0.1, 0.45):
        heights = [height for height, _ in panel.ends(gap)]

        assert 3 == len(heights)
        assert all(gap <= b - a + 1e-9 for a, b in pairwise(heights))
        assert 0 <= heights[0] <= heights[-1] <= 1 + 1e-9


def test_a_game_has_a_figure_of_its_score_and_of_its_own_measures(tmp_path: Path) -> None:
    game = goldrush.record(Fishery, tmp_path / "g.journal", seed=1)

    assert ["score", "stock", "landed"] == list(game.figures())
    assert [3, 2] == [curve.samples[0].n for curve in curves_of(game.figure("score"))][::-1]
    assert game.figure("stock").save(tmp_path / "stock.csv").exists()


def test_a_season_has_a_row_of_scores_for_each_policy(tmp_path: Path) -> None:
    season = goldrush.record(tmp_path / "s.journal", world="competition", seed=3, assignments=2)
    figure = season.figure("score")
    outcome = season.outcome()

    assert {one.policy: one.mean for one in outcome.standings if one.mean is not None} == {
        row["series"]: row["y"] for row in figure.data
    }
    assert {(one.lowest, one.highest) for one in outcome.standings if one.mean is not None} == {
        (row["low"], row["high"]) for row in figure.data
    }
    assert "score" == season.figure().name
    assert "percentile" in season.figures()
