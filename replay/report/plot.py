"""Plots: tidy rows and a kind, and the marks that both renderers draw of them.

A row is a value of a series in a panel: columns `panel`, `series`, `x` (a position, or the label of
a row of dots), the value `y` with the ends `low` and `high` of its interval (in a figure of one
run, of its agents' range), `n` (runs or agents behind it) and a `label` (the seed of a run, say).
What is undefined is empty. `svg.py` draws for pages, `paper.py` for papers.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import count, groupby
from operator import attrgetter
from typing import Final

import attrs

from goldrush.kernel.grouping import grouped
from goldrush.replay.colours import hues_of
from goldrush.replay.report.numbers import fixed, number, printable
from goldrush.replay.studies import NO_STUDIES, Studies
from goldrush.replay.text import csv_of, cut_apart

# Kinds: lines with bands; lines that hold up to the next position; dots with intervals in labelled
# rows; dots at two values.
LINES, STEPS, DOTS, SCATTER = "lines", "steps", "dots", "scatter"
# Marks: the line of a series, an interval, a band around a line, a point.
LINE, SPAN, BAND, DOT = "line", "span", "band", "dot"
LABEL_MAX: Final = 26  # characters of a label
TITLE_MAX: Final = 45  # characters of the title of a panel
LINES_MAX: Final = 8  # lines of a panel that shows treatments and rosters
DASHES: Final = ((), (7, 3), (2, 2.5), (9, 3, 2, 3))
MARKERS: Final = ("circle", "triangle", "square", "diamond", "cross", "wedge", "plus")


@attrs.frozen
class Style:
    """How a series is drawn: the number of its hue (replay.colours), the lengths of dashes and gaps
    (empty: a solid line), one of MARKERS, and the label.
    """

    hue: int
    dash: Sequence[float] = ()
    marker: str = "circle"
    label: str = ""


@attrs.frozen
class Row:
    """A row of a figure's data; see the module."""

    panel: str
    series: str
    x: str | float
    y: float | None
    low: float | None = None
    high: float | None = None
    n: int | None = None
    label: str | None = None


HEAD: Final = ",".join(attrs.fields_dict(Row)) + "\n"


@attrs.frozen
class Mark:
    """What is drawn in a panel, at values of its axes; a BAND by its corners. `text`: what a
    DOT is.
    """

    kind: str
    x: Sequence[float]
    y: Sequence[float]
    style: Style
    text: str = ""


@attrs.frozen
class Axis:
    """A linear axis from `low` to `high`; `ticks`: positions with their labels."""

    low: float
    high: float
    ticks: Sequence[tuple[float, str]]

    def share(self, value: float) -> float:
        """How far along the axis a value is: 0 at `low`, 1 at `high`; values beyond are clamped."""
        return min(max((value - self.low) / (self.high - self.low), 0.0), 1.0)


@attrs.frozen
class Panel:
    """A part of a figure: its title, also cut to a label, its rows by series, and its axes.
    `names`: of rows of dots, whose numbers from the top are the positions of the vertical axis.
    """

    title: str
    label: str
    series: Mapping[str, Sequence[Row]]
    x: Axis
    y: Axis
    names: Sequence[str] = ()

    def down(self, row: Row) -> float:
        """Where a dot stands among the rows: its own, each series at another height."""
        place = (list(self.series).index(row.series) + 0.5) / len(self.series)
        return self.names.index(str(row.x)) + place * 0.8 - 0.4

    @property
    def alt(self) -> str:
        """What the panel shows, for those who do not see it."""
        values = [row.y for rows in self.series.values() for row in rows if row.y is not None]
        reach = f"{number(min(values))} to {number(max(values))}" if values else "undefined"
        return f"{self.title}: {', '.join(self.series)}; {reach}"


@attrs.frozen(repr=False, slots=False)
class Chart:
    """What both renderers draw.

    Attributes:
        kind: LINES, STEPS, DOTS or SCATTER.
        rows: the data.
        styles: by series.
        x_label, y_label: of the axes.
        limits: the range of the values; None: that of the data.
        has_zero: whether zero is on the horizontal axis, and marked.
    """

    kind: str
    rows: Sequence[Row]
    styles: Mapping[str, Style]
    x_label: str = ""
    y_label: str = ""
    limits: tuple[float, float] | None = None
    has_zero: bool = False

    @property
    def csv(self) -> str:
        """The data as CSV with a head; numbers have twelve significant digits."""
        return HEAD + csv_of(map(format_cell, attrs.astuple(row)) for row in self.rows)

    @cached_property
    def panels(self) -> list[Panel]:
        """The panels in the order of their titles in the rows, each with its lines or points."""
        by_title = grouped(self.rows, attrgetter("panel"))
        labels = labels_of(by_title, TITLE_MAX)
        return [self._panel(title, labels[title], rows) for title, rows in by_title.items()]

    def _panel(self, title: str, label: str, rows: Sequence[Row]) -> Panel:
        series = grouped(rows, attrgetter("series"))
        ends = [v for row in rows for v in (row.y, row.low, row.high) if v is not None]
        ends += self.limits or (0.0,) * self.has_zero
        low, high = self.limits or reach(ends)
        if self.kind == DOTS:
            names = list(dict.fromkeys(str(row.x) for row in rows))
            room = 0.03 * (high - low)  # so that no point covers a label
            down = Axis(-0.5, len(names) - 0.5, list(enumerate(labels_of(names).values())))
            return Panel(title, label, series, axis_of(low - room, high + room), down, names)
        at = [float(row.x) for row in rows]
        left, right = min(at), max(at)
        if self.kind == SCATTER:  # no point stands on an axis
            left, low = left - 0.04 * (right - left), low - 0.04 * (high - low)
            right += 0.04 * (right - left)
        return Panel(title, label, series, axis_of(left, right), axis_of(low, high))

    @property
    def legend(self) -> dict[str, Style]:
        """By series, what the legend shows."""
        shown = dict.fromkeys(row.series for row in self.rows)
        return {name: self.styles[name] for name in shown if self.styles[name].label}

    def marks(self, panel: Panel) -> Iterator[Mark]:
        """What is drawn in a panel, the lowest first."""
        for index, (name, rows) in enumerate(panel.series.items()):
            style = self.styles[name]
            if self.kind in (LINES, STEPS):
                yield from _line(rows, style, self.kind == STEPS, index / len(panel.series))
            else:
                yield from (mark for row in rows for mark in _dot(panel, row, style))


