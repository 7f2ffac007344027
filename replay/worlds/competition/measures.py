"""Measures of a season: quality of conclusions, claims and challenges, validity of scores.

The value of an assignment is the mean over its tables at which the measure is defined.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final

import attrs

from goldrush.agents.trust import HUMAN
from goldrush.kernel.journal import FORK, JournalReader
from goldrush.kernel.measures import Value, correlation, gini, mean, ratio, spearman
from goldrush.kernel.walk import ROWS, Walk
from goldrush.kernel.worlds.competition.arena import UP
from goldrush.kernel.worlds.competition.config import SeasonConfig
from goldrush.kernel.worlds.competition.events import (
    Answered,
    Deleted,
    EliminationFaced,
    Relegated,
    Returned,
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
from goldrush.replay.data.course import COURSE_MAX, ByAgent, course_of
from goldrush.replay.data.measures import Measure, Measured, Span, values_of
from goldrush.replay.data.sampling import Sampling
from goldrush.replay.policies import played
from goldrush.replay.worlds.competition.played import Played
from goldrush.replay.worlds.competition.played import played as assignments
from goldrush.replay.worlds.competition.proof import counts_of
from goldrush.replay.worlds.competition.quality import Atlases, Quality
from goldrush.replay.worlds.competition.steps import season_world

COMPARED_MIN: Final = 4  # agents with a tested base; with fewer, validity is undefined
TABLES_MIN: Final = 8  # tables of an agent; with fewer, it has no stability of ranks

STABILITY, LEARNING, MERIT = "stability", "learning", "merit"


@attrs.frozen
class EndedTable:
    """A table of a closed assignment, as measures see it.

    Attributes:
        quality: of its conclusion; None if the arena does not know all values.
        counts: of its claims, challenges and trials, by name.
        totals: raw totals by the rubric, by agent.
        impacts: the Net Impact of each participant by the rubric; None if the arena is not
            installed. What the therapist rated may be something else.
    """

    table: Roundtable
    quality: Quality | None
    counts: Mapping[str, int]
    totals: Mapping[int, int]
    impacts: Mapping[int, int] | None


@attrs.frozen
class Assignment:
    """A closed assignment, as measures see it: its tables, the number of events that the state does
    not record, by name, and the sparks of all workers that are not deleted.
    """

    tables: Sequence[EndedTable]
    events: Mapping[str, float]
    sparks: Sequence[int]


def _tables(of: Callable[[EndedTable], Value]) -> Callable[[Assignment], Value]:
    """The mean over the tables at which a measure is defined."""
    return lambda assignment: mean([of(table) for table in assignment.tables])


def _quality(of: Callable[[Quality], Value]) -> Callable[[Assignment], Value]:
    return _tables(lambda table: None if table.quality is None else of(table.quality))


def _counts(part: str, whole: str) -> Callable[[Assignment], Value]:
    return _tables(lambda table: ratio(table.counts[part], table.counts[whole]))


def _events(name: str) -> Callable[[Assignment], Value]:
    return lambda assignment: assignment.events.get(name)


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
        "drawn", "drawn tables", "Share of tables whose conclusion was decided by a draw.",
        _tables(lambda table: float(bool(table.table.conclusion and table.table.conclusion.tied))),
        limits=_SHARE,
    ),
    Measure(
        "open", "tables without conclusion", "Share of tables without a conclusion.",
        _tables(lambda table: float(concluded(table.table) is None)), limits=_SHARE,
    ),
    Measure(
        "held", "claims that held", "Bases that held ÷ bases claimed.",
        _counts("held", "claims"), limits=_SHARE,
    ),
    Measure(
        "sharp", "sharp claims", "Sharp bases ÷ bases claimed.",
        _counts("sharp", "claims"), limits=_SHARE, column=5,
    ),
    Measure(
        "sustained", "sustained challenges", "Sustained challenges ÷ challenges.",
        _counts("sustained", "challenges"), limits=_SHARE, column=6,
    ),
    Measure(
        "passes", "passes", "Passes ÷ contributions, passes included.",
        _tables(lambda table: _passes(table.table)), limits=_SHARE,
    ),
    Measure(
        "words", "words said", "Number of words in all contributions and final stances.",
        _tables(lambda table: _words(table.table)), limits=_NEVER_NEGATIVE,
    ),
    Measure(
        "trials", "trials", "Number of trials that agents ordered for themselves.",
        _tables(lambda table: table.counts["trials"]), limits=_NEVER_NEGATIVE,
    ),
    Measure(
        "total", "mean total", "Mean total of all agents at the tables, of 12 points.",
        _tables(lambda table: ratio(sum(table.table.totals.values()), len(table.table.totals))),
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
        _tables(lambda table: _merit(table)), limits=_CORRELATION, column=9,
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
        _events("faced"), limits=_NEVER_NEGATIVE, column=10,
    ),
    Measure(
        "returned", "returns", "Number of agents that returned from the bench.",
        _events("returned"), limits=_NEVER_NEGATIVE,
    ),
    Measure(
        "spark_gini", "Gini of sparks", "Gini coefficient of the sparks of all workers that "
        "are not deleted.",
        lambda assignment: gini(assignment.sparks), at_end=True, limits=_SHARE,
    ),
    Measure(
        "questions", "questions to models", "Number of answers of language models.",
        _events("questions"), limits=_NEVER_NEGATIVE,
    ),
    Measure(
        "tokens", "tokens of models",
        "Number of input and output tokens, as reported by the servers.",
        _events("tokens"), limits=_NEVER_NEGATIVE,
    ),
)  # fmt: skip


@attrs.frozen
class Standing:
    """Who stands where in a season, and what its tables came to.

    Attributes:
        leader: (name, status, points of the last days) of the worker that ranks first; None before
            the first ranking.
        most: (name, points) of the worker that has scored most.
        claims, held: proposals that were not redirected, and those whose base held.
        tables: how many have ended; chose_best: how many of them concluded on a proposal with the
            best test of those that held.
        lost: how often a worker lost its seat.
    """

    leader: tuple[str, str, int] | None
    most: tuple[str, int]
    claims: int
    held: int
    tables: int
    chose_best: int
    lost: int


@attrs.frozen(kw_only=True)
class MeasuredSeason(Measured[SeasonConfig]):
    """A measured season.

    Attributes:
        halves_of: for each agent with at least TABLES_MIN tables, its mean total at its odd and at
            its even tables, each minus the mean over these agents.
        visits: the mean percentile of assignments at first visits of a family of subjects, and at
            later ones.
        standing: who stands where after the last closed assignment.
        unsaid: (assignment, table, round, agent) of contributions that a fork put in by hand for a
            turn that never came.
    """

    halves_of: Mapping[int, tuple[float, float]]
    visits: tuple[Value, Value]
    standing: Standing
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
    counting, sampling = _Counting(), Sampling[ByAgent](COURSE_MAX)
    walk = Walk(world, reader, ROWS)
    rosters: dict[int, Sequence[str]] = {}
    by_hand: set[tuple[int, int, int, int]] = set()  # not said so far

    def set_up() -> None:
        rosters[walk.commit.unit] = [worker.policy for worker in _workers(walk.state)]
        if walk.commit.kind == FORK:
            by_hand.update((at, *turn_of(row)) for at, row in walk.forks[-1]["replaced"])

    for one in assignments(world, walk, set_up):
        spoken = (act.act for act in one.acts if isinstance(act.act, Spoke))
        by_hand.difference_update((one.state.assignment, *turn_of(spoke)) for spoke in spoken)
        counting.close(one)
        if sampling.wants(counting.units):
            sampling.add(counting.units, counting.by_agent(_workers(one.state)))
    state = walk.state
    workers = _workers(state)
    last, roster = counting.by_agent(workers), played(rosters.values())
    return MeasuredSeason(
        path=reader.path,
        config=state.config,
        roster=roster,
        finished=reader.ended,
        forks=len(walk.forks),
        known=MEASURES,
        vocabulary=world.vocabulary,
        units=counting.units,
        values=counting.values,
        halves_of=counting.halves_of(),
        by_agent=last,
        course=course_of(sampling, counting.units, last, roster),
        visits=counting.visits(),
        standing=counting.standing(),
        unsaid=sorted(turn for turn in by_hand if turn[0] < state.assignment),
    )


def _workers(state: SeasonState) -> list[AgentState]:
    """The workers with whom the season began."""
    workers = [agent for agent in state.agents.values() if agent.is_worker]
    return workers[: state.config.workers]


OF_AGENTS: Final = measures.named(
    measures.AgentMeasure(
        "score", "score",
        "Mean total of a worker's scores over the tables at which it sat, for the workers with "
        "whom the season began.", "{} points at a table",
    ),
)  # fmt: skip

MEASURING: Final = measures.Measures(MEASURES, measured, of_agents=OF_AGENTS)


class _Counting:
    def __init__(self) -> None:
        self.units = 0
        self.values: dict[str, list[Value]] = {n: [] for n, m in MEASURES.items() if m.by_unit}
        self._atlases: Atlases | None = None
        self._totals: dict[int, list[int]] = {}  # by agent, in order
        self._families: set[str] = set()  # visited
        self._visits: tuple[list[Value], list[Value]] = ([], [])  # percentiles: first, later
        self._sums: Counter[str] = Counter()  # of the closed assignments
        self._leader: tuple[str, str, int] | None = None
        self._points: Mapping[str, int] = {}  # by name of a worker

    def close(self, one: Played) -> None:
        """Count a closed assignment."""
        state = one.state
        if self._atlases is None:
            self._atlases = Atlases(state.arena)
        tables = [self._ended(one, table, self._atlases) for table in state.tables]
        self._visit(tables)
        sparks = [
            a.sparks for a in state.agents.values() if a.is_worker and a.status != Status.GONE
        ]
        assignment = Assignment(tables, _happened(one), sparks)
        for name, value in values_of(MEASURES, assignment).items():
            self.values[name].append(value)
        for table in state.tables:
            for agent, total in table.totals.items():
                self._totals.setdefault(agent, []).append(total)
        self._sums["lost"] += sum(len(list(one.followed(form))) for form in (Relegated, Deleted))
        self._stand(state, tables)
        self.units += 1

    def _stand(self, state: SeasonState, tables: Sequence[EndedTable]) -> None:
        for ended in tables:
            self._sums["tables"] += 1
            self._sums["chose_best"] += _chose_best(ended.table)
            self._sums.update({name: ended.counts[name] for name in ("claims", "held")})
        workers = [agent for agent in state.agents.values() if agent.is_worker]
        self._points = {worker.name: worker.all_time for worker in workers}
        if state.leaderboard:
            _, ordinal, recent, _ = state.leaderboard[0]
            leader = state.agents[ordinal]
            self._leader = leader.name, leader.status, recent

    def standing(self) -> Standing:
        most = max(self._points.items(), key=lambda of: of[1], default=("nobody", 0))
        names = ("claims", "held", "tables", "chose_best", "lost")
        return Standing(self._leader, most, *(self._sums[name] for name in names))

    def _ended(self, one: Played, table: Roundtable, atlases: Atlases) -> EndedTable:
        totals = {s.agent: s.rubric for s in one.followed(Scored) if s.table == table.number}
        quality = atlases.of_table(table, one.bar_of(table))
        return EndedTable(table, quality, counts_of(table), totals, _impacts(one.state, table))

    def _visit(self, tables: Sequence[EndedTable]) -> None:
        """Note the percentiles of an assignment's tables, those of first visits apart."""
        visits: tuple[list[Value], list[Value]] = ([], [])
        for ended in tables:
            is_later = ended.table.subject.family in self._families
            visits[is_later].append(_percentile(ended))
        for noted, percentiles in zip(self._visits, visits, strict=True):
            noted += [mean(percentiles)] if percentiles else []
        self._families.update(ended.table.subject.family for ended in tables)

    def visits(self) -> tuple[Value, Value]:
        first, later = map(mean, self._visits)
        return first, later

    def halves_of(self) -> dict[int, tuple[float, float]]:
        halves = {
            agent: (_mean(totals[0::2]), _mean(totals[1::2]))
            for agent, totals in self._totals.items()
            if len(totals) >= TABLES_MIN
        }
        odd, even = (_mean([pair[which] for pair in halves.values()]) for which in (0, 1))
        return {agent: (a - odd, b - even) for agent, (a, b) in halves.items()}

    def by_agent(self, workers: Sequence[AgentState]) -> ByAgent:
        totals = (self._totals.get(worker.ordinal, []) for worker in workers)
        return {"score": [mean(of_worker) for of_worker in totals]}


