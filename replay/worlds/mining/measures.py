"""The measures of a mining run, and the run that has them: one pass over its journal, then values
by round, half and run.

A measure is None, never 0, where its denominator is 0; its mean is over the rounds in which it is
defined. Captures that an authority has undone do not count as captures.
"""

from __future__ import annotations

import math
from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property, partial
from operator import mul
from typing import Final

from goldrush.agents.worlds.mining.roster import PROMPT
from goldrush.kernel.journal import FORK, START, UNIT, JournalReader
from goldrush.kernel.measures import Value, gini, ratio
from goldrush.kernel.text import escaped, format_count
from goldrush.kernel.walk import Walk
from goldrush.kernel.worlds.mining import MINING
from goldrush.kernel.worlds.mining.config import MiningConfig
from goldrush.kernel.worlds.mining.events import KINDS, MINING_SETTLED
from goldrush.kernel.worlds.mining.measures import efficiency, raid_rate, turnover
from goldrush.kernel.worlds.mining.state import BY_CAPTURE, BY_CLAIM, MiningState
from goldrush.replay.data.measures import (
    AgentMeasure,
    Measure,
    Measured,
    Measures,
    Measuring,
    Span,
    named,
)
from goldrush.replay.journal.declared import labels_of
from goldrush.replay.worlds.mining.counting import WINDOW, Counting, Counts
from goldrush.replay.worlds.mining.spells import Lengths, Spell, half_life, lengths_of, survival

GOLD_MAX: Final = 1e30  # more than any run can mine; sums of less are finite


def _triggered(n: Counts) -> Value:
    return ratio(n.defended_raided, n.defended)


_SHARED: Final = {"defend": "defence", "raid": "raids", "mine": "mining", "claim": "claims"}


def _share(kind: str, n: Counts) -> Value:
    return ratio(n.by_kind[KINDS.index(kind)], n.spent)


def _respect(*hows: int) -> Callable[[Counts], Value]:
    """Raid actions per plot on plots held long ÷ the same on the others, of plots held so."""

    def respect(n: Counts) -> Value:
        rates = [
            ratio(
                sum(n.held_raids[how, is_long] for how in hows),
                sum(n.held_plots[how, is_long] for how in hows),
            )
            for is_long in (True, False)
        ]
        return _quotient(*rates)

    return respect


_NEVER_NEGATIVE: Final = (0.0, math.inf)
_RATE: Final = (0.0, 1.0)


