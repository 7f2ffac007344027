"""Panels with round numbers as ticks, and the ranges of axes."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from itertools import count
from typing import Final

import attrs

from goldrush.replay.report.marks import HEIGHT, NARROW, Axis, Mark, Panel
from goldrush.replay.report.page import fixed

_TICK_GAP: Final = 42.0  # minimum distance of two labels on the horizontal axis
_STEPS: Final = 4  # between ticks of the vertical axis


def axis_of(low: float, high: float, most: int, least: float = 0) -> Axis:
    """A linear axis with round numbers as ticks, at least two unless `least` leaves room for one.

    `most`: the maximum number of steps between ticks; `least`: the minimum distance of two ticks.
    """
    if high - low < 1e-12 * max(1.0, abs(high)):
        pad = abs(high) * 0.05 or 0.05
        low, high = low - pad, high + pad
    for steps in count(max(1, most)):
        step = max(least, _round_step((high - low) / steps))
        first = math.ceil(low / step - 1e-9)
        last = math.floor(high / step + 1e-9)
        if first < last or step == least:
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


def panel_of(
    title: str,
    x: tuple[float, float],
    y: tuple[float, float],
    marks: Sequence[Mark],
    alt: str,
    *,
    rows: Sequence[str] = (),
    width: float = NARROW,
    height: float = HEIGHT,
    x_label: str = "",
    y_label: str = "",
    whole: bool = False,
    rule: str = "",
    names: Sequence[str] = (),
    full_title: str = "",
) -> Panel:
    """A panel of marks, with axes for these ranges.

    Args:
        rows: labels of rows 0, 1, ... from the top, in place of the range `y`.
        names: these labels in full; by default `rows`.
        whole: only whole numbers are ticks of the horizontal axis.

    Other arguments: as the attributes of a Panel.
    """
    if rows:
        room = 0.03 * (x[1] - x[0])  # so that no point covers a label
        x = x[0] - room, x[1] + room
        vertical = Axis(-0.5, len(rows) - 0.5, list(enumerate(rows)))
    else:
        vertical = axis_of(*y, _STEPS)
    made = Panel(
        title, Axis(*x, []), vertical, bool(rows), marks, alt, width, height, x_label, y_label,
        rule, names or rows, full_title,
    )  # fmt: skip
    most = max(2, int((made.right - made.left) / _TICK_GAP))
    return attrs.evolve(made, x=axis_of(*x, most, least=float(whole)))
