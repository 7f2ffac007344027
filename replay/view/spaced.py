"""Items of some units of a run, at equal distances, as many as a page has room for."""

from __future__ import annotations

from typing import Final, Generic, TypeVar

from goldrush.kernel.shape import amount

T = TypeVar("T")

DIGITS: Final = 6  # significant digits of a number in a page


class Spaced(Generic[T]):
    """Items of units at equal distances, `every`, whose sizes add up to `most` at most."""

    def __init__(self, first: int, most: int) -> None:
        self.every = 1
        self._first, self._most = first, most
        self._items: list[tuple[int, T, int]] = []
        self._size = 0

    def wants(self, unit: int) -> bool:
        """Whether the item of a unit is to be added."""
        return (unit - self._first) % self.every == 0

    def add(self, unit: int, item: T, size: int) -> None:
        """Add the item of a unit that is wanted."""
        self._items.append((unit, item, size))
        self._size += size
        while self._size > self._most and len(self._items) > 1:
            self.every *= 2
            self._items = [each for each in self._items if self.wants(each[0])]
            self._size = sum(size for _, _, size in self._items)

    def items(self) -> list[tuple[int, T]]:
        """The units that are kept, with their items."""
        return [(unit, item) for unit, item, _ in self._items]


def short(value: float | None) -> float | None:
    """A number with the digits that it has in a page."""
    return None if value is None else amount(float(f"{value:.{DIGITS}g}"))
