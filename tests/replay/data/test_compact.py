"""A sequence in an array is the list that it stands for."""

import pytest

from goldrush.replay.data.compact import Series

VALUES = [0.5, None, 0.0, -1e300, None, 3.0]


def series() -> Series:
    made = Series()
    for value in VALUES:
        made.append(value)
    return made


@pytest.mark.parametrize("cut", [slice(None), slice(1, 3), slice(-2, None), slice(None, None, 2)])
def test_a_part_is_that_of_the_list(cut: slice) -> None:
    assert series()[cut] == VALUES[cut]


def test_items_are_those_of_the_list() -> None:
    made = series()
    assert list(made) == [made[place] for place in range(-len(made), 0)] == VALUES
    assert made != VALUES[1:]
    with pytest.raises(IndexError):
        made[len(VALUES)]
