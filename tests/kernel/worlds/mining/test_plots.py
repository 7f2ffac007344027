"""Plots without some of them are what a list without them would be."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goldrush.kernel.worlds.mining.observe import PlotsExcept

INTEGERS = st.integers(0, 40)


@st.composite
def cut(draw: st.DrawFn) -> tuple[PlotsExcept, list[int]]:
    """Some ascending integers without some of them, and the list of those left."""
    every = sorted(draw(st.sets(INTEGERS) | st.integers(0, 20).map(range).map(set)))
    removed = sorted(draw(st.sets(st.sampled_from(every)))) if every else []
    return PlotsExcept(tuple(every), removed), [item for item in every if item not in removed]


@given(cut())
def test_it_has_the_items_of_the_list(cut: tuple[PlotsExcept, list[int]]) -> None:
    plots, left = cut

    assert left == list(plots)
    assert len(left) == len(plots)
    assert left == [plots[index] for index in range(len(left))]
    assert left[::-1] == [plots[-1 - index] for index in range(len(left))]
    assert bool(left) is bool(plots)
    assert plots == left
    assert plots != [*left, -1]
    assert repr(tuple(left)) == repr(plots)


@given(cut())
def test_a_plot_is_found_as_in_the_list(cut: tuple[PlotsExcept, list[int]]) -> None:
    plots, left = cut

    assert left == [plot for plot in range(41) if plot in plots]
    assert "0" not in plots


@given(cut(), st.slices(10))
def test_a_slice_is_that_of_the_list(cut: tuple[PlotsExcept, list[int]], part: slice) -> None:
    plots, left = cut

    assert tuple(left[part]) == plots[part]


@given(cut())
def test_beyond_its_items_there_is_none(cut: tuple[PlotsExcept, list[int]]) -> None:
    plots, left = cut
    for index in (len(left), -len(left) - 1):
        with pytest.raises(IndexError, match=f"of {len(left)} plots"):
            plots[index]
