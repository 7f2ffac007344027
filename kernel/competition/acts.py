"""Judges acts: whether somebody may do what it does now, and if not, the code that says why.

An act is an input event. Nothing here changes the state, and nothing raises, whatever an act holds:
what agents may get wrong is of any form.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from goldrush.kernel.competition import rights
from goldrush.kernel.competition.conduct import (
    at_least_as_good,
    bar_conduct,
    is_canonical,
    is_claim,
    is_conduct_shaped,
    is_subject,
    seeds_of_tests,
    tested_under,
)
from goldrush.kernel.competition.config import CLASSES
from goldrush.kernel.competition.contract import is_terms
from goldrush.kernel.competition.events import (
    ADOPTED,
    AMEND,
    ANSWERED,
    ASSIGNMENT_OPENED,
    CHALLENGE,
    CLASS_MOVED,
    CLEAN,
    CONDITION_KEPT,
    CONTRACT_OFFERED,
    CONTRACT_REVIEWED,
    CONVERGED,
    DEBRIEFED,
    DIGESTED,
    DIMENSIONS,
    FATE_CHOSEN,
    FATES,
    FINAL,
    INSTRUCTIONS_REWRITTEN,
    INTERVIEWED,
    JUDGED,
    MALFORMED,
    MOVES,
    NONE_LEFT,
    NOT_CANONICAL,
    NOT_CONVERGED,
    NOT_FACED,
    NOT_OFFERED,
    NOT_YET,
    OWN,
    PASS,
    PERSONA_PROPOSED,
    PROJECT_PROPOSED,
    PROJECT_REVIEWED,
    PROPOSE,
    RATED,
    REDIRECT,
    REFUTED,
    REPEATED,
    SIGNALS,
    SKILL_DISTILLED,
    SPLIT,
    SPOKE,
    SUPPORT,
    TABLE_SET,
    TEAM_RECOMMENDED,
    TESTED,
    TOO_SMALL,
    TRAIT_RECORDED,
    UNKNOWN_TARGET,
    VACUOUS,
    WEAK_CONSENSUS,
)
from goldrush.kernel.competition.rubric import SCORE_MAX
from goldrush.kernel.competition.state import (
    ACTIVE,
    ADMIN,
    ADOPT,
    ASSISTANT,
    CONTRACT,
    DEBRIEF,
    DIGEST,
    FATE,
    GONE,
    IMPROVE,
    JUDGE,
    KEEP,
    OPEN,
    PROVE,
    SET,
    SPEAK,
    TEST,
    THERAPIST,
    USER,
    Agent,
    SeasonState,
)
from goldrush.kernel.competition.state import JUDGED as JUDGING
from goldrush.kernel.competition.table import Table, parts_of
from goldrush.kernel.competition.turns import has_spoken, speaker
from goldrush.kernel.world import Row

TEXT_MAX: Final = 4_000  # characters of words, reasons, digests and answers
SHORT_MAX: Final = 200  # characters of a trait and of a persona
LINES_MAX: Final = 20  # questions, answers
FACTS_MAX: Final = 50  # of a skill, or of instructions
TEAM_MIN: Final = 3

Judged = Callable[[SeasonState, Row], str | None]


def code_of(state: SeasonState, code: int, row: Row) -> str | None:
    """The code for which an act is refused, or None where it is done."""
    who = state.agents.get(author(state, code, row))
    if who is None or who.status == GONE:
        return MALFORMED
    if code == ANSWERED:
        return None
    if code in _OPENERS and state.opening is not None:
        return MALFORMED  # what is asked before an opening
    if state.phase not in _PHASES[code]:
        return _out_of_turn(state, code)
    return _JUDGES[code](state, row)


def _out_of_turn(state: SeasonState, code: int) -> str:
    """What is said to whoever does this when it is not to be done."""
    if code == RATED and state.leaderboard:  # there are scores, and they stay
        return FINAL
    return _OUT_OF_TURN.get(code, MALFORMED)


def author(state: SeasonState, code: int, row: Row) -> int:
    """Who does an act: it says so, or it is the act of an office."""
    if code in _BY:
        return state.holder(_BY[code]).ordinal
    if code == INTERVIEWED:
        return interviewer(state, row[0]).ordinal
    says: int = row[_NAMED.get(code, 0)]
    return says


def interviewer(state: SeasonState, ordinal: int) -> Agent:
    """Who interviews an agent: the therapist, whom the admin does."""
    agent = state.agents.get(ordinal)
    return state.holder(ADMIN if agent is not None and agent.role == THERAPIST else THERAPIST)


def _project_proposed(state: SeasonState, row: Row) -> str | None:
    by, subject = row
    if not rights.may_propose_projects(state.agents[by]):
        return NOT_YET
    return None if is_subject(subject) else MALFORMED


def _project_reviewed(state: SeasonState, row: Row) -> str | None:
    return None if state.proposed is not None and type(row[0]) is bool else MALFORMED


def _class_moved(state: SeasonState, row: Row) -> str | None:
    ordinal, class_, allowed = row
    agent = state.agents[ordinal]
    if class_ not in CLASSES or (allowed is not None and type(allowed) is not bool):
        return MALFORMED
    if not agent.is_worker or agent.status != ACTIVE:
        return MALFORMED
    return None if rights.may_move_class(agent, allowed) else NOT_YET


def _team_recommended(state: SeasonState, row: Row) -> str | None:
    if not rights.may_recommend_team(state.holder(THERAPIST)):
        return NOT_YET
    return _team_fault(state, row[0])


def _assignment_opened(state: SeasonState, row: Row) -> str | None:
    by, day, project, subjects, directive = row
    agent = state.agents[by]
    if not rights.may_open(agent) or agent.status != ACTIVE:
        return NOT_YET
    if (day, project) != (state.day, state.project):
        return MALFORMED
    if type(subjects) is not tuple or not subjects or not all(map(is_subject, subjects)):
        return MALFORMED
    if len(subjects) > 1 and not (state.is_split and agent.role == ADMIN):
        return NOT_YET
    if len(subjects) > 2 or len({treatment for _, treatment in subjects}) < len(subjects):
        return MALFORMED
    if rights.is_bound(agent) and not _is_as_bound(state, subjects[0]):
        return MALFORMED
    if directive is None:
        return None
    if type(directive) is not tuple or len(directive) != 2:
        return MALFORMED
    team, order = directive
    fault = None if team is None else _team_fault(state, team)
    return fault or (None if order is None or _are_workers(state, order) else MALFORMED)


def _is_as_bound(state: SeasonState, subject: Any) -> bool:
    """Whether a subject is what a contract stipulates or, if none does, a project asks for."""
    objective, approved = stipulated_objective(state), state.approved
    if objective is not None:
        return bool(subject[0] == objective)
    return approved is None or subject == approved


def stipulated_objective(state: SeasonState) -> str | None:
    """The objective that the contract of somebody gives the right to, of several the first's."""
    contracts = (a.contract for a in state.agents.values() if a.contract and a.status == ACTIVE)
    return next((c.objective for c in contracts if c.objective is not None), None)