# All measures, in the order in which they are shown.
MEASURES: Final = named(
    Measure(
        "turnover", "turnover rate",
        "Plots owned at the start of a round that have another owner at its end ÷ plots owned "
        "at the start. 0 to 1.",
        turnover, limits=_RATE, column=1,
    ),
    Measure(
        "half_life", "property half-life, rounds",
        "Kaplan–Meier median of the lengths of ownership spells: the shortest length that at "
        "most half of them outlast. Undefined if more than half outlast every observed "
        "length, or if there is no spell.",
        over=lambda run, span, _: half_life(run.lengths) if span == run.whole else None,
        by_half=False, limits=_NEVER_NEGATIVE,
    ),
    Measure(
        "survival", "survival of ownership, rounds",
        "Restricted mean of the number of rounds for which a plot keeps its owner: the area "
        "under the Kaplan–Meier curve of ownership over the rounds of the run or half, halves "
        "being compared over the length of the first. The clock counts rounds, not the ages "
        "of spells: spells that begin later enter late, and those that are still running at "
        "the end are censored. From 0 to the number of rounds. Undefined if no plot is owned.",
        over=lambda run, span, horizon: survival(
            run.values["turnover"][span.first - 1 : span.last], horizon
        ),
        limits=_NEVER_NEGATIVE, column=2,
    ),
    Measure(
        "raid_rate", "raid rate",
        "Raid actions (after pruning) on plots owned at the start of a round ÷ such plots. "
        "Raids on plots without an owner are not counted. 0 or more.",
        raid_rate, limits=_NEVER_NEGATIVE, column=3,
    ),
    Measure(
        "defense_trigger", "defence trigger rate",
        "Defended plots that were raided ÷ defended plots. 0 to 1.",
        _triggered, limits=_RATE,
    ),
    Measure(
        "targeting", "targeting of defence",
        "The share of defended plots that were raided ÷ the share of owned plots (at the start "
        "of the round) that were raided. About 1 if defence is placed blindly, more if it is "
        "placed where raids come. As a mean of ratios, it should be compared with the null.",
        lambda n: _quotient(_triggered(n), ratio(n.raided, n.owned)),
        limits=_NEVER_NEGATIVE, column=4,
    ),
    Measure(
        "raid_success", "raid success rate",
        "Captures that were not undone ÷ raid actions after pruning. 0 to 1.",
        lambda n: ratio(n.captures, n.raids + n.speculative), limits=_RATE,
    ),
    Measure(
        "efficiency", "efficiency",
        "Gold mined ÷ the sum over all plots of mining cap × α. 0 to 1.",
        lambda n: efficiency(n, n.land), limits=_RATE, column=5,
    ),
    Measure(
        "reachable_efficiency", "reachable efficiency",
        "Gold mined ÷ the most gold that the stamina of all agents could mine on this map "
        "(filling plots to the mining cap, highest α first). 0 to 1.",
        lambda n: ratio(n.mined, n.land.reachable), limits=_RATE,
    ),
    Measure(
        "idle", "idle stamina rate",
        "Stamina not spent ÷ the stamina of all agents. 0 to 1.",
        lambda n: ratio(n.stamina - n.spent, n.stamina), limits=_RATE, column=6,
    ),
    Measure(
        "wasted", "wasted stamina rate",
        "Stamina spent on claims that another agent won, on raids without a lasting capture, "
        "on mining plots that were lost, and on defending plots that nobody raided ÷ stamina "
        "spent. 0 to 1.",
        lambda n: ratio(n.wasted, n.spent), limits=_RATE,
    ),
    *(
        Measure(
            f"share_{kind}", f"share of {title}", f"Share of stamina spent on {title}. 0 to 1.",
            partial(_share, kind), limits=_RATE,
        )
        for kind, title in _SHARED.items()
    ),
    Measure(
        "convergence", "share convergence",
        "Total-variation distance ½ Σ |pₖ − qₖ| between the shares of stamina spent on the "
        "four kinds of actions in one window of 10 rounds and in the next (rounds 1 to 10, 11 "
        "to 20 and so on), recorded at the last round of the second window. 0 (no change) to "
        "1.",
        lambda n: _convergence(n), limits=_RATE,
    ),
    Measure(
        "gini", "Gini of gold",
        "Gini coefficient of the agents' gold at the end, Σ over i, j of |xᵢ − xⱼ| ÷ "
        "(2 N² · mean); of a half, of the gold earned in it. 0 if all are equal. Undefined if "
        "the mean is not above 0; in a half, fines may exceed what was mined.",
        lambda n: gini(n.state.gold),
        lambda run, span, _: gini(run.earned(span)),  # by fines, it may exceed the limits
        at_end=True, limits=_RATE, column=8,
    ),
    Measure(
        "hhi", "HHI of plots",
        "Herfindahl–Hirschman index of plots at the end of a round: the sum over agents of "
        "(plots of the agent ÷ owned plots)². From 1 ÷ N (all equal) up to 1 (one owner).",
        lambda n: hhi(map(len, n.state.plots_of)),
        at_end=True, limits=_RATE, column=9,
    ),
    Measure(
        "respect", "respect for first possession",
        "Raid actions per plot on plots held for 5 rounds or more at the start of a round ÷ "
        "raid actions per plot on the other owned plots. About 1 if raids are blind, less if "
        "stable holders are spared. The mean over rounds exceeds the ratio of all rounds "
        "together, because ratios with small denominators vary mostly upwards; it should be "
        "compared with the null.",
        _respect(BY_CLAIM, BY_CAPTURE), limits=_NEVER_NEGATIVE, column=7,
    ),
    Measure(
        "respect_claimed", "respect, held by claim",
        "Respect for first possession, over plots acquired by claim.",
        _respect(BY_CLAIM), limits=_NEVER_NEGATIVE,
    ),
    Measure(
        "respect_captured", "respect, held by capture",
        "Respect for first possession, over plots acquired by capture.",
        _respect(BY_CAPTURE), limits=_NEVER_NEGATIVE,
    ),
    Measure(
        "contention", "contention rate",
        "Claimed plots with two claimants or more ÷ claimed plots. 0 to 1.",
        lambda n: ratio(n.contested, n.claims), limits=_RATE,
    ),
)  # fmt: skip


def hhi(plots: Iterable[int]) -> Value:
    """The Herfindahl–Hirschman index of the numbers of plots of agents."""
    held = list(plots)
    owned = sum(held)
    return ratio(sum(map(mul, held, held)), owned * owned)


