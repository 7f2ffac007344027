"""Some units of a run, at equal distances: what pages, figures and tables of a course show of it.

Of a run with too many units there are those of one in 2, 4, 8, ... from the first on, and the last.
"""

from __future__ import annotations

from typing import Generic, TypeVar

T = TypeVar("T")


class Sampling(Generic[T]):
    """Samples of units at equal distances (`every`), taken while a run is read: their sizes add up
    to `most` at most. `first`: the first unit.
    """

    def __init__(self, most: int, first: int = 1) -> None:
        self.every = 1
        self._first, self._most = first, most
        self._samples: list[tuple[int, T, int]] = []
        self._size = 0

    def wants(self, unit: int) -> bool:
        """Whether the unit that has closed is sampled."""
        return (unit - self._first) % self.every == 0

    def add(self, unit: int, sample: T, size: int = 1) -> None:
        """Add the sample of a unit that is wanted."""
        self._samples.append((unit, sample, size))
        self._size += size
        while self._size > self._most and len(self._samples) > 1:
            self.every *= 2
            self._samples = [each for each in self._samples if self.wants(each[0])]
            self._size = sum(size for _, _, size in self._samples)

    def items(self) -> list[tuple[int, T]]:
        """The units that are kept, with their samples."""
        return [(unit, sample) for unit, sample, _ in self._samples]

    def samples(self, units: int, last: T) -> list[tuple[int, T]]:
        """The samples of a run of so many units, by unit; `last`: that of the last one."""
        rest = [(units, last)] if units and not self.wants(units) else []
        return [*self.items(), *rest]


def sampled(units: int, most: int) -> list[int]:
    """The units of which a run of so many has samples."""
    sampling: Sampling[None] = Sampling(most)
    for unit in range(1, units + 1):
        if sampling.wants(unit):
            sampling.add(unit, None)
    return [unit for unit, _ in sampling.samples(units, None)]