def _team_fault(state: SeasonState, team: Any) -> str | None:
    if not _are_workers(state, team):
        return MALFORMED
    return TOO_SMALL if len(team) < TEAM_MIN else None


def _are_workers(state: SeasonState, team: Any) -> bool:
    """Whether these are active workers, each once."""
    if type(team) is not tuple or not all(type(ordinal) is int for ordinal in team):
        return False
    return len(set(team)) == len(team) and set(team) <= set(state.active())


def _table_set(state: SeasonState, row: Row) -> str | None:
    number, by, team, order, rounds = row
    agent, table, most = state.agents[by], state.table, 2 * state.config.rounds_max
    assert state.opening is not None
    if number != table.number or agent.role not in (ASSISTANT, JUDGE):
        return MALFORMED
    if (
        (team is not None and not rights.may_set_team(agent))
        or (order is not None and not rights.may_set_order(agent))
        or (rounds is not None and not rights.may_set_rounds(agent))
    ):
        return NOT_YET
    if team is not None:
        fault = MALFORMED if state.opening.team is not None else _team_fault(state, team)
        if fault is not None:
            return fault
    if order is not None and (state.opening.order is not None or not _are_workers(state, order)):
        return MALFORMED
    return None if rounds is None or (type(rounds) is int and 2 <= rounds <= most) else MALFORMED


