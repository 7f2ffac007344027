"""From what an agent answers to what the journal records of it.

Everything that comes from outside passes here once: integers are bounded, lists cut, messages
cleaned. What is left is legal to record, not yet legal to do; that is judged in `decide`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import attrs

from kernel.errors import GoldrushError
from kernel.mining.config import MiningConfig
from kernel.mining.events import KINDS, Action
from kernel.world import Row

ITEMS_MAX = 1_000
MEMO_MAX = 2_000  # characters
SAY_MAX = 280  # code points, after cleaning
INTEGER_MIN, INTEGER_MAX = -(2**63), 2**63 - 1

OVERFLOW = "overflow"

_CODES = {name: code for code, name in enumerate(KINDS)}
_WANTED = "an item is (kind, plot, amount): one of " + ", ".join(KINDS) + ", and two integers"
# Control characters (C0, delete, C1) could move a cursor or forge a line where a message is shown;
# lone surrogates are no text and become U+FFFD.
_CLEANED: dict[int, str | None] = {
    **dict.fromkeys([*range(0x20), *range(0x7F, 0xA0)]),
    **dict.fromkeys(range(0xD800, 0xE000), "\ufffd"),
}


class BadPlan(GoldrushError):
    """What a policy returned is no plan. The message says which item and why."""


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
    """Actions already in the journal's form (codes of kinds, 64-bit integers), taken as they are.

    For policies that cannot but be right; others return `(kind, plot, amount)` and are checked.
    """

    __slots__ = ()


@attrs.frozen
class Submission:
    """An answer that was brought into the journal's form elsewhere (a recording, a parsed text).

    `actions` hold the codes of kinds, and None for an item that was no action; `error` is a stable
    code, `source` what a language model's answer came with.
    """

    actions: Sequence[Action]
    error: str | None = None
    say: str | None = None
    memo: str | None = None
    source: dict[str, Any] | None = None


def submitted(agent: int, answer: object, config: MiningConfig) -> Row:
    """The row of the `submitted` event for an answer: a list of actions, a Plan, or what is
    in the journal's form already (Actions, Submission).

    Integers beyond 64 bits make their item null; items beyond 1,000 are cut (`overflow`). Raises
    BadPlan for anything else.
    """
    if type(answer) is Actions:
        return (agent, answer, None, None, None, None)
    if isinstance(answer, Submission):
        return (agent, answer.actions, answer.error, answer.say, answer.memo, answer.source)
    if not isinstance(answer, Plan):
        return (agent, *_actions(answer), None, None, None)
    if answer.say is not None and not isinstance(answer.say, str):
        raise BadPlan(f"say is {answer.say!r:.60}; it must be text or None")
    say = clean_message(answer.say) if config.communication and answer.say else None
    return (agent, *_actions(answer.actions), say, _memo(answer.memo), None)


def clean_message(text: str) -> str:
    """A message as others are shown it: control characters removed, at most 280 code points."""
    return text.translate(_CLEANED)[:SAY_MAX]


def _actions(items: object) -> tuple[list[Action], str | None]:
    if not isinstance(items, (list, tuple)):
        raise BadPlan(f"a plan is a list of (kind, plot, amount), not {items!r:.60}")
    actions: list[Action] = []
    error = None
    if len(items) > ITEMS_MAX:
        items, error = items[:ITEMS_MAX], OVERFLOW
    try:
        for kind, plot, points in items:
            if type(plot) is not int or type(points) is not int:
                raise TypeError
            if INTEGER_MIN <= plot <= INTEGER_MAX and INTEGER_MIN <= points <= INTEGER_MAX:
                actions.append((_CODES[kind], plot, points))
            else:
                actions.append(None)
    except (TypeError, ValueError, KeyError):
        place = len(actions)
        raise BadPlan(f"item {place} is {items[place]!r:.60}; {_WANTED}") from None
    return actions, error


def _memo(memo: object) -> str | None:
    if memo is None:
        return None
    if not isinstance(memo, str) or len(memo) > MEMO_MAX:
        raise BadPlan(f"the memo must be text of at most {MEMO_MAX} characters")
    try:
        memo.encode()
    except UnicodeEncodeError:
        raise BadPlan("the memo holds lone surrogates, which are no text") from None
    return memo
