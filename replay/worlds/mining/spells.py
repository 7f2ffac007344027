"""Durations of ownership: spells, and Kaplan–Meier curves of their lengths.

A spell is a maximal sequence of round ends at which a plot has one owner; its length is their
number. It ends when the plot has another owner (plots are never given up), and is censored if it is
still running at the end of the observation.

The curves are computed here and compared with those of statsmodels in tests; importing statsmodels
takes longer than measuring a hundred runs.
"""

from __future__ import annotations

import math
from array import array
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

import attrs

from goldrush.kernel.measures import Value
from goldrush.kernel.worlds.mining.state import HOLDINGS

# Tolerance for rounding: a curve this close to one half has reached it.
ROUNDING: Final = 1e-9


@attrs.frozen
class Spell:
    """A spell of ownership of a plot; without an agent that it is `lost_to` it is censored."""

    plot: int
    owner: int
    start: int
    end: int
    gained: str
    lost_to: int | None

    @property
    def length(self) -> int:
        """Its number of round ends, so far if it is censored."""
        return self.end - self.start + 1

    @property
    def lost(self) -> str | None:
        """How it was lost; None if it is censored."""
        return None if self.lost_to is None else "capture"

    @property
    def censored(self) -> bool:
        """Whether it is still running."""
        return self.lost_to is None


# The number of spells by length and by whether they ended.
Lengths = Mapping[tuple[int, bool], int]

_NOBODY: Final = -1
_WIDTH, _START, _END, _LOST_TO = 6, 2, 3, 5  # integers of a record


class SpellRecords:
    """The spells of a run, each in 24 bytes, in the order of their starts: as objects those of a
    long run would take five times as much.
    """

    def __init__(self) -> None:
        self._numbers = array("i")

    __hash__ = None  # type: ignore[assignment]  # records are appended

    def __eq__(self, other: object) -> bool:
        return isinstance(other, SpellRecords) and self._numbers == other._numbers

    def __len__(self) -> int:
        return len(self._numbers) // _WIDTH

    def __getitem__(self, index: int) -> Spell:
        at = range(len(self))[index] * _WIDTH
        return _spell(*self._numbers[at : at + _WIDTH])

    def __iter__(self) -> Iterator[Spell]:
        return map(_spell, *[iter(self._numbers)] * _WIDTH)

    def begin(self, plot: int, owner: int, round: int, how: int) -> int:
        """Begin a spell, which runs. Returns its offset in the numbers."""
        at = len(self._numbers)
        self._numbers.extend((plot, owner, round, round, how, _NOBODY))
        return at

    def extend(self, at: int, round: int) -> None:
        """Let a spell run until the end of a round."""
        self._numbers[at + _END] = round

    def lose(self, at: int, round: int, lost_to: int) -> None:
        """End a spell: in this round the plot was captured."""
        numbers = self._numbers
        numbers[at + _END], numbers[at + _LOST_TO] = round - 1, lost_to

    def lengths(self) -> Lengths:
        """Their lengths, all that the curve of them needs."""
        columns = (self._numbers[field::_WIDTH] for field in (_START, _END, _LOST_TO))
        return Counter(
            (end - start + 1, lost != _NOBODY) for start, end, lost in zip(*columns, strict=True)
        )


def _spell(plot: int, owner: int, start: int, end: int, how: int, lost_to: int) -> Spell:
    gained = HOLDINGS[how] or ""
    return Spell(plot, owner, start, end, gained, None if lost_to == _NOBODY else lost_to)


def half_life(lengths: Lengths) -> Value:
    """The property half-life in rounds: the Kaplan–Meier median of the lengths of spells.

    None if the curve stays above one half, or there is no spell.
    """
    return next((float(at) for at, share in curve(lengths) if share <= 0.5 + ROUNDING), None)


def curve(lengths: Lengths) -> Iterator[tuple[int, float]]:
    """The Kaplan–Meier curve of the lengths of spells.

    Yields each length at which a spell was lost, with the share of spells that last longer. Before
    the first one the share is 1.
    """
    at_risk, share = sum(lengths.values()), 1.0
    for length in sorted({length for length, _ in lengths}):
        lost = lengths.get((length, True), 0)
        if lost:
            share *= 1 - lost / at_risk
            yield length, share
        at_risk -= lost + lengths.get((length, False), 0)


def survival(turnovers: Sequence[Value], horizon: int) -> Value:
    """The survival of ownership in rounds: the restricted mean ∫ S(t) dt from 0 to `horizon`, a
    number of rounds; None if no plot is owned in any of these rounds.

    S is the Kaplan–Meier curve of the spells on the clock of these rounds, whose turnover rates are
    given: in each the share of the owned plots that is lost leaves. By age of spells instead, the
    oldest spells would count in a first half but, being older than its length, not at all in a
    second one.
    """
    if all(rate is None for rate in turnovers):
        return None
    before, share, areas = 0, 1.0, []
    for at, rate in enumerate(turnovers[:horizon], 1):
        if rate:
            areas.append(share * (at - before))
            before, share = at, share * (1 - rate)
    return math.fsum([*areas, share * (horizon - before)])
