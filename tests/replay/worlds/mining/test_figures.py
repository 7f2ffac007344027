"""The figures that mining alone has. What all figures keep to is tried in tests/replay/report."""

import pytest

from goldrush.replay.report.plot import STEPS
from tests.replay.report.test_figures import cells, drawn


def test_without_plots_there_is_no_survival() -> None:
    assert "survival" not in drawn(cells("random", lengths={}))


def test_survival_is_drawn_to_the_longest_spell() -> None:
    spells = {(1, True): 500, (20, True): 400, (30, True): 90, (150, True): 5, (200, False): 5}
    figure = drawn(cells("random", lengths=spells))["survival"]

    assert STEPS == figure.kind
    assert [0, 1, 20, 30, 150, 200] == [row["x"] for row in figure.data]
    assert [1.0, 0.5, 0.1, 0.01, 0.005, 0.005] == pytest.approx([row["y"] for row in figure.data])
