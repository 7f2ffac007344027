"""A mining run with its measures: one pass over its journal, then values by round, half and run."""

from __future__ import annotations

import math
from array import array
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import Any, Final

import attrs

from goldrush.agents.seats import policy_label
from goldrush.kernel.journal import START, UNIT, JournalReader
from goldrush.kernel.measures import Value
from goldrush.kernel.walk import Walk
from goldrush.kernel.worlds.mining import MINING
from goldrush.kernel.worlds.mining.config import MiningConfig
from goldrush.kernel.worlds.mining.events import MINING_SETTLED
from goldrush.kernel.worlds.mining.measures import (
    WINDOW,
    Counts,
    Land,
    convergence,
    gini,
    hhi,
    land_of,
)
from goldrush.kernel.worlds.mining.state import MiningState
from goldrush.replay.data import measures
from goldrush.replay.data.compact import Series
from goldrush.replay.data.measures import Span
from goldrush.replay.journal.forged import reader_of
from goldrush.replay.worlds.mining.counting import Counting, Tie, Totals
from goldrush.replay.worlds.mining.measures import (
    CONVERGENCE,
    GINI,
    HALF_LIFE,
    HHI,
    MEASURES,
    PER_LAND,
    PER_ROUND,
    SURVIVAL,
)
from goldrush.replay.worlds.mining.spells import Spell, half_life, restricted_mean

GOLD_MAX: Final = 1e30  # more than any run can mine; sums of less are finite


@attrs.frozen(kw_only=True)
class MeasuredRun(measures.Measured[MiningConfig]):
    """A mining run with its measures (defined in `measures.MEASURES`).

    Attributes:
        totals: sums over the rounds.
        gold: of every agent after each round, rounds × agents, row-major.
        spells: the ownership spells.
        ties: the draws between tied agents.

    """

    totals: Totals
    gold: array[float]
    spells: Sequence[Spell]
    ties: Sequence[Tie]

    @property
    def rounds(self) -> int:
        """The number of closed rounds."""
        return self.units

    def gold_after(self, round: int) -> Sequence[float]:
        """The gold of each agent after a round; 0 is the start."""
        agents = self.config.agents
        return self.gold[(round - 1) * agents : round * agents] if round else (0.0,) * agents

    def over(self, name: str, span: Span, horizon: int) -> Value:
        """The value of a measure over a span of rounds.

        Gini is of the gold earned in the span; survival is restricted to the first `horizon` rounds
        of the span; the half-life is defined only for the whole run.
        """
        if name == GINI:
            start, end = self.gold_after(span.first - 1), self.gold_after(span.last)
            return gini(after - before for before, after in zip(start, end, strict=True))
        if name == HALF_LIFE:
            return half_life(self.spells) if span == self.whole else None
        if name == SURVIVAL:
            return restricted_mean(self.spells, span.first, span.last, horizon)
        return super().over(name, span, horizon)

    def facts(self) -> dict[str, Any]:
        """See the base class; also the pressure."""
        return {**super().facts(), "pressure": self.config.pressure}


@reader_of
def measure(path: str | Path) -> MeasuredRun:
    """Measure the closed rounds of a mining journal.

    Raises JournalError if it cannot be read, MalformedEvents if its rows are invalid.
    """
    with JournalReader(path) as reader:
        return measured_by(reader)


def measured_by(reader: JournalReader) -> MeasuredRun:
    """As `measure`, of an open journal not read from yet."""
    run = Measuring(reader)
    gold = array("d")
    values = {name: Series() for name in (*PER_ROUND, *PER_LAND, CONVERGENCE, GINI, HHI)}
    for _, found in run:
        for name, series in values.items():
            series.append(found[name])
        gold.extend(run.walk.state.gold)
    return MeasuredRun(
        path=reader.path,
        config=run.walk.state.config,
        roster=[policy_label(entry) for entry in run.walk.state.roster],
        finished=reader.ended,
        totals=run.counting.totals(),
        values=values,
        gold=gold,
        spells=run.counting.spells(),
        ties=run.counting.ties,
        forks=len(run.walk.forks),
        known=MEASURES,
        vocabulary=MINING.vocabulary,
        units=run.walk.state.round,
    )


class Measuring:
    """One pass over a journal: iterating gives the counts and the measures of each closed round.

    Attributes:
        walk: the walk over it.
        counting: the counting of its events.

    """

    counting: Counting

    def __init__(self, reader: JournalReader) -> None:
        """The pass over an open journal not read from yet."""
        self.walk = Walk(MINING, reader)

    def __iter__(self) -> Iterator[tuple[Counts, dict[str, Value]]]:
        for commit, state in self.walk:
            if commit.kind == START:
                self.counting = Counting(state)
            if commit.kind != UNIT or commit.digest is None:
                land = land_of(state.config)  # a fork changes it
                continue
            check_gold(state)
            counts = self.counting.add(state)
            yield counts, _values(self.counting, counts, state, land)


def on_plots(run: MeasuredRun, plots: Collection[int]) -> MeasuredRun:
    """The same run with only the spells of these plots."""
    return attrs.evolve(run, spells=[spell for spell in run.spells if spell.plot in plots])


def check_gold(state: MiningState) -> None:
    """Raises ValueError for gold that no recorder could have written, such as infinity or NaN."""
    mined = state.history[-1].rows(MINING_SETTLED)
    if not (math.fsum(map(abs, state.gold)) + sum([abs(row[3]) for row in mined]) <= GOLD_MAX):
        raise ValueError("more gold than a run can mine")


def _values(counting: Counting, counts: Counts, state: MiningState, land: Land) -> dict[str, Value]:
    """The measures of the last counted round."""
    values = {name: of(counts) for name, of in PER_ROUND.items()}
    for name, of_land in PER_LAND.items():
        values[name] = of_land(counts, land)
    compares = counts.round % WINDOW == 0 and counts.round >= 2 * WINDOW
    values[CONVERGENCE] = convergence(tuple(counting.windows)) if compares else None
    values[GINI] = gini(state.gold)
    values[HHI] = hhi(map(len, state.plots_of))
    return values