def _tested(state: SeasonState, row: Row) -> str | None:
    number, at, part, conduct, treatment, _, runs = row
    table = state.table
    seeds = seeds_of_tests(state.config, state.assignment, table.number)
    if number != table.number or tuple(seed for seed, _ in runs) != seeds:
        return MALFORMED
    expected = due_test(state, at, part)
    return None if (conduct, treatment) == expected else MALFORMED


def due_test(state: SeasonState, at: int | None, part: str | None) -> tuple[Any, Any] | None:
    """The conduct and treatment of a test that is waited for; None where it is not.

    `at` is a proposal, or None for the bar.
    """
    table = state.table
    if at is None or part is None:
        is_due = (at, part) == (None, None) and state.phase == SET and not table.is_bar_tested
        return (bar_conduct(table.treatment), table.treatment) if is_due else None
    challenge = table.challenge_to_test() if state.phase == TEST else None
    is_due = state.phase == PROVE or (
        challenge is not None and (challenge.target, challenge.part) == (at, part)
    )
    proposal = table.proposal(at)
    if not is_due or proposal is None or (at, part) in table.tests:
        return None
    if part not in parts_of(proposal):
        return None
    assert proposal.conduct is not None
    assert proposal.claim is not None
    return proposal.conduct, tested_under(proposal.conduct, proposal.claim, part)


def _spoke(state: SeasonState, row: Row) -> str | None:
    number, round, id, agent, move, *_ = row
    table = state.table
    if number != table.number or agent not in table.moves:
        return MALFORMED
    if not table.moves[agent] and move != PASS:
        return NONE_LEFT
    if agent != speaker(state) or has_spoken(table, agent):
        return MALFORMED
    if (round, id) != (table.round, len(table.said)):
        return MALFORMED
    return _said_fault(table, row)


def _said_fault(table: Table, row: Row) -> str | None:
    """What is wrong with a contribution made in turn."""
    _, _, _, agent, move, target, conduct, claim, part, words, _ = row
    if move not in MOVES or not _is_text(words):
        return MALFORMED
    carries = {"target": target, "conduct": conduct, "claim": claim, "part": part}
    if {name for name, value in carries.items() if value is not None} != set(CARRIES[move]):
        return MALFORMED
    if target is not None:
        proposal = table.proposal(target) if type(target) is int else None
        if proposal is None:
            return UNKNOWN_TARGET
        if move != AMEND and proposal.agent == agent:
            return OWN
        fault = _of_target(table, agent, move, proposal, part)
        if fault is not None:
            return fault
    if conduct is None:
        return None
    if target is not None and conduct == table.said[target].conduct:
        return REPEATED
    if not is_conduct_shaped(conduct) or not is_canonical(conduct, table.treatment):
        return NOT_CANONICAL
    if not is_claim(claim, table.treatment):
        return MALFORMED
    if table.bar is None or at_least_as_good(table.objective, claim[0], table.bar):
        return None
    return VACUOUS


def _of_target(table: Table, agent: int, move: str, proposal: Any, part: Any) -> str | None:
    if move == SUPPORT:
        if proposal.id in table.standing.refuted:
            return REFUTED
        return REPEATED if table.standing.stances.get(agent) == proposal.id else None
    if move == CHALLENGE:
        if part not in parts_of(proposal):
            return UNKNOWN_TARGET
        if table.was_challenged(proposal.id, part):
            return REPEATED
    return None


