"""The units of a run that pages, figures and courses show."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from goldrush.replay.data.sampling import Sampling, sampled


@given(st.integers(0, 300), st.integers(1, 40))
def test_samples_are_few_at_equal_distances_from_the_first_to_the_last(
    units: int, most: int
) -> None:
    found = sampled(units, most)
    *others, last = found or [0]
    gaps = {b - a for a, b in pairwise(others)}

    assert ([1, units] if units else []) == [*found[:1], *found[-1:]]
    assert min(units, most // 2) <= len(found) <= most + 1
    assert len(gaps) <= 1
    assert not others or 0 < last - others[-1] <= max(gaps or {last})


@given(st.integers(1, 100), st.integers(1, 20))
def test_a_sample_is_that_of_its_unit(units: int, most: int) -> None:
    sampling: Sampling[str] = Sampling(most)
    for unit in filter(sampling.wants, range(1, units + 1)):
        sampling.add(unit, f"after {unit}")

    samples = sampling.samples(units, f"after {units}")
    assert [(unit, f"after {unit}") for unit in sampled(units, most)] == samples
