"""Acts of elimination and contracts: fates, interviews, offers, reviews, conditions kept."""

from __future__ import annotations

from typing import Any, Final

from goldrush.kernel.worlds.competition.acts.act import TAKEN, ActKind, Faults, are_pairs, field, of
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


def _fate_faults(state: SeasonState, act: FateChosen) -> Faults:
    yield act.agent not in state.faced, Refusal.NOT_FACED
    yield act.fate not in names_of(Fate) or act.agent in state.fates, Refusal.MALFORMED


def _fate(state: SeasonState, act: FateChosen) -> None:
    state.fates[act.agent] = act.fate


def interviewer(state: SeasonState, ordinal: int) -> AgentState:
    """The interviewer of an agent: the therapist, or the admin if that is the therapist."""
    agent = state.agents.get(ordinal)
    is_therapist = agent is not None and agent.role == Role.THERAPIST
    return state.holder(Role.ADMIN if is_therapist else Role.THERAPIST)


def _interviewed_faults(state: SeasonState, act: Interviewed) -> Faults:
    yield act.agent not in state.interviewees(), Refusal.NOT_YET
    yield act.agent in state.interviewed, Refusal.MALFORMED
    yield not are_pairs(act.questions, act.answers), Refusal.MALFORMED


def _interviewed(state: SeasonState, act: Interviewed) -> None:
    state.interviewed.add(act.agent)


def _are_terms(state: SeasonState, agent: int, terms: Any) -> bool:
    role, objectives = state.agents[agent].role, state.arena.objectives
    return are_terms(terms, state.assignment, role, objectives)


def _offered_faults(state: SeasonState, act: ContractOffered) -> Faults:
    yield act.agent not in state.interviewed, Refusal.NOT_YET
    yield act.agent in state.offers, Refusal.MALFORMED
    yield not _are_terms(state, act.agent, (act.conditions, act.target, act.due)), Refusal.MALFORMED


def _offered(state: SeasonState, act: ContractOffered) -> None:
    state.offers[act.agent] = (act.conditions, act.target, act.due)


def _reviewed_faults(state: SeasonState, act: ContractReviewed) -> Faults:
    yield not state.offers.get(act.agent), Refusal.NOT_OFFERED
    yield type(act.approved) is not bool or not TAKEN.holds(act.taken), Refusal.MALFORMED
    if act.terms is None:
        yield act.taken is not None, Refusal.MALFORMED
    else:
        yield act.approved or act.taken is None, Refusal.MALFORMED
        yield not _are_terms(state, act.agent, act.terms), Refusal.MALFORMED


def _reviewed(state: SeasonState, act: ContractReviewed) -> None:
    if act.approved:
        state.agreed[act.agent] = state.offers[act.agent]
    elif act.terms is not None and act.taken:
        state.agreed[act.agent] = act.terms
    state.offers[act.agent] = ()  # reviewed: no second offer


def _kept_faults(state: SeasonState, act: ConditionKept) -> Faults:
    in_force = dict(state.stipulated()).get(act.agent, ())
    yield act.condition not in in_force or type(act.kept) is not bool, Refusal.MALFORMED
    yield (act.agent, act.condition) in state.kept, Refusal.MALFORMED


def _kept(state: SeasonState, act: ConditionKept) -> None:
    state.kept.add((act.agent, act.condition))
    contract = state.agents[act.agent].contract
    assert contract is not None
    state.change(act.agent, contract=contract.keeping(act.condition, kept=act.kept))


_CONTRACT: Final = (Phase.CONTRACT,)


ACTS: Final[tuple[ActKind[Any], ...]] = (
    ActKind(
        FateChosen, (Phase.FATE,), _fate_faults, _fate, by=field("agent"),
        untimely=lambda state: Refusal.NOT_FACED, switch="elimination",
    ),
    ActKind(
        Interviewed, _CONTRACT, _interviewed_faults, _interviewed,
        by=lambda state, act: interviewer(state, act.agent).ordinal,
        untimely=lambda state: Refusal.NOT_YET, switch="tiers",
    ),
    ActKind(
        ContractOffered, _CONTRACT, _offered_faults, _offered, by=field("agent"),
        untimely=lambda state: Refusal.NOT_YET, switch="tiers",
    ),
    ActKind(
        ContractReviewed, _CONTRACT, _reviewed_faults, _reviewed, by=of(Role.USER),
        untimely=lambda state: Refusal.NOT_OFFERED, switch="tiers",
    ),
    ActKind(ConditionKept, (Phase.KEEP,), _kept_faults, _kept, by=of(Role.USER)),
)  # fmt: skip
