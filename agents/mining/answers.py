"""From what a language model wrote to what the journal records of it."""

from __future__ import annotations

from typing import Any

from goldrush.agents.llm.failures import NO_ANSWER, NO_JSON, REFUSAL
from goldrush.agents.mining.parse import parse
from goldrush.kernel.mining.config import MiningConfig
from goldrush.kernel.mining.events import KINDS
from goldrush.kernel.mining.submit import message_of
from goldrush.kernel.world import Row


def answered(
    agent: int, text: str | None, config: MiningConfig, error: str | None, source: dict[str, Any]
) -> Row:
    """The row for what a language model wrote; `text` None: nothing.

    `error`, where something is known to be wrong with the answer: `no-answer` and `refusal` leave
    the plan empty, `cut` stands where the text holds no plan. The plan is read by `parse`.
    """
    if text is None or error in (NO_ANSWER, REFUSAL):
        return (agent, (), error, None, None, source)
    parsed = parse(text, config.rows, config.cols, config.defense)
    actions = tuple(action and (KINDS.index(action[0]), *action[1:]) for action in parsed.actions)
    if parsed.error != NO_JSON:
        error = parsed.error
    said = message_of(parsed.say, config)
    return (agent, actions, error or parsed.error, said, None, source)
