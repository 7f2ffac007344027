"""How unusual runs are among those of their treatment, roster and length."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from statistics import median
from typing import Final

import attrs

from goldrush.kernel.measures import Value, mean
from goldrush.replay.study.records import Cell

ALIKE_MIN: Final = 5  # runs of a cell among which one can be unusual


@attrs.frozen
class Oddity:
    """The measure, by its title, in which a run differs most from the median of its cell, and by
    how many robust standard deviations; below the median, the size is negative.
    """

    title: str
    size: float

    def __str__(self) -> str:
        size = f"{abs(self.size):,.1f} robust standard deviations"
        return f"{size} {self._where} the median in {self.title}"

    def as_row(self) -> tuple[float, str, str]:
        """For the page: its size, it as a cell of the table, and in words."""
        size = abs(self.size)
        return round(size, 1), f"{size:,.1f} SD {self._where}: {self.title}", str(self)

    @property
    def _where(self) -> str:
        return "above" if self.size > 0 else "below"


def oddities(
    cells: Sequence[Cell], series: Iterable[tuple[str, Sequence[Value]]]
) -> list[Oddity | None]:
    """By run, how unusual it is; None among fewer than ALIKE_MIN, or equal ones. `series`: the
    title of each measure, and its values by run.
    """
    members: dict[Cell, list[int]] = {}
    for run, cell in enumerate(cells):
        members.setdefault(cell, []).append(run)
    groups = [runs for runs in members.values() if len(runs) >= ALIKE_MIN]
    odd: list[Oddity | None] = [None] * len(cells)
    for title, values in series:
        for runs in groups:
            for run, size in zip(runs, deviations([values[run] for run in runs]), strict=True):
                known = odd[run]
                if size is not None and abs(size) > (0.0 if known is None else abs(known.size)):
                    odd[run] = Oddity(title, size)
    return odd


def deviations(values: Sequence[Value]) -> list[Value]:
    """How far each value is from the median, in robust standard deviations: 1.4826 times the median
    absolute deviation or, where that is 0, 1.2533 times the mean absolute deviation. None for an
    undefined value, and where all are equal.
    """
    known = [value for value in values if value is not None]
    if not known:
        return [None] * len(values)
    middle = median(known)
    distances = [abs(value - middle) for value in known]
    scale = 1.4826 * median(distances) or 1.2533 * (mean(distances) or 0.0)
    if not scale:
        return [None] * len(values)
    return [None if value is None else (value - middle) / scale for value in values]
