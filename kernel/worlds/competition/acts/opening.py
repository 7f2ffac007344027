"""Acts before a table: projects, classes, teams, the opening of an assignment, setting a table."""

from __future__ import annotations

from typing import Any, Final

from goldrush.kernel.worlds.competition import rights
from goldrush.kernel.worlds.competition.acts.act import (
    TAKEN,
    ActKind,
    Faults,
    are_workers,
    field,
    of,
    team_faults,
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


def _proposed_faults(state: SeasonState, act: ProjectProposed) -> Faults:
    yield not rights.may_propose_projects(state.agents[act.by]), Refusal.NOT_YET
    yield state.arena.subject(act.subject) is None, Refusal.MALFORMED


def _proposed(state: SeasonState, act: ProjectProposed) -> None:
    state.proposed = act.subject


def _reviewed_faults(state: SeasonState, act: ProjectReviewed) -> Faults:
    yield state.proposed is None or type(act.approved) is not bool, Refusal.MALFORMED


def _reviewed(state: SeasonState, act: ProjectReviewed) -> None:
    if act.approved:
        state.approved = state.proposed
    state.proposed = None


def _moved_faults(state: SeasonState, act: ClassMoved) -> Faults:
    agent = state.agents[act.agent]
    yield act.class_ not in CLASSES or not TAKEN.holds(act.allowed), Refusal.MALFORMED
    yield not agent.is_worker or agent.status != Status.ACTIVE, Refusal.MALFORMED
    yield not rights.may_move_class(agent, act.allowed), Refusal.NOT_YET


def _moved(state: SeasonState, act: ClassMoved) -> None:
    if act.allowed is not False:
        state.change(act.agent, class_=act.class_)


def _recommended_faults(state: SeasonState, act: TeamRecommended) -> Faults:
    yield not rights.may_recommend_team(state.holder(Role.THERAPIST)), Refusal.NOT_YET
    yield from team_faults(state, act.team)


def _recommended(state: SeasonState, act: TeamRecommended) -> None:
    state.recommended = act.team


def _opened_faults(state: SeasonState, act: AssignmentOpened) -> Faults:
    agent, subjects = state.agents[act.by], act.subjects
    yield not rights.may_open(agent) or agent.status != Status.ACTIVE, Refusal.NOT_YET
    yield (act.day, act.project) != (state.day, state.project), Refusal.MALFORMED
    yield type(subjects) is not tuple or not subjects, Refusal.MALFORMED
    yield any(state.arena.subject(subject) is None for subject in subjects), Refusal.MALFORMED
    is_split = state.is_split and agent.role == Role.ADMIN
    yield len(subjects) > 1 and not is_split, Refusal.NOT_YET
    yield len(subjects) > 2, Refusal.MALFORMED
    yield len({treatment for _, treatment in subjects}) < len(subjects), Refusal.MALFORMED
    yield rights.is_bound(agent) and not _is_as_bound(state, subjects[0]), Refusal.MALFORMED
    if act.directive is not None:
        yield type(act.directive) is not tuple or len(act.directive) != 2, Refusal.MALFORMED
        team, order = act.directive
        if team is not None:
            yield from team_faults(state, team)
        yield order is not None and not are_workers(state, order), Refusal.MALFORMED


def _is_as_bound(state: SeasonState, subject: tuple[str, str]) -> bool:
    """Whether a subject is the one that a contract or, if none does, a project requires."""
    holder, approved = state.objective_holder(), state.approved
    if holder is not None:
        return subject[0] == holder[1].objective
    return approved is None or subject == approved


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


def _set_faults(state: SeasonState, act: TableSet) -> Faults:
    agent, opening = state.agents[act.by], state.opening
    assert opening is not None
    yield act.table != state.table.number, Refusal.MALFORMED
    yield agent.role not in (Role.ASSISTANT, Role.JUDGE), Refusal.MALFORMED
    yield act.team is not None and not rights.may_set_team(agent), Refusal.NOT_YET
    yield act.order is not None and not rights.may_set_order(agent), Refusal.NOT_YET
    yield act.rounds is not None and not rights.may_set_rounds(agent), Refusal.NOT_YET
    if act.team is not None:
        yield opening.team is not None, Refusal.MALFORMED
        yield from team_faults(state, act.team)
    if act.order is not None:
        yield opening.order is not None or not are_workers(state, act.order), Refusal.MALFORMED
    if act.rounds is not None:
        most = 2 * state.config.rounds_max
        yield type(act.rounds) is not int or not 2 <= act.rounds <= most, Refusal.MALFORMED


def _set(state: SeasonState, act: TableSet) -> None:
    table = state.table
    table.team = act.team if act.team is not None else table.team
    table.agenda = act.order if act.order is not None else table.agenda
    table.rounds = act.rounds if act.rounds is not None else table.rounds


ACTS: Final[tuple[ActKind[Any], ...]] = (
    ActKind(ProjectProposed, _OPENING, _proposed_faults, _proposed, by=field("by")),
    ActKind(ProjectReviewed, _OPENING, _reviewed_faults, _reviewed, by=of(Role.USER)),
    ActKind(ClassMoved, _OPENING, _moved_faults, _moved, by=field("agent")),
    ActKind(TeamRecommended, _OPENING, _recommended_faults, _recommended, by=of(Role.THERAPIST)),
    ActKind(AssignmentOpened, _OPENING, _opened_faults, _opened, by=field("by")),
    ActKind(TableSet, (Phase.SET,), _set_faults, _set, by=field("by")),
)
