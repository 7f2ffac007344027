"""The figures that mining alone has. What all figures keep to is tried in tests/replay/report."""

import re

import pytest

from goldrush.replay.mining.figures import _lorenz
from tests.replay.report.test_figures import CURVES, SHARES, cells, drawn


def test_without_gold_there_is_no_lorenz_curve_and_without_plots_no_survival() -> None:
    poor = drawn("lorenz_and_survival", cells("random", gold=[0.0] * 10))
    landless = drawn("lorenz_and_survival", cells("random", lengths={}))

    assert ["Lorenz curve of gold at the end"] == list(poor.without)
    assert ["Survival of ownership"] == list(landless.without)


def test_stamina_fills_every_window_it_was_spent_in() -> None:
    """Two windows of one round: the four areas reach from the first to the last round."""
    curves = CURVES | {name: [0.25, 0.25] for name in SHARES}
    svg = drawn("stamina", cells("random", rounds=2, curves=curves)).svg
    areas = re.findall(r'PolyCollection_\d+">\s*<path d="([^"]*)"', svg)
    xs = [float(x) for area in areas for x in re.findall(r"[ML] ([\d.]+) ", area)]
    frame = re.search(r'<g id="patch_2">\s*<path d="([^"]*)"', svg)

    assert 4 == len(areas)
    assert frame is not None
    ends = [float(x) for x in re.findall(r"[ML] ([\d.]+) ", frame[1])]
    assert (min(ends), max(ends)) == pytest.approx((min(xs), max(xs)), abs=0.1)


def test_the_lorenz_curve_is_of_the_poorest_first() -> None:
    assert [0.0, 0.1, 0.3, 1.0] == pytest.approx(list(_lorenz([7.0, 1.0, 2.0])))
