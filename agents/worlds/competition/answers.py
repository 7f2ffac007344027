"""The `answered` rows of models and people: from an answer, or again from a journal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from goldrush.agents.llm.failures import CUT, NO_ANSWER, REFUSAL
from goldrush.agents.llm.models import Model
from goldrush.agents.llm.question import Answer, answer_error, digest, server_facts
from goldrush.agents.people import HUMAN
from goldrush.agents.worlds.competition.seats import model_at
from goldrush.agents.worlds.competition.step import ANSWERED, Question
from goldrush.kernel.world import Row
from goldrush.kernel.worlds.competition.events import Answered


class Recorded:
    """The answers among recorded acts. Each is taken once, by agent, question and prompt; then, for
    forged journals, in which no prompt may match, by agent and question.
    """

    def __init__(self, acts: Sequence[tuple[int, Row]]) -> None:
        self._rows = [row for code, row in acts if code == ANSWERED]

    def take(self, questions: Mapping[int, Question]) -> dict[int, Row]:
        """The recorded answers to these questions, by index of the question."""
        prompts = {at: digest(question.messages) for at, question in questions.items()}
        taken: dict[int, Row] = {}
        for is_exact in (True, False):  # an answer may have arrived before that of its neighbour
            for at in [at for at in questions if at not in taken]:
                row = self._take(questions[at], prompts[at] if is_exact else None)
                if row is not None:
                    taken[at] = row
        return {at: taken[at] for at in questions if at in taken}

    def _take(self, question: Question, prompt: str | None) -> Row | None:
        """The first answer to a question, with this prompt (None: any)."""
        for index, (agent, name, _, source) in enumerate(self._rows):
            is_same = (agent, name) == (question.agent.ordinal, question.name)
            if is_same and prompt in (None, (source or {}).get("prompt")):
                return self._rows.pop(index)
        return None


def row_of(question: Question, model: Model, answer: Answer) -> Row:
    """The `answered` row of a model's answer."""
    source = answer.source(model, question.messages)
    del source["raw"]  # the event itself has it
    text = answer.text or ""
    named = {"name": model.name, **source, "error": _error(question, text, answer_error(answer))}
    return tuple(Answered(question.agent.ordinal, question.name, text, named))


def row_by_hand(question: Question, text: str) -> Row:
    """The `answered` row of a person's answer."""
    source = {"name": HUMAN, "prompt": digest(question.messages), "error": None}
    return tuple(Answered(question.agent.ordinal, question.name, text, source))


def reread(row: Row, question: Question) -> Row:
    """The `answered` row that a recorded text makes, with the prompt made again.

    Facts that only the server knew (a refusal, a cut, tokens) are copied if they are valid.
    """
    _, _, text, source = row
    if question.agent.policy == HUMAN:
        return row_by_hand(question, text)
    known = (source or {}).get("error")
    if known == NO_ANSWER:
        text = ""
    expected = {
        "name": model_at(question.agent).name,
        **server_facts(source),
        "prompt": digest(question.messages),
        "error": _error(question, text, known),
    }
    del expected["raw"]  # the event itself has it
    return tuple(Answered(question.agent.ordinal, question.name, text, expected))


def missing(question: Question) -> Row:
    """The `answered` row of an answer that a journal does not have."""
    return tuple(Answered(question.agent.ordinal, question.name, "", None))


def _error(question: Question, text: str, known: str | None) -> str | None:
    """The error code of an answer, or None. `cut` is one only if no answer could be read."""
    if known in (NO_ANSWER, REFUSAL):
        return known
    fault = question.fault_of(text)
    return CUT if fault is not None and known == CUT else fault