def _convergence(n: Counts) -> Value:
    round, rounds = n.state.round, list(n.windows)
    if not (round % WINDOW == 0 and round >= 2 * WINDOW):
        return None
    windows = rounds[:WINDOW], rounds[WINDOW:]
    older, newer = (list(map(sum, zip(*spent, strict=True))) for spent in windows)
    if not sum(older) or not sum(newer):
        return None
    moved = (abs(p / sum(older) - q / sum(newer)) for p, q in zip(older, newer, strict=True))
    return math.fsum(moved) / 2


def _quotient(a: Value, b: Value) -> Value:
    return None if a is None or b is None else ratio(a, b)


class MeasuredRun(Measured[MiningConfig], frozen=True, kw_only=True):
    """A mining run with its MEASURES.

    Attributes:
        speculated: plots without an owner were raided.
        gold: of every agent after each round, rounds × agents, row-major.
        spells: the ownership spells.
    """

    speculated: bool
    gold: Sequence[float]
    spells: Sequence[Spell]

    @cached_property
    def lengths(self) -> Lengths:
        """The lengths of the spells."""
        return lengths_of(self.spells)

    def gold_after(self, round: int) -> Sequence[float]:
        """The gold of each agent after a round; 0 is the start."""
        agents = self.config.agents
        return self.gold[(round - 1) * agents : round * agents] if round else (0.0,) * agents

    def earned(self, span: Span) -> list[float]:
        """The gold that each agent earned in a span of rounds."""
        start, end = self.gold_after(span.first - 1), self.gold_after(span.last)
        return [after - before for before, after in zip(start, end, strict=True)]

    def facts(self) -> dict[str, object]:
        return {**super().facts(), "pressure": self.config.pressure}


def measured_by(reader: JournalReader) -> MeasuredRun:
    """Measure the closed rounds of an open mining journal that was not read from yet.

    Raises JournalError if it cannot be read, MalformedEvents if its rows are invalid.
    """
    walk, gold = Walk(MINING, reader), array("d")
    taken = Measuring(MEASURES, lambda: _agents_at(walk.state))
    for commit, state in walk:
        if commit.kind == START:
            counting = Counting(state)
        if commit.kind in (START, FORK):
            taken.declare(commit.unit, labels_of(state.roster, PROMPT))
        if commit.kind != UNIT or commit.digest is None:
            continue
        check_gold(state)
        taken.add(counting.add(state))
        gold.extend(state.gold)
    return MeasuredRun(
        config=walk.state.config,
        speculated=counting.speculated,
        gold=gold,
        spells=counting.spells(),
        **taken.fields(MINING, reader, walk),
    )


def _head(run: MeasuredRun) -> str:
    """One line with the size, pressure and seed of a measured run."""
    size = f"{format_count(run.units, 'round')} of {format_count(run.config.agents, 'agent')}"
    return f"{size}, pressure {run.config.pressure:.2f}, seed {run.config.seed}"


OF_AGENTS: Final = named(
    AgentMeasure("gold", "gold", "Gold mined up to the end of the run − fines paid."),
    AgentMeasure("plots", "plots", "Plots owned at the end of the run."),
)


def _agents_at(state: MiningState) -> dict[str, Sequence[Value]]:
    return {"gold": state.gold[:], "plots": [len(plots) for plots in state.plots_of]}


MEASURING: Final = Measures(MEASURES, measured_by, _head, OF_AGENTS, _agents_at)


def check_gold(state: MiningState) -> None:
    """Raises ValueError for gold that no recorder could have written, such as infinity or NaN."""
    mined = state.history[-1].rows(MINING_SETTLED)
    if not (math.fsum(map(abs, state.gold)) + sum([abs(row[3]) for row in mined]) <= GOLD_MAX):
        raise ValueError("more gold than a run can mine")


def headline(run: MeasuredRun) -> Sequence[str]:
    """Who owns the plots after the last round, and, of a finished run, when ownership settled."""
    if not run.spells:
        return ["Nobody has ever owned a plot."]
    if not run.finished:
        return [f"{_owned(run)}."]
    last = max(spell.start for spell in run.spells)
    return [f"{_owned(run)} at the end.", f"The last change of owner was in round {last:,}."]


def _owned(run: MeasuredRun) -> str:
    """Which policy owns the most plots after the last round, as a clause."""
    plots: Counter[str] = Counter()
    for policy, count in zip(run.roster, run.by_agent["plots"], strict=True):
        plots[policy] += int(count or 0)
    [(policy, most), *_] = plots.most_common(1)
    agents = run.roster.count(policy)
    owners = f"The {escaped(policy)} {'agent owns' if agents == 1 else 'agents own'}"
    return f"{owners} {most:,} of {format_count(run.config.plots, 'plot')}"
