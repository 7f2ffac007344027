"""Long sequences in little memory: numbers in arrays, made into objects when they are asked for.

An object for each number or record of a long run takes four to six times as much, and so does a
list of them for the garbage collector to walk through.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Callable, Iterator, Sequence
from typing import Generic, TypeVar, overload

from goldrush.kernel.measures import Value

T = TypeVar("T")


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


class Records(Sequence[T], Generic[T]):
    """Records of a few integers of 32 bits. Equal to any sequence of the same records. A larger
    integer raises OverflowError.
    """

    __slots__ = ("_make", "_numbers", "_width")
    __hash__ = None  # type: ignore[assignment]  # records are appended

    def __init__(self, width: int, make: Callable[..., T]) -> None:
        """No records yet. `make`: makes a record of them."""
        self._width, self._make = width, make
        self._numbers = array("i")

    def append(self, *numbers: int) -> None:
        """Append a record."""
        self._numbers.extend(numbers)

    def column(self, field: int) -> Sequence[int]:
        """One integer of every record."""
        return self._numbers[field :: self._width]

    def __len__(self) -> int:
        return len(self._numbers) // self._width

    def __iter__(self) -> Iterator[T]:
        return map(self._make, *[iter(self._numbers)] * self._width)

    @overload
    def __getitem__(self, index: int) -> T: ...
    @overload
    def __getitem__(self, index: slice) -> list[T]: ...
    def __getitem__(self, index: int | slice) -> T | list[T]:
        if isinstance(index, slice):
            return [self[one] for one in range(*index.indices(len(self)))]
        at = range(len(self))[index] * self._width
        return self._make(*self._numbers[at : at + self._width])

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and list(self) == list(other)
