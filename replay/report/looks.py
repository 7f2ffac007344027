"""How the rosters of a report look in its figures: the same in all of them, and no two alike."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final, Literal

import attrs

from goldrush.replay.report.page import printable

# Okabe and Ito's colours, which the colour-blind tell apart; black is for axes, yellow is too pale.
COLOURS: Final = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#666666")
# Where there are more rosters than colours, these tell them apart.
Dash = Literal["-", "--", ":", "-."]
DASHES: Final[Sequence[Dash]] = ("-", "--", ":", "-.")
MARKERS: Final = ("o", "^", "s", "D", "v", "P", "X")
LABEL_MAX: Final = 26  # characters of a name that a figure has room for


@attrs.frozen
class Look:
    """How a roster is drawn: colour, line, point, and its name, which may be shortened."""

    colour: str
    dash: Dash
    marker: str
    label: str


def looks_of(rosters: Sequence[str]) -> dict[str, Look]:
    """A look for each roster. From the 29th on, lines repeat; points do from the 50th on."""
    labels = labels_of(rosters)
    looks = {}
    for place, name in enumerate(rosters):
        turn, colour = divmod(place, len(COLOURS))
        looks[name] = Look(
            COLOURS[colour], DASHES[turn % len(DASHES)], MARKERS[turn % len(MARKERS)], labels[name]
        )
    return looks


def labels_of(names: Iterable[str]) -> dict[str, str]:
    """Names as a figure has room for them, none like another: what is cut out of the middle is
    shown as such, and what would be the same then is numbered.
    """
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
