"""Styles of the rosters in figures of a report; those of one hue differ in line and marker."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from goldrush.replay.colours import hues_of
from goldrush.replay.report.marks import MARKERS, Style
from goldrush.replay.report.page import printable
from goldrush.replay.text import cut_apart

DASHES: Final = ((), (7, 3), (2, 2.5), (9, 3, 2, 3))
LABEL_MAX: Final = 26  # characters of a label in a figure


def styles_of(
    rosters: Sequence[str],
    policies: Mapping[str, str] | None = None,
    order: Sequence[str] = (),
    null: str = "",
) -> dict[str, Style]:
    """A style for each roster. Those of one hue differ in line (the first four) and marker (seven).

    `policies`: by roster of a single policy, that policy, whose hue it has; `order` and `null`: as
    for `hues_of`.
    """
    labels, shown = labels_of(rosters), {name: (policies or {}).get(name, name) for name in rosters}
    hues = hues_of(shown.values(), order, null)
    taken: Counter[int] = Counter()
    styles = {}
    for name, policy in shown.items():
        hue = hues[policy]
        place = hue + taken[hue]
        taken[hue] += 1
        dash, marker = DASHES[place % len(DASHES)], list(MARKERS)[place % len(MARKERS)]
        styles[name] = Style(f"c{hue}", dash, marker, labels[name], name)
    return styles


def labels_of(names: Iterable[str], most: int = LABEL_MAX) -> dict[str, str]:
    """Distinct labels for names: those of more than `most` characters are cut in the middle, what
    stands before brackets first, and equal results numbered.
    """
    return cut_apart({name: printable(name) for name in names}, most, "…")
