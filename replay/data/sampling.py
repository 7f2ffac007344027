"""Some units of a run, at equal distances: what pages, figures and tables of a course show of it.

Of a run with too many units there are those of one in 2, 4, 8, ... from the first on, and the last.
"""

from __future__ import annotations

from typing import Generic, TypeVar

T = TypeVar("T")


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


class Sampling(Generic[T]):
    """Samples of a run, taken while it is read: of at most `most` units, numbered from 1, and of
    the last one.
    """

    def __init__(self, most: int) -> None:
        self._spaced: Spaced[T] = Spaced(1, most)

    def wants(self, unit: int) -> bool:
        """Whether the unit that has closed is sampled."""
        return self._spaced.wants(unit)

    def add(self, unit: int, sample: T) -> None:
        """Add the sample of a unit that is wanted."""
        self._spaced.add(unit, sample, 1)

    def samples(self, units: int, last: T) -> list[tuple[int, T]]:
        """The samples of a run of so many units, by unit; `last`: that of the last one."""
        samples = self._spaced.items()
        if units and not self.wants(units):
            samples.append((units, last))
        return samples


def sampled(units: int, most: int) -> list[int]:
    """The units of which a run of so many has samples."""
    sampling: Sampling[None] = Sampling(most)
    for unit in range(1, units + 1):
        if sampling.wants(unit):
            sampling.add(unit, None)
    return [unit for unit, _ in sampling.samples(units, None)]
