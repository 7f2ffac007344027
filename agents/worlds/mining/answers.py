"""Submissions made from the text of language models."""

from __future__ import annotations

from typing import Any

from goldrush.agents.llm.failures import NO_ANSWER, NO_JSON, REFUSAL
from goldrush.agents.worlds.mining.parse import parse
from goldrush.kernel.world import Row
from goldrush.kernel.worlds.mining.config import MiningConfig
from goldrush.kernel.worlds.mining.events import KINDS
from goldrush.kernel.worlds.mining.submit import message_of


def answered(
    agent: int, text: str | None, config: MiningConfig, error: str | None, source: dict[str, Any]
) -> Row:
    """The row of a `submitted` event for an answer.

    Args:
        agent: its id.
        text: of the answer, read by `parse`; None: there is none.
        config: of the run.
        error: known before reading: `no-answer` and `refusal` leave the plan empty, `cut` is
            recorded if the text has no plan; None: no error.
        source: the facts that the journal keeps of the answer.

    """
    if text is None or error in (NO_ANSWER, REFUSAL):
        return (agent, (), error, None, None, source)
    parsed = parse(text, config.rows, config.cols, config.defense)
    actions = tuple(action and (KINDS.index(action[0]), *action[1:]) for action in parsed.actions)
    if parsed.error != NO_JSON:
        error = parsed.error
    said = message_of(parsed.say, config)
    return (agent, actions, error or parsed.error, said, None, source)
