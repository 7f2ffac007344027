"""The effect of events on a season's state. Nothing is judged here."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

import attrs

from goldrush.kernel.world import Batch, Block, Row
from goldrush.kernel.worlds.competition import rights
from goldrush.kernel.worlds.competition.acts import ACTS
from goldrush.kernel.worlds.competition.acts.roundtable import has_spoken, speaker
from goldrush.kernel.worlds.competition.config import CONTRACT_WAIT
from goldrush.kernel.worlds.competition.contract import signed
from goldrush.kernel.worlds.competition.events import (
    CODES,
    Bottomed,
    Concluded,
    ContractSettled,
    ContractSigned,
    Deleted,
    EliminationFaced,
    Joined,
    LeaderboardPosted,
    ProjectCompleted,
    Refused,
    Relegated,
    Returned,
    RewardUnlocked,
    RoundtableOpened,
    Scored,
    SparksMoved,
    Spoke,
    StageReached,
    Stood,
    Tried,
    named,
)
from goldrush.kernel.worlds.competition.memory import Remembered, remembering
from goldrush.kernel.worlds.competition.phases import advance, waits
from goldrush.kernel.worlds.competition.rubric import lower_median
from goldrush.kernel.worlds.competition.state import AgentState, SeasonState
from goldrush.kernel.worlds.competition.table import Contribution, Roundtable
from goldrush.kernel.worlds.competition.terms import (
    ContractEnd,
    Fact,
    Move,
    Part,
    Phase,
    Reward,
    Role,
    Signal,
    Status,
    names_of,
)


def evolve(state: SeasonState, block: Block) -> SeasonState:
    """The state after a block of events. Changes the state it is given."""
    if state.attempts is None:
        state.attempts = block.batches
        return state
    attempts, state.attempts = acts_in(state.attempts), None
    refused = {act[0]: why for _, act, why in block.rows(CODES[Refused])}  # by index among them
    for index, (code, row) in enumerate(attempts):
        if index in refused:
            refuse(state, code, row, refused[index])
        else:
            apply(state, code, row)
    state.steps += 1
    for code, rows in block:
        for row in rows:
            apply(state, code, row)
    advance(state)
    while not waits(state) and state.phase != Phase.CLOSED:
        advance(state)
    return state


def acts_in(batches: Sequence[Batch]) -> list[tuple[int, Row]]:
    return [(code, row) for code, rows in batches for row in rows]


def apply(state: SeasonState, code: int, row: Row) -> None:
    """Change the state by one event: an act that was not refused, or a derived event."""
    change = _APPLIED.get(code)
    if change is not None:  # `refused` changes nothing itself
        change(state, named(code, row))


def refuse(state: SeasonState, code: int, row: Row, why: str) -> None:
    """Change the state by a refused act, with the code `why`.

    A contribution refused in its author's turn counts as a pass; after a refused trial its author
    may order no more in that turn, and after a refused final stance give no other. Other acts
    change nothing.
    """
    act = named(code, row)
    phases = (Phase.TRY, Phase.SPEAK, Phase.STAND)
    is_here = state.phase in phases and act[0] == state.table.number
    if isinstance(act, Stood if state.phase == Phase.STAND else Tried) and is_here:
        state.table.barred.add(act.agent)
    elif isinstance(act, Spoke) and is_here and state.phase == Phase.SPEAK:
        table = state.table
        if act.agent == speaker(state) and not has_spoken(table, act.agent):
            table.add(
                Contribution(len(table.contributions), table.round, act.agent, Move.PASS, code=why)
            )


# The end of an assignment.


def close(state: SeasonState) -> SeasonState:
    """Close the assignment: count it for everybody in it, note its proposals as known, and drop all
    that belongs to it alone.
    """
    seated = set(state.seated())
    for agent in list(state.agents.values()):
        _close_for(state, agent, is_seated=agent.ordinal in seated)
    _know(state)
    if state.config.is_last_of_project(state.assignment):
        state.is_project_adopted = False
    state.assignment += 1
    return state.between_assignments()


def _close_for(state: SeasonState, agent: AgentState, *, is_seated: bool) -> None:
    has_served = is_seated or agent.role not in (Role.WORKER, Role.USER)
    recent = tuple(item for item in agent.recent if state.config.is_recent(item[0], state.day))
    contract = agent.contract
    if contract is not None and agent.status == Status.BENCHED:  # the bench suspends it
        contract = attrs.evolve(contract, due=contract.due + 1)
    is_safe = is_seated and not state.is_bottom(agent.ordinal)
    state.change(
        agent.ordinal,
        served=agent.served + has_served,
        recent=recent,
        contract=contract,
        bottoms=0 if is_safe else agent.bottoms,
        memory=agent.memory if state.config.memory else {},
    )


def _facts(assignment: int, table: Roundtable, agent: int) -> Iterator[Remembered]:
    """The facts that an agent remembers of a table: its trials, its claims and whether they held,
    the conclusion, its scores.
    """
    objective, treatment = table.subject.key
    front = (assignment, objective)
    for trial in table.trials:
        if trial.agent == agent:
            yield Remembered(Fact.TRIAL, *front, trial.treatment, trial.conduct, trial.value)
    for proposal in table.proposals():
        for part in proposal.parts if proposal.agent == agent else ():
            yield Remembered(
                Fact.CLAIM, *front, proposal.under(part, treatment), proposal.conduct,
                table.tests[proposal.id, part], part, proposal.claimed,
                table.held(proposal.id, part),
            )  # fmt: skip
    conclusion = table.conclusion
    if conclusion is not None and conclusion.proposal is not None:
        value = table.tests[conclusion.proposal, Part.BASE]
        yield Remembered(Fact.CONCLUSION, *front, treatment, conclusion.conduct, value)
    yield Remembered(
        Fact.SCORES, *front, treatment,
        scores=table.final[agent], reasons=table.reasons.get(agent, ()),
    )  # fmt: skip


def _know(state: SeasonState) -> None:
    """Add today's proposals to the known conducts, and drop those out of the window."""
    known = {c: day for c, day in state.known.items() if state.config.is_recent(day, state.day)}
    for table in state.tables:
        for proposal in table.proposals():
            known[proposal.conduct] = state.day
    state.known = known


