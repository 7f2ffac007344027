"""The figures of a report that every world has.

Each draws the cells of one treatment and horizon, a line of its own for each roster, or treatments
against the baseline.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from goldrush.replay.measures import Measure
from goldrush.replay.report.looks import Look
from goldrush.replay.report.panels import (
    Cells,
    Drawn,
    Limits,
    Looks,
    band,
    few_ticks,
    from_zero,
    lines,
    no_data,
    panels,
    width,
    within,
)
from goldrush.replay.study.comparisons import Against
from goldrush.replay.study.inference import interval
from goldrush.replay.study.plan import Cell
from goldrush.replay.study.results import POINTS

Shown = Mapping[str, Measure]  # the measures of a figure by name


def over_units(cells: Cells, looks: Looks, shown: Shown, unit: str) -> Drawn:
    """Each measure over the units: mean across seeds and its 95% interval, by roster."""

    def panel(measure: Measure) -> Callable[[Axes], None] | None:
        drawn = {
            cell: band([result.curves[measure.name] for result in results], measure.limits)
            for cell, results in cells.items()
        }
        seen = {cell: band for cell, band in drawn.items() if band is not None}
        return (lambda axes: _draw_bands(axes, seen, looks, unit)) if seen else None

    return panels(
        {measure.title: panel(measure) for measure in shown.values()},
        columns=4,
        legend=lines(cells, looks),
        height=1.4,
    )


def _draw_bands(axes: Axes, bands: Mapping[Cell, Any], looks: Looks, unit: str) -> None:
    for place, (cell, (points, mean, low, high)) in enumerate(bands.items()):
        length = math.ceil(cell.rounds / POINTS)
        units = np.minimum(points * length + (length + 1) / 2, cell.rounds)
        look = looks[cell.roster]
        axes.fill_between(units, low, high, color=look.colour, alpha=0.2, linewidth=0)
        alone = _alone(points)
        axes.plot(
            units, mean, color=look.colour, linestyle=look.dash, linewidth=width(place, bands)
        )
        axes.plot(units[alone], mean[alone], ".", color=look.colour, markersize=4)
        axes.vlines(units[alone], low[alone], high[alone], color=look.colour, alpha=0.5)
        axes.set_xlim(0, cell.rounds + 1)
    axes.set_xlabel(unit)
    from_zero(axes)


def _alone(points: Any) -> Any:
    """Which points have none beside them, so that a line and a band do not show what is there."""
    apart = np.diff(points, prepend=-9, append=points[-1] + 9) > 1
    return apart[:-1] & apart[1:]


def half_against_half(
    cells: Cells, looks: Looks, shown: Shown, expected: Mapping[str, int]
) -> Drawn:
    """Measures in the first half and in the second, by roster; `expected`: the directions in which
    some are to change.
    """
    rosters = [cell.roster for cell in cells]

    def panel(measure: Measure) -> Callable[[Axes], None] | None:
        pairs = {
            cell.roster: [
                (a, b) for a, b in (result.halves[measure.name] for result in results)
                if a is not None and b is not None
            ]
            for cell, results in cells.items()
        }  # fmt: skip
        if not any(pairs.values()):
            return None
        label = {1: "expected: up", -1: "expected: down"}.get(expected.get(measure.name, 0), "")
        return lambda axes: _draw_halves(axes, rosters, pairs, looks, measure.limits, label)

    filled = [
        Line2D([], [], marker="o", color="#444444", mfc=fill_, linestyle="", label=label)
        for fill_, label in (("white", "first half"), ("#444444", "second half"))
    ]
    return panels(
        {measure.title: panel(measure) for measure in shown.values()},
        columns=4,
        legend=filled,
        height=0.65 + 0.2 * len(rosters),
        share_y=True,
    )


def _draw_halves(
    axes: Axes,
    rosters: Sequence[str],
    pairs: Mapping[str, Sequence[tuple[float, float]]],
    looks: Looks,
    limits: Limits,
    label: str,
) -> None:
    for row, roster in enumerate(rosters):
        colour = looks[roster].colour
        for place, inside in ((0, "white"), (1, colour)):
            found = interval([pair[place] for pair in pairs[roster]])
            if found.mean is None:
                no_data(axes, row)
                break
            at = row + (-0.16 if place == 0 else 0.16)
            if found.low is not None and found.high is not None:
                ends = within(limits, found.low, found.high)
                axes.plot(ends, [at, at], color=colour, linewidth=1)
            axes.plot(found.mean, at, "o", color=colour, mfc=inside, markersize=3.5)
    axes.set_yticks(range(len(rosters)), [looks[roster].label for roster in rosters])
    axes.set_ylim(len(rosters) - 0.5, -0.5)
    axes.set_xlabel(label)
    few_ticks(axes)
    low, high = axes.get_xlim()
    if high - low < 1e-9:
        axes.set_xlim(low - 0.05, high + 0.05)


def forest(
    compared: Sequence[Against], named: Mapping[Cell, str], look: Look, shown: Shown
) -> Drawn:
    """The treatments of one roster against its baseline: difference and 95% interval."""
    labels = [named[one.cell] for one in compared]

    def panel(name: str) -> Callable[[Axes], None] | None:
        found = [one.differences[name] for one in compared]
        if all(one.mean is None for one in found):
            return None

        def draw(axes: Axes) -> None:
            axes.axvline(0, color="#999999", linewidth=0.8)
            for row, one in enumerate(found):
                if one.mean is None:
                    no_data(axes, row)
                    continue
                if one.low is not None and one.high is not None:
                    axes.plot([one.low, one.high], [row, row], color=look.colour)
                axes.plot(one.mean, row, "s", color=look.colour, markersize=3)
            axes.set_yticks(range(len(labels)), labels)
            axes.set_ylim(len(labels) - 0.5, -0.5)
            few_ticks(axes)
            low, high = axes.get_xlim()
            if high - low < 1e-9:
                axes.set_xlim(-1, 1)

        return draw

    return panels(
        {measure.title: panel(name) for name, measure in shown.items()},
        columns=4,
        legend=[],
        height=0.65 + 0.15 * len(labels),
        share_y=True,
    )
