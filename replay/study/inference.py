"""Statistics over the seeds of a study: confidence intervals, tests, correlations.

A sample has one value per seed; None is undefined. Means and tests leave undefined values out and
report how many defined ones they rest on. Runs that are equal in every event are one draw: a mean
is of all runs, for what is likely comes up often, but intervals and tests rest on the number of
draws. `draws`: a key for each value, the same for equal runs; empty: no two are equal.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Hashable, Iterable, Sequence
from functools import cache
from itertools import accumulate, count
from typing import Final

import attrs

from goldrush.kernel.measures import Value, ranks, spearman

CONFIDENCE: Final = 0.95
SIGNIFICANT: Final = 0.05
SIGN_SHARE: Final = 0.75  # 15 of 20 seeds
EXACT_MAX: Final = 50  # changed pairs; with more, the signed-rank test is approximate
CORRELATED_MIN: Final = 4  # runs; with fewer, a correlation is undefined

_NORMAL: Final = statistics.NormalDist().inv_cdf((1 + CONFIDENCE) / 2)


@attrs.frozen
class Interval:
    """A mean (None if n = 0) of the defined values of n draws and its 95% confidence interval
    (Student's t, n − 1 degrees of freedom; None if n < 2).
    """

    n: int
    mean: Value
    low: Value
    high: Value


@attrs.frozen
class PairedChange:
    """The change of a measure within pairs (second half − first half), tested one-sided by
    Wilcoxon's signed-rank test, exact for up to 50 changed pairs, ties included.

    Attributes:
        seeds: the number of pairs, those of equal runs once, as in all that follows but the means;
            `first`, `second` and `difference` cover those with data.
        expected: +1 if the measure is expected to rise, −1 if to fall.
        p, p_opposite: of a change in the expected direction and in the other; None if none changed.
        effect: the matched-pairs rank-biserial correlation, −1 to 1, positive in the expected
            direction, with the bounds of its 95% interval (None also for −1 and 1).
        right, wrong, same: pairs that changed as expected, in the opposite direction, or not.
    """

    seeds: int
    first: Interval
    second: Interval
    difference: Interval
    expected: int
    p: Value
    p_opposite: Value
    effect: Value
    effect_low: Value
    effect_high: Value
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


def interval(values: Sequence[Value], draws: Sequence[Hashable] = ()) -> Interval:
    """The mean of the defined values and its 95% confidence interval (Student's t)."""
    by_draw = [
        (draw, value)
        for draw, value in zip(draws or range(len(values)), values, strict=True)
        if value is not None
    ]
    if not by_draw:
        return Interval(0, None, None, None)
    defined, n = [value for _, value in by_draw], len(dict(by_draw))
    least, most = min(defined), max(defined)
    mean = min(max(math.fsum(defined) / len(defined), least), most)
    if n < 2:
        return Interval(n, mean, None, None)
    if _tidy(most - least, most, least) == 0:
        return Interval(n, mean, mean, mean)
    share = n / len(defined)  # of the runs that are draws
    variance = math.fsum((value - mean) ** 2 for value in defined) * share / (n - 1)
    half = t_quantile(n - 1) * math.sqrt(variance / n)
    return Interval(n, mean, mean - half, mean + half)


@cache
def t_quantile(degrees: int) -> float:
    """Half the width of the 95% interval of a mean, in standard errors, by Student's t."""
    from scipy.special import stdtrit

    return float(stdtrit(degrees, (1 + CONFIDENCE) / 2))


def change(
    pairs: Sequence[tuple[Value, Value]], expected: int, draws: Sequence[Hashable] = ()
) -> PairedChange:
    """The tested change from the first to the second value of each pair (one per seed; one with an
    undefined value counts only in `PairedChange.seeds`).
    """
    by_draw = list(zip(draws or range(len(pairs)), pairs, strict=True))
    whole = [(draw, a, b) for draw, (a, b) in by_draw if a is not None and b is not None]
    differences = [_tidy(b - a, a, b) for _, a, b in whole]
    drawn = [draw for draw, *_ in whole]
    along = [
        difference * expected for difference in dict(zip(drawn, differences, strict=True)).values()
    ]
    p, p_opposite, effect = _signed_rank(along)
    effect_low, effect_high = _effect_interval(effect, sum(value != 0 for value in along))
    return PairedChange(
        seeds=len(dict(by_draw)),
        first=interval([a for _, a, _ in whole], drawn),
        second=interval([b for *_, b in whole], drawn),
        difference=interval(differences, drawn),
        expected=expected,
        p=p,
        p_opposite=p_opposite,
        effect=effect,
        effect_low=effect_low,
        effect_high=effect_high,
        right=sum(value > 0 for value in along),
        wrong=sum(value < 0 for value in along),
        same=sum(value == 0 for value in along),
    )


def _tidy(difference: float, a: float, b: float) -> float:
    """A difference without rounding noise, so that equal means differ by 0, and equal differences
    of unequal means share a rank.
    """
    if math.isclose(a, b, rel_tol=1e-12, abs_tol=1e-12):
        return 0.0
    return float(f"{difference:.10g}")


def _signed_rank(along: Sequence[float]) -> tuple[Value, Value, Value]:
    """The one-sided p-values of a rise and of a fall, and the rank-biserial correlation
    (W₊ − W₋) ÷ (W₊ + W₋). Zeros are dropped, as in Wilcoxon's paper of 1945.
    """
    changed = [value for value in along if value]
    if not changed:
        return None, None, None
    doubled = [int(2 * rank) for rank in ranks([abs(value) for value in changed])]
    most = sum(doubled)
    above = sum(rank for rank, value in zip(doubled, changed, strict=True) if value > 0)
    if len(changed) <= EXACT_MAX:
        at_least = _tail(tuple(sorted(doubled)))
        p, p_opposite = at_least[above], at_least[most - above]
    else:
        from scipy.stats import wilcoxon

        p, p_opposite = (
            float(wilcoxon(changed, alternative=way, correction=True).pvalue)
            for way in ("greater", "less")
        )
    return p, p_opposite, (2 * above - most) / most


def _effect_interval(effect: Value, n: int) -> tuple[Value, Value]:
    """The 95% interval of a rank-biserial correlation of n changed pairs, by Fisher's z with the
    standard error of (W₊ − W₋) ÷ (W₊ + W₋) under the null, as in the R package effectsize; none
    for −1 and 1, where z is infinite.
    """
    if effect is None or abs(effect) == 1:
        return None, None
    error = math.sqrt(n * (n + 1) * (2 * n + 1) / 6) / (n * (n + 1) / 2)
    z, half = math.atanh(effect), _NORMAL * error
    return math.tanh(z - half), math.tanh(z + half)


@cache
def _tail(ranks: tuple[int, ...]) -> Sequence[float]:
    """P(W₊ ≥ w) for w = 0, 1, 2, ... under the null, exact: all 2ⁿ patterns of signs are counted.
    (scipy's exact test supports no ties; for few pairs with many, its approximation halves p.)
    """
    patterns = [1] + [0] * sum(ranks)
    for rank in ranks:
        for total in range(len(patterns) - 1, rank - 1, -1):
            patterns[total] += patterns[total - rank]
    every = 2 ** len(ranks)
    return [count / every for count in list(accumulate(reversed(patterns)))[::-1]]


POWER: Final = 0.8
EFFICIENCY: Final = 3 / math.pi  # of the signed-rank test beside the t-test, for normal differences


def detectable(difference: Interval, level: float) -> Value:
    """The least mean difference that the two-sided signed-rank test would find with a power of 80%
    at a level, if differences are normal and vary as those of this interval.

    It is that of a t-test (by the noncentral t distribution) of EFFICIENCY times as many pairs, at
    the largest level up to this one that the exact test can have. None if it can find none: too few
    pairs, or pairs that do not vary.
    """
    attained = _attained(difference.n, level)
    found = _found(difference, EFFICIENCY * difference.n - 1, attained)
    return found and found / math.sqrt(EFFICIENCY)


def detectable_beyond(difference: Interval, floor: Value) -> Value:
    """The least mean difference whose 95% interval would be beyond ±`floor` with a power of 80%, if
    differences are normal and vary as those of this interval. None if that cannot be told.
    """
    found = _found(difference, difference.n - 1, 1 - CONFIDENCE)
    return None if floor is None or found is None else floor + found


def _found(difference: Interval, degrees: float, level: float) -> Value:
    """The least mean difference that a two-sided t-test finds with a power of 80%; None: none."""
    if level == 0 or difference.mean is None or difference.high is None:
        return None
    error = (difference.high - difference.mean) / t_quantile(difference.n - 1)  # the standard error
    if error == 0:
        return None
    from scipy.special import nctdtrinc, stdtrit

    return float(nctdtrinc(degrees, 1 - POWER, stdtrit(degrees, 1 - level / 2))) * error


@cache
def _attained(n: int, level: float) -> float:
    """The largest level up to this one of the two-sided test of n pairs without ties; 0: none."""
    if n > EXACT_MAX:
        return level
    tail = _tail(tuple(range(2, 2 * n + 1, 2)))
    return max((2 * p for p in tail if 2 * p <= level), default=0.0)


def smallest_p(seeds: int) -> float:
    """The smallest p-value that this many pairs can give: all changed as expected."""
    return 0.5**seeds


def seeds_for(tests: int) -> int:
    """The number of pairs from which one of so many one-sided tests can be significant: Holm
    multiplies the smallest p by their number.
    """
    return next(seeds for seeds in count() if tests * smallest_p(seeds) < SIGNIFICANT)


def holm(p_values: Sequence[Value]) -> list[Value]:
    """Holm's step-down correction of the p-values of a family of tests, in the given order: with m
    tests, the k-th smallest becomes max over i ≤ k of (m − i + 1) · p_i, at most 1.

    A test without data (None) counts in m and stays None. (That of statsmodels runs the garbage
    collector at each call, which took most of a report's time.)
    """
    order = sorted((p, index) for index, p in enumerate(p_values) if p is not None)
    corrected: list[Value] = [None] * len(p_values)
    largest = 0.0
    for rank, (p, index) in enumerate(order):
        largest = max(largest, min(1.0, (len(p_values) - rank) * p))
        corrected[index] = largest
    return corrected


def paired(pairs: Iterable[tuple[Value, Value]], draws: Sequence[Hashable] = ()) -> Interval:
    """The mean of first − second within pairs, and its interval."""
    return interval(
        [None if a is None or b is None else _tidy(a - b, a, b) for a, b in pairs], draws
    )


@attrs.frozen
class Correlation:
    """Spearman's rank correlation over `n` runs (None with fewer than four, or if one variable is
    constant), and its 95% interval (None also for ρ = ±1, where Fisher's z is infinite).

    The interval is that of z with variance (1 + ρ² ÷ 2) ÷ (n − 3) (Bonett and Wright, 2000).
    """

    n: int
    rho: Value
    low: Value
    high: Value


def correlated(xs: Sequence[Value], ys: Sequence[Value]) -> Correlation:
    """The correlation over the pairs with two defined values."""
    whole = [(x, y) for x, y in zip(xs, ys, strict=True) if x is not None and y is not None]
    n = len(whole)
    rho = spearman([x for x, _ in whole], [y for _, y in whole]) if n >= CORRELATED_MIN else None
    if rho is None or abs(rho) == 1:
        return Correlation(n, rho, None, None)
    error = math.sqrt((1 + rho * rho / 2) / (n - 3))
    z, half = math.atanh(rho), _NORMAL * error
    return Correlation(n, rho, math.tanh(z - half), math.tanh(z + half))
