"""Styles of the rosters in the figures of a report: colour, line and marker, all distinct."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from goldrush.replay.report.marks import MARKERS, Style
from goldrush.replay.report.page import printable

COLOURS: Final = 7  # classes c0 to c6 of figure.css, distinct with any colour vision
DASHES: Final = ((), (7, 3), (2, 2.5), (9, 3, 2, 3))
LABEL_MAX: Final = 26  # characters of a label in a figure


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
            list(MARKERS)[(place + turn) % len(MARKERS)],
            labels[name],
            name,
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
