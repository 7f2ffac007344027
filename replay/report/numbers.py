"""Numbers as text: means rounded to their intervals, p-values, dashes for what is undefined."""

from __future__ import annotations

import math
from typing import Final

from goldrush.kernel.text import escaped
from goldrush.replay.study.inference import Correlation, Interval
from goldrush.replay.text import format_number

NONE: Final = "–"  # undefined
MINUS: Final = "−"  # lines do not break after it
TOGETHER: Final = "\u00a0"  # non-breaking space
DECIMALS_MAX: Final = 8  # of a number that is rounded to its error


def printable(text: str) -> str:
    """The text with invisible characters escaped: names come from the author of the study."""
    return escaped(text, keep=TOGETHER)


def number(value: float | None, digits: int = 3) -> str:
    """A number with so many significant digits of a fraction; None is a dash."""
    if value is None:
        return NONE
    return format_number(value + 0.0, digits).replace("-", MINUS)  # a zero has no sign


def fixed(value: float | None, decimals: int) -> str:
    """A number with a fixed number of decimals; None is shown as a dash."""
    return NONE if value is None else f"{value:z,.{decimals}f}".replace("-", MINUS)


def rounded(interval: Interval) -> str:
    """A mean, rounded to the second significant digit of half its interval."""
    decimals = _decimals(interval)
    return number(interval.mean) if decimals is None else fixed(interval.mean, decimals)


def bounds(interval: Interval) -> str:
    """A mean ± half its interval, both as `rounded`; without an interval the mean alone."""
    decimals = _decimals(interval)
    if decimals is None:
        return number(interval.mean) if interval.low is None else f"{number(interval.mean)} ± 0"
    half = _half(interval)
    return f"{fixed(interval.mean, decimals)} ± {fixed(half, decimals)}"


def within_bounds(found: Correlation) -> str:
    """A correlation with the bounds of its interval, if it has one: "0.60 [0.10, 0.85]"."""
    text = fixed(found.value, 2)
    if found.low is None:
        return text
    return f"{text} [{fixed(found.low, 2)},{TOGETHER}{fixed(found.high, 2)}]"


def _half(interval: Interval) -> float | None:
    if interval.mean is None or interval.high is None:
        return None
    return interval.high - interval.mean


def _decimals(interval: Interval) -> int | None:
    """The number of decimals of a mean by its interval; None without an interval."""
    half = _half(interval)
    if half is None or half <= 0:
        return None
    return min(DECIMALS_MAX, max(0, 1 - math.floor(math.log10(half))))


def p_value(value: float | None) -> str:
    """A p-value as text: 3 decimals, or more if it would otherwise round to 0.05."""
    if value is None:
        return NONE
    if value < 0.001:
        return f"<{TOGETHER}0.001"
    digits = 3
    while f"{value:.{digits}f}" == f"{0.05:.{digits}f}" and value != 0.05 and digits < 15:
        digits += 1
    return f"{value:.{digits}f}"
