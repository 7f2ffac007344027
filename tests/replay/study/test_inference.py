"""The statistics, against figures worked out by hand, and by others who do the same otherwise."""

import itertools
import math
import warnings
from collections.abc import Sequence

import attrs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import rankdata, spearmanr, ttest_rel, wilcoxon
from statsmodels.stats.multitest import multipletests

from goldrush.replay.study.inference import (
    Correlation,
    Interval,
    PairedChange,
    change,
    correlated,
    holm,
    interval,
    smallest_p,
)

# Few sizes, so that many are tied, or 0.
COARSE = st.sampled_from([-3.0, -2.0, -1.0, 0.0, 1.0, 2.0, 3.0])
FINE = st.floats(-1e6, 1e6)


# intervals


def test_an_interval_is_that_of_students_t() -> None:
    """Mean 3, standard deviation √2.5, n = 5; the table has t = 2.776 for 4 degrees of freedom."""
    found = interval([1.0, 2.0, 3.0, 4.0, 5.0])
    half = 2.776445 * math.sqrt(2.5 / 5)

    assert (5, 3.0) == (found.n, found.mean)
    assert (3 - half, 3 + half) == (pytest.approx(found.low), pytest.approx(found.high))


def test_what_is_undefined_is_left_out_of_a_mean_and_not_counted() -> None:
    assert interval([1.0, 2.0, 3.0]) == interval([1.0, None, 2.0, None, 3.0])
    assert 3 == interval([1.0, None, 2.0, None, 3.0]).n
    assert Interval(0, None, None, None) == interval([None])
    assert Interval(1, 2.5, None, None) == interval([2.5, None])


def test_equal_runs_count_in_the_mean_and_once_in_the_interval() -> None:
    often = interval([1.0, 1.0, 1.0, 0.0], ["a", "a", "a", "b"])
    even = interval([1.0, 0.0, 1.0, 0.0, None], [*"abab", "c"])

    assert (2, 0.75) == (often.n, often.mean)
    assert interval([1.0, 0.0]) == even
    assert Interval(1, 1.0, None, None) == interval([1.0, 1.0, None], ["a", "a", "b"])


def test_equal_pairs_are_tested_once_and_pairs_that_differ_on_one_side_are_not_equal() -> None:
    pairs = [(0.0, 1.0), (0.0, 2.0)] * 4
    twice = change(pairs, +1, [(0, seed % 2) for seed in range(8)])
    whole = change(pairs, +1, [(0, seed) for seed in range(8)])

    assert change(pairs[:2], +1) == twice
    assert change(pairs, +1) == whole


@pytest.mark.parametrize("value", [0.0, 0.1, 1e300, 1e-300])
def test_equal_figures_have_an_interval_of_no_width(value: float) -> None:
    assert Interval(7, value, value, value) == interval([value] * 7)


# the signed-rank test


def by_all_signs(along: Sequence[float]) -> tuple[float | None, float | None]:
    """The one-sided p-values, by trying every pattern of signs, one after the other."""
    changed = [value for value in along if value]
    if not changed:
        return None, None
    ranks = rankdata([abs(value) for value in changed])
    seen = sum(r for r, value in zip(ranks, changed, strict=True) if value > 0)
    sums = [
        sum(r for r, sign in zip(ranks, signs, strict=True) if sign)
        for signs in itertools.product((0, 1), repeat=len(ranks))
    ]
    return (
        sum(each >= seen for each in sums) / len(sums),
        sum(each <= seen for each in sums) / len(sums),
    )


def changed(*differences: float, expected: int = 1) -> PairedChange:
    return change([(0.0, each) for each in differences], expected)


@given(st.lists(COARSE, max_size=8))
def test_the_test_is_exact_with_ties_and_zeros(differences: list[float]) -> None:
    found = changed(*differences)

    assert by_all_signs(differences) == (found.p, found.p_opposite)


@pytest.mark.parametrize("size", [20, 50])
def test_without_ties_the_test_is_scipys_exact_one(size: int) -> None:
    differences = [(k + 0.5) * (-1 if k % 3 == 0 else 1) for k in range(size)]
    found = changed(*differences)

    for p, way in ((found.p, "greater"), (found.p_opposite, "less")):
        assert p == pytest.approx(wilcoxon(differences, alternative=way, method="exact").pvalue)


