"""Sequences in arrays are the lists that they stand for."""

import pytest

from goldrush.replay.data.compact import Records, Series

VALUES = [0.5, None, 0.0, -1e300, None, 3.0]
PAIRS = [(1, -1), (0, 2**31 - 1), (7, 7)]


def series() -> Series:
    made = Series()
    for value in VALUES:
        made.append(value)
    return made


def records() -> Records[tuple[int, int]]:
    made = Records(2, lambda a, b: (a, b))
    for a, b in PAIRS:
        made.append(a, b)
    return made


@pytest.mark.parametrize("cut", [slice(None), slice(1, 3), slice(-2, None), slice(None, None, 2)])
def test_a_part_is_that_of_the_list(cut: slice) -> None:
    assert series()[cut] == VALUES[cut]
    assert records()[cut] == PAIRS[cut]


def test_items_are_those_of_the_list() -> None:
    for made, expected in ((series(), VALUES), (records(), PAIRS)):
        assert list(made) == [made[place] for place in range(-len(made), 0)] == expected
        assert made != expected[1:]
        with pytest.raises(IndexError):
            made[len(expected)]


@pytest.mark.parametrize("field", [0, 1])
def test_a_column_is_one_field_of_every_record(field: int) -> None:
    assert list(records().column(field)) == [pair[field] for pair in PAIRS]
