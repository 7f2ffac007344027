"""A long sequence in little memory: numbers in an array, made into objects when they are asked for.

An object for each number of a long run takes four times as much.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Iterator, Sequence
from typing import overload

from goldrush.kernel.measures import Value


class Series(Sequence[Value]):
    """Finite real numbers, or None: eight bytes each. Equal to any sequence of the same values."""

    __slots__ = ("_numbers",)
    __hash__ = None  # type: ignore[assignment]  # values are appended

    def __init__(self) -> None:
        self._numbers = array("d")

    def append(self, value: Value) -> None:
        """Append a value. NaN is read back as None."""
        self._numbers.append(math.nan if value is None else value)

    def __len__(self) -> int:
        return len(self._numbers)

    def __iter__(self) -> Iterator[Value]:
        return iter(self[:])

    @overload
    def __getitem__(self, index: int) -> Value: ...
    @overload
    def __getitem__(self, index: slice) -> list[Value]: ...
    def __getitem__(self, index: int | slice) -> Value | list[Value]:
        if isinstance(index, int):
            return _value(self._numbers[index])
        return [None if number != number else number for number in self._numbers[index]]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and list(self) == list(other)


def _value(number: float) -> Value:
    return None if number != number else number
