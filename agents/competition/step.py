"""One step of a season under way: its script, what was done in it so far, and who answers.

Whoever drives it brings the answers: a scripted agent's are worked out here, a model's come from a
server or from the journal.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, Final

import attrs

from goldrush.agents.competition import forms, prompt
from goldrush.agents.competition.cast import policy_of
from goldrush.agents.competition.lab import Lab
from goldrush.agents.competition.script import Act, Asked, Scripts
from goldrush.agents.competition.seen import Seen
from goldrush.agents.llm.models import LLM
from goldrush.agents.llm.question import Message
from goldrush.kernel.competition.acts import code_of
from goldrush.kernel.competition.events import ANSWERED, TESTED
from goldrush.kernel.competition.evolve import apply
from goldrush.kernel.competition.rubric import Grounds
from goldrush.kernel.competition.state import SET, Agent, SeasonState, copied
from goldrush.kernel.draws import Draws
from goldrush.kernel.errors import BadInput, PolicyFailed, described
from goldrush.kernel.world import FACTS, Batch, Row

# Questions whose answer has parts; what is no map has none of them.
_IN_PARTS: Final = ("set_table", "speak", "judge", "digest", "rate", "review_contract")
_IN_PARTS_OR_NONE: Final = ("open", "trait", "offer_contract")
# Those whose answer is kept as it is: a map of plain values, or there is none.
_FACTS: Final = ("skill", "rewrite", "improve")
# Those whose answer others are shown, who may count on a list or a text.
_LINES: Final = ("debrief", "interview", "answer")
_NAMED: Final = ("persona",)

# Where the words of a policy begin in its sequence of an assignment: so many for each step, and in
# a step for each question. One sequence, as the key says, and no two questions meet in it.
STEP_WORDS, QUESTION_WORDS = 1 << 32, 1 << 20


@attrs.frozen
class Question:
    """What a model is asked: `name` of the question and the messages."""

    agent: Agent
    name: str
    messages: Sequence[Message]
    schema: Mapping[str, Any]


class Step:
    """`rows`: the acts so far, and models' answers among them, with their codes. `trust`: policies
    of somebody's own that may be imported.
    """

    def __init__(
        self, state: SeasonState, scripts: Scripts, lab: Lab, trust: Collection[str]
    ) -> None:
        self.rows: list[Act] = []
        self._state = copied(state)  # the acts so far are done in it
        self._scripts = scripts
        self._script = scripts.of(self._state)
        self._lab = lab
        self._trust = trust
        self._grounds: dict[int, Mapping[int, Grounds]] = {}
        self._questions = 0

    def next(self, answer: Any = None) -> Asked | None:
        """Go on with the answer to the last question; the next one, or None at the end."""
        while True:
            try:
                item = self._script.send(answer)
            except StopIteration:
                return None
            if isinstance(item, Asked):
                self._questions += 1
                return item
            answer = None
            self._do(item)

    def follow(self, acts: Sequence[Act]) -> None:
        """Do these acts, to the end of the step, in place of what would be asked and done, but with
        the tests of claims run again. A test that is not due is left out; one that is missing is
        done.
        """
        for code, row in acts:
            act = self._scripts.test(self._state, *row[1:3]) if code == TESTED else (code, row)
            if act is not None:
                self._do(act)
        if self._state.phase == SET:  # it ends with the test of the bar
            act = self._scripts.test(self._state, None, None)
            if act is not None:
                self._do(act)

    def _do(self, act: Act) -> None:
        self.rows.append(act)
        if act[0] != ANSWERED and code_of(self._state, *act) is None:
            apply(self._state, *act)

    def whom(self, asked: Asked) -> Agent:
        """Whom a question is for."""
        return self._state.agents[asked.agent]

    def scripted(self, asked: Asked) -> Any:
        """The answer of an agent's own policy. Raises PolicyFailed where it fails."""
        agent, state = self.whom(asked), self._state
        draws = Draws(state.config.seed, state.assignment, 0, agent.ordinal, "policy")
        draws.taken = state.steps * STEP_WORDS + (self._questions - 1) * QUESTION_WORDS
        try:
            method = getattr(policy_of(agent, self._trust), asked.name)
            answer = method(self._seen(agent), draws, **asked.told)
        except (KeyboardInterrupt, MemoryError, BadInput):
            raise
        except BaseException as error:  # whatever somebody's policy raises
            reason = f"{asked.name}: {described(error)}"
            raise PolicyFailed(
                agent.policy, agent.ordinal, state.assignment, reason, "assignment"
            ) from error
        return _shaped(asked.name, answer)

    def question(self, asked: Asked) -> Question | None:
        """What a model is asked; None where there is nothing to answer."""
        if asked.name == "answer" and not asked.told["questions"]:
            return None
        agent = self.whom(asked)
        messages = prompt.messages(self._seen(agent), asked.name, asked.told)
        return Question(agent, asked.name, messages, forms.FORMS[asked.name].schema())

    def answered(self, asked: Asked, row: Row) -> Any:
        """What a model's answer says. It is one of the rows from now on."""
        self.rows.append((ANSWERED, row))
        agent, (_, _, text, source) = self.whom(asked), row
        error = source.get("error") if source else None
        answer = forms.read(asked.name, text, error, self._seen(agent))
        if asked.name == "speak":
            answer = {**answer, "source": {"model": agent.options.get("name")}}
        return answer

    def _seen(self, agent: Agent) -> Seen:
        return Seen(self._state, agent.ordinal, self._lab, self._grounds)


def is_model(agent: Agent) -> bool:
    """Whether an agent is a language model."""
    return agent.policy == LLM


def batches(rows: Sequence[Act]) -> list[Batch]:
    """Rows as the inputs of a step; neighbours of one type together, as a block has them."""
    found: list[tuple[int, list[Row]]] = []
    for code, row in rows:
        if found and found[-1][0] == code:
            found[-1][1].append(row)
        else:
            found.append((code, [row]))
    return list(found)


def _shaped(name: str, answer: Any) -> Any:
    """An answer in the form that scripts and other agents count on, whoever gave it."""
    if name in _IN_PARTS or (name in _IN_PARTS_OR_NONE and answer is not None):
        parts = answer if isinstance(answer, Mapping) else {}
        source = parts.get("source")
        return parts if source is None or FACTS.holds(source) else {**parts, "source": None}
    if name in _FACTS:
        return dict(answer) if isinstance(answer, Mapping) and FACTS.holds(dict(answer)) else None
    if name in _LINES:
        return answer if isinstance(answer, (list, tuple)) else ()
    if name in _NAMED:
        return answer if type(answer) is str else None
    return answer
