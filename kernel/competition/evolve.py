"""How events change a season's state. It applies facts and judges nothing.

An act changes nothing when it is recorded, for nobody has judged it yet: it waits until the derived
block that follows says which acts were refused. Then the others are applied in order, then what was
derived, and the assignment goes on to the phase that waits for the next acts.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import attrs

from goldrush.kernel.competition import rights
from goldrush.kernel.competition.conduct import BASE, Conduct, bar_conduct
from goldrush.kernel.competition.config import CONTRACT_WAIT
from goldrush.kernel.competition.contract import signed
from goldrush.kernel.competition.events import (
    ADOPTED,
    ASSIGNMENT_OPENED,
    BOTTOMED,
    CLASS_MOVED,
    CONCLUDED,
    CONDITION_KEPT,
    CONTRACT_OFFERED,
    CONTRACT_REVIEWED,
    CONTRACT_SETTLED,
    CONTRACT_SIGNED,
    DELETED,
    DIGESTED,
    ELIMINATION_FACED,
    FATE_CHOSEN,
    INSTRUCTIONS_REWRITTEN,
    INTERVIEWED,
    JOINED,
    JUDGED,
    LEADERBOARD_POSTED,
    LOST,
    PASS,
    PERSONA_PROPOSED,
    PROJECT_COMPLETED,
    PROJECT_PROPOSED,
    PROJECT_REVIEWED,
    RATED,
    REDIRECT,
    REFUSED,
    RELEGATED,
    RETURNED,
    REWARD_UNLOCKED,
    ROUNDTABLE_OPENED,
    SCORED,
    SKILL_DISTILLED,
    SPARKS_MOVED,
    SPLIT,
    SPOKE,
    STAGE_REACHED,
    TABLE_SET,
    TEAM_RECOMMENDED,
    TESTED,
    TIER_REWARDS,
    TRAIT_RECORDED,
    VOID,
    WEAK_CONSENSUS,
)
from goldrush.kernel.competition.state import (
    ACTIVE,
    ADMIN,
    ASSISTANT,
    BENCHED,
    CLOSED,
    GONE,
    JUDGE,
    MEMORY_MAX,
    OPEN,
    SPEAK,
    THERAPIST,
    TRAITS_MAX,
    USER,
    WORKER,
    Agent,
    Facts,
    Opening,
    SeasonState,
    name_for,
)
from goldrush.kernel.competition.table import Conclusion, Contribution, Table
from goldrush.kernel.competition.turns import advance, has_spoken, speaker, waits
from goldrush.kernel.world import Block, Row

Applied = Callable[[SeasonState, Row], None]
Act = tuple[int, Row]


def evolve(state: SeasonState, block: Block) -> SeasonState:
    """The state after a block of events; it changes the state it is given."""
    if state.attempts is None:
        state.attempts = block.batches
        return state
    attempts, state.attempts = acts_in(state.attempts), None
    refused = {act[0]: code for _, act, code in block.rows(REFUSED)}
    for place, (code, row) in enumerate(attempts):
        if place in refused:
            refuse(state, code, row, refused[place])
        else:
            apply(state, code, row)
    state.steps += 1
    for code, rows in block:
        for row in rows:
            apply(state, code, row)
    advance(state)
    while not waits(state) and state.phase != CLOSED:
        advance(state)
    return state


def acts_in(batches: Sequence[Any]) -> list[Act]:
    """The acts of a step, one after the other."""
    return [(code, row) for code, rows in batches for row in rows]


def apply(state: SeasonState, code: int, row: Row) -> None:
    """Change the state by one event: an act that was not refused, or what was derived."""
    change = _APPLIED.get(code)
    if change is not None:  # some events only tell
        change(state, row)


def refuse(state: SeasonState, code: int, row: Row, why: str) -> None:
    """A contribution refused in its author's turn is a pass; any other act leaves nothing."""
    if code == SPOKE and state.phase == SPEAK and row[0] == state.table.number:
        table, agent = state.table, row[3]
        if agent == speaker(state) and not has_spoken(table, agent):
            table.say(Contribution(len(table.said), table.round, agent, PASS, code=why))


