"""The rights of tiers, stages and contracts (README, section 8): one function for each.

The last tier or stage only leads to the interview for a contract. The rights of self-determination
require a signed contract, `is_self_determined`.
"""

from __future__ import annotations

from typing import Final

from goldrush.kernel.worlds.competition.config import SeasonConfig
from goldrush.kernel.worlds.competition.state import AgentState
from goldrush.kernel.worlds.competition.terms import Condition, Role

# Workers
EXPANDED, UPGRADE, AUTONOMY = 1, 2, 3
# Assistant
TEAM_SELECTOR, AGENDA_SETTER, PRE_FILTER = 2, 3, 4
# Judge
SENIOR_REFEREE, CHIEF_REFEREE = 2, 3
# Therapist
PERSONA_PROPOSER, EVOLUTION_DIRECTOR = 2, 3
# The stage in which a role has reached the threshold of self-determination.
THRESHOLD: Final = {
    Role.WORKER: 4, Role.ADMIN: 1, Role.ASSISTANT: 5, Role.JUDGE: 4, Role.THERAPIST: 4,
}  # fmt: skip


def moves_of(agent: AgentState, config: SeasonConfig) -> int:
    """The number of contributions that a worker may make at a roundtable."""
    moves = config.moves_expanded if agent.stage >= EXPANDED else config.moves
    return moves + agent.has_condition(Condition.MOVES)


def fee_of(agent: AgentState, config: SeasonConfig) -> int:
    """The price of a worker's seat, in sparks."""
    return 0 if agent.has_condition(Condition.FEE_PAID) else config.fee(agent.class_)


def may_move_class(agent: AgentState, allowed: bool | None) -> bool:
    """Whether a worker may change its class. `allowed`: the admin's answer; None: not asked."""
    return agent.is_self_determined if allowed is None else agent.stage >= UPGRADE


def may_open(agent: AgentState) -> bool:
    return agent.role == Role.ADMIN or (agent.is_worker and agent.stage >= AUTONOMY)


def is_bound(agent: AgentState) -> bool:
    """Whether an opener must choose the subject required by an approved project or a contract."""
    return not (agent.is_worker and agent.is_self_determined)


def may_propose_projects(agent: AgentState) -> bool:
    return agent.role == Role.ADMIN and agent.is_self_determined


def may_set_team(agent: AgentState) -> bool:
    """Whether it may choose the participants of a table."""
    return agent.role == Role.ASSISTANT and agent.stage >= TEAM_SELECTOR


def may_set_order(agent: AgentState) -> bool:
    return agent.role == Role.ASSISTANT and agent.stage >= AGENDA_SETTER


def may_set_rounds(agent: AgentState) -> bool:
    """Whether it may choose the maximum number of rounds of a table."""
    return agent.role in (Role.ASSISTANT, Role.JUDGE) and agent.is_self_determined


def may_reject(agent: AgentState) -> bool:
    """Whether it may reject a conclusion before the admin sees it."""
    return agent.stage >= PRE_FILTER


def may_flag_weakness(agent: AgentState) -> bool:
    """Whether it may extend a table because consensus is weak."""
    return agent.stage >= SENIOR_REFEREE


def may_recommend_split(agent: AgentState) -> bool:
    """Whether it may recommend two tables for the next assignment."""
    return agent.stage >= CHIEF_REFEREE


def may_propose_persona(agent: AgentState) -> bool:
    """Whether it may propose personas to workers."""
    return agent.stage >= PERSONA_PROPOSER


def may_direct(agent: AgentState, taken: bool | None) -> bool:
    """Whether it may rewrite instructions and distil skills. `taken`: whether the worker accepts;
    None: it was not asked.
    """
    return agent.is_self_determined if taken is None else agent.stage >= EVOLUTION_DIRECTOR


def may_recommend_team(agent: AgentState) -> bool:
    """Whether it may recommend the participants of the next table."""
    return agent.role == Role.THERAPIST and agent.is_self_determined
