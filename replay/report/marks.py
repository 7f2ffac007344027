"""Figures as records: panels with axes and marks, in the units of their data.

`plot.py` chooses the axes, `svg.py` draws a panel.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import attrs

NARROW, WIDE = 288.0, 420.0  # widths of panels in pixels of a page, three or two in a row
HEIGHT: Final = 158.0
TOP, RIGHT, BOTTOM = 22.0, 10.0, 34.0  # margins of a panel's axes, with a label below
CHARACTER: Final = 6.4  # width of a character, an upper bound of the average

ZERO, DIAGONAL = "zero", "diagonal"  # reference lines


@attrs.frozen
class Style:
    """The style of a series in figures.

    Attributes:
        colour: a class of figure.css.
        dash: lengths of dashes and gaps in turn; empty: a solid line.
        marker: the shape of its points, one of MARKERS.
        label: its name, shortened if long.
        name: its name.
        note: what a legend says behind its label.
    """

    colour: str
    dash: Sequence[float]
    marker: str
    label: str
    name: str
    note: str = ""


T: Final = 0.4  # half the thickness of the arms of a plus
_PLUS: Final = (
    (-T, -1.2), (T, -1.2), (T, -T), (1.2, -T), (1.2, T), (T, T), (T, 1.2), (-T, 1.2), (-T, T),
    (-1.2, T), (-1.2, -T), (-T, -T),
)  # fmt: skip
# Corners, around the centre, downwards positive; a circle has none.
MARKERS: Final[dict[str, Sequence[tuple[float, float]]]] = {
    "circle": (),
    "triangle": ((0, -1.25), (1.15, 0.9), (-1.15, 0.9)),
    "square": ((-0.9, -0.9), (0.9, -0.9), (0.9, 0.9), (-0.9, 0.9)),
    "diamond": ((0, -1.35), (1.35, 0), (0, 1.35), (-1.35, 0)),
    "cross": tuple((0.75 * (x - y), 0.75 * (x + y)) for x, y in _PLUS),
    "wedge": ((0, 1.25), (1.15, -0.9), (-1.15, -0.9)),
    "plus": _PLUS,
}


@attrs.frozen
class Sample:
    """A value at a position, the ends of its 95% interval, and the number of runs behind it."""

    x: float
    y: float
    low: float | None = None
    high: float | None = None
    n: int | None = None


@attrs.frozen
class Curve:
    """A line with markers, and a band where the samples have intervals.

    Attributes:
        segments: the samples; no line is drawn from one segment to the next.
        steps: whether a value holds up to the next position.
        index: its place among the curves of the panel, of which there are `curves`: each has its
            markers at other positions.
        at_end: its label is drawn at its end.
    """

    style: Style
    segments: Sequence[Sequence[Sample]]
    steps: bool = False
    index: int = 0
    curves: int = 1
    at_end: bool = False

    @property
    def samples(self) -> list[Sample]:
        return [sample for segment in self.segments for sample in segment]

    @property
    def marked(self) -> list[Sample]:
        """The samples with markers: about four."""
        every = max(1, len(self.samples) // 4)
        return self.samples[every * self.index // max(1, self.curves) :: every]


@attrs.frozen
class Point:
    """A point, and the horizontal line of its interval.

    Attributes:
        y: a value of the vertical axis, or a position among rows: 0 is the first.
        text: its description.
        href: the address that it links to; empty: none.
        group: what distinguishes it from the other points of its row and series.
    """

    style: Style
    x: float
    y: float
    low: float | None = None
    high: float | None = None
    n: int | None = None
    hollow: bool = False
    text: str = ""
    href: str = ""
    group: str = ""


@attrs.frozen
class Area:
    """A filled step function from `below` to `above`, with one value between two `edges`; `colour`:
    a class of figure.css.
    """

    colour: str
    name: str
    edges: Sequence[float]
    below: Sequence[float]
    above: Sequence[float]


@attrs.frozen
class Note:
    """A faint remark that begins at `x`, in a row."""

    x: float
    y: float
    text: str


Mark = Curve | Point | Area | Note


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
    """A part of a figure.

    Attributes:
        rows: whether the vertical axis has rows, from the top, whose labels are its ticks.
        marks: in drawing order.
        alt: a text alternative.
        width: of the panel, in pixels at the page's maximum width; as `height`.
        rule: a reference line, ZERO or DIAGONAL; empty: none.
        names: the labels of the rows in full; ticks may have them shortened.
        full_title: the title in full; empty: as `title`.
    """

    title: str
    x: Axis
    y: Axis
    rows: bool
    marks: Sequence[Mark]
    alt: str
    width: float = NARROW
    height: float = HEIGHT
    x_label: str = ""
    y_label: str = ""
    rule: str = ""
    names: Sequence[str] = ()
    full_title: str = ""

    @property
    def left(self) -> float:
        """The left end of the axes on a page, in pixels."""
        room = 10 + CHARACTER * max((len(label) for _, label in self.y.ticks), default=0)
        return min(room + (14 if self.y_label else 0), 0.55 * self.width)

    @property
    def right(self) -> float:
        labels = [mark.style.label for mark in self.curves if mark.at_end]
        return self.width - RIGHT - CHARACTER * max(map(len, labels), default=0)

    @property
    def bottom(self) -> float:
        return self.height - (BOTTOM if self.x_label else BOTTOM - 14)

    @property
    def curves(self) -> list[Curve]:
        return [mark for mark in self.marks if isinstance(mark, Curve)]

    @property
    def has_links(self) -> bool:
        return any(isinstance(mark, Point) and mark.href for mark in self.marks)

    def ends(self, gap: float) -> list[tuple[float, Style]]:
        """The labels at the ends of curves, at least a gap apart: the height of each (shares of the
        axis, as `gap`), and its style; the lowest first.
        """
        ends = sorted(
            (
                (self.y.share(curve.samples[-1].y), curve.style)
                for curve in self.curves
                if curve.at_end
            ),
            key=lambda end: end[0],
        )
        top = 1 - gap * (len(ends) - 1)  # the highest place of the lowest one
        placed: list[tuple[float, Style]] = []
        for index, (height, style) in enumerate(ends):
            lowest = placed[-1][0] + gap if placed else 0.0
            placed.append((max(lowest, min(height, top + index * gap)), style))
        return placed


@attrs.frozen
class Key:
    """An entry of a legend: its label, and the marker of a series on its line, if the figure has
    lines; or, if the marker is PATCH, a filled area. `name`: the label in full; empty: as `label`.
    """

    label: str
    style: Style
    hollow: bool = False
    name: str = ""


PATCH: Final = "patch"


def has_lines(panels: Sequence[Panel]) -> bool:
    """Whether the series of a figure are lines, and not points alone."""
    return any(panel.curves for panel in panels)


@attrs.frozen
class Drawn:
    """A figure: its panels in order, its legend, and sentences that name the panels left out, by
    reason.
    """

    panels: Sequence[Panel]
    legend: Sequence[Key]
    omitted: Sequence[str] = ()
