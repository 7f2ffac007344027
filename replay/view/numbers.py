"""How many lines and digits a page has."""

from __future__ import annotations

from typing import Final

from goldrush.kernel.shape import amount

DIGITS: Final = 6  # significant digits of a number in a page
SINGLE_MAX: Final = 20  # agents with a line and a number each; of more, policies are shown
POLICIES_MAX: Final = 16  # policies with a line each


def short(value: float | None, digits: int = DIGITS) -> float | None:
    """A number with the digits that it has in a page; whole numbers as integers."""
    return None if value is None else amount(float(f"{value:.{digits}g}"))