@pytest.mark.parametrize("tied", [False, True])
def test_beyond_fifty_pairs_the_test_is_approximate_and_on_the_safe_side(tied: bool) -> None:
    differences = [(1.0 if tied else k + 1.0) * (-1 if k % 4 == 0 else 1) for k in range(60)]
    found = changed(*differences)
    usual = wilcoxon(differences, alternative="greater").pvalue

    assert usual < found.p < 1.2 * usual
    assert found.p + found.p_opposite == pytest.approx(1, abs=0.01)


def test_fifty_pairs_are_tested_exactly_and_zeros_do_not_count_among_them() -> None:
    fifty = [1.0 if k % 3 else -1.0 for k in range(50)]
    up = sum(each > 0 for each in fifty)
    sign_test = sum(math.comb(50, k) for k in range(up, 51)) / 2**50

    # Where all are tied, the signed-rank test is the sign test.
    assert sign_test == pytest.approx(changed(*fifty).p)
    assert changed(*fifty).p == changed(*fifty, *[0.0] * 30).p


@pytest.mark.parametrize(
    ("differences", "effect"),
    [
        ([1, 2, 3], 1.0),
        ([-1, -2, -3], -1.0),
        ([1, -2, 3], (4 - 2) / 6),
        ([1, 1, -1, 0], (4 - 2) / 6),  # three tied at rank 2; the zero is dropped
        ([2, -2], 0.0),
        ([1, -2, 2, 0, 0], (1 + 2.5 - 2.5) / 6),
    ],
)
def test_the_effect_is_the_rank_biserial_correlation(
    differences: list[float], effect: float
) -> None:
    assert effect == pytest.approx(changed(*differences).effect.value)
    assert -effect == pytest.approx(changed(*differences, expected=-1).effect.value)


def test_an_effect_has_an_interval_by_fishers_z_but_for_one_that_is_whole() -> None:
    """Three changed pairs of effect 1/3: the sum of signed ranks has variance 14 under the null."""
    found, whole = changed(1, -2, 3, 0), changed(1, 2, 3)
    z = math.atanh(1 / 3)
    half = 1.959964 * math.sqrt(14) / 6

    assert (math.tanh(z - half), math.tanh(z + half)) == pytest.approx(
        (found.effect.low, found.effect.high)
    )
    assert Correlation(3, 1.0, None, None) == whole.effect


# changes


def test_a_change_is_second_less_first() -> None:
    found = change([(1.0, 3.0), (2.0, 2.5), (5.0, 5.0)], +1)

    assert (3, 3) == (found.seeds, found.n)
    assert (interval([1, 2, 5]), interval([3, 2.5, 5])) == (found.first, found.second)
    assert interval([2, 0.5, 0]) == found.difference
    assert (2, 0, 1) == (found.right, found.wrong, found.same)
    low, high = ttest_rel([3, 2.5, 5], [1, 2, 5]).confidence_interval(0.95)
    assert (low, high) == pytest.approx((found.difference.low, found.difference.high))


def test_pairs_without_data_are_counted_and_nothing_else() -> None:
    pairs: list[tuple[float | None, float | None]] = [(None, 1.0), (1.0, None), (None, None)]
    found = change([*pairs, (1.0, 2.0)], +1)

    assert (4, 1) == (found.seeds, found.n)
    assert attrs.evolve(found, seeds=1) == change([(1.0, 2.0)], +1)


@pytest.mark.parametrize("pairs", [[], [(None, None)], [(None, 2.0)] * 20])
def test_without_data_nothing_is_tested(pairs: list[tuple[float | None, float | None]]) -> None:
    found = change(pairs, -1)

    assert (len(pairs), 0) == (found.seeds, found.n)
    assert (None, None, None) == (found.p, found.p_opposite, found.effect.value)
    assert (0, 0, 0, False) == (found.right, found.wrong, found.same, found.is_all_zero)


def test_where_nothing_changes_there_is_nothing_to_test() -> None:
    found = change([(0.3, 0.3)] * 20, +1)

    assert (20, True) == (found.same, found.is_all_zero)
    assert (None, None, None) == (found.p, found.p_opposite, found.effect.value)
    assert Interval(20, 0.0, 0.0, 0.0) == found.difference


def test_what_rounding_adds_is_no_change() -> None:
    found = change([(0.1 + 0.2, 0.3), (1e-15, 0.0), (90.00000000000001, 90.0)], +1)

    assert (3, True) == (found.same, found.is_all_zero)
    assert not change([(0.3, 0.3000001)], +1).is_all_zero


