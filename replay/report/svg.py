"""Figures as SVG, for pages and for files that stand alone.

Colours and fonts are classes of figure.css, for the page's policy forbids style attributes. Lengths
are in pixels at the page's maximum width.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from html import escape
from itertools import pairwise
from pathlib import Path
from typing import Final

from goldrush.kernel.files import MARK
from goldrush.replay.colours import HUES, css_classes
from goldrush.replay.report.numbers import number, printable
from goldrush.replay.report.plot import (
    BARS,
    DIAGONAL,
    DOTS,
    SCATTER,
    STEPS,
    ZERO,
    Chart,
    Panel,
    Row,
    Style,
)

_HERE: Final = Path(__file__).parent
TOP, RIGHT, BOTTOM = 22.0, 10.0, 34.0  # margins of a panel's axes, with a label below
CHARACTER: Final = 6.4  # width of a character, an upper bound of the average
LINE: Final = 12.0  # height of a line of text
RADIUS: Final = 3.0  # of points
ROW: Final = 15.0  # the minimum height of a row of dots
EACH: Final = 10.0  # for each series in it
COLOURS: Final = {  # of figures besides HUES: on white paper, on black paper
    "paper": ("#ffffff", "#15181b"),
    "ink": ("#1c1c1c", "#e8e9eb"),
    "soft": ("#5c5f63", "#a2a7ad"),
    "grid": ("#e6e7ea", "#2a2e33"),
}
# The colours on white paper, by variable of the style sheet.
LIGHT: Final = {name: light for name, (light, _) in COLOURS.items()} | {
    f"hue-{hue}": light for hue, (light, _) in enumerate(HUES)
}
T: Final = 0.4  # half the thickness of the arms of a plus
_PLUS: Final = (
    (-T, -1.2), (T, -1.2), (T, -T), (1.2, -T), (1.2, T), (T, T), (T, 1.2), (-T, 1.2), (-T, T),
    (-1.2, T), (-1.2, -T), (-T, -T),
)  # fmt: skip
# Corners of markers around the centre, downwards positive; a circle has none.
_CORNERS: Final[dict[str, Sequence[tuple[float, float]]]] = {
    "circle": (),
    "triangle": ((0, -1.25), (1.15, 0.9), (-1.15, 0.9)),
    "square": ((-0.9, -0.9), (0.9, -0.9), (0.9, 0.9), (-0.9, 0.9)),
    "diamond": ((0, -1.35), (1.35, 0), (0, 1.35), (-1.35, 0)),
    "cross": tuple((0.75 * (x - y), 0.75 * (x + y)) for x, y in _PLUS),
    "wedge": ((0, 1.25), (1.15, -0.9), (-1.15, -0.9)),
    "plus": _PLUS,
}


def columns_of(plot: Chart) -> int:
    """The number of panels in a row: up to three, of dots up to two."""
    return min(len(plot.panels), 2 if plot.kind in (DOTS, SCATTER) else 3)


def size_of(plot: Chart, panel: Panel) -> tuple[float, float]:
    """The width and height of a panel; it is scaled to the room that it has."""
    width = 288.0 if columns_of(plot) == 3 else 420.0
    if plot.kind == DOTS:
        return width, TOP + BOTTOM + max(ROW, EACH * len(panel.series) + 4) * len(panel.names)
    return width, 252.0 if plot.kind == SCATTER else 158.0 if width < 420 else 210.0


def panel_svg(plot: Chart, panel: Panel, *, linked: bool = True) -> str:
    """The contents of a panel; `linked`: whether points link to the pages of their runs."""
    return "".join(_Drawing(plot, panel, linked).parts())


class _Drawing:
    """A panel that is being drawn."""

    def __init__(self, plot: Chart, panel: Panel, linked: bool) -> None:
        self.plot, self.panel, self.linked = plot, panel, linked
        self.width, self.height = size_of(plot, panel)
        self.top = TOP
        self.bottom = self.height - (BOTTOM if plot.x_label else BOTTOM - 14)
        room = 10 + CHARACTER * max(len(label) for _, label in panel.y.ticks)
        self.left = min(room + (14 if plot.y_label else 0), 0.55 * self.width)
        longest = max(len(plot.styles[name].label) for name in panel.series)
        self.right = self.width - RIGHT - CHARACTER * longest * plot.is_direct

    def x(self, value: float) -> float:
        return self.left + self.panel.x.share(value) * (self.right - self.left)

    def y(self, value: float) -> float:
        start, end = (self.top, self.bottom) if self.panel.names else (self.bottom, self.top)
        return start + self.panel.y.share(value) * (end - start)

    def parts(self) -> Iterator[str]:
        yield from self._frame()
        yield from self._rule()
        if self.plot.kind == BARS:
            yield from self._bars()
        else:
            for index, (name, rows) in enumerate(self.panel.series.items()):
                style = self.plot.styles[name]
                if self.plot.kind in (DOTS, SCATTER):
                    yield from (part for row in rows for part in self._dot(row, style))
                else:
                    yield from self._line(rows, style, index)
        if self.plot.is_direct:
            height = self.bottom - self.top
            for share, name in self.panel.ends(LINE / height):
                style, at = self.plot.styles[name], self.bottom - share * height
                yield _text(self.right + 5, at + 3.6, style.label, f"fill c{style.hue}")

    def _frame(self) -> Iterator[str]:
        panel, left, right = self.panel, self.left, self.right
        labels = [(self.y(value), name) for value, name in panel.y.ticks]
        grid = "".join(
            f"M{self.x(value):.1f} {self.top:g}V{self.bottom:g}" for value, _ in panel.x.ticks
        )
        between = [self.y(value + 0.5) for value, _ in panel.y.ticks[:-1]]
        across = between if panel.names else [at for at, _ in labels]
        grid += "".join(f"M{left:.1f} {at:.1f}H{right:g}" for at in across)
        yield f'<path class="grid" d="{grid}"/>'
        yield f'<path class="axis" d="M{left:.1f} {self.top:g}V{self.bottom:g}H{right:g}"/>'
        yield _text(0, 12, panel.label, "title")
        for at, name in labels:
            yield _text(left - 5, at + 3.6, name, "end")
        last = -math.inf
        for value, text in panel.x.ticks:
            half = CHARACTER * len(text) / 2
            at = min(self.x(value), self.width - half)
            if at - half > last:
                yield _text(at, self.bottom + 13, text, "middle")
                last = at + half + 4
        if self.plot.x_label:
            yield _text((left + right) / 2, self.height - 6, self.plot.x_label, "middle")
        if self.plot.y_label:
            middle = (self.top + self.bottom) / 2
            label = _escaped(self.plot.y_label)
            turned = f"translate(10 {middle:g})rotate(-90)"
            yield f'<text class="middle" transform="{turned}">{label}</text>'

    def _rule(self) -> Iterator[str]:
        if self.plot.rule == ZERO:
            yield f'<path class="zero" d="M{self.x(0):.1f} {self.top:g}V{self.bottom:g}"/>'
        elif self.plot.rule == DIAGONAL:
            d = f"M{self.left:.1f} {self.bottom:g}L{self.right:.1f} {self.top:g}"
            yield f'<path class="zero" d="{d}"/>'

    def _line(self, rows: Sequence[Row], style: Style, index: int) -> Iterator[str]:
        """A line with its band, parted where it is undefined, and about four markers, which each
        series has at other positions.
        """
        known = [row for row in rows if row.y is not None]
        for part in _parted(rows):
            places = [self._place(row.x, row.y) for row in part]
            if part[0].low is not None and part[0].high is not None:
                above = [self._place(row.x, row.high) for row in part]
                below = [self._place(row.x, row.low) for row in reversed(part)]
                yield f'<path class="band c{style.hue}" d="{_path([*above, *below])}Z"/>'
                yield from self._lone(part, style)
            if self.plot.kind == STEPS:
                places = [
                    places[0],
                    *((x, y) for a, b in pairwise(places) for x, y in ((b[0], a[1]), b)),
                ]
            dash = " ".join(f"{length:g}" for length in style.dash)
            dashed = f' stroke-dasharray="{dash}"' if dash else ""
            yield f'<path class="line c{style.hue}"{dashed} d="{_path(places)}"/>'
        every = max(1, len(known) // 4)
        for row in known[every * index // max(1, len(self.panel.series)) :: every]:
            yield _marker(style, *self._place(row.x, row.y), 2.6)

    def _lone(self, part: Sequence[Row], style: Style) -> Iterator[str]:
        """The interval of a value without neighbours, which has no line."""
        if len(part) == 1:
            (x, high), (_, low) = (
                self._place(part[0].x, part[0].high),
                self._place(part[0].x, part[0].low),
            )
            yield f'<path class="line c{style.hue}" d="M{x:.1f} {low:.1f}V{high:.1f}"/>'

    def _place(self, x: str | float, y: float | None) -> tuple[float, float]:
        return self.x(float(x)), self.y(y or 0.0)

    def _dot(self, row: Row, style: Style) -> Iterator[str]:
        if row.y is None:
            yield _text(self.left + 4, self.y(self.panel.down(row)) + 3.6, row.label or "", "faint")
            return
        if self.plot.kind == SCATTER:
            x, y = self._place(row.x, row.y)
        else:
            x, y = self.x(row.y), self.y(self.panel.down(row))
        if row.low is not None and row.high is not None:
            d = f"M{self.x(row.low):.1f} {y:.1f}H{self.x(row.high):.1f}"
            yield f'<path class="line c{style.hue}" d="{d}"/>'
        mark = _marker(style, x, y)
        where = (str(row.x), row.series) if self.panel.names else ()
        text = _escaped(f"{', '.join(filter(None, (*where, row.label)))}: {number(row.y)}")
        mark = f"{mark[:-2]}><title>{text}</title></{mark[1 : mark.index(' ')]}>"
        if row.href and self.linked:
            mark = f'<a href="{_escaped(row.href)}" aria-label="{text}" tabindex="-1">{mark}</a>'
        yield mark

    def _bars(self) -> Iterator[str]:
        heights: dict[float, float] = {}
        for name, rows in self.panel.series.items():
            boxes = ""
            for row, (left, right) in zip(rows, edges_of(rows), strict=True):
                at = float(row.x)
                below = heights.get(at, 0.0)
                heights[at] = below + (row.y or 0.0)
                low, high = self.y(below), self.y(heights[at])
                boxes += f"M{self.x(left):.1f} {low:.1f}V{high:.1f}H{self.x(right):.1f}V{low:.1f}Z"
            yield f'<path class="fill c{self.plot.styles[name].hue}" d="{boxes}"/>'


def edges_of(rows: Sequence[Row]) -> list[tuple[float, float]]:
    """Where each of some bars begins and ends: halfway to the next one."""
    at = [float(row.x) for row in rows]
    between = [(a + b) / 2 for a, b in pairwise(at)]
    first = 2 * at[0] - between[0] if between else at[0] - 0.5
    last = 2 * at[-1] - between[-1] if between else at[-1] + 0.5
    return list(pairwise([first, *between, last]))


def _parted(rows: Sequence[Row]) -> list[list[Row]]:
    """Rows of a line, parted where it is undefined."""
    parts: list[list[Row]] = [[]]
    for row in rows:
        if row.y is not None:
            parts[-1].append(row)
        elif parts[-1]:
            parts.append([])
    return [part for part in parts if part]


def _path(places: Sequence[tuple[float, float]]) -> str:
    return "".join(f"{'L' if at else 'M'}{x:.1f} {y:.1f}" for at, (x, y) in enumerate(places))


def key_svg(plot: Chart, style: Style) -> str:
    """The symbol of a series in a legend, 26 by 12 pixels."""
    if plot.kind == BARS:
        return f'<rect class="fill c{style.hue}" x="4" y="1" width="18" height="10"/>'
    line = ""
    if plot.kind not in (DOTS, SCATTER):
        dash = " ".join(f"{length:g}" for length in style.dash)
        dashed = f' stroke-dasharray="{dash}"' if dash else ""
        line = f'<path class="line c{style.hue}"{dashed} d="M0 6H26"/>'
    return f"{line}{_marker(style, 13, 6)}"


def _marker(style: Style, x: float, y: float, size: float = RADIUS) -> str:
    classes = f"{'hollow' if style.hollow else 'dot'} c{style.hue}"
    corners = _CORNERS[style.marker]
    if not corners:
        return f'<circle class="{classes}" cx="{x:.1f}" cy="{y:.1f}" r="{size:g}"/>'
    outline = _path([(x + size * dx, y + size * dy) for dx, dy in corners])
    return f'<path class="{classes}" d="{outline}Z"/>'


def _text(x: float, y: float, text: str, classes: str) -> str:
    """Text; the classes of figure.css say whether `x` is its start, middle or end."""
    return f'<text class="{classes}" x="{x:.1f}" y="{y:.1f}">{_escaped(text)}</text>'


def _escaped(text: str) -> str:
    return escape(printable(text))


# A file that stands alone.

_GAP: Final = 16.0  # between panels
_EDGE: Final = 10  # around all of them


def style_sheet(*sheets: str) -> str:
    """Style sheets of this folder as one, given by their names without `.css`."""
    return "".join((_HERE / f"{sheet}.css").read_text(encoding="utf-8") for sheet in sheets)


def literal_style() -> str:
    """The style of a figure that stands alone, in the light colours: renderers that are no browser
    draw in black what a variable colours.
    """
    sheet = css_classes() + style_sheet("figure")
    return re.sub(r"var\(--([\w-]+)\)", lambda match: LIGHT[match[1]], sheet)


def figure_svg(plot: Chart) -> str:
    """A figure as one SVG file: panels in rows, the legend below them, and the styles."""
    each, parts, y, width = columns_of(plot), [], 0.0, 0.0
    for start in range(0, len(plot.panels), each):
        row = plot.panels[start : start + each]
        for column, panel in enumerate(row):
            wide = size_of(plot, panel)[0]
            drawing, label = panel_svg(plot, panel, linked=False), _escaped(panel.alt)
            at = f"translate({column * (wide + _GAP):g} {y:g})"
            parts.append(f'<g transform="{at}" role="img" aria-label="{label}">{drawing}</g>')
            width = max(width, (column + 1) * (wide + _GAP) - _GAP)
        y += max(size_of(plot, panel)[1] for panel in row) + _GAP
    x = 0.0
    for style in plot.legend.values():
        long = 34 + CHARACTER * len(style.label) + 2 * _GAP
        if x and x + long > width:
            x, y = 0.0, y + 18
        label = f'<text x="32" y="10">{_escaped(style.label)}</text>'
        parts.append(f'<g transform="translate({x:g} {y:g})">{key_svg(plot, style)}{label}</g>')
        x += long
    high = y + (18 if plot.legend else -_GAP) + 2 * _EDGE
    wide = width + 2 * _EDGE
    return (
        f'<?xml version="1.0" encoding="utf-8"?>\n{MARK}\n'
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="{-_EDGE} {-_EDGE} {wide:g} {high:g}" '
        f'width="{wide:g}" height="{high:g}"><style>{literal_style()}</style>'
        f'<rect class="paper" x="{-_EDGE}" y="{-_EDGE}" width="{wide:g}" height="{high:g}"/>'
        f"{''.join(parts)}</svg>\n"
    )