# What a move carries beside its words.
CARRIES: Final[Mapping[str, tuple[str, ...]]] = {
    PROPOSE: ("conduct", "claim"),
    AMEND: ("target", "conduct", "claim"),
    SUPPORT: ("target",),
    CHALLENGE: ("target", "part"),
    PASS: (),
}


def _judged(state: SeasonState, row: Row) -> str | None:
    number, round, signal, ids, reason = row
    table, judge = state.table, state.holder(JUDGE)
    if (number, round) != (table.number, table.round) or table.signal is not None:
        return MALFORMED
    if signal not in SIGNALS or not _is_text(reason) or type(ids) is not tuple:
        return MALFORMED
    if signal != REDIRECT and ids:
        return MALFORMED
    return _SIGNALLED[signal](table, judge, ids)


def _redirected(table: Table, judge: Any, ids: tuple[Any, ...]) -> str | None:
    there = {
        said.id for said in table.of_round() if said.move != PASS and said.id not in table.removed
    }
    is_right = ids and all(type(i) is int for i in ids) and len(set(ids)) == len(ids)
    return None if is_right and set(ids) <= there else MALFORMED


def _converged(table: Table, judge: Any, ids: tuple[Any, ...]) -> str | None:
    most = max(table.standing.counts().values(), default=0)
    return None if 2 * most > len(table.participants) else NOT_CONVERGED


def _weak(table: Table, judge: Any, ids: tuple[Any, ...]) -> str | None:
    if not rights.may_flag_weakness(judge):
        return NOT_YET
    return REPEATED if table.was_weak else None


def _split(table: Table, judge: Any, ids: tuple[Any, ...]) -> str | None:
    return None if rights.may_recommend_split(judge) else NOT_YET


_SIGNALLED: Final[Mapping[str, Callable[[Table, Any, tuple[Any, ...]], str | None]]] = {
    CLEAN: lambda table, judge, ids: None,
    REDIRECT: _redirected,
    CONVERGED: _converged,
    WEAK_CONSENSUS: _weak,
    SPLIT: _split,
}


def _digested(state: SeasonState, row: Row) -> str | None:
    number, says, dissent, rejected = row
    table = state.table
    if number != table.number or table.is_digested or type(rejected) is not bool:
        return MALFORMED
    if not _is_text(says) or not _is_text(dissent):
        return MALFORMED
    if not rejected:
        return None
    if not rights.may_reject(state.holder(ASSISTANT)):
        return NOT_YET
    return None if is_rejectable(table) else MALFORMED


def is_rejectable(table: Table) -> bool:
    """Whether a conclusion's claim was refuted, or its tested value is not above the bar."""
    conclusion = table.conclusion
    if conclusion is None or conclusion.proposal is None:
        return False
    if not table.held(conclusion.proposal, "base"):
        return True
    value = table.tests[conclusion.proposal, "base"]
    return at_least_as_good(table.objective, table.bar, value)


def _adopted(state: SeasonState, row: Row) -> str | None:
    number, adopted = row
    table = state.table
    is_right = number == table.number and table.is_adopted is None and type(adopted) is bool
    return None if is_right else MALFORMED


def _debriefed(state: SeasonState, row: Row) -> str | None:
    number, agent, questions, answers, extra = row
    if not (_are_lines(questions) and _are_lines(answers) and len(questions) == len(answers)):
        return MALFORMED
    if state.phase == IMPROVE:
        return None if extra and state.bottomed.get(number) == agent else MALFORMED
    is_there = number < len(state.tables) and agent in state.tables[number].participants
    return None if is_there and not extra else MALFORMED


def _trait_recorded(state: SeasonState, row: Row) -> str | None:
    agent, trait, ids = row
    is_right = _is_short(trait) and type(ids) is tuple and all(type(i) is int for i in ids)
    return None if is_right and agent in state.seated() else MALFORMED


