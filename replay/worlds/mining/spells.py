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
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, repeat
from typing import Annotated, Final, overload

import attrs

from goldrush.kernel.worlds.mining.state import HOLDINGS

# Tolerance for rounding: a curve this close to one half has reached it.
ROUNDING: Final = 1e-9


@attrs.frozen
class Spell:
    """A spell of ownership of a plot; without an agent that it is `lost_to` it is censored."""

    plot: Annotated[int, "", "the plot's id"]
    owner: Annotated[int, "", "the agent who holds it"]
    start: Annotated[int, "", "the first round at whose end it does"]
    end: Annotated[int, "", "the last one"]
    gained: Annotated[str, "", "how the plot came: claim or capture"]
    lost_to: Annotated[int | None, "", "who captured it in round end + 1; null: still held"]

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


# Of a spell: the first and the last round at whose end the owner has the plot, and whether it was
# lost then.
Times = tuple[int, int, bool]

_NOBODY: Final = -1
_START, _END, _LOST_TO = 2, 3, 5  # integers of a record


class SpellRecords(Sequence[Spell]):
    """The spells of a run in the order of their starts. Each takes 24 bytes, six integers; a list
    of objects would take six times as much, and the garbage collector would walk through it.
    """

    def __init__(self) -> None:
        self._columns = [array("i") for _ in range(6)]

    def begin(self, plot: int, owner: int, round: int, how: int) -> int:
        """Begin a spell, which runs. Returns its index."""
        for column, number in zip(
            self._columns, (plot, owner, round, round, how, _NOBODY), strict=True
        ):
            column.append(number)
        return len(self) - 1

    def extend(self, index: int, round: int) -> None:
        """Let a spell run until the end of a round."""
        self._columns[_END][index] = round

    def lose(self, index: int, round: int, lost_to: int) -> None:
        """End a spell: in this round the plot was captured."""
        self._columns[_END][index] = round - 1
        self._columns[_LOST_TO][index] = lost_to

    def times(self) -> Iterator[Times]:
        """The times of the spells, all that curves of their lengths need."""
        columns = (self._columns[field] for field in (_START, _END, _LOST_TO))
        return ((start, end, lost != _NOBODY) for start, end, lost in zip(*columns, strict=True))

    def __len__(self) -> int:
        return len(self._columns[0])

    @overload
    def __getitem__(self, index: int) -> Spell: ...
    @overload
    def __getitem__(self, index: slice) -> list[Spell]: ...
    def __getitem__(self, index: int | slice) -> Spell | list[Spell]:
        if isinstance(index, slice):
            return [self[one] for one in range(*index.indices(len(self)))]
        plot, owner, start, end, how, lost_to = (column[index] for column in self._columns)
        gained, captor = HOLDINGS[how] or "", None if lost_to == _NOBODY else lost_to
        return Spell(plot, owner, start, end, gained, captor)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and list(self) == list(other)


# The observed part of a spell, on a clock of rounds: the time of its loss or censoring; whether it
# was lost then; the time after which it is at risk.
Seen = tuple[int, bool, int]


def seen(spells: Iterable[Times], first: int, last: int) -> Iterator[Seen]:
    """The parts of spells observed in the rounds `first` (at which the clock is 1) to `last`,
    without those that are at risk in none of them.

    A spell is at risk from the round after it began. One that begins within these rounds enters
    late; one that was running before enters at 0, whatever its age.
    """
    before = first - 1
    for start, end, was_lost in spells:
        entry = start - before if start > before else 0
        is_over = was_lost and end < last
        exit = (end + 1 if is_over else end if end < last else last) - before
        if exit > entry:
            yield exit, is_over, entry


def half_life(spells: Iterable[Times]) -> float | None:
    """The property half-life in rounds: the Kaplan–Meier median of the lengths of spells.

    None if the curve stays above one half, or there is no spell.
    """
    whole = (((end - start + 1, is_over, 0), 1) for start, end, is_over in spells)
    return next((float(length) for length, share in curve(whole) if share <= 0.5 + ROUNDING), None)


def restricted_mean(spells: Iterable[Times], first: int, last: int, horizon: int) -> float | None:
    """The survival of ownership in rounds: the restricted mean ∫ S(t) dt from 0 to `horizon`, a
    number of rounds from `first` on; None if no plot is owned in these rounds.

    S is the Kaplan–Meier curve of the spells on the clock of the rounds `first` to `last`. By age
    of spells instead, the oldest spells would count in a first half but, being older than its
    length, not at all in a second one.
    """
    shown = seen(spells, first, last)
    earliest = next(shown, None)
    if earliest is None:
        return None
    return math.fsum(_areas(curve(zip(chain((earliest,), shown), repeat(1))), horizon))


def _areas(steps: Iterable[tuple[int, float]], horizon: int) -> Iterator[float]:
    """The areas under the steps of a curve, from 0 to `horizon`."""
    before, share = 0, 1.0
    for at, after in steps:
        if at >= horizon:
            break
        yield share * (at - before)
        before, share = at, after
    yield share * (horizon - before)


def curve(shown: Iterable[tuple[Seen, int]]) -> Iterator[tuple[int, float]]:
    """The Kaplan–Meier curve of observed spells, given with the number of each.

    Yields each time at which a spell was lost, with the share of spells that last longer. Before
    the first time the share is 1.
    """
    entered, gone, lost = tallies = array("q"), array("q"), array("q")  # by time
    for (exit, is_over, entry), count in shown:
        if exit >= len(gone):
            for tally in tallies:
                tally.extend(repeat(0, exit + 1 - len(tally)))
        entered[entry] += count
        gone[exit] += count
        if is_over:
            lost[exit] += count
    at_risk, share = 0, 1.0
    for at, count in enumerate(lost):
        if count:
            share *= 1 - count / at_risk  # spells that enter now are at risk after it
            yield at, share
        at_risk += entered[at] - gone[at]
