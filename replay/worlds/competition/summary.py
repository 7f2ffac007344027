"""The summary of a season: its tables with the quality of their conclusions, its workers with their
ranks, eliminations and returns.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Final

import attrs

from goldrush.agents.trust import HUMAN
from goldrush.kernel import fold
from goldrush.kernel.journal import FORK, JournalReader
from goldrush.kernel.measures import Value, mean
from goldrush.kernel.walk import ROWS, Walk
from goldrush.kernel.world import Event, Step
from goldrush.kernel.worlds.competition.events import (
    CAUSES,
    CODES,
    Answered,
    Deleted,
    EliminationFaced,
    Joined,
    LeaderboardPosted,
    Refused,
    Relegated,
    Returned,
    Spoke,
    named,
)
from goldrush.kernel.worlds.competition.fork import turn_of
from goldrush.kernel.worlds.competition.state import SeasonState
from goldrush.kernel.worlds.competition.table import Roundtable
from goldrush.kernel.worlds.competition.terms import Move, Part
from goldrush.replay.journal.forged import reader_of
from goldrush.replay.worlds.competition.proof import sides
from goldrush.replay.worlds.competition.quality import Atlases, Quality
from goldrush.replay.worlds.competition.steps import (
    conduct_text,
    season_world,
)


@attrs.frozen
class WorkerLine:
    """A worker at the end of a season.

    Attributes:
        first_rank: its rank on the first leaderboard that has it.
        rank, rolling: its rank (None without one) and its rolling sum on the last leaderboard.
        total: the sum of its scores.
        sat: the number of roundtables that it sat at.
    """

    agent: int
    name: str
    status: str
    class_: str
    sparks: int
    first_rank: int | None
    rank: int | None
    rolling: int
    total: int
    sat: int


@attrs.frozen
class Ended:
    """A table that has ended.

    Attributes:
        conduct, value: the concluded conduct and its tested value; None without a conclusion.
        bar: the value of the bar.
        best: the best tested value of a proposal.
        tied: the number of proposals among which the conclusion was drawn; 0 without a draw.
        adopted: whether the admin adopted it; None if not asked.
        quality: None if the arena has no atlas of the subject.
    """

    assignment: int
    table: int
    objective: str
    treatment: str
    conduct: str | None
    value: Value
    bar: Value
    best: Value
    tied: int
    adopted: bool | None
    quality: Quality | None


@attrs.frozen
class TableCounts:
    """Counts over tables, each with its unit and meaning."""

    trials: Annotated[int, "trials", "ordered by somebody for itself"] = 0
    claims: Annotated[
        int, "contributions", "proposals, amendments included, that were not redirected"
    ] = 0
    held: Annotated[int, "contributions", "those of them whose base held"] = 0
    sharp: Annotated[int, "contributions", "those of them whose base is sharp"] = 0
    challenges: Annotated[int, "contributions", "challenges that were not redirected"] = 0
    sustained: Annotated[int, "contributions", "those of them that were right"] = 0
    stood: Annotated[int, "agents", "who gave a final stance that was not refused"] = 0
    changed: Annotated[
        int, "agents", "who stand elsewhere in the end than at the end of the talk"
    ] = 0


@attrs.frozen
class SeasonSummary:
    """The summary of a season.

    Attributes:
        bytes: the size of the journal.
        assignments: the number of closed assignments.
        percentiles: the mean percentile of conclusions in the first and in the second half of the
            planned assignments; None if undefined.
        refused: the number of refused acts by code.
        mean_total: the mean of all recorded totals, from 0 to 12; None without scores.
        workers: the workers, ranked ones first.
        left: eliminations, returns and newcomers, in order: (assignment, name, text).
        models, people: the number of answers by language models, and by humans.
        unsaid: (assignment, table, round, agent) of replaced submissions that were never used,
            because the turn did not come.
    """

    path: str
    bytes: int
    assignments: int
    finished: bool
    config: Mapping[str, Any]
    tables: Sequence[Ended]
    counts: TableCounts
    percentiles: tuple[Value, Value]
    refused: Mapping[str, int]
    mean_total: float | None
    workers: Sequence[WorkerLine]
    left: Sequence[tuple[int, str, str]]
    forks: Sequence[Event]
    models: int
    people: int
    unsaid: Sequence[tuple[int, int, int, int]]

    def as_dict(self) -> dict[str, Any]:
        """The summary for JSON."""
        forks = [event.as_dict() for event in self.forks]
        return {**attrs.asdict(self), "forks": forks}


@reader_of
def summarise(path: str | Path) -> SeasonSummary:
    """The summary of a season's journal. Raises JournalError if it cannot be read."""
    with JournalReader(path) as reader:
        world = season_world(reader)
        counting = _Counting()
        walk = Walk(world, reader, ROWS)
        for commit, step, state in walk.steps():
            if commit.kind == FORK:
                counting.fork(fold.setup_event(world, reader, commit), walk.forks[-1])
            if step is not None:
                counting.add(step, state)
                if world.unit_done(state):
                    counting.closed(state)
        return counting.summary(walk.state, str(path), reader)


