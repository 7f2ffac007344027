"""The questions of each phase of an assignment, and the acts that follow from the answers.

A script is a generator. It yields acts, and lists of questions that do not depend on each other,
and is sent their answers. So questions are defined once for all that answer them: scripted
policies, language models, people, and journals.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from itertools import chain, repeat
from typing import Any, Final

from goldrush.agents.llm.question import Question
from goldrush.agents.seats import is_outside
from goldrush.agents.session import Script
from goldrush.agents.worlds.competition.bench import Request, Result, Tests
from goldrush.agents.worlds.competition.observation import SeasonObservation
from goldrush.agents.worlds.competition.plain import plain
from goldrush.agents.worlds.competition.questions.question import Answer
from goldrush.agents.worlds.competition.questions.table import TRY
from goldrush.kernel.world import Row
from goldrush.kernel.worlds.competition import rights
from goldrush.kernel.worlds.competition.acts.contracts import interviewer
from goldrush.kernel.worlds.competition.acts.roundtable import due_test, is_conduct, speaker
from goldrush.kernel.worlds.competition.events import (
    Adopted,
    AssignmentOpened,
    ClassMoved,
    ConditionKept,
    ContractOffered,
    ContractReviewed,
    Debriefed,
    Digested,
    FateChosen,
    InstructionsRewritten,
    Interviewed,
    Judged,
    PersonaProposed,
    ProjectProposed,
    ProjectReviewed,
    Rated,
    SkillDistilled,
    Spoke,
    Stood,
    TableSet,
    TeamRecommended,
    Tested,
    TraitRecorded,
    Tried,
)
from goldrush.kernel.worlds.competition.state import AgentState, SeasonState
from goldrush.kernel.worlds.competition.terms import Role, Status

# ReplacedTurns contributions of a fork: (assignment, table, round, agent) -> row.
ReplacedTurns = Mapping[tuple[int, int, int, int], Row]


class Scripts:
    """The scripts of a season. The caller must apply each act to `state` before it continues."""

    def __init__(self, tests: Tests, replaced: ReplacedTurns | None = None) -> None:
        self.tests = tests
        self.replaced = replaced or {}

    def of(self, state: SeasonState) -> Script:
        """The script of the phase that a state is in, a method of its name."""
        script: Script = getattr(self, f"_{state.phase}")(state)
        return script

    def values(self, requests: Sequence[Request]) -> Sequence[Result]:
        """The results of trials or tests, in the order of the requests."""
        return self.tests.values(requests)

    def paired(self, questions: Any, answers: Any) -> Any:
        """The answers that a debrief or an interview records: one text for each question; "" stands
        for no answer, because whoever asks would be refused for the silence of whoever is asked.
        Both arguments are as from `plain`; the kernel refuses questions that are no list.
        """
        if type(questions) is not tuple:
            return answers
        given = answers if type(answers) is tuple else ()
        texts = (answer if type(answer) is str else "" for answer in given)
        return tuple(text for _, text in zip(questions, chain(texts, repeat("")), strict=False))

    # Before a table.

    def _open(self, state: SeasonState) -> Script:
        """Projects, classes, a recommended team, and the subjects of the assignment."""
        admin, therapist = state.holder(Role.ADMIN), state.holder(Role.THERAPIST)
        if rights.may_propose_projects(admin) and state.approved is None:
            yield from self._project(state, admin)
        yield from self._classes(state, admin)
        if rights.may_recommend_team(therapist):
            (team,) = yield [Question(therapist.ordinal, "recommend_team")]
            if team is not None:
                yield TeamRecommended(plain(team))
        for agent in (*state.workers(Status.ACTIVE), admin):
            if rights.may_open(agent) and state.opening is None:
                (answer,) = yield [Question(agent.ordinal, "open")]
                if answer is not None:
                    yield opened(state, agent.ordinal, answer)
        if state.opening is None:  # nobody opened it: take the next subject of the agenda
            seen = SeasonObservation(state, admin.ordinal, self.tests.bench)
            yield opened(state, admin.ordinal, {"subjects": [seen.agenda().key]})

    def _project(self, state: SeasonState, admin: AgentState) -> Script:
        (subject,) = yield [Question(admin.ordinal, "propose_project")]
        if subject is not None:
            yield ProjectProposed(admin.ordinal, plain(subject))
            if state.proposed is not None:
                arguments = {"subject": state.proposed}
                (approved,) = yield [_asked(state, Role.USER, "review_project", arguments)]
                yield ProjectReviewed(plain(approved))

    def _classes(self, state: SeasonState, admin: AgentState) -> Script:
        asked = [
            agent
            for agent in state.workers(Status.ACTIVE)
            if rights.may_move_class(agent, True) or rights.may_move_class(agent, None)
        ]
        wanted = yield [Question(agent.ordinal, "want_class") for agent in asked]
        for agent, class_ in zip(asked, wanted, strict=True):
            if class_ is None:
                continue
            allowed = None
            if not rights.may_move_class(agent, None):
                arguments = {"agent": agent.ordinal, "class_": class_}
                (allowed,) = yield [Question(admin.ordinal, "allow_class", arguments)]
            yield ClassMoved(agent.ordinal, plain(class_), plain(allowed))

    def _set(self, state: SeasonState) -> Script:
        """The team, the order and the rounds of the table; then the test of the bar."""
        table, opening = state.table, state.opening
        assert opening is not None
        for agent in (state.holder(Role.ASSISTANT), state.holder(Role.JUDGE)):
            if rights.may_set_team(agent) or rights.may_set_rounds(agent):
                (answer,) = yield [Question(agent.ordinal, "set_table")]
                team, order, rounds = _plain(answer, "team", "order", "rounds")
                team = None if opening.team is not None else team  # the directive goes first
                order = None if opening.order is not None else order
                if (team, order, rounds) != (None, None, None):
                    yield TableSet(table.number, agent.ordinal, team, order, rounds)
        yield from self.tested(state, [(None, None)])

    # At the table.

    def _try(self, state: SeasonState) -> Script:
        """Trials before the first round, in turns in which each participant orders at most one."""
        wanting = [a for a in state.table.participants if state.trials_left(a, early=True) > 0]
        while wanting:
            answers = yield [Question(agent, "try_") for agent in wanting]
            pairs = zip(wanting, answers, strict=True)
            wanted = [(agent, answer) for agent, answer in pairs if answer is not None]
            yield from self.tried(state, [trial(state, a, answer) for a, answer in wanted])
            wanting = [a for a, _ in wanted if self._may_try(state, a, early=True)]

    def _speak(self, state: SeasonState) -> Script:
        """One turn: trials of the speaker, then its contribution. Policies are asked for trials
        first; models and people, of whom each question takes time, say in place of a contribution
        that they want one.
        """
        table, agent = state.table, speaker(state)
        is_apart = not is_outside(state.agents[agent].policy)
        while is_apart and self._may_try(state, agent, early=False):
            (answer,) = yield [Question(agent, "try_")]
            if answer is None:
                break
            yield from self.tried(state, [trial(state, agent, answer)])
        replaced = self.replaced.get((state.assignment, table.number, table.round, agent))
        if replaced is not None:
            yield Spoke(*replaced)._replace(id=len(table.contributions))
            return
        (answer,) = yield [Question(agent, "speak")]
        while answer.get("move") == TRY and self._may_try(state, agent, early=False):
            yield from self.tried(state, [trial(state, agent, answer)])
            (answer,) = yield [Question(agent, "speak")]
        yield spoken(state, agent, answer)

    def _may_try(self, state: SeasonState, agent: int, *, early: bool) -> bool:
        return agent not in state.table.barred and state.trials_left(agent, early=early) > 0

    def tried(self, state: SeasonState, trials: Sequence[Tried]) -> list[Tried]:
        """Trials with their results, run in parallel; invalid trials are returned unchanged."""
        rows, objective = list(trials), state.table.subject.objective
        can_run = [
            index
            for index, trial in enumerate(rows)
            if len(trial.runs) == 1
            and trial.treatment in state.arena_rules.treatments
            and is_conduct(state, trial.conduct)
        ]
        requests = [
            Request(rows[i].conduct, rows[i].treatment, objective, [rows[i].runs[0][0]])
            for i in can_run
        ]
        for index, (value, runs) in zip(can_run, self.values(requests), strict=True):
            rows[index] = rows[index]._replace(value=plain(value), runs=runs)
        return rows

    def _test(self, state: SeasonState) -> Script:
        """The test of a challenged claim."""
        challenge = state.table.challenge_to_test()
        assert challenge is not None
        yield from self.tested(state, [challenge.challenged])

    def _prove(self, state: SeasonState) -> Script:
        """The tests of all untested claims."""
        yield from self.tested(state, state.table.untested())

    def tested(self, state: SeasonState, parts: Sequence[tuple[int | None, str | None]]) -> Script:
        """Tests of (proposal, part) pairs that are due, or of the bar for (None, None), run in
        parallel.
        """
        due = [(at, part, due_test(state, at, part)) for at, part in parts]
        tests = [(at, part, *found) for at, part, found in due if found is not None]
        if not tests:
            return
        table = state.table
        seeds = state.test_seeds(table.number)
        values = self.values(
            [
                Request(conduct, under, table.subject.objective, seeds)
                for _, _, conduct, under in tests
            ]
        )
        for (at, part, conduct, under), (value, runs) in zip(tests, values, strict=True):
            yield Tested(table.number, at, part, conduct, under, plain(value), runs)

    def _stand(self, state: SeasonState) -> Script:
        """The final stances: all participants are asked at once, and none is told the others'."""
        yield from _acts(state, state.table.participants, "stand")

    def _judge(self, state: SeasonState) -> Script:
        """The judge's signal."""
        yield from _acts(state, [state.holder(Role.JUDGE).ordinal], "judge")

    def _digest(self, state: SeasonState) -> Script:
        """The assistant's summary of the conclusion."""
        (answer,) = yield [_asked(state, Role.ASSISTANT, "digest")]
        yield Digested(state.table.number, *_plain(answer, "text", "dissent", "rejected"))

    def _adopt(self, state: SeasonState) -> Script:
        """The admin's decision on the conclusion."""
        (answer,) = yield [_asked(state, Role.ADMIN, "adopt")]
        yield Adopted(state.table.number, plain(answer))

    # After the tables.

    def _debrief(self, state: SeasonState) -> Script:
        """Debriefs, scores, and what the therapist's stage allows, for each table."""
        therapist = state.holder(Role.THERAPIST).ordinal
        for table in state.tables:
            sat, number = table.participants, table.number
            arguments = [{"agent": agent, "table": number} for agent in sat]
            yield from self._questioned(state, sat, number, extra=False)
            for agent in sat:
                yield from self._develop(state, agent, number)
            answers = yield [Question(therapist, "rate", one) for one in arguments]
            for agent, answer in zip(sat, answers, strict=True):
                yield Rated(number, agent, *_plain(answer, "raw", "reasons"))

    def _questioned(
        self, state: SeasonState, agents: Sequence[int], table: int, *, extra: bool
    ) -> Script:
        therapist = state.holder(Role.THERAPIST).ordinal
        asked = yield [
            Question(therapist, "debrief", {"agent": agent, "table": table, "extra": extra})
            for agent in agents
        ]
        answers = yield [
            Question(agent, "answer", {"questions": questions, "table": table})
            for agent, questions in zip(agents, asked, strict=True)
        ]
        for agent, asks, answer in zip(agents, asked, answers, strict=True):
            questions = plain(asks)
            yield Debriefed(table, agent, questions, self.paired(questions, plain(answer)), extra)

    def _develop(self, state: SeasonState, agent: int, table: int) -> Script:
        """Traits, personas, skills and rewrites, as far as the therapist's stage allows."""
        therapist, arguments = state.holder(Role.THERAPIST), {"agent": agent, "table": table}
        (trait,) = yield [Question(therapist.ordinal, "trait", arguments)]
        if trait is not None:
            yield TraitRecorded(agent, *_plain(trait, "trait", "from"))
        if rights.may_propose_persona(therapist):
            (persona,) = yield [Question(therapist.ordinal, "persona", arguments)]
            if persona is not None:
                (taken,) = yield [Question(agent, "take", {"offer": {"persona": persona}})]
                yield PersonaProposed(agent, plain(persona), plain(taken))
        if not (rights.may_direct(therapist, True) or rights.may_direct(therapist, None)):
            return
        if state.config.memory:
            (skill,) = yield [Question(therapist.ordinal, "skill", arguments)]
            if skill is not None:
                taken = yield from self._taken(therapist, agent, {"skill": skill})
                yield SkillDistilled(agent, plain(skill), plain(taken))
        (after,) = yield [Question(therapist.ordinal, "rewrite", arguments)]
        if after is not None:
            before = state.agents[agent].instructions
            taken = yield from self._taken(therapist, agent, {"instructions": after})
            yield InstructionsRewritten(agent, before, after, plain(taken))

    def _taken(
        self, therapist: AgentState, agent: int, offer: Mapping[str, Any]
    ) -> Generator[list[Question], Any, Any]:
        """Whether a worker accepts a recommendation; None if the therapist need not ask."""
        if rights.may_direct(therapist, None):
            return None
        (answer,) = yield [Question(agent, "take", {"offer": offer})]
        return answer

    def _improve(self, state: SeasonState) -> Script:
        """Second debriefs of bottom scorers, and their new instructions."""
        therapist = state.holder(Role.THERAPIST).ordinal
        for table, agent in state.bottomed.items():
            yield from self._questioned(state, [agent], table, extra=True)
            (after,) = yield [Question(therapist, "improve", {"agent": agent, "table": table})]
            if after is not None:
                before = state.agents[agent].instructions
                yield InstructionsRewritten(agent, before, after, None)

    # Consequences.

    def _fate(self, state: SeasonState) -> Script:
        """The fates of workers that face elimination."""
        yield from _acts(state, sorted(state.faced), "choose_fate")

    def _contract(self, state: SeasonState) -> Script:
        """Interviews, offers and reviews of contracts."""
        for agent in state.interviewees():
            asks = interviewer(state, agent).ordinal
            (questions,) = yield [Question(asks, "interview", {"agent": agent})]
            (answers,) = yield [Question(agent, "answer", {"questions": questions})]
            questions = plain(questions)
            yield Interviewed(agent, questions, self.paired(questions, plain(answers)))
            (offer,) = yield [Question(agent, "offer_contract")]
            if offer is not None:
                yield offered(state, agent, offer)
                if agent in state.offers:
                    yield from self._review(state, agent)

    def _review(self, state: SeasonState, agent: int) -> Script:
        conditions, target, due = state.offers[agent]
        offered = {"conditions": conditions, "target": target, "due": due}
        arguments = {"agent": agent, "terms": offered}
        (answer,) = yield [_asked(state, Role.USER, "review_contract", arguments)]
        approved, terms, taken = answer.get("approved"), answer.get("terms"), None
        if not approved and terms is not None:
            (taken,) = yield [Question(agent, "take", {"offer": {"terms": terms}})]
        other = None if terms is None else _terms(terms)
        yield ContractReviewed(agent, plain(approved), other, plain(taken))

    def _keep(self, state: SeasonState) -> Script:
        """The user's decisions on conditions of contracts."""
        kept = [(agent, name) for agent, names in state.stipulated() for name in names]
        user = state.holder(Role.USER).ordinal
        answers = yield [
            Question(user, "keep_condition", {"agent": agent, "condition": name})
            for agent, name in kept
        ]
        for (agent, name), answer in zip(kept, answers, strict=True):
            yield ConditionKept(agent, name, plain(answer))


