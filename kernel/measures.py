"""Figures of what happened: means, ratios, inequality. Undefined is None, never 0.

Sums are exact before they are rounded once, so that no order of the terms, and no version of
Python, changes a digit.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

Value = float | None


def mean(values: Sequence[Value]) -> Value:
    """The mean of what is defined; None where nothing is."""
    defined = [value for value in values if value is not None]
    return math.fsum(defined) / len(defined) if defined else None


def ratio(part: float, whole: float) -> Value:
    """`part` ÷ `whole`, None where there is nothing to divide by."""
    return part / whole if whole else None


def gini(amounts: Iterable[float]) -> Value:
    """Gini coefficient: Σ over i, j of |x_i − x_j| ÷ (2 N² · mean). 0: all have the same. None
    where the mean is not above 0.
    """
    held = sorted(amounts)
    total = math.fsum(held)
    if total <= 0:
        return None
    # Σ|x_i − x_j| over all pairs, each twice, from the ranks.
    apart = 2 * math.fsum((2 * rank - len(held) + 1) * x for rank, x in enumerate(held))
    return apart / (2 * len(held) * total)