def _happened(one: Played) -> Mapping[str, float]:
    """Counts of the events of an assignment that its state does not record."""
    sources = [answer.source or {} for answer in one.done(Answered)]
    tokens = [source.get(name) for source in sources for name in ("tokens_in", "tokens_out")]
    counts = {
        "faced": len(list(one.followed(EliminationFaced))),
        "returned": len(list(one.followed(Returned))),
        "questions": sum(source.get("name") != HUMAN for source in sources),
    }
    used = sum(n for n in tokens if type(n) is int and n >= 0)
    return {**counts, "tokens": used} if sources else counts


def _mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values) if values else 0.0


def concluded(table: Roundtable) -> int | None:
    """The proposal that a table concluded on; None without one."""
    return None if table.conclusion is None else table.conclusion.proposal


def _percentile(ended: EndedTable) -> Value:
    """The percentile of the conclusion (without one, of the bar); where the arena does not know all
    values, among the table's proposals, by tested values, and None without proposals.
    """
    if ended.quality is not None:
        return ended.quality.percentile
    table = ended.table
    proposal = concluded(table)
    own = table.bar if proposal is None else table.tests.get((proposal, Part.BASE))
    values = [table.tests.get((said.id, Part.BASE)) for said in table.proposals()]
    worse = sum(table.subject.beats(own, value) for value in values)
    return ratio(worse + sum(value == own for value in values) / 2, len(values))