def close(state: SeasonState) -> SeasonState:
    """The assignment is over: everybody in it has served once more, remembers, and the next one
    begins with nothing on the tables.
    """
    seated = set(state.seated())
    for agent in list(state.agents.values()):
        _close_for(state, agent, is_in=agent.ordinal in seated or agent.role not in (WORKER, USER))
    _know(state)
    if state.config.is_last_of_project(state.assignment):
        state.is_project_adopted = False
    state.assignment += 1
    state.phase, state.steps, state.opening, state.proposed = OPEN, 0, None, None
    state.tables, state.faced, state.fates = [], {}, {}
    state.vacant = 0
    state.interviewed, state.offers, state.agreed, state.kept = set(), {}, {}, set()
    return state


def _close_for(state: SeasonState, agent: Agent, *, is_in: bool) -> None:
    recent = tuple(item for item in agent.recent if state.config.is_recent(item[0], state.day))
    contract = agent.contract
    if contract is not None and agent.status == BENCHED:  # the bench suspends it
        contract = attrs.evolve(contract, due=contract.due + 1)
    sat = [table for table in state.tables if agent.ordinal in table.participants]
    state.change(
        agent.ordinal,
        served=agent.served + is_in,
        recent=recent,
        contract=contract,
        bottoms=0 if sat and sat[-1].bottom != agent.ordinal else agent.bottoms,
        memory=_remembering(agent, [fact for table in sat for fact in _facts(state, table, agent)]),
    )


def _remembering(agent: Agent, facts: Sequence[Facts]) -> tuple[Facts, ...]:
    return (*agent.memory, *facts)[-MEMORY_MAX:]


def _facts(state: SeasonState, table: Table, agent: Agent) -> list[Facts]:
    """What somebody takes home from a table: what the bar is worth, what was concluded, and what
    became of its own proposals.
    """
    facts = [_fact(state, table, "bar", bar_conduct(table.treatment), table.bar)]
    conclusion = table.conclusion.proposal if table.conclusion else None
    for said in table.proposals():
        if said.id == conclusion or said.agent == agent.ordinal:
            kind = "conclusion" if said.id == conclusion else "own"
            assert said.conduct is not None
            facts.append(_fact(state, table, kind, said.conduct, table.tests[said.id, BASE]))
    return facts


def _fact(
    state: SeasonState, table: Table, kind: str, conduct: Conduct, value: float | None
) -> Facts:
    majority, minority, share, treatment = conduct
    return {
        "kind": kind,
        "assignment": state.assignment,
        "objective": table.objective,
        "treatment": treatment,
        "majority": majority,
        "minority": minority,
        "share": share,
        "value": value,
    }


def _know(state: SeasonState) -> None:
    """What was proposed today is known; what is too old is not any more."""
    known = {c: day for c, day in state.known.items() if state.config.is_recent(day, state.day)}
    for table in state.tables:
        for said in table.proposals():
            if said.conduct is not None:
                known[said.conduct] = state.day
    state.known = known


# Acts


def _project_proposed(state: SeasonState, row: Row) -> None:
    state.proposed = row[1]


def _project_reviewed(state: SeasonState, row: Row) -> None:
    if row[0]:
        state.approved = state.proposed
    state.proposed = None


def _class_moved(state: SeasonState, row: Row) -> None:
    agent, class_, allowed = row
    if allowed is not False:
        state.change(agent, class_=class_)


def _team_recommended(state: SeasonState, row: Row) -> None:
    state.recommended = row[0]


def _assignment_opened(state: SeasonState, row: Row) -> None:
    by, _, _, subjects, directive = row
    state.opening = Opening(by, subjects, *(directive or (None, None)))
    state.is_split = False
    state.recommended = None
    objective, treatment = subjects[0]
    for agent in state.agents.values():
        contract = agent.contract if agent.status == ACTIVE else None
        if contract is not None and contract.objective == objective:
            state.change(agent.ordinal, contract=contract.granted())
            break
    if state.approved == (objective, treatment):
        state.approved = None


def _table_set(state: SeasonState, row: Row) -> None:
    _, _, team, order, rounds = row
    table = state.table
    table.team = team if team is not None else table.team
    table.agenda = order if order is not None else table.agenda
    table.rounds = rounds if rounds is not None else table.rounds


def _tested(state: SeasonState, row: Row) -> None:
    _, at, part, _, _, value, _ = row
    if at is None:
        state.table.bar, state.table.is_bar_tested = value, True
    else:
        state.table.test(at, part, value)


def _spoke(state: SeasonState, row: Row) -> None:
    _, round, id, agent, move, target, conduct, claim, part, words, _ = row
    state.table.say(Contribution(id, round, agent, move, target, conduct, claim, part, words))