def trial(state: SeasonState, agent: int, answer: Answer) -> Tried:
    """The trial that an answer orders, without its result."""
    table = state.table
    conduct, treatment = _plain(answer, "conduct", "treatment")
    treatment = table.treatment if treatment is None else treatment
    number = state.tried.get(agent, 0)
    seed = state.trial_seed(table.number, agent, number)
    return Tried(table.number, agent, number, conduct, treatment, None, ((seed, 0),))


def spoken(state: SeasonState, agent: int, answer: Answer) -> Spoke:
    """The contribution of an answer."""
    table = state.table
    return spoken_in((table.number, table.round, len(table.contributions), agent), answer)


def spoken_in(turn: tuple[int, int, int, int], answer: Answer) -> Spoke:
    """The contribution of an answer in a turn: table, round, id of the contribution, agent."""
    carried = _plain(answer, "move", "target", "conduct", "claim", "part")
    words, because = plain(answer.get("words", "")), plain(answer.get("because"))
    return Spoke._make((*turn, *carried, words, because, answer.get("source")))


def stood(state: SeasonState, agent: int, answer: Answer | None) -> Stood | None:
    """The final stance of an answer; None if it names no target, not even None for no stance."""
    if answer is None or "target" not in answer:
        return None
    target = plain(answer["target"])
    if target is None and answer["target"] is not None:
        target = ""  # to be refused: it is no stance of none
    words, because = plain(answer.get("words", "")), plain(answer.get("because"))
    return Stood(state.table.number, agent, target, words, because, answer.get("source"))


