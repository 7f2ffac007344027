"""The statistics of a study: intervals, tests, correlations over seeds.

A sample is one figure a seed; None where it is undefined. Such seeds are left out of means and
tests, and are counted, so that nothing is inferred from what was never seen.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from functools import cache
from itertools import accumulate
from typing import Final

import attrs

CONFIDENCE: Final = 0.95
SIGNIFICANT: Final = 0.05
SIGN_SHARE: Final = 0.75  # 15 of 20 seeds
EXACT_MAX: Final = 50  # pairs up to which the signed-rank test counts all patterns of signs
CORRELATED_MIN: Final = 4  # runs under which a correlation has no interval

Value = float | None


@attrs.frozen
class Interval:
    """The mean of `n` defined figures and its 95% confidence interval by Student's t with n − 1
    degrees of freedom. `mean` is None without any, `low` and `high` with fewer than two.
    """

    n: int
    mean: Value
    low: Value
    high: Value


@attrs.frozen
class Change:
    """A figure's change within pairs (half against half), tested in the direction that is expected.

    `seeds`: pairs in all; `first` and `second`: what the pairs with data have on either side;
    `difference`: second − first; `expected`: +1 if it is to rise, −1 if to fall. `p`: the one-sided
    Wilcoxon signed-rank test for that direction, `p_opposite` for the other one (None: nothing to
    test), exact for up to 50 pairs that changed, tied ones too. `effect`: the matched-pairs
    rank-biserial correlation, −1 .. 1, positive as expected.
    `right` and `wrong`: pairs that changed as expected, and the other way; `same`: not at all.
    """

    seeds: int
    first: Interval
    second: Interval
    difference: Interval
    expected: int
    p: Value
    p_opposite: Value
    effect: Value
    right: int
    wrong: int
    same: int

    @property
    def n(self) -> int:
        """Pairs with data."""
        return self.difference.n

    @property
    def is_all_zero(self) -> bool:
        """Whether there are data, and no pair changed."""
        return self.n > 0 and self.same == self.n


def interval(values: Sequence[Value]) -> Interval:
    """Mean and 95% confidence interval of what is defined."""
    defined = [value for value in values if value is not None]
    n = len(defined)
    if n < 2:
        return Interval(n, defined[0] if defined else None, None, None)
    least, most = min(defined), max(defined)
    mean = min(max(math.fsum(defined) / n, least), most)
    if _tidy(most - least, most, least) == 0:
        return Interval(n, mean, mean, mean)
    variance = math.fsum((value - mean) ** 2 for value in defined) / (n - 1)
    half = t_quantile(n - 1) * math.sqrt(variance / n)
    return Interval(n, mean, mean - half, mean + half)


@cache
def t_quantile(degrees: int) -> float:
    """How many standard errors either side of a mean its interval reaches, by Student's t."""
    from scipy.special import stdtrit

    return float(stdtrit(degrees, (1 + CONFIDENCE) / 2))


def change(pairs: Sequence[tuple[Value, Value]], expected: int) -> Change:
    """The change from the first to the second of each pair; `expected` is +1 or −1."""
    whole = [(a, b) for a, b in pairs if a is not None and b is not None]
    differences = [_tidy(b - a, a, b) for a, b in whole]
    along = [difference * expected for difference in differences]
    p, p_opposite, effect = _signed_rank(along)
    return Change(
        seeds=len(pairs),
        first=interval([a for a, _ in whole]),
        second=interval([b for _, b in whole]),
        difference=interval(differences),
        expected=expected,
        p=p,
        p_opposite=p_opposite,
        effect=effect,
        right=sum(value > 0 for value in along),
        wrong=sum(value < 0 for value in along),
        same=sum(value == 0 for value in along),
    )


def _tidy(difference: float, a: float, b: float) -> float:
    """A difference without what rounding has added to it: 0 for two equal means, and equal where
    two differences are, though they are of other means: they share a rank.
    """
    if math.isclose(a, b, rel_tol=1e-12, abs_tol=1e-12):
        return 0.0
    return float(f"{difference:.10g}")


