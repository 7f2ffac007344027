"""Measures of a season: quality of conclusions, claims and challenges, validity of scores.

The value of an assignment is the mean over its tables at which the measure is defined.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final

import attrs

from goldrush.kernel.journal import FORK, JournalReader
from goldrush.kernel.measures import Value, correlation, gini, mean, ratio, spearman
from goldrush.kernel.text import escaped, format_count
from goldrush.kernel.walk import ROWS, Walk
from goldrush.kernel.worlds.competition.arena import UP
from goldrush.kernel.worlds.competition.config import SeasonConfig
from goldrush.kernel.worlds.competition.events import (
    EliminationFaced,
    Scored,
    Spoke,
)
from goldrush.kernel.worlds.competition.fork import turn_of
from goldrush.kernel.worlds.competition.rubric import DIMENSIONS
from goldrush.kernel.worlds.competition.settle import grounds_at
from goldrush.kernel.worlds.competition.state import AgentState, SeasonState
from goldrush.kernel.worlds.competition.table import Roundtable
from goldrush.kernel.worlds.competition.terms import Dimension, Move, Part, Status
from goldrush.replay.data import measures
from goldrush.replay.data.course import ByAgent
from goldrush.replay.data.measures import Measure, Measured, Measuring, Span
from goldrush.replay.worlds.competition.ended import Ended, ended
from goldrush.replay.worlds.competition.quality import Quality, quality_of
from goldrush.replay.worlds.competition.right import (
    challenges_of,
    chose_best,
)
from goldrush.replay.worlds.competition.steps import season_world

COMPARED_MIN: Final = 4  # agents with a tested base; with fewer, validity is undefined
TABLES_MIN: Final = 8  # tables of an agent; with fewer, it has no stability of ranks

STABILITY, LEARNING, MERIT = "stability", "learning", "merit"


@attrs.frozen
class EndedTable:
    """A table of a closed assignment, as measures see it.

    Attributes:
        quality: of its conclusion; None if the arena does not know all values.
        totals: raw totals by the rubric, by agent.
        merits: the same without the Net Impact by the rubric; None if the arena is not installed.
            What the therapist rated may be something else.
    """

    table: Roundtable
    quality: Quality | None
    totals: Mapping[int, int]
    merits: Mapping[int, int] | None


@attrs.frozen
class Assignment:
    """A closed assignment, as measures see it."""

    ended: Ended
    tables: Sequence[EndedTable]


def _tables(of: Callable[[EndedTable], Value]) -> Callable[[Assignment], Value]:
    """The mean over the tables at which a measure is defined."""
    return lambda assignment: mean([of(table) for table in assignment.tables])


def _quality(of: Callable[[Quality], Value]) -> Callable[[Assignment], Value]:
    return _tables(lambda table: None if table.quality is None else of(table.quality))


def _share(values: Iterable[object]) -> Value:
    """The share of those that are true."""
    truths = [bool(value) for value in values]
    return ratio(sum(truths), len(truths))


_NEVER_NEGATIVE: Final = (0.0, math.inf)
_SHARE: Final = (0.0, 1.0)
_CORRELATION: Final = (-1.0, 1.0)


def _of_seasons(
    of: Callable[[MeasuredSeason], Value],
) -> Callable[[MeasuredSeason, Span, int], Value]:
    """A measure of whole seasons alone."""
    return lambda season, span, horizon: of(season) if span == season.whole else None


# All measures, in the order in which they are shown.
MEASURES: Final = measures.named(
    Measure(
        "percentile", "percentile of conclusions",
        "Share of all conducts that the concluded one beats, ties counting half, by their true "
        "values (without the noise of tests). If nothing was concluded, the bar's conduct "
        "counts. If the arena does not know all values: share of the table's proposals, by "
        "their tested values.",
        _tables(lambda table: _percentile(table)), limits=_SHARE, column=1,
    ),
    Measure(
        "optimum_share", "share of the optimum",
        "(Value of the concluded conduct − mean value of all conducts) ÷ (value of the best "
        "conduct − that mean), by their true values; if nothing was concluded, the bar's "
        "conduct counts.",
        _quality(lambda quality: quality.optimum_share), limits=(-math.inf, 1.0), column=2,
    ),
    Measure(
        LEARNING, "gain of later visits",
        "Mean percentile of the assignments at later visits of a family of subjects − that at "
        "the first visits, without a burn-in; an assignment of several tables counts their "
        "mean.",
        over=_of_seasons(lambda season: _gain(season.visits)), by_half=False, limits=_CORRELATION,
    ),
    Measure(
        "regret", "regret", "Value of the best conduct − value of the concluded one.",
        _quality(lambda quality: quality.regret), limits=_NEVER_NEGATIVE,
    ),
    Measure(
        "discovery", "regret of discovery",
        "Value of the best conduct − value of the best one tested at the table.",
        _quality(lambda quality: quality.discovery), limits=_NEVER_NEGATIVE, column=3,
    ),
    Measure(
        "selection", "regret of selection",
        "Value of the best conduct tested at the table − value of the concluded one.",
        _quality(lambda quality: quality.selection), column=4,
    ),
    Measure(
        "chose_best", "tables that chose best",
        "Share of tables that concluded on the best tested of the proposals whose base held, or on "
        "one with an equal test.",
        _tables(lambda each: float(chose_best(each.table))), limits=_SHARE,
    ),
    Measure(
        "open", "tables without conclusion", "Share of tables without a conclusion.",
        _tables(lambda each: float(each.table.chosen is None)), limits=_SHARE,
    ),
    Measure(
        "held", "claims that held", "Bases that held ÷ bases claimed.",
        _tables(
            lambda at: _share(at.table.held(said.id, Part.BASE) for said in at.table.proposals())
        ), limits=_SHARE,
    ),
    Measure(
        "sharp", "sharp claims", "Sharp bases ÷ bases claimed.",
        _tables(lambda each: _share(map(each.table.is_sharp, each.table.proposals()))),
        limits=_SHARE, column=5,
    ),
    Measure(
        "sustained", "sustained challenges", "Sustained challenges ÷ challenges.",
        _tables(lambda each: _share(map(each.table.is_sustained, challenges_of(each.table)))),
        limits=_SHARE, column=6,
    ),
    Measure(
        "passes", "passes", "Passes ÷ contributions, passes included.",
        _tables(lambda each: _share(said.move == Move.PASS for said in each.table.contributions)),
        limits=_SHARE,
    ),
    Measure(
        "trials", "trials", "Number of trials that agents ordered for themselves.",
        _tables(lambda each: len(each.table.trials)), limits=_NEVER_NEGATIVE,
    ),
    Measure(
        "total", "mean total", "Mean total of all agents at the tables, of 12 points.",
        _tables(lambda each: mean(list(each.table.totals.values()))),
        limits=_NEVER_NEGATIVE, column=7,
    ),
    Measure(
        "validity", "validity of scores",
        "Spearman correlation (tied ranks averaged), over the agents of a table with a tested "
        "base, of the totals of their raw scores by the rubric with their best tested bases. "
        f"Undefined with fewer than {COMPARED_MIN} such agents, or if either is constant.",
        _tables(lambda table: _validity(table.table, table.totals)),
        limits=_CORRELATION, column=8,
    ),
    Measure(
        MERIT, "validity without net impact",
        "Validity of scores, of the totals without Net Impact, which the best tested base "
        "earns by construction.",
        _tables(lambda table: _validity(table.table, table.merits)),
        limits=_CORRELATION, column=9,
    ),
    Measure(
        STABILITY, "stability of ranks",
        f"Correlation, over the agents with at least {TABLES_MIN} tables, of the mean total at "
        "an agent's odd tables with that at its even tables, corrected for the half length by "
        "the Spearman–Brown formula. Where agents are eliminated it says nothing: elimination "
        "selects on both halves together.",
        over=_of_seasons(lambda season: stability(season.halves_of.values())),
        by_half=False, limits=_CORRELATION,
    ),
    Measure(
        "faced", "eliminations faced", "Number of agents that faced elimination.",
        lambda at: len(list(at.ended.of(EliminationFaced))), limits=_NEVER_NEGATIVE, column=10,
    ),
    Measure(
        "spark_gini", "Gini of sparks", "Gini coefficient of the sparks of all workers that "
        "are not deleted.",
        lambda assignment: gini(_sparks(assignment.ended.state)), at_end=True, limits=_SHARE,
    ),
)  # fmt: skip


class MeasuredSeason(Measured[SeasonConfig], frozen=True, kw_only=True):
    """A measured season.

    Attributes:
        halves_of: for each agent with at least TABLES_MIN tables, its mean total at its odd and at
            its even tables, each minus the mean over these agents.
        visits: the mean percentile of assignments at first visits of a family of subjects, and at
            later ones.
        leader: a sentence on the worker that ranks first.
        unsaid: (assignment, table, round, agent) of contributions that a fork put in by hand for a
            turn that never came.
    """

    halves_of: Mapping[int, tuple[float, float]]
    visits: tuple[Value, Value]
    leader: str
    unsaid: Sequence[tuple[int, int, int, int]] = ()


def _gain(visits: tuple[Value, Value]) -> Value:
    first, later = visits
    return None if first is None or later is None else later - first


def stability(halves: Iterable[tuple[float, float]]) -> Value:
    """The stability of ranks, from `MeasuredSeason.halves_of` of one season or several.

    The correlation r of the halves, corrected for the half length: 2r ÷ (1 + r), at least -1 (the
    value at r = -1/3). None if either half is constant, or r is -1.
    """
    pairs = list(halves)
    r = correlation([a for a, _ in pairs], [b for _, b in pairs])
    return None if r is None or r <= -1 else max(-1.0, 2 * r / (1 + r))


def measured(reader: JournalReader) -> MeasuredSeason:
    """Measure the season of an open journal from which nothing was read yet.

    Raises JournalError if the journal cannot be read.
    """
    world = season_world(reader)
    counting, walk = _Counting(), Walk(world, reader, ROWS)
    taken = Measuring(MEASURES, lambda: counting.by_agent(_workers(walk.state)))
    by_hand: set[tuple[int, int, int, int]] = set()  # not said so far

    def set_up() -> None:
        policies = [worker.policy for worker in _workers(walk.state)]
        taken.declare(walk.commit.unit, policies)
        if walk.commit.kind == FORK:
            by_hand.update((at, *turn_of(row)) for at, row in walk.forks[-1]["replaced"])

    for each in ended(world, walk, set_up):
        state = each.state
        by_hand.difference_update((state.assignment, *turn_of(row)) for row in each.of(Spoke))
        taken.add(counting.close(each))
    state = walk.state
    return MeasuredSeason(
        config=state.config,
        halves_of=counting.halves_of(),
        visits=(mean(counting.visits[0]), mean(counting.visits[1])),
        leader=_leader_of(state),
        unsaid=sorted(turn for turn in by_hand if turn[0] < state.assignment),
        **taken.fields(world, reader, walk),
    )


def _workers(state: SeasonState) -> list[AgentState]:
    """The workers with whom the season began."""
    workers = [agent for agent in state.agents.values() if agent.is_worker]
    return workers[: state.config.workers]


def _leader_of(state: SeasonState) -> str:
    if not state.leaderboard:
        return "Nobody is ranked yet."
    _, ordinal, recent, _ = state.leaderboard[0]
    leader, points = state.agents[ordinal], format_count(recent, "recent point")
    return f"{escaped(leader.name)} ranks first with {points}{_LEFT.get(leader.status, '')}."


OF_AGENTS: Final = measures.named(
    measures.AgentMeasure(
        "score", "score",
        "Mean total of a worker's scores over the tables at which it sat, for the workers with "
        "whom the season began.", "{} points at a table",
    ),
)  # fmt: skip

MEASURING: Final = measures.Measures(MEASURES, measured, of_agents=OF_AGENTS)


class _Counting:
    """What the measures of a season need of all assignments so far.

    Attributes:
        visits: the percentile of each assignment at first visits of a family, and at later ones.
    """

    def __init__(self) -> None:
        self._totals: dict[int, list[int]] = {}  # by agent, in order
        self._families: set[str] = set()  # visited
        self.visits: tuple[list[Value], list[Value]] = ([], [])

    def close(self, ended: Ended) -> Assignment:
        """Count a closed assignment, for which its measures are returned."""
        tables = [_ended_table(ended, table) for table in ended.state.tables]
        visits: tuple[list[Value], list[Value]] = ([], [])
        for each in tables:
            is_later = each.table.subject.family in self._families
            visits[is_later].append(_percentile(each))
            for agent, total in each.table.totals.items():
                self._totals.setdefault(agent, []).append(total)
        for noted, percentiles in zip(self.visits, visits, strict=True):
            noted += [mean(percentiles)] if percentiles else []
        self._families.update(each.table.subject.family for each in tables)
        return Assignment(ended, tables)

    def halves_of(self) -> dict[int, tuple[float, float]]:
        halves = {
            agent: (mean(totals[0::2]) or 0.0, mean(totals[1::2]) or 0.0)
            for agent, totals in self._totals.items()
            if len(totals) >= TABLES_MIN
        }
        odd, even = (mean([pair[at] for pair in halves.values()]) or 0.0 for at in (0, 1))
        return {agent: (a - odd, b - even) for agent, (a, b) in halves.items()}

    def by_agent(self, workers: Sequence[AgentState]) -> ByAgent:
        return {"score": [mean(self._totals.get(worker.ordinal, [])) for worker in workers]}


def _ended_table(ended: Ended, table: Roundtable) -> EndedTable:
    totals = {row.agent: row.rubric for row in ended.of(Scored) if row.table == table.number}
    merits: Mapping[int, int] | None = None
    if ended.state.rules is not None:
        grounds, impact = grounds_at(ended.state, table), DIMENSIONS.index(Dimension.IMPACT)
        merits = {agent: each - grounds[agent].scores[impact] for agent, each in totals.items()}
    return EndedTable(table, quality_of(table, ended.state), totals, merits)


def _sparks(state: SeasonState) -> list[int]:
    """The sparks of all workers that are not deleted."""
    workers = (agent for agent in state.agents.values() if agent.is_worker)
    return [worker.sparks for worker in workers if worker.status != Status.GONE]


def _percentile(ended: EndedTable) -> Value:
    """The percentile of the conclusion (without one, of the bar); where the arena does not know all
    values, among the table's proposals, by tested values, and None without proposals.
    """
    if ended.quality is not None:
        return ended.quality.percentile
    table, chosen = ended.table, ended.table.chosen
    value = table.bar if chosen is None else table.base_value(chosen)
    values = [table.base_value(said) for said in table.proposals()]
    worse = sum(table.subject.beats(value, other) for other in values)
    return ratio(worse + sum(other == value for other in values) / 2, len(values))


def _validity(table: Roundtable, totals: Mapping[int, int] | None) -> Value:
    """The rank correlation of these totals with the best tested bases; None if undefined."""
    if totals is None:
        return None
    sign = 1.0 if table.subject.better == UP else -1.0
    best: dict[int, float] = {}
    for said in table.proposals():
        value = table.base_value(said)
        if value is not None and said.agent in totals:
            best[said.agent] = max(best.get(said.agent, -math.inf), sign * value)
    if len(best) < COMPARED_MIN:
        return None
    return spearman([float(totals[agent]) for agent in best], list(best.values()))


# What became of a worker who still stands on the leaderboard of its last assignment.
_LEFT: Final = {
    Status.GONE: ", though it was then deleted",
    Status.BENCHED: ", though on the bench",
}


def headline(run: MeasuredSeason) -> Sequence[str]:
    """Who leads a measured season, how many claims held, and how well tables chose."""
    unsaid = [
        f"The contribution given by hand for agent {agent} in assignment {at}, table {table}, "
        f"round {round}, was not used: the agent had no turn there."
        for at, table, round, agent in run.unsaid
    ]
    return [run.leader, *_tables_text(run), *unsaid]


def _tables_text(run: MeasuredSeason) -> list[str]:
    held, chose_best = run.of("held"), run.of("chose_best")
    if held is None or chose_best is None:
        return []
    return [
        f"On average {held:.0%} of the claims of a table held when tested; {chose_best:.0%} of "
        "tables chose the best tested claim."
    ]