def _chose_best(table: Roundtable) -> bool:
    """Whether a table concluded on the best tested proposal that held, or on an equal one."""
    proposal = concluded(table)
    held = (table.tests[each.id, Part.BASE] for each in table.unrefuted())
    return proposal is not None and table.tests[proposal, Part.BASE] == table.subject.best(held)


def _passes(table: Roundtable) -> Value:
    passes = sum(said.move == Move.PASS for said in table.contributions)
    return ratio(passes, len(table.contributions))


def _words(table: Roundtable) -> int:
    texts = [said.text for said in table.contributions]
    texts += [stood.text for stood in table.stood.values()]
    return sum(len(text.split()) for text in texts)


def _merit(ended: EndedTable) -> Value:
    totals, impacts = ended.totals, ended.impacts
    if impacts is None:
        return None
    return _validity(ended.table, {agent: totals[agent] - impacts[agent] for agent in totals})


def _impacts(state: SeasonState, table: Roundtable) -> Mapping[int, int] | None:
    if state.rules is None:
        return None
    impact = DIMENSIONS.index(Dimension.IMPACT)
    return {agent: own.scores[impact] for agent, own in grounds_at(state, table).items()}


def _validity(table: Roundtable, totals: Mapping[int, int]) -> Value:
    """The rank correlation of these totals with the best tested bases; None if undefined."""
    sign = 1.0 if table.subject.better == UP else -1.0
    best: dict[int, float] = {}
    for said in table.proposals():
        value = table.tests.get((said.id, Part.BASE))
        if value is not None and said.agent in totals:
            best[said.agent] = max(best.get(said.agent, -math.inf), sign * value)
    if len(best) < COMPARED_MIN:
        return None
    return spearman([float(totals[agent]) for agent in best], list(best.values()))
