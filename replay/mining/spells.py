"""How long property lasts: ownership spells, and Kaplan–Meier curves of their lengths.

A spell is consecutive round ends with one owner; its length is their number. It ends when the plot
has another owner at the next round end (plots are never given up), and is censored where it is
still running at the end of what is looked at.

The curves are worked out here, and in tests held against those of statsmodels: importing that takes
longer than measuring a hundred runs.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple

import attrs

# What rounding may add to a share of spells: a curve at one half has come down to it.
ROUNDING: Final = 1e-9


@attrs.frozen
class Spell:
    """An owner's hold of a plot: at the ends of rounds `start` .. `end`, both included.

    `gained`: how it came, `claim` or `capture`. `lost_to`: who captured it in round `end` + 1, None
    where it is still running (censored).
    """

    plot: int
    owner: int
    start: int
    end: int
    gained: str
    lost_to: int | None

    @property
    def length(self) -> int:
        """How many round ends it lasted, so far if it is censored."""
        return self.end - self.start + 1

    def as_dict(self) -> dict[str, Any]:
        """The spell for JSON and for tables."""
        return {
            **attrs.asdict(self),
            "length": self.length,
            "lost": None if self.lost_to is None else "capture",
            "censored": self.lost_to is None,
        }


class Seen(NamedTuple):
    """What is seen of a spell on a clock of rounds: at risk of being lost after `entry`, up to
    `exit`, when it is lost if it `is_over`, and else goes out of sight (censored).
    """

    exit: int
    is_over: bool
    entry: int


def seen(spell: Spell, first: int, last: int) -> Seen | None:
    """What rounds `first` .. `last` show of a spell, on the clock of these rounds, `first` being 1.
    None where it is at risk in none of them.

    A spell is at risk from the round after it began. One that begins later than the clock enters
    late, one that was running before is there from the start, whatever its age.
    """
    entry = max(0, spell.start + 1 - first)
    is_over = spell.lost_to is not None and spell.end < last
    exit = (spell.end + 1 if is_over else min(spell.end, last)) - first + 1
    return Seen(exit, is_over, entry) if exit > entry else None


def half_life(spells: Sequence[Spell]) -> float | None:
    """Property half-life: the Kaplan–Meier median of the lengths of spells, in rounds: the shortest
    length that at most half of them outlast.

    None where the curve stays above one half, or where there is no spell.
    """
    whole = [Seen(spell.length, spell.lost_to is not None, 0) for spell in spells]
    return next((float(length) for length, share in curve(whole) if share <= 0.5 + ROUNDING), None)


def restricted_mean(spells: Sequence[Spell], first: int, last: int, horizon: int) -> float | None:
    """Survival of ownership: the restricted mean of the rounds, of the first `horizon` of these
    (`first` .. `last`), for which a plot stays with its owner: ∫ S(t) dt from 0 to `horizon`, S
    being the Kaplan–Meier curve of the spells on the clock of these rounds, those that begin later
    entering late, those still running at the end of round `last` censored. 0 .. horizon.

    The clock is that of the rounds, not the age of a spell: by age, the oldest holders would count
    in a first half and, being older than it is long, not at all in a second one.

    None where no plot is owned in these rounds.
    """
    shown = [one for spell in spells if (one := seen(spell, first, last)) is not None]
    if not shown:
        return None
    steps = [(0, 1.0), *((at, share) for at, share in curve(shown) if at < horizon)]
    ends = [*(at for at, _ in steps[1:]), horizon]
    return math.fsum(share * (end - at) for (at, share), end in zip(steps, ends, strict=True))


def curve(
    shown: Iterable[Seen], weights: Mapping[Seen, int] | None = None
) -> list[tuple[int, float]]:
    """The Kaplan–Meier curve of spells as they were seen: each time at which one was lost, and the
    share of spells that last longer. Before the first it is 1, behind the last it stays.

    `weights`: how many there are of each, if not one.
    """
    entered, gone, lost = Counter[int](), Counter[int](), Counter[int]()
    for one, count in (Counter(shown) if weights is None else weights).items():
        entered[one.entry] += count
        gone[one.exit] += count
        if one.is_over:
            lost[one.exit] += count
    steps, at_risk, share = [], 0, 1.0
    for at in sorted(entered.keys() | gone.keys()):
        if at in lost:
            share *= 1 - lost[at] / at_risk  # who enters at this time is at risk behind it
            steps.append((at, share))
        at_risk += entered[at] - gone[at]
    return steps
