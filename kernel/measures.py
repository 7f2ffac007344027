"""Statistics of runs: mean, ratio, Gini coefficient. An undefined value is None, never 0.

Sums are exact and rounded once, so the result depends neither on the order of the terms nor on the
version of Python.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

Value = float | None


def mean(values: Sequence[Value]) -> Value:
    """The mean of the defined values; None if there are none."""
    defined = [value for value in values if value is not None]
    return math.fsum(defined) / len(defined) if defined else None


def ratio(part: float, whole: float) -> Value:
    """`part` ÷ `whole`; None if `whole` is 0."""
    return part / whole if whole else None


def gini(amounts: Iterable[float]) -> Value:
    """Gini coefficient: Σ over i, j of |x_i − x_j| ÷ (2 N² · mean). 0 means that all have the same.

    None if the mean is not above 0.
    """
    held = sorted(amounts)
    total = math.fsum(held)
    if total <= 0:
        return None
    # Σ|x_i − x_j| over all pairs, each twice, from the ranks.
    differences = 2 * math.fsum((2 * rank - len(held) + 1) * x for rank, x in enumerate(held))
    return differences / (2 * len(held) * total)
