"""Panels and legends as SVG, for pages and for files that stand alone.

Colours and fonts are classes of figure.css, for the page's policy forbids style attributes. Lengths
are in pixels at the page's maximum width.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from html import escape
from pathlib import Path
from typing import Final

from goldrush.kernel.files import MARK
from goldrush.replay.colours import HUES, css_classes
from goldrush.replay.report.marks import (
    CHARACTER,
    DIAGONAL,
    MARKERS,
    NARROW,
    PATCH,
    TOP,
    ZERO,
    Area,
    Curve,
    Key,
    Panel,
    Point,
    Sample,
    Style,
    has_lines,
)
from goldrush.replay.report.page import printable

KEY: Final = (26, 12)  # width and height of a symbol in a legend
_HERE: Final = Path(__file__).parent
RADIUS, MARKER_RADIUS = 3.2, 2.6  # of points, and of the markers of a line
LINE: Final = 12.0  # height of a line of text
COLOURS: Final = {  # of figures besides HUES: on white paper, on black paper
    "paper": ("#ffffff", "#15181b"),
    "ink": ("#1c1c1c", "#e8e9eb"),
    "soft": ("#5c5f63", "#a2a7ad"),
    "grid": ("#e6e7ea", "#2a2e33"),
}
# The colours on white paper, by the classes of figure.css and by variable.
LIGHT: Final = {name: light for name, (light, _) in COLOURS.items()} | {
    f"{front}{hue}": light for hue, (light, _) in enumerate(HUES) for front in ("c", "hue-")
}


def panel_svg(panel: Panel, links: str | None = "") -> str:
    """The contents of a panel, of its width and height. `links`: the folder, with its slash, that
    addresses of links are relative to; None: nothing is linked.
    """
    return "".join(_Drawing(panel, links).parts())


class _Drawing:
    """A panel that is being drawn."""

    def __init__(self, panel: Panel, links: str | None) -> None:
        self.panel, self.links = panel, links
        self.top, self.bottom = TOP, panel.bottom
        self.left, self.right = panel.left, panel.right

    def x(self, value: float) -> float:
        return self.left + self.panel.x.share(value) * (self.right - self.left)

    def y(self, value: float) -> float:
        share = self.panel.y.share(value)
        start, end = (self.top, self.bottom) if self.panel.rows else (self.bottom, self.top)
        return start + share * (end - start)

    def parts(self) -> Iterator[str]:
        yield from self._frame()
        yield from self._rule()
        for mark in self.panel.marks:
            if isinstance(mark, Curve):
                yield from self._curve(mark)
            elif isinstance(mark, Point):
                yield from self._point(mark)
            elif isinstance(mark, Area):
                yield self._area(mark)
            else:
                yield _text(self.x(mark.x), self.y(mark.y) + 3.6, mark.text, "faint")
        height = self.bottom - self.top
        for share, style in self.panel.ends(LINE / height):
            at = self.bottom - share * height
            yield _text(self.right + 5, at + 3.6, style.label, f"fill {style.colour}")

    def _frame(self) -> Iterator[str]:
        panel, left, right = self.panel, self.left, self.right
        top, bottom = f"{self.top:g}", f"{self.bottom:g}"
        labels = [(self.y(value), name) for value, name in panel.y.ticks]
        grid = "".join(f"M{self.x(value):.1f} {top}V{bottom}" for value, _ in panel.x.ticks)
        between = [self.y(value + 0.5) for value, _ in panel.y.ticks[:-1]]
        across = between if panel.rows else [at for at, _ in labels]
        grid += "".join(f"M{left:.1f} {at:.1f}H{right:g}" for at in across)
        yield f'<path class="grid" d="{grid}"/>'
        yield f'<path class="axis" d="M{left:.1f} {top}V{bottom}H{right:g}"/>'
        yield _text(0, 12, panel.title, "title")
        for at, name in labels:
            yield _text(left - 5, at + 3.6, name, "end")
        last = -math.inf
        for value, text in panel.x.ticks:
            half = CHARACTER * len(text) / 2
            at = min(self.x(value), panel.width - half)
            if at - half > last:
                yield _text(at, self.bottom + 13, text, "middle")
                last = at + half + 4
        if panel.x_label:
            yield _text((left + right) / 2, panel.height - 6, panel.x_label, "middle")
        if panel.y_label:
            middle = (self.top + self.bottom) / 2
            yield (
                f'<text class="middle" transform="translate(10 {middle:g})rotate(-90)">'
                f"{_escaped(panel.y_label)}</text>"
            )

    def _rule(self) -> Iterator[str]:
        low, high = (self.top, self.bottom) if self.panel.rows else (self.bottom, self.top)
        if self.panel.rule == ZERO:
            yield f'<path class="zero" d="M{self.x(0):.1f} {low:.1f}V{high:.1f}"/>'
        elif self.panel.rule == DIAGONAL:
            d = f"M{self.left:.1f} {low:.1f}L{self.right:.1f} {high:.1f}"
            yield f'<path class="zero" d="{d}"/>'

    def _curve(self, curve: Curve) -> Iterator[str]:
        style = curve.style
        for segment in curve.segments:
            if len(segment) > 1:
                yield from self._band(segment, style)
                yield self._line(segment, curve)
            else:
                yield from self._lone(segment[0], style)
        for sample in curve.marked:
            yield _marker(style, self.x(sample.x), self.y(sample.y), MARKER_RADIUS)

    def _band(self, segment: Sequence[Sample], style: Style) -> Iterator[str]:
        above = [(s.x, s.high) for s in segment if s.high is not None]
        below = [(s.x, s.low) for s in segment if s.low is not None]
        if above:
            yield f'<path class="band {style.colour}" d="{self._outline(above, below)}"/>'

    def _outline(
        self, above: Sequence[tuple[float, float]], below: Sequence[tuple[float, float]]
    ) -> str:
        return (
            "".join(
                f"{'L' if index else 'M'}{self.x(x):.1f} {self.y(y):.1f}"
                for index, (x, y) in enumerate([*above, *reversed(below)])
            )
            + "Z"
        )

    def _line(self, segment: Sequence[Sample], curve: Curve) -> str:
        path = before = ""
        for sample in segment:
            x, at = self.x(sample.x), f"{self.y(sample.y):.1f}"
            path += f"H{x:.1f}V{at}" if curve.steps and path else f"{'ML'[bool(path)]}{x:.1f} {at}"
            before = at
        if curve.steps:
            path += f"H{self.x(segment[-1].x):.1f}V{before}"
        return f'<path class="line {curve.style.colour}"{_dashed(curve.style)} d="{path}"/>'

    def _lone(self, sample: Sample, style: Style) -> Iterator[str]:
        x = self.x(sample.x)
        if sample.low is not None and sample.high is not None:
            d = f"M{x:.1f} {self.y(sample.low):.1f}V{self.y(sample.high):.1f}"
            yield f'<path class="line {style.colour}" d="{d}"/>'
        yield _marker(style, x, self.y(sample.y))

    def _point(self, point: Point) -> Iterator[str]:
        x, y = self.x(point.x), self.y(point.y)
        if point.low is not None and point.high is not None:
            d = f"M{self.x(point.low):.1f} {y:.1f}H{self.x(point.high):.1f}"
            yield f'<path class="line {point.style.colour}" d="{d}"/>'
        mark = _marker(point.style, x, y, hollow=point.hollow)
        text = _escaped(point.text)
        if text:
            mark = f"{mark[:-2]}><title>{text}</title></{mark[1 : mark.index(' ')]}>"
        if point.href and self.links is not None:
            href = _escaped(self.links + point.href)
            mark = f'<a href="{href}" aria-label="{text}" tabindex="-1">{mark}</a>'
        yield mark

    def _area(self, area: Area) -> str:
        above, below = (
            [(x, y) for i, y in enumerate(ys) for x in area.edges[i : i + 2]]
            for ys in (area.above, area.below)
        )
        return f'<path class="band fill {area.colour}" d="{self._outline(above, below)}"/>'


def key_svg(key: Key, *, line: bool) -> str:
    """The symbol of an entry of a legend, of the size KEY; `line`: whether its series is a line."""
    (width, height), style = KEY, key.style
    if style.marker == PATCH:
        return f'<rect class="fill {style.colour}" width="{width}" height="{height}"/>'
    middle = height / 2
    path = f'<path class="line {style.colour}"{_dashed(style)} d="M0 {middle:g}H{width}"/>'
    return (path if line else "") + _marker(style, width / 2, middle, hollow=key.hollow)


def _marker(style: Style, x: float, y: float, size: float = RADIUS, *, hollow: bool = False) -> str:
    """A marker by its centre and radius."""
    classes = f"dot {style.colour}{' hollow' if hollow else ''}"
    corners = MARKERS[style.marker]
    if not corners:
        return f'<circle class="{classes}" cx="{x:.1f}" cy="{y:.1f}" r="{size:g}"/>'
    outline = "".join(
        f"{'ML'[bool(place)]}{x + size * dx:.1f} {y + size * dy:.1f}"
        for place, (dx, dy) in enumerate(corners)
    )
    return f'<path class="{classes}" d="{outline}Z"/>'


def _dashed(style: Style) -> str:
    lengths = " ".join(f"{length:g}" for length in style.dash)
    return f' stroke-dasharray="{lengths}"' if lengths else ""


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


def figure_svg(panels: Sequence[Panel], legend: Sequence[Key], links: str | None = None) -> str:
    """A figure as one SVG file: panels in rows, the legend below them, and the styles; `links`: as
    of `panel_svg`.
    """
    each = min(per_row(panels), len(panels))
    rows = [panels[at : at + each] for at in range(0, len(panels), each)]
    width = each * panels[0].width + (each - 1) * _GAP
    parts, y = [], 0.0
    for row in rows:
        for column, panel in enumerate(row):
            parts.append(_placed(panel, column * (panel.width + _GAP), y, links))
        y += max(panel.height for panel in row) + _GAP
    x = 0.0
    for key in legend:
        long = KEY[0] + 8 + CHARACTER * len(key.label) + 2 * _GAP
        if x and x + long > width:
            x, y = 0.0, y + 18
        label = f'<text x="{KEY[0] + 6}" y="10">{_escaped(key.label)}</text>'
        symbol = key_svg(key, line=has_lines(panels))
        parts.append(f'<g transform="translate({x:g} {y:g})">{symbol}{label}</g>')
        x += long
    high = y + (18 if legend else -_GAP) + 2 * _EDGE
    wide = width + 2 * _EDGE
    return (
        f'<?xml version="1.0" encoding="utf-8"?>\n{MARK}\n'
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="{-_EDGE} {-_EDGE} {wide:g} {high:g}" '
        f'width="{wide:g}" height="{high:g}"><style>{literal_style()}</style>'
        f'<rect class="paper" x="{-_EDGE}" y="{-_EDGE}" width="{wide:g}" height="{high:g}"/>'
        f"{''.join(parts)}</svg>\n"
    )


def per_row(panels: Sequence[Panel]) -> int:
    """The number of panels in a row of a page."""
    return 3 if panels[0].width == NARROW else 2


def _placed(panel: Panel, x: float, y: float, links: str | None) -> str:
    svg = panel_svg(panel, links)
    label = _escaped(panel.alt)
    return f'<g transform="translate({x:g} {y:g})" role="img" aria-label="{label}">{svg}</g>'
