"""A mining run measured: one pass over its journal, then figures by round, half and run."""

from __future__ import annotations

import math
from array import array
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import attrs

from goldrush.agents.mining.roster import called
from goldrush.kernel import fold
from goldrush.kernel.journal import FORK, UNIT, JournalReader
from goldrush.kernel.mining import MINING
from goldrush.kernel.mining.config import MiningConfig
from goldrush.kernel.mining.events import MINING_SETTLED
from goldrush.kernel.mining.state import MiningState
from goldrush.replay.forged import reader_of
from goldrush.replay.mining.counting import Counting, Tie
from goldrush.replay.mining.measures import (
    AT_END,
    CONVERGENCE,
    GINI,
    HALF_LIFE,
    HHI,
    MEASURES,
    PER_LAND,
    PER_ROUND,
    SURVIVAL,
    WINDOW,
    Counts,
    Land,
    Value,
    convergence,
    gini,
    hhi,
    land_of,
)
from goldrush.replay.mining.spells import Spell, half_life, restricted_mean

BURN_IN: Final = 10  # one round in so many, at the start, is not compared
GOLD_MAX: Final = 1e30  # what no run can mine; sums of less are finite


@attrs.frozen
class Span:
    """Rounds `first` .. `last`, both included."""

    first: int
    last: int

    def __len__(self) -> int:
        return self.last - self.first + 1


@attrs.frozen
class Measured:
    """A run and its measures; what they mean stands in `measures`.

    `roster`: by agent, what its policy is called. `rounds`: closed rounds. `counts` and `values`,
    by the name of a measure, are by round, from round 1 on; None where undefined. `gold`: what
    every agent has, `agents` figures a round, those before round 1 first. `spells` of ownership,
    `ties` that were drawn. `forks`: how often it left a parent's run; with none, configuration and
    roster are those with which it began.
    """

    path: str
    config: MiningConfig
    roster: Sequence[str]
    finished: bool
    counts: Sequence[Counts]
    values: Mapping[str, Sequence[Value]]
    gold: array[float]
    spells: Sequence[Spell]
    ties: Sequence[Tie]
    forks: int

    @property
    def rounds(self) -> int:
        """How many rounds are closed."""
        return len(self.counts)

    @property
    def whole(self) -> Span:
        """All closed rounds."""
        return Span(1, self.rounds)

    def gold_after(self, round: int) -> Sequence[float]:
        """What each agent has after a round, 0 being the start."""
        agents = self.config.agents
        return self.gold[round * agents : (round + 1) * agents]

    def of(self, name: str, span: Span | None = None) -> Value:
        """A measure over the run, or over a span of its rounds: the mean of the rounds in which it
        is defined; Gini and HHI at the end, Gini over the gold earned in the span; survival up to
        the end of the span. A half-life is of the whole run alone.
        """
        rounds = span or self.whole
        return self._of(name, rounds, len(rounds))

    def _of(self, name: str, rounds: Span, horizon: int) -> Value:
        if not self.rounds:
            return None
        if name == GINI:
            start, end = self.gold_after(rounds.first - 1), self.gold_after(rounds.last)
            return gini(after - before for before, after in zip(start, end, strict=True))
        if name == HALF_LIFE:
            return half_life(self.spells) if rounds == self.whole else None
        if name == SURVIVAL:
            return restricted_mean(self.spells, rounds.first, rounds.last, horizon)
        values = self.values[name][rounds.first - 1 : rounds.last]
        return values[-1] if name in AT_END else mean(values)

    def halves(self, *, burn_in: bool = True) -> tuple[Span, Span] | None:
        """The rounds after the burn-in (the first ⌊R/10⌋ rounds), or all of them, cut in the
        middle; the second half has the odd one. None where a half would be empty.
        """
        start = self.rounds // BURN_IN if burn_in else 0
        middle = start + (self.rounds - start) // 2
        if middle == start:
            return None
        return Span(start + 1, middle), Span(middle + 1, self.rounds)

    def compared(self, name: str, *, burn_in: bool = True) -> tuple[Value, Value]:
        """A measure in the first half and in the second; survival as far as the shorter one."""
        halves = self.halves(burn_in=burn_in)
        if halves is None:
            return None, None
        first, second = (self._of(name, half, len(halves[0])) for half in halves)
        return first, second

    def as_dict(self) -> dict[str, Any]:
        """The figures of the run and of its halves for JSON."""
        return {
            "path": self.path,
            "rounds": self.rounds,
            "finished": self.finished,
            "seed": self.config.seed,
            "agents": self.config.agents,
            "pressure": self.config.pressure,
            "run": {name: self.of(name) for name in MEASURES},
            "halves": self._halves_as_dict(burn_in=True),
            "halves_without_burn_in": self._halves_as_dict(burn_in=False),
        }

    def _halves_as_dict(self, *, burn_in: bool) -> dict[str, Any] | None:
        halves = self.halves(burn_in=burn_in)
        if halves is None:
            return None
        values = {
            name: self.compared(name, burn_in=burn_in) for name in MEASURES if name != HALF_LIFE
        }
        return {
            half: {
                "first": span.first,
                "last": span.last,
                **{name: pair[place] for name, pair in values.items()},
            }
            for place, (half, span) in enumerate(
                zip(("first_half", "second_half"), halves, strict=True)
            )
        }