def _signed_rank(along: Sequence[float]) -> tuple[Value, Value, Value]:
    """One-sided p-values for values above 0 and for values below it, and the rank-biserial
    correlation (W₊ − W₋) ÷ (W₊ + W₋). Zeros are dropped, as Wilcoxon has it.
    """
    changed = [value for value in along if value]
    if not changed:
        return None, None, None
    ranks = _twice_ranks([abs(value) for value in changed])
    most = sum(ranks)
    above = sum(rank for rank, value in zip(ranks, changed, strict=True) if value > 0)
    if len(changed) <= EXACT_MAX:
        at_least = _tail(tuple(sorted(ranks)))
        p, p_opposite = at_least[above], at_least[most - above]
    else:
        from scipy.stats import wilcoxon

        p, p_opposite = (
            float(wilcoxon(changed, alternative=way, correction=True).pvalue)
            for way in ("greater", "less")
        )
    return p, p_opposite, (2 * above - most) / most


def _twice_ranks(values: Sequence[float]) -> list[int]:
    """Twice the rank of each value, from 2 on: equal ones share the mean of theirs, which may end
    in a half.
    """
    places: dict[float, list[int]] = {}
    for place, value in enumerate(sorted(values), 1):
        places.setdefault(value, []).append(place)
    return [places[value][0] + places[value][-1] for value in values]


@cache
def _tail(ranks: tuple[int, ...]) -> Sequence[float]:
    """The chance that the ranks of positive values add up to at least 0, 1, 2 and so on, if every
    sign is as likely as the other: exact, by counting all 2ⁿ patterns of signs.

    scipy's own exact test takes no ties, and its approximation makes p too small by half for few
    pairs with many of them.
    """
    patterns = [1] + [0] * sum(ranks)
    for rank in ranks:
        for total in range(len(patterns) - 1, rank - 1, -1):
            patterns[total] += patterns[total - rank]
    every = 2 ** len(ranks)
    return [count / every for count in list(accumulate(reversed(patterns)))[::-1]]


def smallest_p(seeds: int) -> float:
    """The smallest p-value that so many pairs can give: all of them changed as expected."""
    return 0.5**seeds


def holm(p_values: Sequence[Value]) -> list[Value]:
    """Holm's step-down correction over a family of tests, in the order given.

    With m tests in all, the k-th smallest p-value becomes the largest of (m − i + 1) · p_i over the
    i ≤ k smallest, at most 1. A test without data (None) counts in m and stays None. (scipy has no
    Holm; statsmodels' collects all garbage at each call, which took most of a report's time.)
    """
    order = sorted((p, place) for place, p in enumerate(p_values) if p is not None)
    corrected: list[Value] = [None] * len(p_values)
    largest = 0.0
    for rank, (p, place) in enumerate(order):
        largest = max(largest, min(1.0, (len(p_values) - rank) * p))
        corrected[place] = largest
    return corrected


def paired(ours: Sequence[Value], theirs: Sequence[Value]) -> Interval:
    """The mean of ours − theirs within pairs, with its interval."""
    return interval(
        [
            _tidy(a - b, a, b)
            for a, b in zip(ours, theirs, strict=True)
            if a is not None and b is not None
        ]
    )


@attrs.frozen
class Correlation:
    """Spearman's rank correlation over `n` runs, with its 95% interval (Fisher's z, its variance
    (1 + ρ² ÷ 2) ÷ (n − 3) as Bonett and Wright have it for ranks). `rho` is None where it is
    undefined: fewer than four runs, or one of the two never varies; `low` and `high` are, too, for
    a correlation of 1 or −1, whose z is infinite.
    """

    n: int
    rho: Value
    low: Value
    high: Value


def spearman(xs: Sequence[Value], ys: Sequence[Value]) -> Correlation:
    """Spearman's rank correlation of the pairs of which both are defined."""
    whole = [(x, y) for x, y in zip(xs, ys, strict=True) if x is not None and y is not None]
    first, second = [x for x, _ in whole], [y for _, y in whole]
    n = len(whole)
    if n < CORRELATED_MIN or len(set(first)) == 1 or len(set(second)) == 1:
        return Correlation(n, None, None, None)
    rho = statistics.correlation(_twice_ranks(first), _twice_ranks(second))
    if math.isclose(abs(rho), 1.0, rel_tol=1e-12):
        return Correlation(n, math.copysign(1.0, rho), None, None)
    error = math.sqrt((1 + rho * rho / 2) / (n - 3))
    half = statistics.NormalDist().inv_cdf((1 + CONFIDENCE) / 2) * error
    z = math.atanh(rho)
    return Correlation(n, rho, math.tanh(z - half), math.tanh(z + half))
