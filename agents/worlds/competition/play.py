"""The play of a step of a season: its script, applied to a copy of the state.

Models and people answer in `answered` rows, from which the acts of the script follow.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, Final

import msgspec

from goldrush.agents.llm.failures import CUT, NO_ANSWER, REFUSAL
from goldrush.agents.llm.model import Model
from goldrush.agents.llm.question import Answer, Question, Source, Whole
from goldrush.agents.llm.wordings import Framed
from goldrush.agents.people import Inquiry
from goldrush.agents.players import Facts, RunContext
from goldrush.agents.roster import Roster
from goldrush.agents.seats import UnknownPlayer, can_ask, is_outside
from goldrush.agents.session import (
    Input,
    Script,
    Session,
)
from goldrush.agents.trust import HUMAN, LLM
from goldrush.agents.worlds.competition.bench import Tests
from goldrush.agents.worlds.competition.cast import POLICY_SET, policy_of
from goldrush.agents.worlds.competition.formats import REFUSALS
from goldrush.agents.worlds.competition.observation import SeasonObservation
from goldrush.agents.worlds.competition.prompt import messages as messages_of
from goldrush.agents.worlds.competition.questions import QUESTIONS
from goldrush.agents.worlds.competition.script import ReplacedTurns, Scripts, act_of
from goldrush.agents.worlds.competition.seats import (
    answer_in,
    framed_at,
    model_at,
    seats_at,
)
from goldrush.agents.worlds.competition.versions import PROMPT
from goldrush.kernel.draws import Draws
from goldrush.kernel.errors import BadInput, PolicyFailed, format_error
from goldrush.kernel.shape import FACTS
from goldrush.kernel.world import Row
from goldrush.kernel.worlds.competition import competition
from goldrush.kernel.worlds.competition.acts import fault_of
from goldrush.kernel.worlds.competition.events import CODES, Answered, Tested, Tried
from goldrush.kernel.worlds.competition.evolve import apply, refuse
from goldrush.kernel.worlds.competition.fork import turn_of
from goldrush.kernel.worlds.competition.rubric import Grounds
from goldrush.kernel.worlds.competition.state import AgentState, SeasonState
from goldrush.kernel.worlds.competition.terms import VOCABULARY, Phase

# A policy has one sequence of draw words in an assignment. Each step has a range of it, and each
# question a part of that range, so that the draws of two questions never overlap.
STEP_WORDS, QUESTION_WORDS = 1 << 32, 1 << 20

ANSWERED: Final = CODES[Answered]


def session_of(
    context: RunContext[SeasonState], tests: Tests, chosen: Sequence[Model] = ()
) -> Session[SeasonState]:
    """The cast of a season, which closes `tests`. Raises BadInput if a model cannot be asked."""
    scripts = Scripts(tests, replaced_turns(context.forks))
    play_of = partial(SeasonPlay, scripts=scripts, trust=context.resources.trust)
    world = competition(context.state.arena_rules)
    return Session(world, play_of, context, chosen, prompt=PROMPT, close=tests.close)


def replaced_turns(forks: Sequence[Facts]) -> ReplacedTurns:
    """The replaced contributions of all forks; a later fork overrides an earlier one."""
    return {
        (assignment, *turn_of(row)): row for facts in forks for assignment, row in facts["replaced"]
    }


class SeasonPlay:
    """One step: a `session.Play`. Policies keep no state: a new one is made for every question."""

    code = ANSWERED

    def __init__(
        self,
        state: SeasonState,
        scripts: Scripts,
        trust: Collection[str] = (),
        known: Roster | None = None,
    ) -> None:
        """Begin a step on a copy of the state. `known` has what agents are asked again with; None:
        all can be asked.
        """
        self.unit = f"{VOCABULARY.unit} {state.assignment}"
        self.number, self.seed = state.assignment, state.config.seed
        self._state = state.copy()  # with the acts so far applied
        self._scripts = scripts
        self._trust = trust
        self._known = known
        self._grounds: dict[int, Mapping[int, Grounds]] = {}
        self._framings: dict[tuple[int, str], Framed] = {}  # by agent and class

    def still(self) -> SeasonPlay:
        """The step as it is now, whatever is done in it later."""
        return SeasonPlay(self._state, self._scripts, self._trust, self._known)

    def script(self) -> Script:
        """The script of the phase that the state is in."""
        return self._scripts.of(self._state)

    def do(self, acts: tuple[Any, ...]) -> list[Input]:
        """As of `session.Play`, for one act."""
        return [self._applied(CODES[type(acts)], tuple(acts))]

    def _applied(self, code: int, row: Row) -> Input:
        if code != ANSWERED:
            why = fault_of(self._state, code, row)
            if why is None:
                apply(self._state, code, row)
            else:  # otherwise a refused trial would be asked for again without end
                refuse(self._state, code, row, why)
        return code, row

    def is_outside(self, asked: Question) -> bool:
        return is_outside(self._agent(asked).policy)

    def answer(self, asked: Question, number: int) -> Any:
        agent, state = self._agent(asked), self._state
        draws = Draws(state.config.seed, state.assignment, 0, agent.ordinal, "policy")
        draws.taken = state.steps * STEP_WORDS + number * QUESTION_WORDS
        try:
            method = getattr(policy_of(agent, self._trust), asked.name)
            answer = QUESTIONS[asked.name].shaped(
                method(self._seen(agent), draws, **asked.arguments)
            )
        except (KeyboardInterrupt, MemoryError, BadInput):
            raise
        except BaseException as error:  # a policy may raise anything
            reason = f"{asked.name}: {format_error(error)}"
            raise PolicyFailed(
                agent.policy, agent.ordinal, state.assignment, reason, "assignment"
            ) from error
        return _with_source(answer)

    def model(self, asked: Question) -> Model | None:
        """As of `session.Play`: a stand-in has the options of the model."""
        agent = self._agent(asked)
        return model_at(agent) if "model" in agent.options else None

    def prompt(self, asked: Question) -> Question | None:
        if asked.name == "answer" and not asked.arguments["questions"]:
            return None
        seen, rules = self._seen(self._agent(asked)), self._state.arena_rules
        messages = messages_of(seen, asked.name, asked.arguments)
        question = QUESTIONS[asked.name]
        return msgspec.structs.replace(
            asked, model=self.model(asked), messages=messages,
            make_schema=lambda: question.schema(rules), whole=self._whole(self._agent(asked)),
        )  # fmt: skip

    def _whole(self, agent: AgentState) -> Whole | None:
        if agent.policy != LLM:
            return None
        players = self._state.agents.values()
        return Whole.of(model_at(agent).reasoning, sum(player.policy == LLM for player in players))

    def inquiry(self, prompt: Question) -> Inquiry:
        agent, asks = self._agent(prompt), QUESTIONS[prompt.name].asks
        unit = "" if self._framed(agent).wording.text else self.unit
        fault = partial(self.fault_of, prompt)
        return Inquiry(prompt.agent, agent.name, unit, prompt.messages, prompt.schema, fault, asks)

    def fault_of(self, asked: Question, text: str) -> str | None:
        """The error in a person's answer, as text; None: it is valid."""
        question, seen = QUESTIONS[asked.name], self._seen(self._agent(asked))
        if question.fault_of(text, seen.rules) is not None:
            return f"no JSON object of the form {question.example(seen.rules)}"
        act = act_of(self._state, asked, question.answer(text, None, seen))
        code = None if act is None else fault_of(self._state, CODES[type(act)], tuple(act))
        return None if code is None else f"{code}: {REFUSALS.texts[code]}"

    def row(self, prompt: Question, text: str | None, error: str | None, source: Source) -> Row:
        """As of `session.Play`. `cut` is an error only if no answer could be read."""
        text = text or ""
        if prompt.model is None:
            return _row(prompt, text, {"name": HUMAN, "prompt": prompt.digest, "error": None})
        if error not in (NO_ANSWER, REFUSAL):
            question, rules = QUESTIONS[prompt.name], self._state.arena_rules
            fault = question.fault_of(text, rules)
            error = CUT if fault is not None and error == CUT else fault
        # The event itself has the text.
        facts = {name: fact for name, fact in source.items() if name != "raw"}
        return _row(prompt, text, {"name": prompt.model.name, **facts, "error": error})

    def unanswered(self, prompt: Question) -> Row:
        """As of `session.Play`: an empty answer without source."""
        return _row(prompt, "", None)

    def answer_in(self, row: Row) -> Answer:
        return answer_in(row)

    def read(self, asked: Question, row: Row | None) -> Any:
        if row is None:
            return ()
        agent, (_, _, text, source) = self._agent(asked), row
        error = source.get("error") if source else None
        answer = QUESTIONS[asked.name].answer(text, error, self._seen(agent))
        if asked.name in ("speak", "stand") and answer is not None:
            author = model_at(agent).name if agent.policy == LLM else agent.policy
            answer = {**answer, "source": {"model": author}}
        return answer

    def rest(self, asked: Sequence[Question], acts: Sequence[Input]) -> list[Input] | None:
        """As of `session.Play`: the recorded acts, because a script depends on the answers. Valid
        trials and tests are run again; tests that are not due are left out, a missing test of the
        bar is added.
        """
        if all(self._can_ask(self._agent(one)) for one in asked):
            return None
        return list(self._followed(acts))

    def _followed(self, acts: Sequence[Input]) -> Iterator[Input]:
        for code, row in acts:
            if code == CODES[Tested]:
                yield from self._tested(row[1], row[2])
            elif code == CODES[Tried] and fault_of(self._state, code, row) is None:
                (trial,) = self._scripts.tried(self._state, [Tried(*row)])
                yield self._applied(code, tuple(trial))
            else:
                yield self._applied(code, row)
        if self._state.phase == Phase.SET and not self._state.table.is_bar_tested:
            yield from self._tested(None, None)

    def _tested(self, at: int | None, part: str | None) -> Iterator[Input]:
        for act in self._scripts.tested(self._state, [(at, part)]):
            yield self._applied(CODES[type(act)], tuple(act))

    def _can_ask(self, agent: AgentState) -> bool:
        known = self._known
        try:
            return known is None or all(
                can_ask(POLICY_SET, seat, known) for seat in seats_at(agent, self._state)
            )
        except UnknownPlayer:
            return False

    def _agent(self, asked: Question) -> AgentState:
        return self._state.agents[asked.agent]

    def _framed(self, agent: AgentState) -> Framed:
        key = agent.ordinal, agent.class_
        if key not in self._framings:
            self._framings[key] = framed_at(agent, self._state)
        return self._framings[key]

    def _seen(self, agent: AgentState) -> SeasonObservation:
        bench, framed = self._scripts.tests.bench, self._framed(agent)
        return SeasonObservation(self._state, agent.ordinal, bench, self._grounds, framed)


def _row(prompt: Question, text: str, source: Mapping[str, Any] | None) -> Row:
    return tuple(Answered(prompt.agent, prompt.name, text, source))


def _with_source(answer: Any) -> Any:
    """An answer without a `source` that could not be recorded."""
    if not isinstance(answer, Mapping) or FACTS.holds(answer.get("source", {})):
        return answer
    return {**answer, "source": None}
