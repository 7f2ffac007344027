"""The season of each worker, worked out from the events: where it sat, what it claimed and how
right that was, its points and sparks, and why it lost its seat.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import attrs

from goldrush.kernel.world import Step
from goldrush.kernel.worlds.competition import rights
from goldrush.kernel.worlds.competition.arena import UP
from goldrush.kernel.worlds.competition.events import (
    Bottomed,
    Deleted,
    EliminationFaced,
    Joined,
    Relegated,
    Returned,
    SparksMoved,
    named,
)
from goldrush.kernel.worlds.competition.state import SeasonState
from goldrush.kernel.worlds.competition.table import Roundtable
from goldrush.kernel.worlds.competition.terms import (
    Income,
    Move,
    Part,
    Status,
)


@attrs.frozen
class Settled:
    """What an assignment did to a worker's sparks: those before it, points earned at its tables and
    the price of its seats there.
    """

    before: int
    points: int = 0
    fees: int = 0
    tables: int = 0


@attrs.frozen
class Departure:
    """The loss of a seat.

    Attributes:
        cause: see terms.EliminationCause.
        settled: of its sparks in that assignment.
        lasts: the assignments in which it was last at its table, up to this one, in a row.
        limit: how many of these cost a seat.
        is_deleted: it was deleted, and not benched.
        heir: the worker that took its seat; None where the journal names none.
        is_new: whether that one joined, and did not return from the bench.
    """

    assignment: int
    agent: int
    cause: str
    settled: Settled
    lasts: Sequence[int]
    limit: int
    is_deleted: bool = False
    heir: int | None = None
    is_new: bool = False


@attrs.define
class Career:
    """The season of a worker so far.

    Attributes:
        name: of the worker.
        joined: the assignment after which it joined; None: it was there from the start.
        inherits: whose memory it has.
        tables: at which it sat.
        off: by claim, the tested value minus the claimed one, above 0 where the test was better.
        objectives: of these claims.
        chosen: how often a proposal of its own was the conclusion.
        best: (points, assignment) of its best table; None before the first.
        lasts: the assignments in which it was last at its table.
        streak: those of them since it last was not.
        low: (sparks, assignment): the fewest that it had, and since when.
        back: the assignments in which it returned from the bench.
    """

    agent: int
    name: str
    sparks_start: int
    joined: int | None = None
    inherits: int | None = None
    tables: int = 0
    claims: int = 0
    held: int = 0
    off: list[float] = attrs.field(factory=list)
    objectives: set[str] = attrs.field(factory=set)
    challenges: int = 0
    sustained: int = 0
    chosen: int = 0
    points: int = 0
    best: tuple[int, int] | None = None
    lasts: list[int] = attrs.field(factory=list)
    streak: list[int] = attrs.field(factory=list)
    sparks: int = 0
    low: tuple[int, int | None] = (0, None)
    class_: str = ""
    status: str = Status.ACTIVE
    departures: list[Departure] = attrs.field(factory=list)
    back: list[int] = attrs.field(factory=list)


class Careers:
    """Collects the careers of all workers, step by step.

    Attributes:
        departures: the losses of seats, in order.
        tables: how many have ended; chose_best: how many of them concluded on a proposal with the
            best test of those that held.
        leaderboard: as posted last.
    """

    def __init__(self, state: SeasonState) -> None:
        self.departures: list[Departure] = []
        self.tables = self.chose_best = 0
        self.leaderboard: Sequence[tuple[int, int, int, int]] = ()
        self._by_agent: dict[int, Career] = {}
        self._settled: dict[int, Settled] = {}
        self._faced: dict[int, Departure] = {}
        self._left: Departure | None = None  # whose seat is taken next
        for agent in state.agents.values():
            if agent.is_worker:
                self._add(state, agent.ordinal, None, None)

    @property
    def careers(self) -> Sequence[Career]:
        """By ordinal."""
        return list(self._by_agent.values())

    @property
    def leader(self) -> tuple[Career, int] | None:
        """The worker that ranks first, and its recent points; None before the first ranking."""
        if not self.leaderboard:
            return None
        _, agent, recent, _ = self.leaderboard[0]
        return self._by_agent[agent], recent

    def add(self, step: Step, state: SeasonState) -> None:
        """Add the derived events of a step; `state`: after it."""
        for code, rows in step.derived:
            for row in rows:
                event = named(code, row)
                follow = _FOLLOWED.get(type(event))
                if follow is not None:
                    follow(self, state, event)

    def close(self, state: SeasonState) -> None:
        """Add the tables of an assignment that has all its events."""
        for table in state.tables:
            self.tables += 1
            self.chose_best += _is_best(table)
            for agent in table.participants:
                self._sat(state.assignment, table, self._by_agent[agent])
        for agent, career in self._by_agent.items():
            now = state.agents[agent]
            career.sparks, career.class_, career.status = now.sparks, now.class_, now.status
        self.leaderboard = state.leaderboard
        self._settled, self._faced, self._left = {}, {}, None

    def _add(
        self, state: SeasonState, agent: int, joined: int | None, inherits: int | None
    ) -> None:
        name, sparks = state.agents[agent].name, state.agents[agent].sparks
        career = Career(agent, name, sparks, joined, inherits, sparks=sparks, low=(sparks, joined))
        self._by_agent[agent] = career

    def _sat(self, assignment: int, table: Roundtable, career: Career) -> None:
        agent = career.agent
        points = table.totals.get(agent, 0)
        career.tables += 1
        career.points += points
        if career.best is None or points > career.best[0]:
            career.best = points, assignment
        if table.bottom == agent:
            career.lasts.append(assignment)
        sign = 1 if table.subject.better == UP else -1
        for contribution in table.counted():
            if contribution.agent != agent:
                continue
            if contribution.move == Move.CHALLENGE:
                career.challenges += 1
                career.sustained += table.is_sustained(contribution)
            elif contribution.is_proposal:
                tested = table.tests.get((contribution.id, Part.BASE))
                career.claims += 1
                career.held += table.held(contribution.id, Part.BASE) is True
                career.objectives.add(table.subject.objective)
                if tested is not None:
                    career.off.append(sign * (tested - contribution.claimed))
        conclusion = table.conclusion
        if conclusion is not None and conclusion.proposal is not None:
            career.chosen += table.contributions[conclusion.proposal].agent == agent

    def _sparks_moved(self, state: SeasonState, event: SparksMoved) -> None:
        career = self._by_agent[event.agent]
        if event.balance < career.low[0]:
            career.low = event.balance, state.assignment
        if event.why != Income.ROUNDTABLE:
            return
        before = self._settled.get(event.agent, Settled(event.balance - event.amount))
        assert event.table is not None  # of a roundtable
        points = state.tables[event.table].totals[event.agent]
        fee = rights.fee_of(state.agents[event.agent], state.config)
        self._settled[event.agent] = Settled(
            before.before, before.points + points, before.fees + fee, before.tables + 1
        )

    def _bottomed(self, state: SeasonState, event: Bottomed) -> None:
        streak = self._by_agent[event.agent].streak
        del streak[: len(streak) + 1 - event.streak]  # it was not last at a table in between
        streak.append(state.assignment)

    def _is_faced(self, state: SeasonState, event: EliminationFaced) -> None:
        agent = event.agent
        self._faced[agent] = Departure(
            state.assignment, agent, event.cause,
            self._settled.get(agent, Settled(state.agents[agent].sparks)),
            tuple(self._by_agent[agent].streak), state.config.elimination_bottoms,
        )  # fmt: skip

    def _leaves(self, state: SeasonState, event: Relegated | Deleted) -> None:
        faced = self._faced[event.agent]
        self._left = attrs.evolve(faced, is_deleted=isinstance(event, Deleted))

    def _returns(self, state: SeasonState, event: Returned) -> None:
        self._by_agent[event.agent].back.append(state.assignment)
        self._replace(event.agent, is_new=False)

    def _joins(self, state: SeasonState, event: Joined) -> None:
        self._add(state, event.ordinal, state.assignment, event.inherits)
        self._replace(event.ordinal, is_new=True)

    def _replace(self, heir: int, *, is_new: bool) -> None:
        if self._left is not None:
            departure = attrs.evolve(self._left, heir=heir, is_new=is_new)
            self.departures.append(departure)
            self._by_agent[departure.agent].departures.append(departure)


def _is_best(table: Roundtable) -> bool:
    """Whether a table concluded on the best tested proposal that held, or on an equal one."""
    proposal = None if table.conclusion is None else table.conclusion.proposal
    if proposal is None:
        return False
    held = (table.tests[each.id, Part.BASE] for each in table.unrefuted())
    return table.tests[proposal, Part.BASE] == table.subject.best(held)


_FOLLOWED: Final[Mapping[type[Any], Any]] = {
    SparksMoved: Careers._sparks_moved,
    Bottomed: Careers._bottomed,
    EliminationFaced: Careers._is_faced,
    Relegated: Careers._leaves,
    Deleted: Careers._leaves,
    Returned: Careers._returns,
    Joined: Careers._joins,
}
