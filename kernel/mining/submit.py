"""From what an agent answers to what the journal records of it.

Everything that comes from outside passes here once: integers are bounded, lists cut, messages
cleaned. What is left is legal to record, not yet legal to do; that is judged in `decide`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import attrs

from kernel.errors import BadPlan, shown
from kernel.mining.config import MiningConfig
from kernel.mining.events import (
    INT64_MAX,
    INT64_MIN,
    ITEMS_MAX,
    KINDS,
    MEMO_MAX,
    OVERFLOW,
    SAY_MAX,
    Action,
)
from kernel.world import Row

_CODES = {name: code for code, name in enumerate(KINDS)}
_WANTED = "an item is (kind, plot, amount): one of " + ", ".join(KINDS) + ", and two integers"
# Control characters (C0, delete, C1) could move a cursor or forge a line where a message is shown;
# lone surrogates are no text and become U+FFFD.
_CLEANED: dict[int, str | None] = {
    **dict.fromkeys([*range(0x20), *range(0x7F, 0xA0)]),
    **dict.fromkeys(range(0xD800, 0xE000), "\ufffd"),
}


@attrs.frozen
class Plan:
    """A policy's answer where it is more than a list of actions.

    `actions`: `(kind, plot, amount)`, most important first. `say`: a message to all, where
    communication is on. `memo`: at most 2,000 characters, handed back next round.
    """

    actions: Sequence[Any]
    say: str | None = None
    memo: str | None = None


class Actions(list[Action]):
    """Actions already in the journal's form: codes of kinds, 64-bit integers."""

    __slots__ = ()


@attrs.frozen
class Submission:
    """A whole submission already in the journal's form (of a recording, or of a parsed text).

    `actions` hold the codes of kinds, and None for an item that was no action; `error` is a stable
    code, `source` what a language model's answer came with.
    """

    actions: Sequence[Action]
    error: str | None = None
    say: str | None = None
    memo: str | None = None
    source: dict[str, Any] | None = None

    def row(self, agent: int) -> Row:
        """The row of the `submitted` event."""
        return (agent, self.actions, self.error, self.say, self.memo, self.source)


def submitted(agent: int, answer: object, config: MiningConfig) -> Row:
    """The row of the `submitted` event for a policy's answer: a list of actions or a Plan.

    Integers beyond 64 bits make their item null; items beyond 1,000 are cut (`overflow`). Raises
    BadPlan for anything else.
    """
    if not isinstance(answer, Plan):
        return (agent, *_actions(answer), None, None, None)
    if answer.say is not None and type(answer.say) is not str:
        raise BadPlan(f"say is {shown(answer.say)}; it must be text or None")
    say = clean_message(answer.say) or None if config.communication and answer.say else None
    return (agent, *_actions(answer.actions), say, _memo(answer.memo), None)


def clean_message(text: str) -> str:
    """A message as others are shown it: control characters removed, at most 280 code points."""
    return text.translate(_CLEANED)[:SAY_MAX]


def _actions(items: object) -> tuple[list[Action], str | None]:
    if not isinstance(items, (list, tuple)):
        raise BadPlan(f"a plan is a list of (kind, plot, amount), not {shown(items)}")
    actions: list[Action] = []
    error = None
    if len(items) > ITEMS_MAX:
        items, error = items[:ITEMS_MAX], OVERFLOW
    try:
        for kind, plot, points in items:
            if type(plot) is not int or type(points) is not int:
                raise TypeError
            code = _CODES[kind]
            if INT64_MIN <= plot <= INT64_MAX and INT64_MIN <= points <= INT64_MAX:
                actions.append((code, plot, points))
            else:
                actions.append(None)
    except (TypeError, ValueError, KeyError):
        place = len(actions)
        raise BadPlan(f"item {place} is {shown(items[place])}; {_WANTED}") from None
    return actions, error


def _memo(memo: object) -> str | None:
    if memo is None:
        return None
    if type(memo) is not str or len(memo) > MEMO_MAX:
        raise BadPlan(f"the memo must be text of at most {MEMO_MAX} characters")
    try:
        memo.encode()
    except UnicodeEncodeError:
        raise BadPlan("the memo holds lone surrogates, which are no text") from None
    return memo
