"""Statistics of runs: means, ratios, correlations. An undefined value is None, never 0.

Sums are exact and rounded once, so the result depends neither on the order of the terms nor on the
version of Python.
"""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from operator import mul

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
    # Σ|x_i − x_j| over all pairs, each twice, from the ranks: (2 · rank − N + 1) · x_rank.
    differences = 2 * math.fsum(map(mul, range(1 - len(held), len(held), 2), held))
    return differences / (2 * len(held) * total)


def correlation(xs: Sequence[float], ys: Sequence[float]) -> Value:
    """Pearson's correlation; None if either side is constant, up to rounding, or empty."""
    if _is_constant(xs) or _is_constant(ys):
        return None
    a, b = (_centred(values) for values in (xs, ys))
    spread = math.fsum(x * x for x in a) * math.fsum(y * y for y in b)
    r = math.fsum(x * y for x, y in zip(a, b, strict=True)) / math.sqrt(spread)
    is_perfect = math.isclose(abs(r), 1.0, rel_tol=1e-12)
    return math.copysign(1.0, r) if is_perfect else r


def spearman(xs: Sequence[float], ys: Sequence[float]) -> Value:
    """Spearman's rank correlation; None if either side is constant or empty."""
    return correlation(ranks(xs), ranks(ys))


def ranks(values: Sequence[float]) -> list[float]:
    """The 1-based rank of each value: ties share their mean rank."""
    ascending = sorted(values)
    return [(bisect_left(ascending, v) + bisect_right(ascending, v) + 1) / 2 for v in values]


def _is_constant(values: Sequence[float]) -> bool:
    return not values or math.isclose(min(values), max(values), rel_tol=1e-12, abs_tol=1e-12)


def _centred(values: Sequence[float]) -> list[float]:
    middle = math.fsum(values) / len(values)
    return [value - middle for value in values]
