"""From a model's answer to the row of a submission, and the same again from the journal alone.

Nothing here needs a model, a key or a network: a journal plays as a cassette.
"""

from __future__ import annotations

from collections.abc import Sequence

from goldrush.agents.llm.failures import CUT, NO_ANSWER, REFUSAL
from goldrush.agents.llm.models import Model
from goldrush.agents.llm.question import Answer, Message, digest, error_of, server_facts
from goldrush.agents.mining import prompt
from goldrush.kernel.mining.config import MiningConfig
from goldrush.kernel.mining.submit import answered
from goldrush.kernel.world import Row


def row_of(
    agent: int, model: Model, messages: Sequence[Message], answer: Answer, config: MiningConfig
) -> Row:
    """The submission of an agent that was asked `messages`."""
    source = answer.source(model, messages)
    return answered(agent, answer.text, config, error_of(answer), source)


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
    expected = {**server_facts(source), "raw": text, "prompt": digest(prompts.of(agent))}
    return answered(agent, text, config, known, expected)
