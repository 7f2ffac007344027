"""The figures of a report that every world has.

Each draws the cells of one treatment and horizon, a line of its own for each roster, or treatments
against the baseline, or all that was judged.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

import attrs

from goldrush.kernel.text import format_count
from goldrush.kernel.world import Vocabulary
from goldrush.replay.measures import Measure
from goldrush.replay.report.looks import Look
from goldrush.replay.report.page import Key, Panel, bounds, number
from goldrush.replay.report.plot import HEIGHT, WIDE, Plot, Point, reach
from goldrush.replay.study.comparisons import Against
from goldrush.replay.study.inference import Interval, interval, t_quantile
from goldrush.replay.study.plan import Cell
from goldrush.replay.study.results import POINTS, Result

Cells = Mapping[Cell, Sequence[Result[Any, Any]]]
Looks = Mapping[str, Look]  # by roster
Limits = tuple[float, float]
Shown = Mapping[str, Measure]  # the measures of a figure by name

ROW: Final = 15.0  # the height of a row, and of a roster's mark in it
RARE: Final = 10  # a curve that is there in no more than one window of so many is not drawn
_HOLLOW: Final = "first half"
_FULL: Final = "second half"


@attrs.frozen
class Drawn:
    """The panels of a figure with its legend, and what is said of panels that are left out."""

    panels: Sequence[Panel]
    legend: Sequence[Key]
    without: Sequence[str] = ()


@attrs.frozen
class Band:
    """The mean of some curves at each place where there is any, and its 95% interval."""

    places: Sequence[int]
    mean: Sequence[float]
    low: Sequence[float]
    high: Sequence[float]


def legend_of(cells: Iterable[Cell], looks: Looks) -> list[Key]:
    """The rosters of cells."""
    return [looks[name].key() for name in dict.fromkeys(cell.roster for cell in cells)]


# over the units


def over_units(cells: Cells, looks: Looks, shown: Shown, words: Vocabulary) -> Drawn:
    """Each measure over the units: mean across seeds and its 95% interval, by roster."""
    panels: list[Panel] = []
    drawn: dict[str, Any] = {}
    undefined, zero, same, rare = [], [], [], []
    for name, measure in shown.items():
        bands = {
            cell: found
            for cell, results in cells.items()
            if (found := band([r.curves[name] for r in results], measure.limits)) is not None
        }
        twin = next((title for title, other in drawn.items() if other == bands), None)
        if not bands:
            undefined.append(measure.title)
        elif not any(map(any, (found.high for found in bands.values()))):
            zero.append(measure.title)
        elif all(len(found.places) * RARE <= _windows(cell) for cell, found in bands.items()):
            rare.append(measure.title)
        elif twin is not None:
            same.append(f"{measure.title} (as {twin})")
        else:
            drawn[measure.title] = bands
            panels.append(_over_units(measure, bands, looks, words))
    without = _left_out(
        {
            "No data for": undefined,
            "0 throughout": zero,
            f"Hardly ever defined, and so not drawn (in a {words.unit} of {RARE} or fewer)": rare,
            "Drawn once": same,
        }
    )
    return Drawn(panels, legend_of(cells, looks), without)


def _windows(cell: Cell) -> int:
    """How many windows a curve has."""
    return math.ceil(cell.rounds / math.ceil(cell.rounds / POINTS))


def _left_out(reasons: Mapping[str, Sequence[str]]) -> list[str]:
    return [f"{says}: {', '.join(titles)}." for says, titles in reasons.items() if titles]


def _over_units(
    measure: Measure, bands: Mapping[Cell, Band], looks: Looks, words: Vocabulary
) -> Panel:
    horizon = max(cell.rounds for cell in bands)
    values = [v for found in bands.values() for v in (*found.low, *found.high)]
    ends = words.first, words.number(horizon)
    plot = Plot(measure.title, ends, reach(values), x_label=words.unit, whole=True)
    for place, (cell, found) in enumerate(bands.items()):
        look = looks[cell.roster]
        at = [words.number(0) + _middle(point, cell.rounds) for point in found.places]
        for run in _runs(found.places):
            part = slice(run[0], run[-1] + 1)
            mean = list(zip(at[part], found.mean[part], strict=True))
            if len(run) > 1:
                above = list(zip(at[part], found.high[part], strict=True))
                below = list(zip(at[part], found.low[part], strict=True))
                plot.band(above, below, look.colour)
                plot.line(mean, look)
            else:
                plot.tall(at[run[0]], found.low[run[0]], found.high[run[0]], look.colour)
                plot.point(*mean[0], look)
        plot.marks(list(zip(at, found.mean, strict=True)), look, place, len(bands))
    says = (f"{c.roster} {number(b.mean[0])} to {number(b.mean[-1])}" for c, b in bands.items())
    return plot.panel(f"{measure.title} from the first {words.unit} to the last: {', '.join(says)}")


def _middle(point: int, horizon: int) -> float:
    """The unit of a journal in the middle of a window of a curve."""
    length = math.ceil(horizon / POINTS)
    return min(point * length + (length + 1) / 2, horizon)


def _runs(places: Sequence[int]) -> list[list[int]]:
    """Positions cut where a place is left out, so that no line leads over what is undefined."""
    runs: list[list[int]] = []
    for position, place in enumerate(places):
        if runs and places[runs[-1][-1]] + 1 == place:
            runs[-1].append(position)
        else:
            runs.append([position])
    return runs


def band(curves: Sequence[Sequence[float | None]], limits: Limits) -> Band | None:
    """Mean, low and high at each place where there is anything; None without data."""
    found: list[tuple[int, float, float, float]] = []
    for place, column in enumerate(zip(*curves, strict=True)):
        values = [value for value in column if value is not None]
        if values:
            mean = math.fsum(values) / len(values)
            half = 0.0
            if len(values) > 1 and min(values) != max(values):
                spread = math.fsum((value - mean) ** 2 for value in values) / (len(values) - 1)
                half = t_quantile(len(values) - 1) * math.sqrt(spread / len(values))
            found.append((place, mean, *within(limits, mean - half, mean + half)))
    return Band(*map(tuple, zip(*found, strict=True))) if found else None


def within(limits: Limits, low: float, high: float) -> tuple[float, float]:
    """An interval as far as a measure can go."""
    return max(low, limits[0]), min(high, limits[1])


# half against half


def half_against_half(
    cells: Cells, looks: Looks, shown: Shown, expected: Mapping[str, int]
) -> Drawn:
    """Measures in the first half and in the second, by roster; `expected`: the directions in which
    some are to change.
    """
    panels, undefined, zero = [], [], []
    for name, measure in shown.items():
        pairs = {
            cell.roster: [
                (a, b) for a, b in (result.halves[name] for result in results)
                if a is not None and b is not None
            ]
            for cell, results in cells.items()
        }  # fmt: skip
        if not any(pairs.values()):
            undefined.append(measure.title)
        elif not any(any(pair) for found in pairs.values() for pair in found):
            zero.append(measure.title)
        else:
            arrow = {1: " ↑", -1: " ↓"}.get(expected.get(name, 0), "")
            panels.append(_halves(f"{measure.title}{arrow}", pairs, looks, measure.limits))
    point = Look("ink", "", "circle", "")
    halves = [attrs.evolve(point.key(), label=_FULL), _hollow(_HOLLOW)]
    without = _left_out({"No data for": undefined, "0 in every half": zero})
    return Drawn(panels, halves[::-1], without)


def _hollow(label: str) -> Key:
    key = Look("ink hollow", "", "circle", "").key()
    return attrs.evolve(key, label=label)


def _halves(
    title: str,
    pairs: Mapping[str, Sequence[tuple[float, float]]],
    looks: Looks,
    limits: Limits,
) -> Panel:
    found = {
        roster: [interval([pair[place] for pair in of]) for place in (0, 1)]
        for roster, of in pairs.items()
    }
    ends = [
        v for halves in found.values() for one in halves if one.mean is not None
        for v in within(limits, *_ends(one))
    ]  # fmt: skip
    names = [looks[roster].label for roster in found]
    height = 44 + 2 * ROW * len(names)
    plot = Plot(title, reach(ends), (0, 0), rows=names, height=height)
    says = []
    for row, (roster, halves) in enumerate(found.items()):
        look = looks[roster]
        if halves[0].mean is None:
            plot.text(plot.x.start + 6, plot.y(row) + 3.6, "no data", "faint")
            continue
        for place, one in enumerate(halves):
            assert one.mean is not None
            at = row + (0.18 if place else -0.18)
            plot.across(*within(limits, *_ends(one)), at, look.colour)
            plot.point(one.mean, at, look, hollow=not place)
        says.append(f"{roster} {number(halves[0].mean)} then {number(halves[1].mean)}")
    return plot.panel(f"{title}, first half and second half: {', '.join(says)}")


def _ends(found: Interval) -> tuple[float, float]:
    """The ends of an interval; of a mean without one, itself."""
    assert found.mean is not None
    if found.low is None or found.high is None:
        return found.mean, found.mean
    return found.low, found.high


# treatments and rosters


def forest(
    compared: Sequence[Against], named: Mapping[Cell, str], looks: Looks, shown: Shown
) -> Drawn:
    """Treatments against the baseline of their roster: difference and 95% interval."""
    rows = list(dict.fromkeys(named[one.cell] for one in compared))
    rosters = list(dict.fromkeys(one.cell.roster for one in compared))
    panels, undefined, zero = [], [], []
    for name, measure in shown.items():
        found = [
            (rows.index(named[one.cell]), one.cell.roster, one.differences[name])
            for one in compared
            if one.differences[name].mean is not None
        ]
        if not found:
            undefined.append(measure.title)
        elif not any(map(any, (_ends(one) for *_, one in found))):
            zero.append(measure.title)
        else:
            panels.append(_rows(measure.title, rows, rosters, found, looks))
    without = _left_out({"No data for": undefined, "No difference in any seed": zero})
    return Drawn(panels, legend_of((one.cell for one in compared), looks), without)


def means(cells: Cells, looks: Looks, shown: Shown, named: Mapping[Cell, str]) -> Drawn:
    """The values of whole runs: mean and 95% interval, a row for each treatment."""
    rows = list(dict.fromkeys(named[cell] for cell in cells))
    rosters = list(dict.fromkeys(cell.roster for cell in cells))
    panels = []
    for name, measure in shown.items():
        found = [
            (rows.index(named[cell]), cell.roster, one)
            for cell, results in cells.items()
            if (one := interval([result.run[name] for result in results])).mean is not None
        ]
        if found:
            panels.append(_rows(measure.title, rows, rosters, found, looks, zero=False))
    return Drawn(panels, legend_of(cells, looks))


def _rows(
    title: str,
    rows: Sequence[str],
    rosters: Sequence[str],
    found: Sequence[tuple[int, str, Interval]],
    looks: Looks,
    *,
    zero: bool = True,
) -> Panel:
    """Means with their intervals in rows, those of rosters one below the other in each."""
    ends = [end for *_, one in found for end in _ends(one)]
    each = max(ROW, 10.0 * len(rosters) + 4)
    plot = Plot(
        title, reach([*ends, 0.0] if zero else ends), (0, 0), rows=rows, width=WIDE,
        height=44 + each * len(rows),
    )  # fmt: skip
    if zero:
        plot.upright(0)
    for row, roster, one in found:
        assert one.mean is not None
        look = looks[roster]
        at = row + (rosters.index(roster) + 0.5) / len(rosters) * 0.8 - 0.4
        plot.across(*_ends(one), at, look.colour)
        plot.point(one.mean, at, look, says=f"{rows[row]}, {roster}: {bounds(one)}")
    says = (f"{rows[row]}, {roster} {number(one.mean)}" for row, roster, one in found)
    return plot.panel(f"{title}: {'; '.join(says)}")


# all that was judged, at one glance


@attrs.frozen
class Effect:
    """An effect in a row of a summary: −1 .. 1, positive as expected, drawn in the `look` of the
    number of agents that it was seen with; `says`: what it shows.
    """

    row: str
    effect: float
    look: Look
    says: str


def effects(found: Mapping[str, Sequence[Effect]], rows: Sequence[str], sizes: Looks) -> Drawn:
    """Effects by criterion, a panel each."""
    panels = []
    for title, every in found.items():
        height = 58 + max(ROW, 11.0 * len(sizes)) * len(rows)
        plot = Plot(
            title, (-1, 1), (0, 0), rows=rows, width=WIDE, height=height,
            x_label="← opposite · effect · as expected →",
        )  # fmt: skip
        plot.upright(0)
        looks = list(sizes.values())
        for row in (row for row in rows if row not in {one.row for one in every}):
            plot.text(plot.x(0.03), plot.y(rows.index(row)) + 3.6, "no change to test", "faint")
        for one in every:
            at = rows.index(one.row) + (looks.index(one.look) + 0.5) / len(looks) * 0.7 - 0.35
            plot.point(one.effect, at, one.look, says=one.says)
        alt = "; ".join(one.says for one in every)
        panels.append(plot.panel(f"{title}: {alt or 'no effect can be told'}"))
    return Drawn(panels, [look.key() for look in sizes.values()])


def scatter(
    title: str,
    points: Mapping[Look, Sequence[tuple[Point, str, str]]],
    x_label: str,
    y_label: str,
) -> Panel:
    """A point for each run, with what it is and where it leads, by look."""
    every = [point for of in points.values() for point, _, _ in of]
    (left, right), (low, high) = (reach(values) for values in zip(*every, strict=True))
    plot = Plot(
        title, (left - 0.03 * (right - left), right), (low - 0.04 * (high - low), high),
        width=WIDE, height=HEIGHT * 1.6, x_label=x_label, y_label=y_label,
    )  # fmt: skip
    for look, of in points.items():
        for (x, y), says, href in of:
            plot.point(x, y, look, says=says, href=href)
    return plot.panel(f"{title}: {format_count(len(every), 'run')}")