@reader_of
def measure(path: str | Path) -> Measured:
    """Measure a mining journal, unfinished ones as far as rounds are closed.

    Raises what reading a journal raises, and MalformedEvents for rows that are none.
    """
    with JournalReader(path) as reader:
        return measured_by(reader)


def measured_by(reader: JournalReader) -> Measured:
    """As `measure`, of a journal that is open and not read yet."""
    counting: Counting | None = None
    gold = array("d")
    values: dict[str, list[Value]] = {
        name: [] for name in (*PER_ROUND, *PER_LAND, CONVERGENCE, GINI, HHI)
    }
    forks = 0
    for commit, state in fold.states(MINING, reader):
        forks += commit.kind == FORK
        if counting is None:
            counting = Counting(state)
            gold.extend(state.gold)
        if commit.kind != UNIT or commit.digest is None:
            land = land_of(state.config)  # a fork changes it
            continue
        _check_gold(state)
        counting.add(state)
        _add_values(values, counting.counts, state, land)
        gold.extend(state.gold)
    assert counting is not None  # the reader refuses a journal without a START
    return Measured(
        path=reader.path,
        config=state.config,
        roster=[called(entry) for entry in state.roster],
        finished=reader.ended,
        counts=counting.counts,
        values=values,
        gold=gold,
        spells=counting.spells(),
        ties=counting.ties,
        forks=forks,
    )


def _check_gold(state: MiningState) -> None:
    """Raises ValueError for gold that no recorder could have written, infinite or none at all."""
    mined = state.history[-1].rows(MINING_SETTLED)
    if not (math.fsum(map(abs, state.gold)) + sum(abs(row[3]) for row in mined) <= GOLD_MAX):
        raise ValueError("more gold than a run can mine")


def _add_values(
    values: Mapping[str, list[Value]], counts: Sequence[Counts], state: MiningState, land: Land
) -> None:
    """The measures of the round that was counted last."""
    now = counts[-1]
    for name, of in PER_ROUND.items():
        values[name].append(of(now))
    for name, of_land in PER_LAND.items():
        values[name].append(of_land(now, land))
    values[CONVERGENCE].append(
        convergence(counts[-2 * WINDOW :])
        if now.round % WINDOW == 0 and now.round >= 2 * WINDOW
        else None
    )
    values[GINI].append(gini(state.gold))
    values[HHI].append(hhi(map(len, state.plots_of)))


def mean(values: Sequence[Value]) -> Value:
    """The mean of what is defined; None where nothing is."""
    defined = [value for value in values if value is not None]
    return math.fsum(defined) / len(defined) if defined else None