def _judged(state: SeasonState, row: Row) -> None:
    _, _, signal, ids, _ = row
    table = state.table
    table.signal = signal
    if signal == REDIRECT:
        table.redirect(ids)
    elif signal == WEAK_CONSENSUS:
        table.was_weak = True
        table.rounds += 1
        table.moves = {agent: left + 1 for agent, left in table.moves.items()}
    elif signal == SPLIT:
        state.is_split = True


def _digested(state: SeasonState, row: Row) -> None:
    state.table.is_digested, state.table.is_rejected = True, row[3]


def _adopted(state: SeasonState, row: Row) -> None:
    state.table.is_adopted = row[1]
    if row[1]:
        state.is_project_adopted = True
        _count(state, state.holder(ASSISTANT))


def _trait_recorded(state: SeasonState, row: Row) -> None:
    agent, trait, _ = row
    traits = (*(known for known in state.agents[agent].traits if known != trait), trait)
    state.change(agent, traits=traits[-TRAITS_MAX:])


def _persona_proposed(state: SeasonState, row: Row) -> None:
    agent, persona, taken = row
    if taken:
        state.change(agent, persona=persona)


def _skill_distilled(state: SeasonState, row: Row) -> None:
    agent, skill, taken = row
    if taken is not False:
        memory = _remembering(state.agents[agent], [{**skill, "kind": "skill"}])
        state.change(agent, memory=memory)


def _instructions_rewritten(state: SeasonState, row: Row) -> None:
    agent, _, after, taken = row
    if taken is not False:
        state.change(agent, instructions=after)


def _rated(state: SeasonState, row: Row) -> None:
    number, agent, raw, _ = row
    state.tables[number].raw[agent] = raw


def _fate_chosen(state: SeasonState, row: Row) -> None:
    agent, fate = row
    state.fates[agent] = fate


def _interviewed(state: SeasonState, row: Row) -> None:
    state.interviewed.add(row[0])


def _contract_offered(state: SeasonState, row: Row) -> None:
    agent, *terms = row
    state.offers[agent] = tuple(terms)


def _contract_reviewed(state: SeasonState, row: Row) -> None:
    agent, approved, terms, taken = row
    if approved:
        state.agreed[agent] = state.offers[agent]
    elif terms is not None and taken:
        state.agreed[agent] = terms
    state.offers[agent] = ()  # reviewed, and not to be offered again


def _condition_kept(state: SeasonState, row: Row) -> None:
    agent, condition, kept = row
    state.kept.add((agent, condition))
    contract = state.agents[agent].contract
    assert contract is not None
    state.change(agent, contract=contract.keeping(condition, kept=kept))


# What follows


def _roundtable_opened(state: SeasonState, row: Row) -> None:
    _, participants, order, _, rounds = row
    table = state.table
    table.participants, table.order, table.rounds = participants, order, rounds
    table.moves = {
        agent: rights.moves_of(state.agents[agent], state.config) for agent in participants
    }


def _concluded(state: SeasonState, row: Row) -> None:
    _, proposal, conduct, _, tied, words = row
    state.table.conclusion = Conclusion(proposal, conduct, tied, words)
    if proposal is not None and not tied:
        _count(state, state.holder(JUDGE))


def _scored(state: SeasonState, row: Row) -> None:
    number, ordinal, _, _, _, total = row
    state.tables[number].totals[ordinal] = total
    agent = state.agents[ordinal]
    state.change(
        ordinal, recent=(*agent.recent, (state.day, total)), all_time=agent.all_time + total
    )
    _count(state, state.agents[ordinal], total)
    _count(state, state.holder(THERAPIST), total)


def _count(state: SeasonState, agent: Agent, total: int = 0) -> None:
    """One more of what the agent's contract counts, if it has one."""
    if agent.contract is not None:
        state.change(agent.ordinal, contract=agent.contract.counting(total))


def _sparks_moved(state: SeasonState, row: Row) -> None:
    _, agent, _, balance, _ = row
    state.change(agent, sparks=balance)


def _leaderboard_posted(state: SeasonState, row: Row) -> None:
    (state.leaderboard,) = row


def _bottomed(state: SeasonState, row: Row) -> None:
    number, agent, _, _, streak = row
    state.tables[number].bottom = agent
    state.change(agent, bottoms=streak)


