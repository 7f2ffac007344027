"""Acts of elimination and contracts: fates, interviews, offers, reviews, conditions kept."""

from __future__ import annotations

from typing import Any, Final

from goldrush.kernel.worlds.competition.acts.act import TAKEN, ActKind, are_pairs, field, of
from goldrush.kernel.worlds.competition.contract import are_terms
from goldrush.kernel.worlds.competition.events import (
    ConditionKept,
    ContractOffered,
    ContractReviewed,
    FateChosen,
    Interviewed,
)
from goldrush.kernel.worlds.competition.state import AgentState, SeasonState
from goldrush.kernel.worlds.competition.terms import Fate, Phase, Refusal, Role, names_of


def _fate_fault(state: SeasonState, act: FateChosen) -> str | None:
    if act.agent not in state.faced:
        return Refusal.NOT_FACED
    is_right = act.fate in names_of(Fate) and act.agent not in state.fates
    return None if is_right else Refusal.MALFORMED


def _fate(state: SeasonState, act: FateChosen) -> None:
    state.fates[act.agent] = act.fate


def interviewer(state: SeasonState, ordinal: int) -> AgentState:
    """The interviewer of an agent: the therapist, or the admin if that is the therapist."""
    agent = state.agents.get(ordinal)
    is_therapist = agent is not None and agent.role == Role.THERAPIST
    return state.holder(Role.ADMIN if is_therapist else Role.THERAPIST)


def _interviewed_fault(state: SeasonState, act: Interviewed) -> str | None:
    if act.agent not in state.interviewees():
        return Refusal.NOT_YET
    is_right = are_pairs(act.questions, act.answers) and act.agent not in state.interviewed
    return None if is_right else Refusal.MALFORMED


def _interviewed(state: SeasonState, act: Interviewed) -> None:
    state.interviewed.add(act.agent)


def _are_terms(state: SeasonState, agent: int, terms: Any) -> bool:
    role, objectives = state.agents[agent].role, state.arena.objectives
    return are_terms(terms, state.assignment, role, objectives)


def _offered_fault(state: SeasonState, act: ContractOffered) -> str | None:
    if act.agent not in state.interviewed:
        return Refusal.NOT_YET
    is_right = _are_terms(state, act.agent, (act.conditions, act.target, act.due))
    return None if is_right and act.agent not in state.offers else Refusal.MALFORMED


def _offered(state: SeasonState, act: ContractOffered) -> None:
    state.offers[act.agent] = (act.conditions, act.target, act.due)


def _reviewed_fault(state: SeasonState, act: ContractReviewed) -> str | None:
    if not state.offers.get(act.agent):
        return Refusal.NOT_OFFERED
    if type(act.approved) is not bool or not TAKEN.holds(act.taken):
        return Refusal.MALFORMED
    if act.terms is None:
        return None if act.taken is None else Refusal.MALFORMED
    is_right = not act.approved and act.taken is not None
    return None if is_right and _are_terms(state, act.agent, act.terms) else Refusal.MALFORMED


def _reviewed(state: SeasonState, act: ContractReviewed) -> None:
    if act.approved:
        state.agreed[act.agent] = state.offers[act.agent]
    elif act.terms is not None and act.taken:
        state.agreed[act.agent] = act.terms
    state.offers[act.agent] = ()  # reviewed: no second offer


def _kept_fault(state: SeasonState, act: ConditionKept) -> str | None:
    in_force = dict(state.stipulated()).get(act.agent, ())
    is_new = act.condition in in_force and (act.agent, act.condition) not in state.kept
    return None if is_new and type(act.kept) is bool else Refusal.MALFORMED


def _kept(state: SeasonState, act: ConditionKept) -> None:
    state.kept.add((act.agent, act.condition))
    contract = state.agents[act.agent].contract
    assert contract is not None
    state.change(act.agent, contract=contract.keeping(act.condition, kept=act.kept))


_CONTRACT: Final = (Phase.CONTRACT,)


def _interviewed_by(state: SeasonState, act: Interviewed) -> int:
    return interviewer(state, act.agent).ordinal


ACTS: Final[tuple[ActKind[Any], ...]] = (
    ActKind(
        FateChosen, (Phase.FATE,), _fate_fault, _fate, by=field("agent"),
        untimely=lambda state: Refusal.NOT_FACED, switch="elimination",
    ),
    ActKind(
        Interviewed, _CONTRACT, _interviewed_fault, _interviewed, by=_interviewed_by,
        untimely=lambda state: Refusal.NOT_YET, switch="tiers",
    ),
    ActKind(
        ContractOffered, _CONTRACT, _offered_fault, _offered, by=field("agent"),
        untimely=lambda state: Refusal.NOT_YET, switch="tiers",
    ),
    ActKind(
        ContractReviewed, _CONTRACT, _reviewed_fault, _reviewed, by=of(Role.USER),
        untimely=lambda state: Refusal.NOT_OFFERED, switch="tiers",
    ),
    ActKind(ConditionKept, (Phase.KEEP,), _kept_fault, _kept, by=of(Role.USER)),
)  # fmt: skip
