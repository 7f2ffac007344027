"""From a model's answer to the row of a submission, and the same again from the journal alone.

Nothing here needs a model, a key or a network: a journal plays as a cassette.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from agents.llm import prompt
from agents.llm.models import Model
from agents.llm.question import Answer, Message, digest
from kernel.errors import BadInput
from kernel.mining.config import MiningConfig
from kernel.mining.events import CUT, NO_ANSWER, REFUSAL
from kernel.mining.submit import answered
from kernel.world import Row


def row_of(
    agent: int, model: Model, messages: Sequence[Message], answer: Answer, config: MiningConfig
) -> Row:
    """The submission of an agent that was asked `messages`."""
    source = answer.source(model, messages)
    return answered(agent, answer.text, config, error_of(answer), source)


def error_of(answer: Answer) -> str | None:
    """What is known to be wrong with an answer before it is read."""
    if answer.text is None:
        return NO_ANSWER
    if answer.refused:
        return REFUSAL
    return CUT if answer.finish == "length" else None


def reread(row: Row, prompts: prompt.Prompts, config: MiningConfig) -> Row:
    """What a recorded submission of a model should be: its prompt made again, its text read again.

    What only the server knew (that an answer was refused or cut, its tokens) is taken as it is, if
    an answer can have it.
    """
    agent, _, error, _, _, source = row
    known = error if error in (REFUSAL, CUT) else None
    text = source.get("raw") if source else None
    if type(text) is not str:
        text, known = None, NO_ANSWER
    expected = {**told_by_server(source), "raw": text, "prompt": digest(prompts.of(agent))}
    return answered(agent, text, config, known, expected)


def told_by_server(source: Mapping[str, Any] | None) -> dict[str, Any]:
    """The fields of a recorded `source`, in the order of `Answer.source`: what the server said is
    as it stands there, what no answer can have is not.
    """
    facts = source or {}
    return {
        "model": facts["model"] if type(facts.get("model")) is str else "",
        "prompt": None,
        "raw": None,
        "tokens_in": _count(facts.get("tokens_in"), 0),
        "tokens_out": _count(facts.get("tokens_out"), 0),
        "tries": _count(facts.get("tries"), 1),
    }


def _count(value: Any, least: int) -> int | None:
    return value if type(value) is int and value >= least else None


def check_version(model: Model, version: int = prompt.VERSION) -> None:
    """Raises BadInput for a model that was asked with a prompt that this version does not have.

    `version`: that of its world's prompt.
    """
    if model.prompt != version:
        raise BadInput(
            f"the agents of model {model.name} were asked with version {model.prompt} of the "
            f"prompt; this goldrush has version {version}",
            "go on with the goldrush that began the run",
        )