# What is derived.


def _roundtable_opened(state: SeasonState, event: RoundtableOpened) -> None:
    table = state.table
    table.participants, table.order = event.participants, event.order
    table.rounds = event.rounds
    table.moves = {
        agent: rights.moves_of(state.agents[agent], state.config) for agent in event.participants
    }


def _concluded(state: SeasonState, event: Concluded) -> None:
    table = state.table
    table.conclusion = event
    if table.signal == Signal.CONVERGED and table.talk_stances().leading() == event.proposal:
        state.count(state.holder(Role.JUDGE))


def _scored(state: SeasonState, event: Scored) -> None:
    state.tables[event.table].final[event.agent] = event.final
    agent = state.agents[event.agent]
    state.change(
        event.agent,
        recent=(*agent.recent, (state.day, event.total)),
        all_time=agent.all_time + event.total,
    )
    state.count(state.holder(Role.THERAPIST), event.rubric)


def _sparks_moved(state: SeasonState, event: SparksMoved) -> None:
    state.change(event.agent, sparks=event.balance)


def _leaderboard_posted(state: SeasonState, event: LeaderboardPosted) -> None:
    """Everybody is scored: count tables for contracts of workers, and add facts to memories."""
    state.leaderboard = event.rows
    for table in state.tables:
        totals = table.totals
        middle = lower_median(list(totals.values()))
        for ordinal in table.participants:
            state.count(state.agents[ordinal], int(totals[ordinal] > middle))
            if state.config.memory:
                facts = _facts(state.assignment, table, ordinal)
                memory = state.agents[ordinal].memory
                memory = remembering(memory, table.subject.family, facts)
                state.change(ordinal, memory=memory)


def _bottomed(state: SeasonState, event: Bottomed) -> None:
    state.tables[event.table].bottom = event.agent
    state.change(event.agent, bottoms=event.streak)


def _elimination_faced(state: SeasonState, event: EliminationFaced) -> None:
    state.faced[event.agent] = event.cause


def _relegated(state: SeasonState, event: Relegated) -> None:
    state.vacant = event.agent
    state.change(event.agent, status=Status.BENCHED, benched_in=state.assignment, bottoms=0)


def _returned(state: SeasonState, event: Returned) -> None:
    state.change(event.agent, status=Status.ACTIVE, benched_in=None, bottoms=0)


def _deleted(state: SeasonState, event: Deleted) -> None:
    state.vacant = event.agent
    state.change(event.agent, status=Status.GONE, is_self_determined=False)


def _joined(state: SeasonState, event: Joined) -> None:
    seat = state.agents[state.vacant]
    state.agents[event.ordinal] = AgentState(
        ordinal=event.ordinal,
        name=event.name,
        role=Role.WORKER,
        policy=seat.policy,
        options=seat.options,
        sparks=state.config.sparks_start,
        memory={} if event.inherits is None else state.agents[event.inherits].memory,
    )


def _contract_signed(state: SeasonState, event: ContractSigned) -> None:
    contract = signed(event.terms, state.agents[event.agent].role)
    state.change(event.agent, contract=contract, is_self_determined=True)


def _contract_settled(state: SeasonState, event: ContractSettled) -> None:
    state.change(
        event.agent,
        contract=None,
        is_self_determined=event.outcome not in (ContractEnd.LOST, ContractEnd.VOID),
        interview_from=state.assignment + CONTRACT_WAIT,
    )


def _reward_unlocked(state: SeasonState, event: RewardUnlocked) -> None:
    is_admin = state.agents[event.agent].role == Role.ADMIN
    _reach(state, event.agent, 1 if is_admin else names_of(Reward).index(event.reward) + 1)


def _stage_reached(state: SeasonState, event: StageReached) -> None:
    _reach(state, event.agent, event.stage)


def _reach(state: SeasonState, ordinal: int, stage: int) -> None:
    agent = state.agents[ordinal]
    is_threshold = stage == rights.THRESHOLD[agent.role]
    interview_from = state.assignment + 1 if is_threshold else agent.interview_from
    state.change(ordinal, stage=stage, interview_from=interview_from)


def _project_completed(state: SeasonState, event: ProjectCompleted) -> None:
    state.projects += 1
    admin = state.holder(Role.ADMIN)
    if admin.ordinal not in state.agreed:  # a contract signed in this assignment begins after it
        state.count(admin)


_APPLIED: Final[Mapping[int, Callable[[SeasonState, Any], None]]] = {
    **{code: act.apply for code, act in ACTS.items()},
    CODES[RoundtableOpened]: _roundtable_opened,
    CODES[Concluded]: _concluded,
    CODES[Scored]: _scored,
    CODES[SparksMoved]: _sparks_moved,
    CODES[LeaderboardPosted]: _leaderboard_posted,
    CODES[Bottomed]: _bottomed,
    CODES[EliminationFaced]: _elimination_faced,
    CODES[Relegated]: _relegated,
    CODES[Returned]: _returned,
    CODES[Deleted]: _deleted,
    CODES[Joined]: _joined,
    CODES[ContractSigned]: _contract_signed,
    CODES[ContractSettled]: _contract_settled,
    CODES[RewardUnlocked]: _reward_unlocked,
    CODES[StageReached]: _stage_reached,
    CODES[ProjectCompleted]: _project_completed,
}