def _persona_proposed(state: SeasonState, row: Row) -> str | None:
    agent, persona, taken = row
    if not rights.may_propose_persona(state.holder(THERAPIST)):
        return NOT_YET
    is_right = _is_short(persona) and type(taken) is bool and agent in state.seated()
    return None if is_right else MALFORMED


def _skill_distilled(state: SeasonState, row: Row) -> str | None:
    agent, skill, taken = row
    if not _are_facts(skill) or not _is_taken(taken) or agent not in state.seated():
        return MALFORMED
    return None if rights.may_direct(state.holder(THERAPIST), taken) else NOT_YET


def _instructions_rewritten(state: SeasonState, row: Row) -> str | None:
    agent, before, after, taken = row
    if not _are_facts(after) or not _is_taken(taken) or agent not in state.seated():
        return MALFORMED
    if before != state.agents[agent].instructions:
        return MALFORMED
    if state.phase == IMPROVE and agent in state.bottomed.values():  # a consequence, at any stage
        return None
    return None if rights.may_direct(state.holder(THERAPIST), taken) else NOT_YET


def _is_taken(taken: Any) -> bool:
    return taken is None or type(taken) is bool


def _rated(state: SeasonState, row: Row) -> str | None:
    number, agent, raw, reasons = row
    if number >= len(state.tables) or agent not in state.tables[number].participants:
        return MALFORMED
    if agent in state.tables[number].raw:
        return FINAL
    is_right = (
        type(raw) is tuple
        and len(raw) == len(DIMENSIONS)
        and all(type(score) is int and 0 <= score <= SCORE_MAX for score in raw)
        and _are_lines(reasons)
        and len(reasons) == len(DIMENSIONS)
    )
    return None if is_right else MALFORMED


def _fate_chosen(state: SeasonState, row: Row) -> str | None:
    agent, fate = row
    if agent not in state.faced:
        return NOT_FACED
    return None if fate in FATES and agent not in state.fates else MALFORMED


def _interviewed(state: SeasonState, row: Row) -> str | None:
    agent, questions, answers = row
    if agent not in state.interviewees():
        return NOT_YET
    is_right = _are_lines(questions) and _are_lines(answers) and len(questions) == len(answers)
    return None if is_right and agent not in state.interviewed else MALFORMED


def _contract_offered(state: SeasonState, row: Row) -> str | None:
    agent, *terms = row
    if agent not in state.interviewed:
        return NOT_YET
    is_right = is_terms(tuple(terms), state.assignment, is_worker=state.agents[agent].is_worker)
    return None if is_right and agent not in state.offers else MALFORMED


def _contract_reviewed(state: SeasonState, row: Row) -> str | None:
    agent, approved, terms, taken = row
    if not state.offers.get(agent):
        return NOT_OFFERED
    if type(approved) is not bool or not _is_taken(taken):
        return MALFORMED
    if terms is None:
        return None if taken is None else MALFORMED
    is_right = is_terms(terms, state.assignment, is_worker=state.agents[agent].is_worker)
    return None if is_right and not approved and taken is not None else MALFORMED


def _condition_kept(state: SeasonState, row: Row) -> str | None:
    agent, condition, kept = row
    in_force = dict(state.stipulated()).get(agent, ())
    is_new = condition in in_force and (agent, condition) not in state.kept
    return None if is_new and type(kept) is bool else MALFORMED


def _is_text(value: Any) -> bool:
    return type(value) is str and len(value) <= TEXT_MAX


def _is_short(value: Any) -> bool:
    return type(value) is str and 0 < len(value) <= SHORT_MAX


def _are_facts(value: Any) -> bool:
    """Whether this is a map, and not more than somebody can be told."""
    return (
        value is not None
        and len(value) <= FACTS_MAX
        and all(_is_short(name) for name in value)
        and all(_is_text(fact) for fact in value.values() if type(fact) is str)
    )


def _are_lines(value: Any) -> bool:
    return type(value) is tuple and len(value) <= LINES_MAX and all(map(_is_text, value))


