"""What the debrief and the end of an assignment bring, each for all agents before the next: scores,
sparks, leaderboard, bottoms, elimination; then, after the choices, the bench, contracts, rewards.

Every function gives events one after the other and reads a state to which those before have been
applied, because whoever iterates applies them as they come.
"""

from __future__ import annotations

from collections.abc import Iterator

from goldrush.kernel.competition import rights
from goldrush.kernel.competition.events import (
    BENCH,
    BOTTOMED,
    BY_BOTTOMS,
    BY_SPARKS,
    CONTRACT_SETTLED,
    CONTRACT_SIGNED,
    DELETED,
    DELETION,
    ELIMINATION_FACED,
    JOINED,
    LEADERBOARD_POSTED,
    PROJECT_COMPLETED,
    RELEGATED,
    RELEGATION,
    RETURNED,
    REWARD_UNLOCKED,
    ROUNDTABLE,
    SCORED,
    SPARKS_MOVED,
    STAGE_REACHED,
    TIER_REWARDS,
    VOID,
)
from goldrush.kernel.competition.evolve import newcomer
from goldrush.kernel.competition.rubric import Grounds, finished, grounds
from goldrush.kernel.competition.state import (
    ACTIVE,
    ADMIN,
    BENCHED,
    GONE,
    USER,
    WORKER,
    SeasonState,
)
from goldrush.kernel.competition.table import Table
from goldrush.kernel.world import Row

Derived = tuple[int, Row]


def debriefed(state: SeasonState) -> Iterator[Derived]:
    """Scores for everybody at the tables, what they cost, who is last, who faces elimination."""
    for table in state.tables:
        yield from _scores(state, table)
    yield from _sparks(state)
    yield LEADERBOARD_POSTED, (ranked(state),)
    yield from _bottoms(state)
    yield from _faced(state)


def _scores(state: SeasonState, table: Table) -> Iterator[Derived]:
    """Final scores from what the therapist gave; where it gave none, the rubric's own stand."""
    ground = grounds_at(state, table)
    raw = {agent: table.raw.get(agent, ground[agent].scores) for agent in table.participants}
    for agent, score in finished(table, ground, raw, state.config.scoring).items():
        row = (table.number, agent, score.raw, score.steps, score.final, score.total)
        yield SCORED, row


def grounds_at(state: SeasonState, table: Table) -> dict[int, Grounds]:
    """What the scores of everybody at a concluded table of the assignment under way rest on."""
    return grounds(table, state.known_before(table), state.draws(table.number, 0, "conclude"))


def _sparks(state: SeasonState) -> Iterator[Derived]:
    for table in state.tables:
        for ordinal in table.participants:
            agent = state.agents[ordinal]
            fee = rights.fee_of(agent, state.config)
            balance = max(0, agent.sparks + table.totals[ordinal] - fee)
            moved = balance - agent.sparks
            yield SPARKS_MOVED, (table.number, ordinal, moved, balance, ROUNDTABLE)
    for agent in list(state.workers(BENCHED)):
        income = state.config.passive_income
        yield SPARKS_MOVED, (None, agent.ordinal, income, agent.sparks + income, BENCH)


def ranked(state: SeasonState) -> tuple[tuple[int, int, int, int], ...]:
    """The leaderboard: (rank from 1, agent, rolling, all-time), by rolling, all-time, ordinal."""
    workers = sorted(
        state.workers(ACTIVE, BENCHED),
        key=lambda agent: (-state.rolling(agent), -agent.all_time, agent.ordinal),
    )
    return tuple(
        (rank, agent.ordinal, state.rolling(agent), agent.all_time)
        for rank, agent in enumerate(workers, 1)
    )


def _bottoms(state: SeasonState) -> Iterator[Derived]:
    """The lowest total of each table, unless all are equal; a tie is drawn."""
    streaks = {agent: state.agents[agent].bottoms for agent in state.seated()}
    for table in state.tables:
        lowest, draws = min(table.totals.values()), state.draws(table.number, 0, "bottom")
        tied = tuple(agent for agent, total in sorted(table.totals.items()) if total == lowest)
        bottom = None
        if len(tied) < len(table.participants):
            bottom = tied[draws.below(len(tied))] if len(tied) > 1 else tied[0]
        for agent in table.participants:
            streaks[agent] = streaks[agent] + 1 if agent == bottom else 0
        if bottom is not None:
            several = tied if len(tied) > 1 else ()
            yield BOTTOMED, (table.number, bottom, several, draws.words(), streaks[bottom])


