"""The figures that mining alone has. What all figures keep to is tried in tests/replay/report."""

import re

import pytest

from goldrush.replay.report.svg import panel_svg
from goldrush.replay.worlds.mining.sections import _shares
from tests.replay.report.pages import words
from tests.replay.report.test_figures import CURVES, SHARES, cells, drawn


def test_without_gold_there_is_no_lorenz_curve_and_without_plots_no_survival() -> None:
    poor = drawn("lorenz_and_survival", cells("random", gold=[0.0] * 10))
    landless = drawn("lorenz_and_survival", cells("random", lengths={}))

    assert ["No data for: Lorenz curve of gold at the end."] == list(poor.omitted)
    assert ["No data for: survival of ownership."] == list(landless.omitted)


def test_survival_is_drawn_as_far_as_its_curves_fall_and_that_is_said() -> None:
    short = {(1, True): 500, (20, True): 400, (30, True): 90, (150, True): 5, (200, False): 5}
    [_, panel] = drawn("lorenz_and_survival", cells("random", lengths=short)).panels
    found = drawn("lorenz_and_survival", cells("random", lengths=short))
    whole = drawn("lorenz_and_survival", cells("random", lengths={(200, False): 3}))

    assert ["0", "5", "10", "15", "20", "25", "30"] == words([panel])[4:11]
    assert [
        "Survival is drawn up to 33 rounds, beyond which no curve falls by more than 0.01; the "
        "longest spell has 200."
    ] == list(found.omitted)
    assert [] == list(whole.omitted)
    assert "200" in words(whole.panels[1:])


def test_stamina_fills_every_window_it_was_spent_in() -> None:
    """Two windows of one round: the four areas reach from the first to the last round."""
    curves = CURVES | {name: [0.25, 0.25] for name in SHARES}
    [panel] = drawn("stamina", cells("random", rounds=2, curves=curves)).panels
    svg = panel_svg(panel)
    areas = re.findall(r'class="band fill c\d" d="([^"]*)"', svg)
    frame = re.search(r'class="axis" d="M([\d.]+) [\d.]+V[\d.]+H([\d.]+)"', svg)

    assert 4 == len(areas)
    assert frame is not None
    for area in areas:
        xs = [float(x) for x in re.findall(r"[ML]([\d.]+) ", area)]
        assert (min(xs), max(xs)) == pytest.approx((float(frame[1]), float(frame[2])), abs=0.1)


def test_the_lorenz_curve_is_of_the_poorest_first() -> None:
    assert [0.0, 0.1, 0.3, 1.0] == pytest.approx(_shares([7.0, 1.0, 2.0]))
