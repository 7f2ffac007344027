"""Styles of the rosters in the figures of a report: colour, line and marker, all distinct."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

import attrs

from goldrush.replay.report.page import KEY, Key, printable

COLOURS: Final = 7  # classes c0 to c6 of figure.css, distinct with any colour vision
DASHES: Final = ("", "7 3", "2 2.5", "9 3 2 3")
MARKERS: Final = ("circle", "triangle", "square", "diamond", "cross", "wedge", "plus")
LABEL_MAX: Final = 26  # characters of a label in a figure


@attrs.frozen
class Style:
    """The style of a roster in figures: a class of figure.css, the `stroke-dasharray` of its line
    (empty: solid), the shape of its points (one of MARKERS), and its name, shortened if long.
    """

    colour: str
    dash: str
    marker: str
    label: str

    def key(self) -> Key:
        width, height = KEY
        middle = height / 2
        dashed = f' stroke-dasharray="{self.dash}"' if self.dash else ""
        line = f'<path class="line {self.colour}"{dashed} d="M0 {middle:g}H{width}"/>'
        return Key(self.label, line + shape(self.marker, self.colour, width / 2, middle))


def shape(marker: str, classes: str, x: float, y: float, size: float = 3.2) -> str:
    """A marker (one of MARKERS) as SVG, in some classes of figure.css, by its centre and radius."""
    if marker == "circle":
        return f'<circle class="dot {classes}" cx="{x:.1f}" cy="{y:.1f}" r="{size:g}"/>'
    outline = "".join(
        f"{'ML'[bool(place)]}{x + size * dx:.1f} {y + size * dy:.1f}"
        for place, (dx, dy) in enumerate(_OUTLINES[marker])
    )
    return f'<path class="dot {classes}" d="{outline}Z"/>'


_T: Final = 0.4  # half the thickness of the arms of a plus
_PLUS: Final = (
    (-_T, -1.2), (_T, -1.2), (_T, -_T), (1.2, -_T), (1.2, _T), (_T, _T), (_T, 1.2), (-_T, 1.2),
    (-_T, _T), (-1.2, _T), (-1.2, -_T), (-_T, -_T),
)  # fmt: skip
_OUTLINES: Final = {
    "triangle": ((0, -1.25), (1.15, 0.9), (-1.15, 0.9)),
    "wedge": ((0, 1.25), (1.15, -0.9), (-1.15, -0.9)),
    "square": ((-0.9, -0.9), (0.9, -0.9), (0.9, 0.9), (-0.9, 0.9)),
    "diamond": ((0, -1.35), (1.35, 0), (0, 1.35), (-1.35, 0)),
    "plus": _PLUS,
    "cross": tuple((0.75 * (x - y), 0.75 * (x + y)) for x, y in _PLUS),
}


def styles_of(rosters: Sequence[str]) -> dict[str, Style]:
    """A style for each roster; pairs of colour and line repeat from the 29th on, pairs of colour
    and marker from the 50th on.
    """
    labels = labels_of(rosters)
    styles = {}
    for place, name in enumerate(rosters):
        turn = place // COLOURS
        styles[name] = Style(
            f"c{place % COLOURS}",
            DASHES[place % len(DASHES)],
            MARKERS[(place + turn) % len(MARKERS)],
            labels[name],
        )
    return styles


def labels_of(names: Iterable[str]) -> dict[str, str]:
    """Distinct labels for names: long ones are cut in the middle, and equal results numbered."""
    labels: dict[str, str] = {}
    for name in names:
        label, number = _short(name), 1
        while label in labels.values():
            number += 1
            label = f"{_short(name)} ({number})"
        labels[name] = label
    return labels


def _short(name: str) -> str:
    shown = printable(name)
    if len(shown) <= LABEL_MAX:
        return shown
    end = LABEL_MAX // 2 - 1
    return f"{shown[: LABEL_MAX - end - 1]}…{shown[-end:]}"