def _faced(state: SeasonState) -> Iterator[Derived]:
    most = state.config.elimination_bottoms
    for ordinal in state.active():
        agent = state.agents[ordinal]
        if ordinal in state.bottomed.values() and agent.bottoms >= most:
            yield ELIMINATION_FACED, (ordinal, BY_BOTTOMS)
        elif agent.sparks == 0:
            yield ELIMINATION_FACED, (ordinal, BY_SPARKS)


def fates(state: SeasonState) -> Iterator[Derived]:
    """Who faces elimination goes, and somebody takes the place; in order.

    Who chose nothing that stands is relegated.
    """
    for ordinal in sorted(state.faced):
        if state.fates.get(ordinal, RELEGATION) == DELETION:
            yield DELETED, (ordinal,)
            yield JOINED, newcomer(state, ordinal)
        else:
            yield RELEGATED, (ordinal,)
            returns = _who_returns(state)
            if returns is None:
                yield JOINED, newcomer(state, None)
            else:
                yield RETURNED, (returns, ordinal)
    for ordinal in sorted(state.faced):
        if state.agents[ordinal].status == GONE and state.agents[ordinal].contract is not None:
            yield CONTRACT_SETTLED, (ordinal, VOID)


def _who_returns(state: SeasonState) -> int | None:
    """The longest benched, in an earlier assignment, that can pay its fee."""
    able = [
        (agent.benched_in, agent.ordinal)
        for agent in state.workers(BENCHED)
        if agent.benched_in is not None
        and agent.benched_in < state.assignment
        and agent.sparks >= rights.fee_of(agent, state.config)
    ]
    return min(able)[1] if able else None


def contracts_signed(state: SeasonState) -> Iterator[Derived]:
    """The contracts that the user and the agent agreed on."""
    for agent in sorted(state.agreed):
        yield CONTRACT_SIGNED, (agent, state.agreed[agent])


def settled(state: SeasonState) -> Iterator[Derived]:
    """Contracts that are due, then what everybody in the assignment has earned."""
    for agent in list(state.agents.values()):
        contract = agent.contract
        if contract is None or agent.status != ACTIVE or contract.due > state.assignment:
            continue
        if agent.role == ADMIN and completes_project(state):
            contract = contract.counting()  # it is completed by this assignment, not after it
        yield CONTRACT_SETTLED, (agent.ordinal, contract.outcome)
    projects = state.projects + completes_project(state)
    seated = set(state.seated())
    for agent in list(state.agents.values()):
        if agent.status == GONE or agent.role == USER:
            continue
        if agent.role == WORKER and agent.ordinal not in seated:
            continue
        count = projects if agent.role == ADMIN else agent.served + 1
        yield from _reached(state, agent.ordinal, count)
    if completes_project(state):
        yield PROJECT_COMPLETED, (state.project,)


def _reached(state: SeasonState, ordinal: int, count: int) -> Iterator[Derived]:
    """The stages whose thresholds an agent has reached and that it did not have before."""
    agent = state.agents[ordinal]
    is_rewarded = agent.role in (WORKER, ADMIN)
    has = agent.stage if is_rewarded else agent.stage - 1
    for place, threshold in enumerate(rights.thresholds(state.config, agent.role)):
        if place < has or count < threshold:
            continue
        if agent.role == ADMIN:
            yield REWARD_UNLOCKED, (ordinal, TIER_REWARDS[-1])
        elif is_rewarded:
            yield REWARD_UNLOCKED, (ordinal, TIER_REWARDS[place])
        else:
            yield STAGE_REACHED, (ordinal, place + 2)


def completes_project(state: SeasonState) -> bool:
    """Whether a project is completed when this assignment closes: it is its last one, and one of
    its conclusions was adopted.
    """
    return state.config.is_last_of_project(state.assignment) and state.is_project_adopted
