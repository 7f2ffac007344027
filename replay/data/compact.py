"""Long sequences of numbers in little memory: objects take four to six times as much."""

from __future__ import annotations

import math
from array import array
from collections.abc import Iterator, Sequence
from typing import overload

from goldrush.kernel.measures import Value


class Series(Sequence[Value]):
    """Finite real numbers, or None: eight bytes each. Equal to any sequence of the same values."""

    __slots__ = ("_numbers",)

    def __init__(self) -> None:
        self._numbers = array("d")

    def append(self, value: Value) -> None:
        """Append a value. NaN is read back as None."""
        self._numbers.append(math.nan if value is None else value)

    def __len__(self) -> int:
        return len(self._numbers)

    def __iter__(self) -> Iterator[Value]:
        return iter([None if each != each else each for each in self._numbers])

    @overload
    def __getitem__(self, index: int) -> Value: ...
    @overload
    def __getitem__(self, index: slice) -> Series: ...
    def __getitem__(self, index: int | slice) -> Value | Series:
        if isinstance(index, int):
            number = self._numbers[index]
            return None if number != number else number
        part = Series()
        part._numbers = self._numbers[index]
        return part

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and list(self) == list(other)
