"""The events derived when a phase ends (README, sections 4 to 9): the order of a table; its
conclusion; scores, sparks, leaderboard, bottoms and elimination, each for all agents before the
next; the bench; contracts and rewards.

Every function is a generator of events. Its caller applies each event to the state before it asks
for the next one, so the functions always read an up-to-date state.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from goldrush.kernel.worlds.competition import rights
from goldrush.kernel.worlds.competition.events import (
    Bottomed,
    ContractSettled,
    ContractSigned,
    Deleted,
    EliminationFaced,
    Joined,
    LeaderboardPosted,
    ProjectCompleted,
    Relegated,
    Returned,
    RewardUnlocked,
    RoundtableOpened,
    Scored,
    SparksMoved,
    StageReached,
)
from goldrush.kernel.worlds.competition.rubric import Grounds, finished, grounds
from goldrush.kernel.worlds.competition.state import AgentState, SeasonState, name_for
from goldrush.kernel.worlds.competition.table import Roundtable
from goldrush.kernel.worlds.competition.terms import (
    Condition,
    ContractEnd,
    EliminationCause,
    Fate,
    Income,
    Phase,
    Reward,
    Role,
    Status,
    names_of,
)

Derived = Iterator[tuple[Any, ...]]  # named tuples of kernel.worlds.competition.events


# A table.


def opened(state: SeasonState) -> Derived:
    """The opening of a table whose bar was tested: its participants and their order."""
    table = state.table
    if not table.is_bar_tested:
        return
    participants, order = seated_at(state, table)
    draws = state.draws(table.number, 0, "order")
    if order is None:
        order = tuple(draws.shuffled(participants))
    rounds = table.rounds if state.config.table else 1
    yield RoundtableOpened(table.number, participants, order, draws.words(), rounds)


def seated_at(
    state: SeasonState, table: Roundtable
) -> tuple[tuple[int, ...], tuple[int, ...] | None]:
    """The participants of a table, and their order of speaking or None.

    The directive sets the order, or else the assistant. Participants that it does not name speak
    after the others, by ordinal.
    """
    opening = state.opening
    assert opening is not None
    team = opening.team or table.team or state.active()
    seats = (a.ordinal for a in state.workers(Status.ACTIVE) if a.has_condition(Condition.SEAT))
    participants, agenda = tuple(sorted({*team, *seats})), opening.order or table.agenda
    if agenda is None:
        return participants, None
    named = tuple(agent for agent in agenda if agent in participants)
    return participants, (*named, *(agent for agent in participants if agent not in agenda))


def concluded(state: SeasonState) -> Derived:
    """The conclusion of a table after the proof and the final stances."""
    table = state.table
    yield table.concluded(table.stances, state.draws(table.number, 0, "conclude"))


# The debrief.


def debriefed(state: SeasonState) -> Derived:
    """Scores, sparks, leaderboard, bottom scorers, and agents that face elimination."""
    for table in state.tables:
        yield from _scores(state, table)
    yield from _sparks(state)
    yield LeaderboardPosted(ranked(state))
    yield from _bottoms(state)
    if state.config.elimination:
        yield from _faced(state)


def _scores(state: SeasonState, table: Roundtable) -> Derived:
    """Final scores from the therapist's ratings, or from the rubric where it gave none."""
    ground = grounds_at(state, table)
    raw = {agent: table.raw.get(agent, ground[agent].scores) for agent in table.participants}
    for agent, score in finished(table, ground, raw, state.config.scoring).items():
        rubric = sum(ground[agent].scores)
        yield Scored(table.number, agent, score.raw, score.steps, score.final, score.total, rubric)


def grounds_at(state: SeasonState, table: Roundtable) -> dict[int, Grounds]:
    """The grounds of the scores at a concluded table of the assignment under way, by agent."""
    draws = state.draws(table.number, 0, "conclude")
    known = state.known_before(table)
    return grounds(table, state.arena_rules, state.config, known, draws)


def _sparks(state: SeasonState) -> Derived:
    for table in state.tables:
        totals = table.totals
        for ordinal in table.participants:
            agent = state.agents[ordinal]
            fee = rights.fee_of(agent, state.config)
            balance = max(0, agent.sparks + totals[ordinal] - fee)
            moved = balance - agent.sparks
            yield SparksMoved(table.number, ordinal, moved, balance, Income.ROUNDTABLE)
    for agent in list(state.workers(Status.BENCHED)):
        income = state.config.passive_income
        yield SparksMoved(None, agent.ordinal, income, agent.sparks + income, Income.BENCH)


def ranked(state: SeasonState) -> tuple[tuple[int, int, int, int], ...]:
    """The leaderboard: (rank from 1, agent, rolling, all-time), by rolling, all-time, ordinal."""
    workers = sorted(
        state.workers(Status.ACTIVE, Status.BENCHED),
        key=lambda agent: (-state.rolling(agent), -agent.all_time, agent.ordinal),
    )
    return tuple(
        (rank, agent.ordinal, state.rolling(agent), agent.all_time)
        for rank, agent in enumerate(workers, 1)
    )


