"""Who is asked what in each phase of an assignment, and which acts come of the answers.

A script is a generator. It yields questions and is sent their answers, and it yields acts. So what
is asked stands in one place, whoever answers: a scripted agent at once, a language model in its
time, a journal in which the answer is recorded.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from typing import Any, Final

import attrs

from goldrush.agents.competition.lab import Lab
from goldrush.agents.competition.offices import Admin
from goldrush.agents.competition.plain import plain
from goldrush.agents.competition.seen import Seen
from goldrush.kernel.competition import rights
from goldrush.kernel.competition.acts import due_test, interviewer
from goldrush.kernel.competition.conduct import seeds_of_tests
from goldrush.kernel.competition.events import (
    ADOPTED,
    ASSIGNMENT_OPENED,
    CLASS_MOVED,
    CONDITION_KEPT,
    CONTRACT_OFFERED,
    CONTRACT_REVIEWED,
    DEBRIEFED,
    DIGESTED,
    FATE_CHOSEN,
    INSTRUCTIONS_REWRITTEN,
    INTERVIEWED,
    JUDGED,
    PERSONA_PROPOSED,
    PROJECT_PROPOSED,
    PROJECT_REVIEWED,
    RATED,
    SKILL_DISTILLED,
    SPOKE,
    TABLE_SET,
    TEAM_RECOMMENDED,
    TESTED,
    TRAIT_RECORDED,
)
from goldrush.kernel.competition.state import (
    ACTIVE,
    ADMIN,
    ADOPT,
    ASSISTANT,
    CONTRACT,
    DEBRIEF,
    DIGEST,
    FATE,
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
from goldrush.kernel.competition.turns import speaker
from goldrush.kernel.draws import Draws
from goldrush.kernel.world import Row

Act = tuple[int, Row]
# (assignment, table, round, agent) -> the row of a contribution that is put in by hand.
Replaced = Mapping[tuple[int, int, int, int], Row]


@attrs.frozen
class Asked:
    """A question to one of the cast: the name of the method that answers it, and what it is told
    beside what it sees.
    """

    agent: int
    name: str
    told: Mapping[str, Any] = attrs.field(factory=dict)


Script = Generator[Asked | Act, Any, None]


class Scripts:
    """The scripts of a season. `state` is the one in which the acts yielded so far are done."""

    def __init__(self, lab: Lab, replaced: Replaced | None = None) -> None:
        self.lab = lab
        self.replaced = replaced or {}

    def of(self, state: SeasonState) -> Script:
        """What is to be asked and done in the phase that a state is in."""
        return _PHASES[state.phase](self, state)

    def opening(self, state: SeasonState) -> Script:
        admin, therapist = state.holder(ADMIN), state.holder(THERAPIST)
        if rights.may_propose_projects(admin) and state.approved is None:
            yield from self._project(state, admin)
        for agent in list(state.workers(ACTIVE)):
            yield from self._class(agent, admin)
        if rights.may_recommend_team(therapist):
            team = yield Asked(therapist.ordinal, "recommend_team")
            if team is not None:
                yield TEAM_RECOMMENDED, (plain(team),)
        for agent in (*state.workers(ACTIVE), admin):
            if rights.may_open(agent) and state.opening is None:
                answer = yield Asked(agent.ordinal, "open")
                if answer is not None:
                    yield _opened(state, agent.ordinal, answer)
        if state.opening is None:  # whoever was asked did not open it: the agenda stands
            draws = Draws(state.config.seed, state.assignment, 0, admin.ordinal, "policy")
            answer = Admin().open(Seen(state, admin.ordinal, self.lab), draws)
            yield _opened(state, admin.ordinal, answer)

    def _project(self, state: SeasonState, admin: Agent) -> Script:
        subject = yield Asked(admin.ordinal, "propose_project")
        if subject is not None:
            yield PROJECT_PROPOSED, (admin.ordinal, plain(subject))
            if state.proposed is not None:
                told = {"subject": state.proposed}
                approved = yield Asked(state.holder(USER).ordinal, "review_project", told)
                yield PROJECT_REVIEWED, (plain(approved),)

    def _class(self, agent: Agent, admin: Agent) -> Script:
        if not (rights.may_move_class(agent, True) or rights.may_move_class(agent, None)):
            return
        class_ = yield Asked(agent.ordinal, "want_class")
        if class_ is None:
            return
        allowed = None
        if not rights.may_move_class(agent, None):
            told = {"agent": agent.ordinal, "class_": class_}
            allowed = yield Asked(admin.ordinal, "allow_class", told)
        yield CLASS_MOVED, (agent.ordinal, plain(class_), plain(allowed))

    def setting(self, state: SeasonState) -> Script:
        table, opening = state.table, state.opening
        assert opening is not None
        assistant, judge = state.holder(ASSISTANT), state.holder(JUDGE)
        for agent in (assistant, judge):
            if rights.may_set_team(agent) or rights.may_set_rounds(agent):
                answer = yield Asked(agent.ordinal, "set_table")
                team, order, rounds = (answer.get(name) for name in ("team", "order", "rounds"))
                team = None if opening.team is not None else plain(team)  # the directive goes first
                order = None if opening.order is not None else plain(order)
                row = (table.number, agent.ordinal, team, order, plain(rounds))
                if row[2:] != (None, None, None):
                    yield TABLE_SET, row
        yield self._due(state, None, None)

    def speaking(self, state: SeasonState) -> Script:
        table, agent = state.table, speaker(state)
        by_hand = self.replaced.get((state.assignment, table.number, table.round, agent))
        if by_hand is not None:
            yield SPOKE, (*by_hand[:2], len(table.said), *by_hand[3:])
            return
        answer = yield Asked(agent, "speak")
        fields = (answer.get(name) for name in ("move", "target", "conduct", "claim", "part"))
        words, source = plain(answer.get("words", "")), answer.get("source")
        place = (table.number, table.round, len(table.said), agent)
        yield SPOKE, (*place, *map(plain, fields), words, source)

    def testing(self, state: SeasonState) -> Script:
        challenge = state.table.challenge_to_test()
        assert challenge is not None
        yield self._due(state, challenge.target, challenge.part)

    def proving(self, state: SeasonState) -> Script:
        for proposal, part in state.table.untested():
            yield self._due(state, proposal, part)

    def _due(self, state: SeasonState, at: int | None, part: str | None) -> Act:
        test = self.test(state, at, part)
        assert test is not None
        return test

    def test(self, state: SeasonState, at: int | None, part: str | None) -> Act | None:
        """The test of a part of a proposal's claim, of the bar without one; None where it is not
        due.
        """
        table, due = state.table, due_test(state, at, part)
        if due is None:
            return None
        conduct, treatment = due
        seeds = seeds_of_tests(state.config, state.assignment, table.number)
        value, runs = self.lab.value(conduct, treatment, table.objective, seeds)
        return TESTED, (table.number, at, part, conduct, treatment, plain(value), runs)

    def judging(self, state: SeasonState) -> Script:
        answer = yield Asked(state.holder(JUDGE).ordinal, "judge")
        said = (plain(answer.get(name)) for name in ("signal", "ids", "reason"))
        yield JUDGED, (state.table.number, state.table.round, *said)

    def digesting(self, state: SeasonState) -> Script:
        answer = yield Asked(state.holder(ASSISTANT).ordinal, "digest")
        said = (plain(answer.get(name)) for name in ("text", "dissent", "rejected"))
        yield DIGESTED, (state.table.number, *said)

    def adopting(self, state: SeasonState) -> Script:
        answer = yield Asked(state.holder(ADMIN).ordinal, "adopt")
        yield ADOPTED, (state.table.number, plain(answer))

    def debriefing(self, state: SeasonState) -> Script:
        for table in state.tables:
            for agent in table.participants:
                yield from self._debrief(state, agent, table.number, extra=False)
                yield from self._develop(state, agent, table.number)
                told = {"agent": agent, "table": table.number}
                answer = yield Asked(state.holder(THERAPIST).ordinal, "rate", told)
                said = (plain(answer.get(name)) for name in ("raw", "reasons"))
                yield RATED, (table.number, agent, *said)

    def _debrief(self, state: SeasonState, agent: int, table: int, *, extra: bool) -> Script:
        told = {"agent": agent, "extra": extra}
        questions = yield Asked(state.holder(THERAPIST).ordinal, "debrief", told)
        answers = yield Asked(agent, "answer", {"questions": questions})
        yield DEBRIEFED, (table, agent, plain(questions), plain(answers), extra)

    def _develop(self, state: SeasonState, agent: int, table: int) -> Script:
        """What the therapist makes of somebody, as far as its stage goes."""
        therapist, told = state.holder(THERAPIST), {"agent": agent, "table": table}
        trait = yield Asked(therapist.ordinal, "trait", told)
        if trait is not None:
            yield TRAIT_RECORDED, (agent, plain(trait.get("trait")), plain(trait.get("from")))
        if rights.may_propose_persona(therapist):
            persona = yield Asked(therapist.ordinal, "persona", told)
            if persona is not None:
                taken = yield Asked(agent, "take", {"offer": {"persona": persona}})
                yield PERSONA_PROPOSED, (agent, plain(persona), plain(taken))
        if not (rights.may_direct(therapist, True) or rights.may_direct(therapist, None)):
            return
        skill = yield Asked(therapist.ordinal, "skill", told)
        if skill is not None:
            taken = yield from self._taken(therapist, agent, {"skill": skill})
            yield SKILL_DISTILLED, (agent, skill, plain(taken))
        after = yield Asked(therapist.ordinal, "rewrite", told)
        if after is not None:
            before = state.agents[agent].instructions
            taken = yield from self._taken(therapist, agent, {"instructions": after})
            yield INSTRUCTIONS_REWRITTEN, (agent, before, after, plain(taken))

    def _taken(
        self, therapist: Agent, agent: int, offer: Mapping[str, Any]
    ) -> Generator[Asked, Any, Any]:
        """Whether a worker takes what is recommended; None where it is not asked."""
        if rights.may_direct(therapist, None):
            return None
        answer = yield Asked(agent, "take", {"offer": offer})
        return answer

    def improving(self, state: SeasonState) -> Script:
        therapist = state.holder(THERAPIST).ordinal
        for table, agent in state.bottomed.items():
            yield from self._debrief(state, agent, table, extra=True)
            after = yield Asked(therapist, "improve", {"agent": agent, "table": table})
            if after is not None:
                before = state.agents[agent].instructions
                yield INSTRUCTIONS_REWRITTEN, (agent, before, after, None)

    def choosing(self, state: SeasonState) -> Script:
        for agent in sorted(state.faced):
            fate = yield Asked(agent, "choose_fate")
            yield FATE_CHOSEN, (agent, plain(fate))

    def contracting(self, state: SeasonState) -> Script:
        for agent in state.interviewees():
            asks = interviewer(state, agent).ordinal
            questions = yield Asked(asks, "interview", {"agent": agent})
            answers = yield Asked(agent, "answer", {"questions": questions})
            yield INTERVIEWED, (agent, plain(questions), plain(answers))
            offer = yield Asked(agent, "offer_contract")
            if offer is not None:
                yield CONTRACT_OFFERED, (agent, *_terms(offer))
                if agent in state.offers:
                    yield from self._review(state, agent)

    def _review(self, state: SeasonState, agent: int) -> Script:
        conditions, target, due = state.offers[agent]
        told = {"conditions": conditions, "target": target, "due": due}
        review = {"agent": agent, "terms": told}
        answer = yield Asked(state.holder(USER).ordinal, "review_contract", review)
        approved, terms, taken = answer.get("approved"), answer.get("terms"), None
        if not approved and terms is not None:
            taken = yield Asked(agent, "take", {"offer": {"terms": terms}})
        row = (agent, plain(approved), None if terms is None else _terms(terms), plain(taken))
        yield CONTRACT_REVIEWED, row

    def keeping(self, state: SeasonState) -> Script:
        user = state.holder(USER).ordinal
        for agent, conditions in state.stipulated():
            for condition in conditions:
                told = {"agent": agent, "condition": condition}
                kept = yield Asked(user, "keep_condition", told)
                yield CONDITION_KEPT, (agent, condition, plain(kept))


def _opened(state: SeasonState, by: int, answer: Mapping[str, Any]) -> Act:
    team, order = plain(answer.get("team")), plain(answer.get("order"))
    directive = None if team is None and order is None else (team, order)
    subjects = plain(answer.get("subjects"))
    return ASSIGNMENT_OPENED, (by, state.day, state.project, subjects, directive)


def _terms(offer: Mapping[str, Any]) -> tuple[Any, Any, Any]:
    conditions, target, due = (offer.get(name) for name in ("conditions", "target", "due"))
    return plain(conditions), plain(target), plain(due)


_PHASES: Final[Mapping[str, Callable[[Scripts, SeasonState], Script]]] = {
    OPEN: Scripts.opening,
    SET: Scripts.setting,
    SPEAK: Scripts.speaking,
    TEST: Scripts.testing,
    JUDGING: Scripts.judging,
    PROVE: Scripts.proving,
    DIGEST: Scripts.digesting,
    ADOPT: Scripts.adopting,
    DEBRIEF: Scripts.debriefing,
    IMPROVE: Scripts.improving,
    FATE: Scripts.choosing,
    CONTRACT: Scripts.contracting,
    KEEP: Scripts.keeping,
}
