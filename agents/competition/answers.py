"""From a model's answer to the row that keeps it, and the same again from the journal alone."""

from __future__ import annotations

from goldrush.agents.competition.forms import fault_of
from goldrush.agents.competition.step import Question
from goldrush.agents.llm.failures import CUT, NO_ANSWER, REFUSAL
from goldrush.agents.llm.models import Model, model_of
from goldrush.agents.llm.question import Answer, digest, error_of, server_facts
from goldrush.kernel.world import Row


def row_of(question: Question, model: Model, answer: Answer) -> Row:
    """The `answered` event for what came."""
    source = answer.source(model, question.messages)
    del source["raw"]  # the event itself has it
    error = _error(question.name, answer.text or "", error_of(answer))
    named = {"name": model.name, **source, "error": error}
    return (question.agent.ordinal, question.name, answer.text or "", named)


def reread(row: Row, question: Question) -> Row:
    """What a recorded answer to a question should be: its prompt made again, its text read again.

    What only the server knew (that an answer was refused or cut, its tokens) is taken as it is, if
    an answer can have it.
    """
    _, _, text, source = row
    said = source or {}
    known = said.get("error")
    if known == NO_ANSWER:
        text = ""
    expected = {
        "name": model_of(question.agent.options).name,
        **server_facts(source),
        "prompt": digest(question.messages),
        "error": _error(question.name, text, known),
    }
    del expected["raw"]  # the event itself has it
    return (question.agent.ordinal, question.name, text, expected)


def missing(question: Question) -> Row:
    """What stands for an answer that a journal should have and has not."""
    return (question.agent.ordinal, question.name, "", None)


def _error(name: str, text: str, known: str | None) -> str | None:
    """What is wrong with an answer; that it was cut is only told where that left nothing."""
    if known in (NO_ANSWER, REFUSAL):
        return known
    fault = fault_of(name, text)
    return CUT if fault is not None and known == CUT else fault