def _bottoms(state: SeasonState) -> Derived:
    """The lowest total of each table, unless all are equal; a tie is drawn."""
    streaks = {agent: state.agents[agent].bottoms for agent in state.seated()}
    for table in state.tables:
        totals, draws = table.totals, state.draws(table.number, 0, "bottom")
        lowest = min(totals.values())
        tied = tuple(agent for agent, total in sorted(totals.items()) if total == lowest)
        bottom = None
        if len(tied) < len(table.participants):
            bottom = tied[draws.below(len(tied))] if len(tied) > 1 else tied[0]
        for agent in table.participants:
            streaks[agent] = streaks[agent] + 1 if agent == bottom else 0
        if bottom is not None:
            several = tied if len(tied) > 1 else ()
            yield Bottomed(table.number, bottom, several, draws.words(), streaks[bottom])


def _faced(state: SeasonState) -> Derived:
    most = state.config.elimination_bottoms
    for ordinal in state.active():
        agent = state.agents[ordinal]
        if agent.bottoms >= most and state.is_bottom(ordinal):
            yield EliminationFaced(ordinal, EliminationCause.BOTTOMS)
        elif agent.sparks == 0:
            yield EliminationFaced(ordinal, EliminationCause.SPARKS)


# Consequences.


def fates(state: SeasonState) -> Derived:
    """Relegations and deletions of the agents that face elimination, by ordinal.

    Each is followed by the worker that takes the seat. An agent without a valid choice is
    relegated.
    """
    for ordinal in sorted(state.faced):
        if state.fates.get(ordinal, Fate.RELEGATION) == Fate.DELETION:
            yield Deleted(ordinal)
            yield _newcomer(state, ordinal)
        else:
            yield Relegated(ordinal)
            returns = _who_returns(state)
            if returns is None:
                yield _newcomer(state, None)
            else:
                yield Returned(returns, ordinal)
    for ordinal in sorted(state.faced):
        agent = state.agents[ordinal]
        if agent.status == Status.GONE and agent.contract is not None:
            yield ContractSettled(ordinal, ContractEnd.VOID)


def _newcomer(state: SeasonState, inherits: int | None) -> Joined:
    ordinal = max(state.agents) + 1
    return Joined(ordinal, name_for(state.agents, ordinal), inherits)


def _who_returns(state: SeasonState) -> int | None:
    """The worker benched longest, not in this assignment, that can pay its fee; None if there is
    none.
    """
    able = [
        (agent.benched_in, agent.ordinal)
        for agent in state.workers(Status.BENCHED)
        if agent.benched_in is not None
        and agent.benched_in < state.assignment
        and agent.sparks >= rights.fee_of(agent, state.config)
    ]
    return min(able)[1] if able else None


def contracts_signed(state: SeasonState) -> Derived:
    """The contracts that the user and the agent agreed on."""
    for agent in sorted(state.agreed):
        yield ContractSigned(agent, state.agreed[agent])


def settled(state: SeasonState) -> Derived:
    """The ends of contracts that are due, then rewards, stages and the completed project."""
    for agent in list(state.agents.values()):
        contract = agent.contract
        if contract is None or agent.status != Status.ACTIVE or contract.due > state.assignment:
            continue
        if agent.role == Role.ADMIN and completes_project(state):
            contract = contract.counting()  # it is completed by this assignment, not after it
        yield ContractSettled(agent.ordinal, contract.outcome)
    if state.config.tiers:
        yield from _earned(state)
    if completes_project(state):
        yield ProjectCompleted(state.project)


def _earned(state: SeasonState) -> Derived:
    """The tiers and stages reached with this assignment by those who took part in it."""
    projects = state.projects + completes_project(state)
    seated = set(state.seated())
    for agent in list(state.agents.values()):
        if agent.status == Status.GONE or agent.role == Role.USER:
            continue
        if agent.role == Role.WORKER and agent.ordinal not in seated:
            continue
        count = projects if agent.role == Role.ADMIN else agent.served + 1
        yield from _reached(state, agent, count)


def _reached(state: SeasonState, agent: AgentState, count: int) -> Derived:
    """The new tiers or stages of an agent. `count`: what its thresholds are compared with."""
    rewards = names_of(Reward)
    is_rewarded = agent.role in (Role.WORKER, Role.ADMIN)
    has = agent.stage if is_rewarded else agent.stage - 1
    for index, threshold in enumerate(state.config.thresholds(agent.role)):
        if index < has or count < threshold:
            continue
        if agent.role == Role.ADMIN:
            yield RewardUnlocked(agent.ordinal, Reward.SELF_DETERMINED)
        elif is_rewarded:
            yield RewardUnlocked(agent.ordinal, rewards[index])
        else:
            yield StageReached(agent.ordinal, index + 2)


def completes_project(state: SeasonState) -> bool:
    """Whether a project is completed when this assignment closes: it is its last one, and one of
    its conclusions was adopted.
    """
    return state.config.is_last_of_project(state.assignment) and state.is_project_adopted


LEAVING: Final[Mapping[str, Callable[[SeasonState], Derived]]] = {
    Phase.SET: opened,
    Phase.STAND: concluded,
    Phase.DEBRIEF: debriefed,
    Phase.FATE: fates,
    Phase.CONTRACT: contracts_signed,
    Phase.KEEP: settled,
}