class _Counting:
    """Collects the summary, step by step."""

    def __init__(self) -> None:
        self.forks: list[Event] = []
        self._atlases: Atlases | None = None
        self._by_hand: set[tuple[int, int, int, int]] = set()  # replaced, not yet used
        self._refused: Counter[str] = Counter()
        self._answers = self._by_people = 0
        self._totals: list[int] = []
        self._sat: Counter[int] = Counter()
        self._first: dict[int, int] = {}
        self._last: dict[int, tuple[int, int]] = {}
        self._left: list[tuple[int, str, str]] = []
        self._tables: list[Ended] = []
        self._counts: Counter[str] = Counter()

    def fork(self, event: Event, facts: Mapping[str, Any]) -> None:
        """Note a fork, and the acts that it replaces."""
        self.forks.append(event)
        self._by_hand |= {(at, *turn_of(row)) for at, row in facts["replaced"]}

    def add(self, step: Step, state: SeasonState) -> None:
        """Count the acts and derived events of a step."""
        for row in step.inputs.rows(_ANSWERED):
            is_by_person = (Answered(*row).source or {}).get("name") == HUMAN
            self._by_people += is_by_person
            self._answers += not is_by_person
        for row in step.inputs.rows(_SPOKE):
            self._by_hand.discard((state.assignment, *turn_of(row)))
        for code, rows in step.derived:
            for row in rows:
                self._follow(state, named(code, row))

    def _follow(self, state: SeasonState, event: Any) -> None:
        if isinstance(event, Refused):
            self._refused[event.code] += 1
        elif isinstance(event, LeaderboardPosted):
            self._last = {agent: (rank, rolling) for rank, agent, rolling, _ in event.rows}
            self._first = {**{a: rank for a, (rank, _) in self._last.items()}, **self._first}
        elif type(event) in _LEFT:
            agent, *_ = event
            says = _LEFT[type(event)].format(cause=CAUSES.get(state.faced.get(agent)))
            self._left.append((state.assignment, state.agents[agent].name, says))

    def closed(self, state: SeasonState) -> None:
        """Count the tables of an assignment that has all its events."""
        self._atlases = self._atlases or Atlases(state.arena)
        for table in state.tables:
            self._sat.update(table.participants)
            self._totals += table.totals.values()
            self._tables.append(_ended(state, table, self._atlases))
            self._counts.update(counts_of(table))

    def summary(self, state: SeasonState, path: str, reader: JournalReader) -> SeasonSummary:
        """The summary; `state`: the last one."""
        closed = state.assignment
        return SeasonSummary(
            path=path,
            bytes=reader.size,
            assignments=closed,
            finished=reader.ended,
            config=state.config.as_dict(),
            tables=self._tables,
            counts=TableCounts(**self._counts),
            percentiles=_by_half(self._tables, state.config.assignments),
            refused=dict(self._refused),
            mean_total=mean(self._totals),
            workers=self._standings(state),
            left=self._left,
            forks=self.forks,
            models=self._answers,
            people=self._by_people,
            unsaid=sorted(turn for turn in self._by_hand if turn[0] < closed),
        )

    def _standings(self, state: SeasonState) -> list[WorkerLine]:
        standings = []
        for agent in state.agents.values():
            if not agent.is_worker:
                continue
            rank, rolling = self._last.get(agent.ordinal, (None, 0))
            standings.append(
                WorkerLine(
                    agent.ordinal, agent.name, agent.status, agent.class_, agent.sparks,
                    self._first.get(agent.ordinal), rank, rolling, agent.all_time,
                    self._sat[agent.ordinal],
                )
            )  # fmt: skip
        return sorted(standings, key=lambda s: (s.rank is None, s.rank or s.agent))


_ANSWERED, _SPOKE = CODES[Answered], CODES[Spoke]
_LEFT: Final[Mapping[type[Any], str]] = {
    EliminationFaced: "faces elimination: {cause}",
    Relegated: "is benched",
    Returned: "returns",
    Deleted: "is deleted",
    Joined: "joins",
}


def counts_of(table: Roundtable) -> Mapping[str, int]:
    """The counts of a concluded table, by the fields of Counts."""
    proposals = table.proposals()
    challenges = [said for said in table.counted() if said.move == Move.CHALLENGE]
    return {
        "trials": len(table.trials),
        "claims": len(proposals),
        "held": sum(table.held(said.id, Part.BASE) is True for said in proposals),
        "sharp": sum(map(table.is_sharp, proposals)),
        "challenges": len(challenges),
        "sustained": sum(map(table.is_sustained, challenges)),
        "stood": len(table.stood),
        "changed": sum(side.changed for side in sides(table)),
    }


def _ended(state: SeasonState, table: Roundtable, atlases: Atlases) -> Ended:
    conclusion, best, rules = table.conclusion, table.best_tested(), state.rules
    assert conclusion is not None
    proposal = conclusion.proposal
    return Ended(
        assignment=state.assignment,
        table=table.number,
        objective=table.subject.objective,
        treatment=table.treatment,
        conduct=None if proposal is None else conduct_text(conclusion.conduct, rules),
        value=None if proposal is None else table.tests[proposal, Part.BASE],
        bar=table.bar,
        best=best and best[1],
        tied=len(conclusion.tied),
        adopted=table.is_adopted,
        quality=None if rules is None else atlases.of_table(table, rules.bar(table.subject)),
    )


def _by_half(tables: Sequence[Ended], assignments: int) -> tuple[Value, Value]:
    """The mean percentiles in the first and in the second half of a season."""
    halves: tuple[list[Value], list[Value]] = ([], [])
    for table in tables:
        if table.quality is not None:
            halves[2 * table.assignment >= assignments].append(table.quality.percentile)
    return mean(halves[0]), mean(halves[1])