def judged(state: SeasonState, agent: int, answer: Answer) -> Judged:
    """The judge's signal of an answer."""
    signal = _plain(answer, "signal", "ids", "reason")
    return Judged(state.table.number, state.table.round, *signal)


def chosen(state: SeasonState, agent: int, answer: object) -> FateChosen:
    """The fate that an answer names."""
    return FateChosen(agent, plain(answer))


def offered(state: SeasonState, agent: int, answer: Answer) -> ContractOffered:
    """The contract that an answer offers."""
    return ContractOffered(agent, *_terms(answer))


def opened(state: SeasonState, agent: int, answer: Answer) -> AssignmentOpened:
    """The assignment that an answer opens."""
    team, order, subjects = _plain(answer, "team", "order", "subjects")
    directive = None if team is None and order is None else (team, order)
    return AssignmentOpened(agent, state.day, state.project, subjects, directive)


def _contributed(state: SeasonState, agent: int, answer: Answer) -> Tried | Spoke:
    return (trial if answer.get("move") == TRY else spoken)(state, agent, answer)


# By name, the questions of which one answer alone is an act.
_ACTS: Final[Mapping[str, Callable[[SeasonState, int, Any], tuple[Any, ...] | None]]] = {
    "try_": trial,
    "speak": _contributed,
    "stand": stood,
    "judge": judged,
    "choose_fate": chosen,
    "open": opened,
    "offer_contract": offered,
}


def act_of(state: SeasonState, asked: Question, answer: Any) -> tuple[Any, ...] | None:
    """The act of an answer, to check a person's answer; None: one answer alone is not an act."""
    if asked.name not in _ACTS or (answer is None and asked.name != "choose_fate"):
        return None
    return _ACTS[asked.name](state, asked.agent, answer)


def _acts(state: SeasonState, agents: Sequence[int], name: str) -> Script:
    """The acts of the answers to a question, asked of all at once."""
    answers = yield [Question(agent, name) for agent in agents]
    for agent, answer in zip(agents, answers, strict=True):
        act = _ACTS[name](state, agent, answer)
        if act is not None:
            yield act


def _terms(offer: Mapping[str, Any]) -> tuple[Any, ...]:
    return _plain(offer, "conditions", "target", "due")


def _plain(answer: object, *names: str) -> tuple[Any, ...]:
    """The parts of an answer that must be a map; None for each of any other value."""
    given = answer if isinstance(answer, Mapping) else {}
    return tuple(plain(given.get(name)) for name in names)


def _asked(
    state: SeasonState, role: str, name: str, arguments: Mapping[str, Any] | None = None
) -> Question:
    return Question(state.holder(role).ordinal, name, arguments or {})
