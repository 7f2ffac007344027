"""A mining run with its measures: one pass over its journal, then values by round, half and run."""

from __future__ import annotations

import math
from array import array
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import attrs

from goldrush.agents.roster import policy_label
from goldrush.kernel import fold
from goldrush.kernel.journal import FORK, UNIT, JournalReader
from goldrush.kernel.measures import Value
from goldrush.kernel.mining import MINING
from goldrush.kernel.mining.config import MiningConfig
from goldrush.kernel.mining.events import MINING_SETTLED
from goldrush.kernel.mining.measures import (
    WINDOW,
    Counts,
    Land,
    convergence,
    gini,
    hhi,
    land_of,
)
from goldrush.kernel.mining.state import MiningState
from goldrush.replay import measures
from goldrush.replay.forged import reader_of
from goldrush.replay.measures import Span
from goldrush.replay.mining.counting import Counting, Tie
from goldrush.replay.mining.measures import (
    CONVERGENCE,
    GINI,
    HALF_LIFE,
    HHI,
    MEASURES,
    PER_LAND,
    PER_ROUND,
    SURVIVAL,
)
from goldrush.replay.mining.spells import Spell, half_life, restricted_mean

GOLD_MAX: Final = 1e30  # more than any run can mine; sums of less are finite


@attrs.frozen(kw_only=True)
class Measured(measures.Measured[MiningConfig]):
    """A mining run with its measures (defined in `measures.MEASURES`).

    Attributes:
        counts: by round.
        gold: of every agent before round 1 and after each round, (rounds + 1) × agents, row-major.
        spells: the ownership spells.
        ties: the draws between tied agents.

    """

    counts: Sequence[Counts]
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
        return self.gold[round * agents : (round + 1) * agents]

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
def measure(path: str | Path) -> Measured:
    """Measure the closed rounds of a mining journal.

    Raises JournalError if it cannot be read, MalformedEvents if its rows are invalid.
    """
    with JournalReader(path) as reader:
        return measured_by(reader)


def measured_by(reader: JournalReader) -> Measured:
    """As `measure`, of an open journal not read from yet."""
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
        roster=[policy_label(entry) for entry in state.roster],
        finished=reader.ended,
        counts=counting.counts,
        values=values,
        gold=gold,
        spells=counting.spells(),
        ties=counting.ties,
        forks=forks,
        known=MEASURES,
        vocabulary=MINING.vocabulary,
        units=len(counting.counts),
    )


def on_plots(run: Measured, plots: Collection[int]) -> Measured:
    """The same run with only the spells of these plots."""
    return attrs.evolve(run, spells=[spell for spell in run.spells if spell.plot in plots])


def _check_gold(state: MiningState) -> None:
    """Raises ValueError for gold that no recorder could have written, such as infinity or NaN."""
    mined = state.history[-1].rows(MINING_SETTLED)
    if not (math.fsum(map(abs, state.gold)) + sum(abs(row[3]) for row in mined) <= GOLD_MAX):
        raise ValueError("more gold than a run can mine")


def _add_values(
    values: Mapping[str, list[Value]], counts: Sequence[Counts], state: MiningState, land: Land
) -> None:
    """Append the measures of the last counted round."""
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