def _line(rows: Sequence[Row], style: Style, is_stepped: bool, shift: float) -> Iterator[Mark]:
    """A line with its band, parted where they are undefined, and about four points; `shift`: how
    far these stand behind those of the first series, as a share of their distance.
    """
    for is_known, group in groupby(rows, key=lambda row: row.low is not None):
        part = list(group)
        if is_known:
            x, low, high = (_column(part, name) for name in ("x", "low", "high"))
            yield Mark(BAND, [*x, *reversed(x)], [*low, *reversed(high)], style)
            if len(part) == 1:
                yield Mark(SPAN, [*x, *x], [*low, *high], style)
    known = [row for row in rows if row.y is not None]
    for is_known, group in groupby(rows, key=lambda row: row.y is not None):
        part = list(group)
        if is_known:
            x, y = _column(part, "x"), _column(part, "y")
            if is_stepped:
                x, y = _doubled(x)[1:], _doubled(y)[:-1]
            yield Mark(LINE, x, y, style)
    every = max(1, len(known) // 4)
    for row in known[int(every * shift) :: every]:
        yield Mark(DOT, _column([row], "x"), _column([row], "y"), style)


def _column(rows: Sequence[Row], name: str) -> list[float]:
    return [float(getattr(row, name)) for row in rows]


def _dot(panel: Panel, row: Row, style: Style) -> Iterator[Mark]:
    """A point with its interval; nothing of what is undefined."""
    if row.y is None:
        return
    x, y = (row.y, panel.down(row)) if panel.names else (float(row.x), row.y)
    if row.low is not None and row.high is not None:
        yield Mark(SPAN, [row.low, row.high], [y, y], style)
    names = (str(row.x), row.series, row.label) if panel.names else (row.label,)
    text = f"{', '.join(filter(None, names))}: {number(row.y)}"
    yield Mark(DOT, [x], [y], style, text)


def _doubled(values: Sequence[float]) -> list[float]:
    return [value for value in values for _ in range(2)]


def format_cell(value: str | float | None) -> str:
    if value is None or isinstance(value, str):
        return value or ""
    return f"{value:.0f}" if abs(value) >= 1e12 else f"{value:.12g}"


# Axes.

TICKS_MIN: Final = 3
_STEPS: Final = 5  # between ticks, at most


def axis_of(low: float, high: float) -> Axis:
    """A linear axis with round numbers as ticks, TICKS_MIN or more."""
    if high - low < 1e-12 * max(1.0, abs(high)):
        pad = abs(high) * 0.05 or 0.05
        low, high = low - pad, high + pad
    for steps in count(_STEPS):
        step = _round_step((high - low) / steps)
        first = math.ceil(low / step - 1e-9)
        last = math.floor(high / step + 1e-9)
        if last - first + 1 >= TICKS_MIN:
            break
    decimals = min(8, max(0, -math.floor(math.log10(step) + 1e-9)))
    ticks = [(n * step, fixed(n * step, decimals)) for n in range(first, last + 1)]
    return Axis(low, high, ticks)


def _round_step(least: float) -> float:
    """The smallest 1, 2 or 5 times a power of ten that is at least `least`."""
    power: float = 10.0 ** math.floor(math.log10(least))
    return next(n * power for n in (1, 2, 5, 10) if n * power >= least * (1 - 1e-9))


def reach(values: Iterable[float]) -> tuple[float, float]:
    """The range of an axis for these values, with a margin; it starts at 0 if that is near."""
    known = list(values) or [0.0]
    low, high = min(known), max(known)
    if 0 < low < 0.5 * high:
        low = 0.0
    room = 0.04 * (high - low)
    return (low - room if low < 0 else low), high + room


# Styles.


def styles_of(
    series: Sequence[str],
    policies: Mapping[str, str] | None = None,
    studies: Studies = NO_STUDIES,
) -> dict[str, Style]:
    """A style for each series. Those of one hue differ in line (the first four) and marker (seven).

    `policies`: by roster of a single policy, that policy, whose hue it has.
    """
    labels, shown = labels_of(series), {name: (policies or {}).get(name, name) for name in series}
    hues = hues_of(shown.values(), studies)
    taken: Counter[int] = Counter()
    styles = {}
    for name, policy in shown.items():
        hue = hues[policy]
        place = hue + taken[hue]
        taken[hue] += 1
        dash, marker = DASHES[place % len(DASHES)], MARKERS[place % len(MARKERS)]
        styles[name] = Style(hue, dash, marker, labels[name])
    return styles


def labels_of(names: Iterable[str], most: int = LABEL_MAX) -> dict[str, str]:
    """Distinct labels for names: those of more than `most` characters are cut in the middle, and
    equal results numbered.
    """
    return cut_apart({name: printable(name) for name in names}, most, "…")
