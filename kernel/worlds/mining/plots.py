"""Ascending plots that are counted, indexed and searched without being listed.

A policy picks few of many candidates. Were they listed for every agent, a round would cost agents x
plots.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from typing import overload


class PlotsExcept(Sequence[int]):
    """Ascending integers without some of them, as of its making as long as neither is changed.

    Its length takes no time, an item and a search the time of a binary search; the first item takes
    one for each integer that is removed.
    """

    __slots__ = ("_before", "_every", "_removed")

    def __init__(self, every: Sequence[int], removed: Sequence[int]) -> None:
        """Both are ascending; all of `removed` are in `every`."""
        self._every = every
        self._removed = removed
        self._before: list[int] | None = None  # how many items are before each one removed

    def __len__(self) -> int:
        return len(self._every) - len(self._removed)

    @overload
    def __getitem__(self, index: int) -> int: ...

    @overload
    def __getitem__(self, index: slice) -> tuple[int, ...]: ...

    def __getitem__(self, index: int | slice) -> int | tuple[int, ...]:
        if isinstance(index, slice):
            return tuple(self)[index]
        at = index if index >= 0 else index + len(self)
        if self._before is None:
            self._before = self._counted()
        try:
            if at >= 0:
                return self._every[at + bisect_right(self._before, at)]
        except IndexError:
            pass  # said below
        raise IndexError(f"index {index} of {len(self)} plots")

    def __iter__(self) -> Iterator[int]:
        every, start = self._every, 0
        for plot in self._removed:
            at = bisect_left(every, plot, start)
            yield from every[start:at]
            start = at + 1
        yield from every[start:]

    def __contains__(self, value: object) -> bool:
        if not isinstance(value, int):
            return False
        return _has(self._every, value) and not _has(self._removed, value)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and tuple(self) == tuple(other)

    __hash__ = None  # type: ignore[assignment]  # as a list

    def __repr__(self) -> str:
        return repr(tuple(self))

    def _counted(self) -> list[int]:
        every, removed = self._every, self._removed
        if every and every[-1] == len(every) - 1:  # all plots from 0 on: each is its own index
            return [plot - at for at, plot in enumerate(removed)]
        return [bisect_left(every, plot) - at for at, plot in enumerate(removed)]


def _has(ascending: Sequence[int], value: int) -> bool:
    at = bisect_left(ascending, value)
    return at < len(ascending) and ascending[at] == value