@pytest.mark.parametrize("seeds", range(1, 9))
def test_the_smallest_p_is_that_of_pairs_that_all_change_as_expected(seeds: int) -> None:
    assert smallest_p(seeds) == changed(*range(1, seeds + 1)).p


# Holm's correction


@settings(max_examples=10)  # theirs collects all garbage each time
@given(st.lists(st.floats(0, 1), min_size=1, max_size=9))
def test_holms_correction_is_that_of_statsmodels(p_values: list[float]) -> None:
    assert list(multipletests(p_values, method="holm")[1]) == pytest.approx(holm(p_values))


def test_a_test_without_data_counts_in_the_correction_and_has_none() -> None:
    assert [pytest.approx(0.03), None, None] == holm([0.01, None, None])
    assert [None, None] == holm([None, None])
    assert [] == holm([])


# pairs of runs


# correlation


@given(st.lists(st.tuples(COARSE, COARSE), min_size=4, max_size=12))
def test_the_correlation_is_scipys(pairs: list[tuple[float, float]]) -> None:
    xs, ys = [x for x, _ in pairs], [y for _, y in pairs]
    found = correlated(xs, ys)
    if len(set(xs)) == 1 or len(set(ys)) == 1:
        assert Correlation(len(pairs), None, None, None) == found
        return

    assert spearmanr(xs, ys).statistic == pytest.approx(found.value, abs=1e-12)
    assert found.value is not None
    if abs(found.value) == 1:
        assert (None, None) == (found.low, found.high)
    else:
        assert -1 <= found.low <= found.value <= found.high <= 1


def test_the_interval_of_a_correlation_by_hand() -> None:
    """Ranks 1 .. 5 against 2, 1, 4, 3, 5: ρ = 1 − 6·4 ÷ (5·24) = 0.8, atanh 1.0986."""
    found = correlated([1, 2, 3, 4, 5], [20, 10, 40, 30, 50])
    half = 1.959964 * math.sqrt((1 + 0.32) / 2)

    assert (5, 0.8) == (found.n, pytest.approx(found.value))
    assert math.tanh(1.098612 - half) == pytest.approx(found.low, rel=1e-5)
    assert math.tanh(1.098612 + half) == pytest.approx(found.high, rel=1e-5)


@pytest.mark.parametrize("sign", [1, -1])
def test_a_perfect_correlation_has_no_interval_and_no_warning(sign: int) -> None:
    """Fisher's z is infinite there; four runs in a line do not prove that all would be."""
    found = correlated([1, 2, 3, 4], [sign * x for x in (1, 8, 27, 64)])

    assert Correlation(4, float(sign), None, None) == found


def test_without_four_pairs_there_is_no_correlation() -> None:
    assert Correlation(3, None, None, None) == correlated([1, 2, 3], [1, 2, 3])
    assert 3 == correlated([1, 2, 3, None, 5], [1, 2, 3, 4, None]).n


# all


@given(st.lists(st.tuples(st.none() | FINE, st.none() | FINE), max_size=60))
def test_whatever_comes_in_no_figure_that_is_none_comes_out(
    pairs: list[tuple[float | None, float | None]],
) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = change(pairs, +1)
        together = correlated([a for a, _ in pairs], [b for _, b in pairs])
    figures = [
        found.p, found.p_opposite, *attrs.astuple(found.effect), *attrs.astuple(together),
        *(f for each in (found.first, found.second, found.difference) for f in attrs.astuple(each)),
    ]  # fmt: skip

    assert all(figure is None or math.isfinite(figure) for figure in figures)
    assert found.right + found.wrong + found.same == found.n <= found.seeds


def test_differences_that_rounding_alone_tells_apart_share_a_rank() -> None:
    """Of eight pairs seven differ by a tenth, whatever the figures are that they come from."""
    firsts = [0.1, 0.2, 0.3, 0.7, 1.1, 2.3, 0.0]
    pairs = [(a, a + 0.1) for a in firsts] + [(0.9, 0.4)]
    apart = {b - a for a, b in pairs[:-1]}
    found = change(pairs, +1)

    assert len(apart) > 1  # as floats
    # The seven share rank 4, the one that fell has rank 8: W₊ = 28 of 36. As much or more have, of
    # 2⁸ patterns, with the eighth those with 5, 6 or 7 of the seven (21 + 7 + 1), without it 1.
    assert 30 / 256 == found.p
    assert almost(2 * 28 / 36 - 1) == found.effect.value


def almost(value: float) -> object:
    return pytest.approx(value, rel=1e-12)
