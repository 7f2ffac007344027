"""One step of a season: runs its script, applies the acts, and asks scripted policies.

The caller gives the answers of models and people, from a server, a terminal or a journal.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, Final

import attrs

from goldrush.agents.llm.models import LLM
from goldrush.agents.llm.question import Message
from goldrush.agents.people import HUMAN
from goldrush.agents.session import Asked
from goldrush.agents.worlds.competition import prompt
from goldrush.agents.worlds.competition.cast import policy_of
from goldrush.agents.worlds.competition.formats import REFUSALS
from goldrush.agents.worlds.competition.observation import Observation
from goldrush.agents.worlds.competition.questions import QUESTIONS
from goldrush.agents.worlds.competition.script import Scripts, act_of
from goldrush.agents.worlds.competition.seats import model_at
from goldrush.kernel.draws import Draws
from goldrush.kernel.errors import BadInput, PolicyFailed, format_error
from goldrush.kernel.world import FACTS, Batch, Row
from goldrush.kernel.worlds.competition.acts import fault_of
from goldrush.kernel.worlds.competition.arena import Rules
from goldrush.kernel.worlds.competition.events import CODES, Answered, Tested, Tried
from goldrush.kernel.worlds.competition.evolve import apply, refuse
from goldrush.kernel.worlds.competition.rubric import Grounds
from goldrush.kernel.worlds.competition.state import AgentState, SeasonState, copied
from goldrush.kernel.worlds.competition.terms import Phase

# A policy has one sequence of draw words in an assignment. Each step has a range of it, and each
# question a part of that range, so that the draws of two questions never overlap.
STEP_WORDS, QUESTION_WORDS = 1 << 32, 1 << 20

ANSWERED: Final = CODES[Answered]
OUTSIDE: Final = (LLM, HUMAN)  # policies whose answers come from outside


@attrs.frozen
class Question:
    """A question to a model or a person.

    Attributes:
        agent: that is asked.
        name: of the question.
        messages: of the prompt.
        rules: of the arena.

    """

    agent: AgentState
    name: str
    messages: Sequence[Message]
    rules: Rules

    @property
    def schema(self) -> Mapping[str, Any]:
        """The JSON schema of the answer."""
        return QUESTIONS[self.name].schema(self.rules)

    @property
    def asks(self) -> Callable[[str, Mapping[str, Any]], bool]:
        """See agents.people.Inquiry.asks."""
        return QUESTIONS[self.name].asks

    def fault_of(self, text: str | None) -> str | None:
        """`no-json` if a text holds no answer, else None."""
        return QUESTIONS[self.name].fault_of(text, self.rules)


class Step:
    """An unfinished step.

    Attributes:
        rows: (code, row) of each act and each `answered` event so far.

    """

    def __init__(self, state: SeasonState, scripts: Scripts, trust: Collection[str]) -> None:
        self.rows: list[tuple[int, Row]] = []
        self._state = copied(state)  # with the acts so far applied
        self._scripts = scripts
        self._script = scripts.of(self._state)
        self._trust = trust
        self._grounds: dict[int, Mapping[int, Grounds]] = {}
        self._questions = 0  # asked so far
        self._group: Sequence[Asked] = ()

    def next(self, answers: Sequence[Any] | None = None) -> Sequence[Asked] | None:
        """Continue with the answers to the last questions; the next ones, or None at the end."""
        self._questions += len(self._group)
        self._group = ()
        sent: Any = answers
        while True:
            try:
                item = self._script.send(sent)
            except StopIteration:
                return None
            if isinstance(item, list):
                if item:
                    self._group = item
                    return item
                sent = []
            else:
                self._do(CODES[type(item)], tuple(item))
                sent = None

    def follow(self, acts: Sequence[tuple[int, Row]]) -> None:
        """End the step with these acts instead of the script's.

        Valid trials and tests are run again; tests that are not due are left out, and a missing
        test of the bar is added.
        """
        for code, row in acts:
            if code == CODES[Tested]:
                self._test(row[1], row[2])
            elif code == CODES[Tried] and fault_of(self._state, code, row) is None:
                (trial,) = self._scripts.tried(self._state, [Tried(*row)])
                self._do(code, tuple(trial))
            else:
                self._do(code, row)
        if self._state.phase == Phase.SET and not self._state.table.is_bar_tested:
            self._test(None, None)

    def _test(self, at: int | None, part: str | None) -> None:
        for act in self._scripts.tested(self._state, [(at, part)]):
            self._do(CODES[type(act)], tuple(act))

    def _do(self, code: int, row: Row) -> None:
        self.rows.append((code, row))
        if code == ANSWERED:
            return
        why = fault_of(self._state, code, row)
        if why is None:
            apply(self._state, code, row)
        else:  # otherwise a refused trial would be asked for again without end
            refuse(self._state, code, row, why)

    def agent_of(self, asked: Asked) -> AgentState:
        """The agent that a question is for."""
        return self._state.agents[asked.agent]

    def _scripted(self, asked: Asked, index: int) -> Any:
        """The answer of a scripted or user-defined policy."""
        agent, state = self.agent_of(asked), self._state
        draws = Draws(state.config.seed, state.assignment, 0, agent.ordinal, "policy")
        draws.taken = state.steps * STEP_WORDS + (self._questions + index) * QUESTION_WORDS
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

    def question(self, asked: Asked) -> Question | None:
        """A question with its prompt; None if there is nothing to answer."""
        if asked.name == "answer" and not asked.arguments["questions"]:
            return None
        agent = self.agent_of(asked)
        messages = prompt.messages(self._seen(agent), asked.name, asked.arguments)
        return Question(agent, asked.name, messages, self._state.arena_rules)

    def answer(self, asked: Asked, index: int, rows: Mapping[int, Row]) -> Any:
        """The answer to a question, from its `answered` row or else from the agent's policy.

        Args:
            asked: the question.
            index: of the question in the current list.
            rows: the `answered` rows, by index.

        Raises:
            PolicyFailed: if the policy fails.

        """
        if index in rows:
            return self._answered(asked, rows[index])
        return () if self.agent_of(asked).policy in OUTSIDE else self._scripted(asked, index)

    def _answered(self, asked: Asked, row: Row) -> Any:
        """The answer in a row of `answered`."""
        agent, (_, _, text, source) = self.agent_of(asked), row
        error = source.get("error") if source else None
        answer = QUESTIONS[asked.name].answer(text, error, self._seen(agent))
        if asked.name == "speak":
            author = model_at(agent).name if agent.policy == LLM else agent.policy
            answer = {**answer, "source": {"model": author}}
        return answer

    def fault_of(self, asked: Asked, text: str) -> str | None:
        """The error in a person's answer, as text; None: it is valid."""
        agent = self.agent_of(asked)
        question, seen = QUESTIONS[asked.name], self._seen(agent)
        if question.fault_of(text, seen.rules) is not None:
            return f"no JSON object of the form {question.example(seen.rules)}"
        act = act_of(self._state, asked, question.answer(text, None, seen))
        code = None if act is None else fault_of(self._state, CODES[type(act)], tuple(act))
        return None if code is None else f"{code}: {REFUSALS[code]}"

    def _seen(self, agent: AgentState) -> Observation:
        return Observation(self._state, agent.ordinal, self._scripts.tests.bench, self._grounds)


def batches(rows: Sequence[tuple[int, Row]]) -> list[Batch]:
    """Rows as the inputs of a step: adjacent rows of one event type in one batch."""
    found: list[tuple[int, list[Row]]] = []
    for code, row in rows:
        if found and found[-1][0] == code:
            found[-1][1].append(row)
        else:
            found.append((code, [row]))
    return list(found)


def _with_source(answer: Any) -> Any:
    """An answer without a `source` that could not be recorded."""
    if not isinstance(answer, Mapping) or FACTS.holds(answer.get("source", {})):
        return answer
    return {**answer, "source": None}
