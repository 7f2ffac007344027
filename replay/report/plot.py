"""Panels of figures as SVG.

Why not matplotlib: importing it and drawing with it took twice as long as everything else in a
report. A report needs only lines, bands, points and steps. Drawn here, they take their colours from
the page (light and dark), need no style attributes (which the page's policy forbids), and points
can be links. Lengths are in user units of the SVG: pixels at the page's maximum width.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from html import escape
from itertools import count
from typing import Final

from goldrush.replay.report.page import Panel, fixed, printable
from goldrush.replay.report.styles import Style, shape

NARROW, WIDE = 288.0, 420.0  # widths of panels, three or two in a row
HEIGHT: Final = 158.0
CHARACTER: Final = 6.4  # width of a character, an upper bound of the average
_TOP, _RIGHT, _BOTTOM = 22.0, 10.0, 34.0
_TICK_GAP: Final = 42.0  # minimum distance of two labels on the horizontal axis

Point = tuple[float, float]


class Axis:
    """A linear axis with round numbers as ticks, at least two unless `least` leaves room for one.

    `start` and `end`: the positions of `low` and `high` in the panel. `most`: the maximum number of
    steps between ticks; `least`: the minimum distance of two ticks, in values.
    """

    def __init__(
        self, low: float, high: float, start: float, end: float, most: int, least: float = 0
    ) -> None:
        if high - low < 1e-12 * max(1.0, abs(high)):
            pad = abs(high) * 0.05 or 0.05
            low, high = low - pad, high + pad
        self.low, self.high, self.start, self.end = low, high, start, end
        for steps in count(max(1, most)):
            step = max(least, _round_step((high - low) / steps))
            first = math.ceil(low / step - 1e-9)
            last = math.floor(high / step + 1e-9)
            if first < last or step == least:
                break
        self.ticks = [n * step for n in range(first, last + 1)]
        self.decimals = min(8, max(0, -math.floor(math.log10(step) + 1e-9)))

    def __call__(self, value: float) -> float:
        """The position of a value; values beyond the ends are clamped."""
        share = (value - self.low) / (self.high - self.low)
        return self.start + min(max(share, 0.0), 1.0) * (self.end - self.start)

    def label(self, tick: float) -> str:
        return fixed(tick, self.decimals)


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


class Chart:
    """A panel under construction: axes first, then the contents in drawing order. `rows`: labels of
    rows 0, 1, ... from the top, in place of a numeric vertical axis.
    """

    def __init__(
        self,
        title: str,
        x: tuple[float, float],
        y: tuple[float, float],
        *,
        rows: Sequence[str] = (),
        width: float = NARROW,
        height: float = HEIGHT,
        x_label: str = "",
        y_label: str = "",
        whole: bool = False,
    ) -> None:
        self.title, self.width, self.height = title, width, height
        bottom = height - (_BOTTOM if x_label else _BOTTOM - 14)
        self._parts: list[str] = []
        self._has_links = False
        if rows:
            room = 0.03 * (x[1] - x[0])  # so that no point covers a label
            x = x[0] - room, x[1] + room
            self.y = Axis(-0.5, len(rows) - 0.5, _TOP, bottom, len(rows))
            labels = [(self.y(row), name) for row, name in enumerate(rows)]
        else:
            self.y = Axis(*y, bottom, _TOP, 4)
            labels = [(self.y(tick), self.y.label(tick)) for tick in self.y.ticks]
        left = 10 + CHARACTER * max((len(name) for _, name in labels), default=0)
        left += 14 if y_label else 0
        end = width - _RIGHT
        most = max(2, int((end - left) / _TICK_GAP))
        self.x = Axis(*x, min(left, 0.55 * width), end, most, least=float(whole))
        self._frame(labels, bool(rows), bottom, x_label, y_label)

    def _frame(
        self,
        labels: Sequence[tuple[float, str]],
        rows: bool,
        bottom: float,
        x_label: str,
        y_label: str,
    ) -> None:
        left, right = self.x.start, self.x.end
        grid = "".join(f"M{self.x(tick):.1f} {_TOP}V{bottom:g}" for tick in self.x.ticks)
        between = [self.y(row + 0.5) for row in range(len(labels) - 1)]
        across = between if rows else [at for at, _ in labels]
        grid += "".join(f"M{left:.1f} {at:.1f}H{right:g}" for at in across)
        self._parts.append(f'<path class="grid" d="{grid}"/>')
        self._parts.append(f'<path class="axis" d="M{left:.1f} {_TOP}V{bottom:g}H{right:g}"/>')
        self.text(0, 12, self.title, "title")
        for at, name in labels:
            self.text(left - 5, at + 3.6, name, "end")
        last = -math.inf
        for tick in self.x.ticks:
            text = self.x.label(tick)
            half = CHARACTER * len(text) / 2
            at = min(self.x(tick), self.width - half)
            if at - half > last:
                self.text(at, bottom + 13, text, "middle")
                last = at + half + 4
        if x_label:
            self.text((left + right) / 2, self.height - 6, x_label, "middle")
        if y_label:
            middle = (_TOP + bottom) / 2
            self._parts.append(
                f'<text class="middle" transform="translate(10 {middle:g})rotate(-90)">'
                f"{_escaped(y_label)}</text>"
            )

    def text(self, x: float, y: float, text: str, classes: str) -> None:
        """Draw text; the classes of figure.css say whether `x` is its start, middle or end."""
        self._parts.append(
            f'<text class="{classes}" x="{x:.1f}" y="{y:.1f}">{_escaped(text)}</text>'
        )

    def zero(self) -> None:
        """Draw the vertical line at zero."""
        self._parts.append(
            f'<path class="zero" d="M{self.x(0):.1f} {self.y.start:.1f}V{self.y.end:.1f}"/>'
        )

    def line(self, points: Sequence[Point], style: Style, *, steps: bool = False) -> None:
        if not points:
            return
        path = ""
        before = ""
        for x, y in ((self.x(x), self.y(y)) for x, y in points):
            at = f"{y:.1f}"
            path += f"H{x:.1f}V{at}" if steps and path else f"{'L' if path else 'M'}{x:.1f} {at}"
            before = at
        if steps:
            path += f"H{self.x(points[-1][0]):.1f}V{before}"
        dash = f' stroke-dasharray="{style.dash}"' if style.dash else ""
        self._parts.append(f'<path class="line {style.colour}"{dash} d="{path}"/>')

    def marks(self, points: Sequence[Point], style: Style, index: int, lines: int) -> None:
        """Mark some points of the `index`-th of so many `lines`, at other positions than on the
        others.
        """
        every = max(1, len(points) // 4)
        first = (every * index) // max(1, lines)
        for x, y in points[first::every]:
            self._parts.append(shape(style.marker, style.colour, self.x(x), self.y(y), 2.6))

    def band(self, above: Sequence[Point], below: Sequence[Point], classes: str) -> None:
        around = [*above, *reversed(below)]
        path = "".join(
            f"{'L' if index else 'M'}{self.x(x):.1f} {self.y(y):.1f}"
            for index, (x, y) in enumerate(around)
        )
        self._parts.append(f'<path class="band {classes}" d="{path}Z"/>')

    def diagonal(self) -> None:
        (x0, x1), (y0, y1) = (self.x.start, self.x.end), (self.y.start, self.y.end)
        self._parts.append(f'<path class="zero" d="M{x0:.1f} {y0:.1f}L{x1:.1f} {y1:.1f}"/>')

    def across(self, low: float, high: float, row: float, classes: str) -> None:
        at = self.y(row)
        self._parts.append(
            f'<path class="line {classes}" d="M{self.x(low):.1f} {at:.1f}H{self.x(high):.1f}"/>'
        )

    def tall(self, x: float, low: float, high: float, classes: str) -> None:
        self._parts.append(
            f'<path class="line {classes}" '
            f'd="M{self.x(x):.1f} {self.y(low):.1f}V{self.y(high):.1f}"/>'
        )

    def point(
        self,
        x: float,
        y: float,
        style: Style,
        *,
        hollow: bool = False,
        text: str = "",
        href: str = "",
    ) -> None:
        """Draw a point at `y`, a value of the vertical axis or a row; `text` is its tooltip."""
        classes = f"{style.colour} hollow" if hollow else style.colour
        mark = shape(style.marker, classes, self.x(x), self.y(y))
        if text:
            mark = f"{mark[:-2]}><title>{_escaped(text)}</title></{mark[1 : mark.index(' ')]}>"
        if href:
            self._has_links = True
            mark = (
                f'<a href="{_escaped(href)}" aria-label="{_escaped(text)}" tabindex="-1">{mark}</a>'
            )
        self._parts.append(mark)

    def panel(self, alt: str) -> Panel:
        """The finished panel; `alt` is its text alternative."""
        return Panel(
            self.title, "".join(self._parts), self.width, self.height, alt, self._has_links
        )


def _escaped(text: str) -> str:
    return escape(printable(text))
