"""The figures that mining alone has. What all figures keep to is tried in tests/replay/report."""

import pytest

from goldrush.replay.report.plot import BARS, DIAGONAL, STEPS
from goldrush.replay.worlds.mining.sections import _shares
from tests.replay.report.test_figures import CURVES, SHARES, cells, drawn


def test_without_gold_there_is_no_lorenz_curve_and_without_plots_no_survival() -> None:
    assert "lorenz" not in drawn(cells("random", gold=[0.0] * 10))
    assert "survival" not in drawn(cells("random", lengths={}))


def test_survival_is_drawn_as_far_as_its_curves_fall_and_that_is_said() -> None:
    short = {(1, True): 500, (20, True): 400, (30, True): 90, (150, True): 5, (200, False): 5}
    figure = drawn(cells("random", lengths=short))["survival"]
    whole = drawn(cells("random", lengths={(200, False): 3}))["survival"]

    assert STEPS == figure.kind
    assert [0, 1, 20, 30, 33] == [row["x"] for row in figure.data]
    assert [1.0, 0.5, 0.1, 0.01, 0.01] == pytest.approx([row["y"] for row in figure.data])
    assert figure.shows.endswith(
        "Drawn up to 33 rounds, beyond which no curve falls by more than 0.01; the longest spell "
        "has 200."
    )
    assert "Drawn up to" not in whole.caption
    assert 200 == whole.data[-1]["x"]


def test_stamina_fills_every_window_it_was_spent_in() -> None:
    """Two windows of one round, with four bars upon each other."""
    curves = CURVES | {name: [0.25, 0.5] for name in SHARES}
    figure = drawn(cells("random", rounds=2, curves=curves))["stamina"]

    assert BARS == figure.kind
    assert [(1, 0.25), (2, 0.5)] == [(row["x"], row["y"]) for row in figure.data[:2]]
    assert ["defend", "mine", "claim", "raid"] == list(figure.legend)
    assert (0.5, 2.5) == (figure.panels[0].x.low, figure.panels[0].x.high)
    assert ["baseline, random"] == [panel.title for panel in figure.panels]


def test_the_lorenz_curve_is_of_the_poorest_first_and_the_mean_over_seeds() -> None:
    figure = drawn(cells("random", gold=[7.0, 1.0, 2.0, *[0.0] * 7]))["lorenz"]

    assert [0.0, 0.1, 0.3, 1.0] == pytest.approx(_shares([7.0, 1.0, 2.0]))
    assert [0.0] * 8 + [0.1, 0.3, 1.0] == pytest.approx([row["y"] for row in figure.data])
    assert [n / 10 for n in range(11)] == pytest.approx([row["x"] for row in figure.data])
    assert DIAGONAL == figure.rule
    assert {3} == {row["n"] for row in figure.data}
