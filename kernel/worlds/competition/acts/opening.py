"""Acts before a table: projects, classes, teams, the opening of an assignment, setting a table."""

from __future__ import annotations

from typing import Any, Final

from goldrush.kernel.worlds.competition import rights
from goldrush.kernel.worlds.competition.acts.act import (
    TAKEN,
    ActKind,
    are_workers,
    field,
    of,
    team_fault,
)
from goldrush.kernel.worlds.competition.config import CLASSES
from goldrush.kernel.worlds.competition.events import (
    AssignmentOpened,
    ClassMoved,
    ProjectProposed,
    ProjectReviewed,
    TableSet,
    TeamRecommended,
)
from goldrush.kernel.worlds.competition.state import Opening, SeasonState
from goldrush.kernel.worlds.competition.terms import Phase, Refusal, Role, Status

_OPENING: Final = (Phase.OPEN,)


def _proposed_fault(state: SeasonState, act: ProjectProposed) -> str | None:
    if not rights.may_propose_projects(state.agents[act.by]):
        return Refusal.NOT_YET
    is_subject = state.arena.subject(act.subject) is not None
    return None if is_subject else Refusal.MALFORMED


def _proposed(state: SeasonState, act: ProjectProposed) -> None:
    state.proposed = act.subject


def _reviewed_fault(state: SeasonState, act: ProjectReviewed) -> str | None:
    is_right = state.proposed is not None and type(act.approved) is bool
    return None if is_right else Refusal.MALFORMED


def _reviewed(state: SeasonState, act: ProjectReviewed) -> None:
    if act.approved:
        state.approved = state.proposed
    state.proposed = None


def _moved_fault(state: SeasonState, act: ClassMoved) -> str | None:
    agent = state.agents[act.agent]
    if act.class_ not in CLASSES or not TAKEN.holds(act.allowed):
        return Refusal.MALFORMED
    if not agent.is_worker or agent.status != Status.ACTIVE:
        return Refusal.MALFORMED
    may = rights.may_move_class(agent, act.allowed)
    return None if may else Refusal.NOT_YET


def _moved(state: SeasonState, act: ClassMoved) -> None:
    if act.allowed is not False:
        state.change(act.agent, class_=act.class_)


def _recommended_fault(state: SeasonState, act: TeamRecommended) -> str | None:
    if not rights.may_recommend_team(state.holder(Role.THERAPIST)):
        return Refusal.NOT_YET
    return team_fault(state, act.team)


def _recommended(state: SeasonState, act: TeamRecommended) -> None:
    state.recommended = act.team


def _opened_fault(state: SeasonState, act: AssignmentOpened) -> str | None:
    agent, subjects = state.agents[act.by], act.subjects
    if not rights.may_open(agent) or agent.status != Status.ACTIVE:
        return Refusal.NOT_YET
    if (act.day, act.project) != (state.day, state.project):
        return Refusal.MALFORMED
    if type(subjects) is not tuple or not subjects:
        return Refusal.MALFORMED
    if any(state.arena.subject(subject) is None for subject in subjects):
        return Refusal.MALFORMED
    if len(subjects) > 1 and not (state.is_split and agent.role == Role.ADMIN):
        return Refusal.NOT_YET
    if len(subjects) > 2 or len({treatment for _, treatment in subjects}) < len(subjects):
        return Refusal.MALFORMED
    if rights.is_bound(agent) and not _is_as_bound(state, subjects[0]):
        return Refusal.MALFORMED
    return _directive_fault(state, act.directive)


def _is_as_bound(state: SeasonState, subject: tuple[str, str]) -> bool:
    """Whether a subject is the one that a contract or, if none does, a project requires."""
    objective, approved = state.stipulated_objective(), state.approved
    if objective is not None:
        return subject[0] == objective
    return approved is None or subject == approved


def _directive_fault(state: SeasonState, directive: Any) -> str | None:
    if directive is None:
        return None
    if type(directive) is not tuple or len(directive) != 2:
        return Refusal.MALFORMED
    team, order = directive
    fault = None if team is None else team_fault(state, team)
    return fault or (None if order is None or are_workers(state, order) else Refusal.MALFORMED)


def _opened(state: SeasonState, act: AssignmentOpened) -> None:
    subjects = tuple(state.arena.by_key[subject] for subject in act.subjects)
    state.opening = Opening(act.by, subjects, *(act.directive or (None, None)))
    state.is_split = False
    state.recommended = None
    first = subjects[0]
    holder = state.objective_holder()
    if holder is not None and holder[1].objective == first.objective:
        agent, contract = holder
        state.change(agent.ordinal, contract=contract.granted())
    if state.approved == first.key:
        state.approved = None


def _set_fault(state: SeasonState, act: TableSet) -> str | None:
    agent, table = state.agents[act.by], state.table
    assert state.opening is not None
    if act.table != table.number or agent.role not in (Role.ASSISTANT, Role.JUDGE):
        return Refusal.MALFORMED
    if (
        (act.team is not None and not rights.may_set_team(agent))
        or (act.order is not None and not rights.may_set_order(agent))
        or (act.rounds is not None and not rights.may_set_rounds(agent))
    ):
        return Refusal.NOT_YET
    if act.team is not None:
        is_directed = state.opening.team is not None
        fault = Refusal.MALFORMED if is_directed else team_fault(state, act.team)
        if fault is not None:
            return fault
    is_ordered = act.order is None or (
        state.opening.order is None and are_workers(state, act.order)
    )
    if not is_ordered:
        return Refusal.MALFORMED
    most = 2 * state.config.rounds_max
    is_right = act.rounds is None or (type(act.rounds) is int and 2 <= act.rounds <= most)
    return None if is_right else Refusal.MALFORMED


def _set(state: SeasonState, act: TableSet) -> None:
    table = state.table
    table.team = act.team if act.team is not None else table.team
    table.agenda = act.order if act.order is not None else table.agenda
    table.rounds = act.rounds if act.rounds is not None else table.rounds


ACTS: Final[tuple[ActKind[Any], ...]] = (
    ActKind(ProjectProposed, _OPENING, _proposed_fault, _proposed, by=field("by")),
    ActKind(ProjectReviewed, _OPENING, _reviewed_fault, _reviewed, by=of(Role.USER)),
    ActKind(ClassMoved, _OPENING, _moved_fault, _moved, by=field("agent")),
    ActKind(TeamRecommended, _OPENING, _recommended_fault, _recommended, by=of(Role.THERAPIST)),
    ActKind(AssignmentOpened, _OPENING, _opened_fault, _opened, by=field("by")),
    ActKind(TableSet, (Phase.SET,), _set_fault, _set, by=field("by")),
)