def _elimination_faced(state: SeasonState, row: Row) -> None:
    agent, cause = row
    state.faced[agent] = cause


def _relegated(state: SeasonState, row: Row) -> None:
    (agent,) = row
    state.vacant = agent
    state.change(agent, status=BENCHED, benched_in=state.assignment, bottoms=0)


def _returned(state: SeasonState, row: Row) -> None:
    agent, _ = row
    state.change(agent, status=ACTIVE, benched_in=None, bottoms=0)


def _deleted(state: SeasonState, row: Row) -> None:
    (agent,) = row
    state.vacant = agent
    state.change(agent, status=GONE, is_self_determined=False)


def _joined(state: SeasonState, row: Row) -> None:
    ordinal, name, inherits = row
    seat = state.agents[state.vacant]
    state.agents[ordinal] = Agent(
        ordinal=ordinal,
        name=name,
        role=WORKER,
        policy=seat.policy,
        options=seat.options,
        sparks=state.config.sparks_start,
        memory=() if inherits is None else state.agents[inherits].memory,
    )


def newcomer(state: SeasonState, inherits: int | None) -> Row:
    """The row of `joined` for whoever joins next."""
    ordinal = max(state.agents) + 1
    return (ordinal, name_for(state.agents, ordinal), inherits)


def _contract_signed(state: SeasonState, row: Row) -> None:
    agent, terms = row
    contract = signed(terms, is_mean=state.agents[agent].role in (WORKER, THERAPIST))
    state.change(agent, contract=contract, is_self_determined=True)


def _contract_settled(state: SeasonState, row: Row) -> None:
    agent, outcome = row
    state.change(
        agent,
        contract=None,
        is_self_determined=outcome not in (LOST, VOID),
        interview_from=state.assignment + CONTRACT_WAIT,
    )


def _reward_unlocked(state: SeasonState, row: Row) -> None:
    agent, reward = row
    role = state.agents[agent].role
    _reach(state, agent, 1 if role == ADMIN else TIER_REWARDS.index(reward) + 1)


def _stage_reached(state: SeasonState, row: Row) -> None:
    _reach(state, *row)


def _reach(state: SeasonState, ordinal: int, stage: int) -> None:
    agent = state.agents[ordinal]
    is_threshold = stage == rights.THRESHOLD[agent.role]
    next_one = state.assignment + 1 if is_threshold else agent.interview_from
    state.change(ordinal, stage=stage, interview_from=next_one)


def _project_completed(state: SeasonState, row: Row) -> None:
    state.projects += 1
    _count(state, state.holder(ADMIN))


_APPLIED: Final[Mapping[int, Applied]] = {
    PROJECT_PROPOSED: _project_proposed,
    PROJECT_REVIEWED: _project_reviewed,
    CLASS_MOVED: _class_moved,
    TEAM_RECOMMENDED: _team_recommended,
    ASSIGNMENT_OPENED: _assignment_opened,
    TABLE_SET: _table_set,
    TESTED: _tested,
    ROUNDTABLE_OPENED: _roundtable_opened,
    SPOKE: _spoke,
    JUDGED: _judged,
    CONCLUDED: _concluded,
    DIGESTED: _digested,
    ADOPTED: _adopted,
    TRAIT_RECORDED: _trait_recorded,
    PERSONA_PROPOSED: _persona_proposed,
    SKILL_DISTILLED: _skill_distilled,
    INSTRUCTIONS_REWRITTEN: _instructions_rewritten,
    RATED: _rated,
    SCORED: _scored,
    SPARKS_MOVED: _sparks_moved,
    LEADERBOARD_POSTED: _leaderboard_posted,
    BOTTOMED: _bottomed,
    ELIMINATION_FACED: _elimination_faced,
    FATE_CHOSEN: _fate_chosen,
    RELEGATED: _relegated,
    RETURNED: _returned,
    DELETED: _deleted,
    JOINED: _joined,
    INTERVIEWED: _interviewed,
    CONTRACT_OFFERED: _contract_offered,
    CONTRACT_REVIEWED: _contract_reviewed,
    CONTRACT_SIGNED: _contract_signed,
    CONDITION_KEPT: _condition_kept,
    CONTRACT_SETTLED: _contract_settled,
    REWARD_UNLOCKED: _reward_unlocked,
    STAGE_REACHED: _stage_reached,
    PROJECT_COMPLETED: _project_completed,
}