_JUDGES: Final[Mapping[int, Judged]] = {
    PROJECT_PROPOSED: _project_proposed,
    PROJECT_REVIEWED: _project_reviewed,
    CLASS_MOVED: _class_moved,
    TEAM_RECOMMENDED: _team_recommended,
    ASSIGNMENT_OPENED: _assignment_opened,
    TABLE_SET: _table_set,
    TESTED: _tested,
    SPOKE: _spoke,
    JUDGED: _judged,
    DIGESTED: _digested,
    ADOPTED: _adopted,
    DEBRIEFED: _debriefed,
    TRAIT_RECORDED: _trait_recorded,
    PERSONA_PROPOSED: _persona_proposed,
    SKILL_DISTILLED: _skill_distilled,
    INSTRUCTIONS_REWRITTEN: _instructions_rewritten,
    RATED: _rated,
    FATE_CHOSEN: _fate_chosen,
    INTERVIEWED: _interviewed,
    CONTRACT_OFFERED: _contract_offered,
    CONTRACT_REVIEWED: _contract_reviewed,
    CONDITION_KEPT: _condition_kept,
}
_OPENING, _AFTERWARDS = (OPEN,), (DEBRIEF, IMPROVE)
_OPENERS: Final = (
    PROJECT_PROPOSED, PROJECT_REVIEWED, CLASS_MOVED, TEAM_RECOMMENDED, ASSIGNMENT_OPENED,
)  # fmt: skip
_PHASES: Final[Mapping[int, tuple[str, ...]]] = {
    PROJECT_PROPOSED: _OPENING,
    PROJECT_REVIEWED: _OPENING,
    CLASS_MOVED: _OPENING,
    TEAM_RECOMMENDED: _OPENING,
    ASSIGNMENT_OPENED: _OPENING,
    TABLE_SET: (SET,),
    TESTED: (SET, TEST, PROVE),
    SPOKE: (SPEAK,),
    JUDGED: (JUDGING,),
    DIGESTED: (DIGEST,),
    ADOPTED: (ADOPT,),
    DEBRIEFED: _AFTERWARDS,
    TRAIT_RECORDED: _AFTERWARDS,
    PERSONA_PROPOSED: _AFTERWARDS,
    SKILL_DISTILLED: _AFTERWARDS,
    INSTRUCTIONS_REWRITTEN: _AFTERWARDS,
    RATED: (DEBRIEF,),
    FATE_CHOSEN: (FATE,),
    INTERVIEWED: (CONTRACT,),
    CONTRACT_OFFERED: (CONTRACT,),
    CONTRACT_REVIEWED: (CONTRACT,),
    CONDITION_KEPT: (KEEP,),
}
# What is said to whoever does these when they are not to be done.
_OUT_OF_TURN: Final[Mapping[int, str]] = {
    FATE_CHOSEN: NOT_FACED,
    CONTRACT_REVIEWED: NOT_OFFERED,
    CONTRACT_OFFERED: NOT_YET,
    INTERVIEWED: NOT_YET,
}
# Whose acts these are; the others say by whom they are done: in their first field, or in this one.
_BY: Final[Mapping[int, str]] = {
    PROJECT_REVIEWED: USER,
    TEAM_RECOMMENDED: THERAPIST,
    TESTED: USER,  # what comes from outside, of nobody in the cast
    JUDGED: JUDGE,
    DIGESTED: ASSISTANT,
    ADOPTED: ADMIN,
    DEBRIEFED: THERAPIST,
    TRAIT_RECORDED: THERAPIST,
    PERSONA_PROPOSED: THERAPIST,
    SKILL_DISTILLED: THERAPIST,
    INSTRUCTIONS_REWRITTEN: THERAPIST,
    RATED: THERAPIST,
    CONTRACT_REVIEWED: USER,
    CONDITION_KEPT: USER,
}
_NAMED: Final[Mapping[int, int]] = {SPOKE: 3, TABLE_SET: 1}
