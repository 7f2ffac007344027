"""Figures as SVG, for pages.

Colours and fonts are classes of page.css, for the page's policy forbids style attributes. Lengths
are in pixels at the page's maximum width.
"""

from __future__ import annotations

import math
import re
from base64 import b64encode
from collections.abc import Iterator, Sequence
from html import escape
from pathlib import Path
from typing import Final

import attrs

from goldrush.replay.colours import HUES, css_classes
from goldrush.replay.report.numbers import printable
from goldrush.replay.report.plot import (
    BAND,
    DOT,
    DOTS,
    LINE,
    SCATTER,
    Chart,
    Mark,
    Panel,
    Style,
)

TOP, RIGHT, BOTTOM = 22.0, 10.0, 34.0  # margins of a panel's axes, with a label below
CHARACTER: Final = 6.4  # width of a character, an upper bound of the average
KEY_SIZE: Final = (26.0, 12.0)  # of the symbol of a series in a legend
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
# Outlines of markers around their place.
_OUTLINES: Final = {
    "circle": "m-3 0a3 3 0 1 0 6 0a3 3 0 1 0-6 0z",
    "triangle": "m0-3.8l3.5 6.5h-7z",
    "square": "m-2.7-2.7h5.4v5.4h-5.4z",
    "diamond": "m0-4l4 4l-4 4l-4-4z",
    "cross": "m0-1.7l1.8-1.8l1.7 1.7l-1.8 1.8l1.8 1.8l-1.7 1.7l-1.8-1.8l-1.8 1.8l-1.7-1.7l1.8-1.8"
    "l-1.8-1.8l1.7-1.7z",
    "wedge": "m0 3.8l3.5-6.5h-7z",
    "plus": "m-1.2-3.6h2.4v2.4h2.4v2.4h-2.4v2.4h-2.4v-2.4h-2.4v-2.4h2.4z",
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


@attrs.frozen
class Frame:
    """Where the axes of a panel stand in its drawing."""

    panel: Panel
    left: float
    right: float
    bottom: float

    def x(self, value: float) -> float:
        return self.left + self.panel.x.share(value) * (self.right - self.left)

    def y(self, value: float) -> float:
        start, end = (TOP, self.bottom) if self.panel.names else (self.bottom, TOP)
        return start + self.panel.y.share(value) * (end - start)


def panel_svg(plot: Chart, panel: Panel) -> str:
    """The contents of a panel."""
    width, height = size_of(plot, panel)
    room = 10 + CHARACTER * max(len(label) for _, label in panel.y.ticks)
    left = min(room + (14 if plot.y_label else 0), 0.55 * width)
    right = width - RIGHT
    frame = Frame(panel, left, right, height - (BOTTOM if plot.x_label else BOTTOM - 14))
    parts = list(_axes(frame, width, has_zero=plot.has_zero))
    parts += [_drawn(mark, frame) for mark in plot.marks(panel)]
    if plot.x_label:
        parts.append(_text((left + right) / 2, height - 6, plot.x_label, "middle"))
    if plot.y_label:
        turned = f"translate(10 {(TOP + frame.bottom) / 2:g})rotate(-90)"
        parts.append(f'<g transform="{turned}">{_text(0, 0, plot.y_label, "middle")}</g>')
    return "".join(parts)


def _axes(frame: Frame, width: float, *, has_zero: bool) -> Iterator[str]:
    panel, left, right, bottom = frame.panel, frame.left, frame.right, frame.bottom
    grid = "".join(f"M{frame.x(at):.1f} {TOP:g}V{bottom:g}" for at, _ in panel.x.ticks)
    across = [at + 0.5 * bool(panel.names) for at, _ in panel.y.ticks]  # between rows of dots
    grid += "".join(f"M{left:.1f} {frame.y(at):.1f}H{right:g}" for at in across)
    yield f'<path class="grid" d="{grid}"/>'
    if has_zero:
        yield f'<path class="zero" d="M{frame.x(0):.1f} {TOP:g}V{bottom:g}"/>'
    yield f'<path class="axis" d="M{left:.1f} {TOP:g}V{bottom:g}H{right:g}"/>'
    yield _text(0, 12, panel.label, "title")
    for value, label in panel.y.ticks:
        yield _text(left - 5, frame.y(value) + 3.6, label, "end")
    last = -math.inf
    for value, label in panel.x.ticks:
        half = CHARACTER * len(label) / 2
        at = min(frame.x(value), width - half)
        if at - half > last:
            yield _text(at, bottom + 13, label, "middle")
            last = at + half + 4


def _drawn(mark: Mark, frame: Frame) -> str:
    places = [(frame.x(x), frame.y(y)) for x, y in zip(mark.x, mark.y, strict=True)]
    colour = f"c{mark.style.hue}"
    if mark.kind == DOT:
        return _marker(mark.style, *places[0], mark.text)
    if mark.kind == BAND:
        return f'<path class="band {colour}" d="{_path(places)}Z"/>'
    dashed = _dashed(mark.style) if mark.kind == LINE else ""
    return f'<path class="line {colour}"{dashed} d="{_path(places)}"/>'


def _marker(style: Style, x: float, y: float, text: str = "") -> str:
    title = f"<title>{escape(printable(text))}</title>" if text else ""
    outline = f"M{x:.1f} {y:.1f}{_OUTLINES[style.marker]}"
    return f'<path class="dot c{style.hue}" d="{outline}">{title}</path>'


def _dashed(style: Style) -> str:
    dash = " ".join(f"{length:g}" for length in style.dash)
    return f' stroke-dasharray="{dash}"' if dash else ""


def _path(places: Sequence[tuple[float, float]]) -> str:
    return "".join(f"{'L' if at else 'M'}{x:.1f} {y:.1f}" for at, (x, y) in enumerate(places))


def _text(x: float, y: float, text: str, classes: str) -> str:
    """Text; the classes of page.css say whether `x` is its start, middle or end."""
    return f'<text class="{classes}" x="{x:.1f}" y="{y:.1f}">{escape(printable(text))}</text>'


def image_of(contents: str, size: tuple[float, float], alt: str) -> str:
    """The contents of a panel or a legend as an image of HTML, which brings its styles: those of
    page.css, in the colours on white paper.
    """
    sheet = (Path(__file__).parent / "page.css").read_text(encoding="utf-8")
    style = css_classes() + "".join(re.findall(r"^svg [^}]*}", sheet, re.MULTILINE))
    style = re.sub(r"var\(--([\w-]+)\)", lambda match: LIGHT[match[1]], style)
    width, height = size
    svg = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}" '
        f'width="{width:g}" height="{height:g}"><style>{style}</style>'
        f'<rect width="100%" height="100%" fill="{LIGHT["paper"]}"/>{contents}</svg>'
    )
    data = b64encode(svg.encode()).decode()
    return (
        f'<img src="data:image/svg+xml;base64,{data}" alt="{escape(alt)}" style="max-width:100%">'
    )


def key_svg(plot: Chart, style: Style) -> str:
    """The symbol of a series in a legend, of KEY_SIZE."""
    line = f'<path class="line c{style.hue}"{_dashed(style)} d="M0 6H26"/>'
    return f"{'' if plot.kind in (DOTS, SCATTER) else line}{_marker(style, 13, 6)}"
