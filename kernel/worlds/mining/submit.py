"""Submissions: converts a policy's answer to the row that the journal records.

All outside input passes here once: integers are bounded, lists cut, messages cleaned. The result
can be recorded; whether its actions are legal is judged in `decide`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from goldrush.kernel.errors import BadPlan, format_value
from goldrush.kernel.shape import ERROR_MAX
from goldrush.kernel.world import Row
from goldrush.kernel.worlds.mining.config import MiningConfig
from goldrush.kernel.worlds.mining.events import (
    INT64_MAX,
    INT64_MIN,
    ITEMS_MAX,
    KINDS,
    MEMO_MAX,
    OVERFLOW,
    SAY_MAX,
    Action,
    Actions,
)

_CODES = {name: code for code, name in enumerate(KINDS)}
_WANTED = "an item is (kind, plot, amount): one of " + ", ".join(KINDS) + ", and two integers"
# Control characters (C0, delete, C1) could move a cursor or forge a line in a terminal; lone
# surrogates are not valid text and become U+FFFD.
_CLEANED: dict[int, str | None] = {
    **dict.fromkeys([*range(0x20), *range(0x7F, 0xA0)]),
    **dict.fromkeys(range(0xD800, 0xE000), "\ufffd"),
}


class Plan(msgspec.Struct, frozen=True):
    """A policy's answer with more than a list of actions.

    Attributes:
        actions: `(kind, plot, amount)`, most important first.
        say: a message to all agents, if communication is on.
        memo: at most 2,000 characters, given back in the next round.
    """

    actions: Sequence[Any]
    say: str | None = None
    memo: str | None = None


def submitted(agent: int, answer: object, config: MiningConfig) -> Row:
    """The row of the `submitted` event for a policy's answer. `answer`: a list of actions or a
    Plan. An item with an integer beyond 64 bits becomes null; items beyond 1,000 are cut, with the
    error `overflow`.

    Raises BadPlan for any other answer.
    """
    if not isinstance(answer, Plan):
        return (agent, *_actions(answer), None, None, None)
    message = message_of(answer.say, config)
    return (agent, *_actions(answer.actions), message, _memo(answer.memo), None)


def resubmitted(item: Mapping[str, object], config: MiningConfig) -> Row:
    """The row for a submission given by hand in its logical form, as `export` prints it. `item`:
    has `agent` and `actions` (null for a malformed item), optionally `error`, `say` and `memo`. It
    is cleaned as an answer is.

    Raises BadPlan for an invalid item.
    """
    agent, error, say = item.get("agent"), item.get("error"), item.get("say")
    if type(agent) is not int or not 0 <= agent < config.agents:
        raise BadPlan(f"agent is {format_value(agent)}; it must be from 0 to {config.agents - 1}")
    is_code = type(error) is str and error.isascii() and len(error) <= ERROR_MAX
    if error is not None and not is_code:
        raise BadPlan(f"error is {format_value(error)}; it must be null or a short code in ASCII")
    actions, overflow = _actions(item.get("actions"), nulls=True)
    message = message_of(say, config)
    return (agent, actions, overflow or error, message, _memo(item.get("memo")), None)


def clean_message(text: str) -> str:
    """A message as other agents see it: no control characters, at most 280 code points."""
    return text.translate(_CLEANED)[:SAY_MAX]


def message_of(text: object, config: MiningConfig) -> str | None:
    """A message as it is recorded: cleaned; None if it is empty or communication is off.

    Raises BadPlan if it is not text.
    """
    if text is not None and type(text) is not str:
        raise BadPlan(f"say is {format_value(text)}; it must be text or None")
    return clean_message(text) or None if config.communication and text else None


def _actions(items: object, *, nulls: bool = False) -> tuple[Actions, str | None]:
    if not isinstance(items, (list, tuple)):
        raise BadPlan(f"a plan is a list of (kind, plot, amount), not {format_value(items)}")
    actions: list[Action] = []
    error = None
    if len(items) > ITEMS_MAX:
        items, error = items[:ITEMS_MAX], OVERFLOW
    try:
        for item in items:
            if nulls and item is None:
                actions.append(None)
                continue
            kind, plot, points = item
            if type(plot) is not int or type(points) is not int:
                raise TypeError
            code = _CODES[kind]
            if INT64_MIN <= plot <= INT64_MAX and INT64_MIN <= points <= INT64_MAX:
                actions.append((code, plot, points))
            else:
                actions.append(None)
    except (TypeError, ValueError, KeyError):
        index = len(actions)
        raise BadPlan(f"item {index} is {format_value(items[index])}; {_WANTED}") from None
    return tuple(actions), error


def _memo(memo: object) -> str | None:
    if memo is None:
        return None
    if type(memo) is not str or len(memo) > MEMO_MAX:
        raise BadPlan(f"the memo must be text of at most {MEMO_MAX} characters")
    try:
        memo.encode()
    except UnicodeEncodeError:
        raise BadPlan("the memo has lone surrogates, which are not valid text") from None
    return memo
