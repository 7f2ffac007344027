"""Sequences in arrays are the lists that they stand for."""

from collections.abc import Sequence

import attrs
import pytest

from goldrush.replay.data.compact import Series
from goldrush.replay.worlds.mining.spells import Spell, SpellRecords

VALUES = [0.5, None, 0.0, -1e300, None, 3.0]
SPELLS = [
    Spell(1, 0, 2, 2, "claim", None),
    Spell(0, 2**31 - 1, 3, 9, "capture", None),
    Spell(7, 7, 8, 8, "claim", 4),
]


def series() -> Series:
    made = Series()
    for value in VALUES:
        made.append(value)
    return made


def spells() -> SpellRecords:
    made = SpellRecords()
    for spell in SPELLS:
        made.begin(spell.plot, spell.owner, spell.start, 1 + (spell.gained == "capture"))
    made.extend(1, 9)
    made.lose(2, 9, 4)
    return made


BOTH: list[tuple[Sequence[object], list[object]]] = [(series(), VALUES), (spells(), [*SPELLS])]


@pytest.mark.parametrize("cut", [slice(None), slice(1, 3), slice(-2, None), slice(None, None, 2)])
def test_a_part_is_that_of_the_list(cut: slice) -> None:
    assert [made[cut] for made, _ in BOTH] == [expected[cut] for _, expected in BOTH]


def test_items_are_those_of_the_list() -> None:
    for made, expected in BOTH:
        assert list(made) == [made[place] for place in range(-len(made), 0)] == expected
        assert made != expected[1:]
        with pytest.raises(IndexError):
            made[len(expected)]


def test_integers_are_of_32_bits() -> None:
    with pytest.raises(OverflowError):
        spells().extend(1, 2**31)
    assert attrs.evolve(SPELLS[1], end=2**31 - 1) not in spells()
