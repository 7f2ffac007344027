"""The figures of a report that are common to all worlds.

A figure shows the cells of one treatment and horizon, by roster; treatments against the baseline;
or the effects behind all verdicts.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from itertools import starmap
from typing import Any, Final

import attrs

from goldrush.kernel.text import format_count
from goldrush.kernel.world import Vocabulary
from goldrush.replay.data.measures import Measure, Span
from goldrush.replay.report.marks import (
    HEIGHT,
    WIDE,
    ZERO,
    Curve,
    Drawn,
    Key,
    Mark,
    Note,
    Panel,
    Point,
    Sample,
    Style,
)
from goldrush.replay.report.page import bounds, number
from goldrush.replay.report.plot import panel_of, reach
from goldrush.replay.report.styles import labels_of
from goldrush.replay.study.comparisons import Against
from goldrush.replay.study.inference import Interval, PairedChange, interval
from goldrush.replay.study.records import Cell, Result, points_of

Cells = Mapping[Cell, Sequence[Result[Any, Any]]]
Styles = Mapping[str, Style]  # by roster
Limits = tuple[float, float]
Shown = Mapping[str, Measure]  # the measures of a figure by name

ROW: Final = 15.0  # the minimum height of a row
RARE: Final = 10  # a curve that is defined in at most one of so many windows is not drawn
_HOLLOW: Final = "first half"
_FULL: Final = "second half"


@attrs.frozen
class Band:
    """The mean of several curves with its 95% interval, at the positions (0-based indices of
    windows) where one is defined; `n`: the number of curves that are defined there.
    """

    positions: Sequence[int]
    mean: Sequence[float]
    low: Sequence[float]
    high: Sequence[float]
    n: Sequence[int]


def legend_of(cells: Iterable[Cell], styles: Styles) -> list[Key]:
    """The keys of the rosters of cells, each once; a key says of the null what it is."""
    shown = (styles[name] for name in dict.fromkeys(cell.roster for cell in cells))
    return [key_of(style) for style in shown]


def key_of(style: Style) -> Key:
    return Key(f"{style.label}{style.note}", style, name=f"{style.name}{style.note}")


# over the units


def over_units(cells: Cells, styles: Styles, shown: Shown, words: Vocabulary) -> Drawn:
    """Each measure over the units: the mean over seeds and its 95% interval, by roster."""
    panels: list[Panel] = []
    drawn: dict[str, Any] = {}
    undefined, zero, same, rare = [], [], [], []
    draws = {cell: [run.draw for run in results] for cell, results in cells.items()}
    for name, measure in shown.items():
        curves = {cell: [run.curves[name] for run in results] for cell, results in cells.items()}
        bands = {
            cell: mean_band
            for cell in cells
            if (mean_band := band(curves[cell], measure.limits, draws[cell])) is not None
        }
        twin = next((title for title, other in drawn.items() if other == bands), None)
        if not bands:
            undefined.append(measure.title)
        elif not any(map(any, (mean_band.high for mean_band in bands.values()))):
            zero.append(measure.title)
        elif all(
            len(mean_band.positions) * RARE <= len(points_of(cell.rounds))
            for cell, mean_band in bands.items()
        ):
            rare.append(measure.title)
        elif twin is not None:
            same.append(f"{measure.title} (as {twin})")
        else:
            drawn[measure.title] = bands
            panels.append(_over_units(measure, bands, styles, words))
    omitted = _left_out(
        {
            "No data for": undefined,
            "0 throughout": zero,
            f"Not drawn, because defined in at most 1 of {RARE} windows": rare,
            "Not drawn again, because identical": same,
        }
    )
    return Drawn(panels, legend_of(cells, styles), omitted)


def _left_out(reasons: Mapping[str, Sequence[str]]) -> list[str]:
    return [f"{reason}: {', '.join(titles)}." for reason, titles in reasons.items() if titles]


def _over_units(
    measure: Measure, bands: Mapping[Cell, Band], styles: Styles, words: Vocabulary
) -> Panel:
    horizon = max(cell.rounds for cell in bands)
    values = [v for mean_band in bands.values() for v in (*mean_band.low, *mean_band.high)]
    ends = words.first, words.number(horizon)
    marks = []
    for index, (cell, mean_band) in enumerate(bands.items()):
        windows = points_of(cell.rounds)
        at = [
            words.number(0) + _place(windows[point], at_end=measure.at_end)
            for point in mean_band.positions
        ]
        columns = (at, mean_band.mean, mean_band.low, mean_band.high, mean_band.n)
        samples = list(starmap(Sample, zip(*columns, strict=True)))
        segments = [samples[run[0] : run[-1] + 1] for run in _runs(mean_band.positions)]
        marks.append(Curve(styles[cell.roster], segments, index=index, curves=len(bands)))
    says = (f"{c.roster} {number(b.mean[0])} to {number(b.mean[-1])}" for c, b in bands.items())
    alt = f"{measure.title} from the first {words.unit} to the last: {', '.join(says)}"
    return panel_of(measure.title, ends, reach(values), marks, alt, x_label=words.unit, whole=True)


def _place(window: Span, *, at_end: bool) -> float:
    """Where the value of a window of units is drawn: in its middle, or at its end."""
    return window.last if at_end else (window.first + window.last) / 2


def _runs(positions: Sequence[int]) -> list[list[int]]:
    """Indices of consecutive positions, grouped: no line is drawn across undefined ones."""
    runs: list[list[int]] = []
    for index, position in enumerate(positions):
        if runs and positions[runs[-1][-1]] + 1 == position:
            runs[-1].append(index)
        else:
            runs.append([index])
    return runs


def band(
    curves: Sequence[Sequence[float | None]], limits: Limits, draws: Sequence[Hashable] = ()
) -> Band | None:
    """The mean of curves of equal length and its interval, within the limits; None without data.
    `draws`: see inference.
    """
    columns: list[tuple[int, float, float, float, int]] = []
    for position, column in enumerate(zip(*curves, strict=True)):
        values = interval(column, draws)
        if values.mean is not None:
            columns.append((position, values.mean, *within(limits, *_ends(values)), values.n))
    return Band(*map(tuple, zip(*columns, strict=True))) if columns else None


def within(limits: Limits, low: float, high: float) -> tuple[float, float]:
    return max(low, limits[0]), min(high, limits[1])


# half against half


def half_against_half(
    cells: Cells, styles: Styles, shown: Shown, expected: Mapping[str, int]
) -> Drawn:
    """Measures in both halves, by roster; `expected`: directions (+1 or −1) of judged ones."""
    panels, undefined, zero = [], [], []
    for name, measure in shown.items():
        pairs = {
            cell.roster: [
                (result.draw, *result.halves[name]) for result in results
                if None not in result.halves[name]
            ]
            for cell, results in cells.items()
        }  # fmt: skip
        if not any(pairs.values()):
            undefined.append(measure.title)
        elif not any(any(pair) for halves in pairs.values() for _, *pair in halves):
            zero.append(measure.title)
        else:
            arrow = {1: " ↑", -1: " ↓"}.get(expected.get(name, 0), "")
            panels.append(_halves(f"{measure.title}{arrow}", pairs, styles, measure.limits))
    point = Style("ink", (), "circle", "", "")
    legend = [Key(_HOLLOW, point, hollow=True), Key(_FULL, point)]
    omitted = _left_out({"No data for": undefined, "0 in every half": zero})
    return Drawn(panels, legend, omitted)


def _halves(
    title: str,
    pairs: Mapping[str, Sequence[tuple[Any, ...]]],
    styles: Styles,
    limits: Limits,
) -> Panel:
    by_roster = {
        roster: [interval(half, draws) for half in halves]
        for roster, of in pairs.items()
        for draws, *halves in [list(zip(*of, strict=True)) or [(), (), ()]]
    }
    ends = [
        v for halves in by_roster.values() for half in halves if half.mean is not None
        for v in within(limits, *_ends(half))
    ]  # fmt: skip
    names = [styles[roster].label for roster in by_roster]
    height = 44 + 2 * ROW * len(names)
    marks: list[Mark] = []
    says = []
    for row, (roster, halves) in enumerate(by_roster.items()):
        style = styles[roster]
        if halves[0].mean is None:
            marks.append(Note(reach(ends)[0], row, "no data"))
            continue
        for position, half in enumerate(halves):
            assert half.mean is not None
            at = row + (0.18 if position else -0.18)
            low, high = within(limits, *_ends(half))
            group = _FULL if position else _HOLLOW
            marks.append(
                Point(style, half.mean, at, low, high, half.n, hollow=not position, group=group)
            )
        says.append(f"{roster} {number(halves[0].mean)} then {number(halves[1].mean)}")
    alt = f"{title}, first half and second half: {', '.join(says)}"
    return panel_of(
        title, reach(ends), (0, 0), marks, alt, rows=names, names=list(by_roster), height=height
    )


def _ends(bounds: Interval) -> tuple[float, float]:
    """The ends of an interval; the mean twice if it has no interval."""
    assert bounds.mean is not None
    if bounds.low is None or bounds.high is None:
        return bounds.mean, bounds.mean
    return bounds.low, bounds.high


# treatments and rosters


def forest(
    compared: Sequence[Against], named: Mapping[Cell, str], styles: Styles, shown: Shown
) -> Drawn:
    """Treatments against the baseline of their roster: mean difference and its 95% interval, a
    panel for each measure. Cells whose labels (`named`) are equal share a row.
    """
    rows = list(dict.fromkeys(named[comparison.cell] for comparison in compared))
    rosters = list(dict.fromkeys(comparison.cell.roster for comparison in compared))
    panels, undefined, zero = [], [], []
    for name, measure in shown.items():
        differences = [
            (
                rows.index(named[comparison.cell]),
                comparison.cell.roster,
                comparison.differences[name],
            )
            for comparison in compared
            if comparison.differences[name].mean is not None
        ]
        if not differences:
            undefined.append(measure.title)
        elif not any(map(any, (_ends(difference) for *_, difference in differences))):
            zero.append(measure.title)
        else:
            panels.append(interval_rows(measure.title, rows, rosters, differences, styles))
    omitted = _left_out({"No data for": undefined, "No difference in any seed": zero})
    return Drawn(panels, legend_of((comparison.cell for comparison in compared), styles), omitted)


def interval_rows(
    title: str,
    rows: Sequence[str],
    rosters: Sequence[str],
    differences: Sequence[tuple[int, str, Interval]],
    styles: Styles,
    *,
    zero: bool = True,
) -> Panel:
    """A panel of means with intervals, one row per label, with the rosters below each other."""
    labels = list(labels_of(rows).values())
    ends = [end for *_, difference in differences for end in _ends(difference)]
    each = max(ROW, 10.0 * len(rosters) + 4)
    marks = []
    for row, roster, difference in differences:
        assert difference.mean is not None
        at = row + (rosters.index(roster) + 0.5) / len(rosters) * 0.8 - 0.4
        text = f"{rows[row]}, {roster}: {bounds(difference)}"
        marks.append(
            Point(styles[roster], difference.mean, at, *_ends(difference), difference.n, text=text)
        )
    says = (
        f"{rows[row]}, {roster} {number(difference.mean)}"
        for row, roster, difference in differences
    )
    return panel_of(
        title, reach([*ends, 0.0] if zero else ends), (0, 0), marks, f"{title}: {'; '.join(says)}",
        rows=labels, width=WIDE, height=44 + each * len(rows), rule=ZERO if zero else "",
        names=rows,
    )  # fmt: skip


# all that was judged, at one glance


@attrs.frozen
class Effect:
    """An effect, which is defined, in a row of a summary: the label of the row, the tested change,
    the style of its number of agents, its description, and the cell whose halves were compared
    (empty: it is over several cells).
    """

    row: str
    change: PairedChange
    style: Style
    text: str
    cell: str = ""


EFFECT_MAX: Final = 40  # characters of a label of effects
EFFECT: Final = (
    "the matched-pairs rank-biserial correlation and its 95% interval (an effect of 1 or −1 has "
    "none)"
)


def effects(by_title: Mapping[str, Sequence[Effect]], rows: Sequence[str], sizes: Styles) -> Drawn:
    """Effects with their intervals, by title of panel; `sizes`: styles by number of agents."""
    panels, labels = [], list(labels_of(rows, EFFECT_MAX).values())
    for title, every in by_title.items():
        height = 58 + max(ROW, 11.0 * len(sizes)) * len(rows)
        styles = list(sizes.values())
        marks: list[Mark] = [
            Note(0.03, row, "no change to test")
            for row, label in enumerate(rows)
            if label not in {effect.row for effect in every}
        ]
        for effect in every:
            style, change = effect.style, effect.change
            at = rows.index(effect.row) + (styles.index(style) + 0.5) / len(styles) * 0.7 - 0.35
            assert change.effect is not None
            ends = (change.effect_low, change.effect_high)
            marks.append(
                Point(
                    style, change.effect, at, *ends, change.n, text=effect.text, group=effect.cell
                )
            )
        alt = "; ".join(effect.text for effect in every)
        panels.append(
            panel_of(
                title, (-1, 1), (0, 0), marks, f"{title}: {alt or 'no change to test'}",
                rows=labels, names=rows, width=WIDE, height=height,
                x_label="← opposite · effect · as expected →", rule=ZERO,
            )
        )  # fmt: skip
    return Drawn(panels, [Key(style.label, style) for style in sizes.values()])


def scatter(
    title: str,
    points: Mapping[Style, Sequence[tuple[tuple[float, float], str, str]]],
    x_label: str,
    y_label: str,
) -> Panel:
    """A panel with a point for each run; by style, the coordinates, description and link (or an
    empty text) of each point.
    """
    every = [point for of in points.values() for point, _, _ in of]
    (left, right), (low, high) = (reach(values) for values in zip(*every, strict=True))
    ranges = (left - 0.03 * (right - left), right), (low - 0.04 * (high - low), high)
    marks = [
        Point(style, x, y, text=text, href=href)
        for style, of in points.items()
        for (x, y), text, href in of
    ]
    return panel_of(
        title, *ranges, marks, f"{title}: {format_count(len(every), 'run')}",
        width=WIDE, height=HEIGHT * 1.6, x_label=x_label, y_label=y_label,
    )  # fmt: skip
