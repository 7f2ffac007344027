"""Durations of ownership: spells, and Kaplan–Meier curves of their lengths.

A spell is a maximal sequence of round ends at which a plot has one owner; its length is their
number. It ends when the plot has another owner (plots are never given up), and is censored if it is
still running at the end of the observation.

The curves are computed here and compared with those of statsmodels in tests; importing statsmodels
takes longer than measuring a hundred runs.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

import msgspec

from goldrush.kernel.measures import Value

# Tolerance for rounding: a curve this close to one half has reached it.
ROUNDING: Final = 1e-9


class Spell(msgspec.Struct, frozen=True, gc=False):
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
    def censored(self) -> bool:
        """Whether it is still running."""
        return self.lost_to is None


# The number of spells by length and by whether they ended.
Lengths = Mapping[tuple[int, bool], int]


def lengths_of(spells: Iterable[Spell]) -> Lengths:
    """The lengths of spells, all that the curve of them needs."""
    return Counter((spell.length, not spell.censored) for spell in spells)


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
