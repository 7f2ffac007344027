"""The mining world on the page of a run: the facts that the page folds, and what it takes the rules
to say: why, and what language models were sent.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from goldrush.agents.worlds.mining.players import GAME
from goldrush.kernel.worlds.mining.events import show_action
from goldrush.replay.tools import View
from goldrush.replay.view.patterns import Patterns

if TYPE_CHECKING:
    from goldrush.kernel.world import Row
    from goldrush.kernel.worlds.mining.state import MiningState
    from goldrush.replay.journal.why import Explanation, PlanChange

_HERE: Final = Path(__file__).parent
_MODULES: Final = ("facts", "style", "round", "board", "map", "why", "story", "over_time")
PROMPTS_MAX: Final = 1 << 17  # characters of prompts in a page
WHY_MAX: Final = 1 << 17  # characters of explanations, as half of the journal's bytes at most
ROUND_MAX: Final = 1 << 19  # characters at which a round is left out whole


def facts(state: MiningState) -> list[list[Any]]:
    """Owner, since when and how by plot; gold by agent."""
    return [state.owner, state.since, state.how, state.gold]


def computed(path: str | Path, first: int, last: int) -> dict[str, Any]:
    """What takes the rules, of these rounds.

    `why`: explanations, of the last round and up to round `why_until`, their texts by number of one
    of the `patterns` and the numbers that go into it. `prompts`: by round and agent, as numbers of
    `messages`, as many as PROMPTS_MAX has room for. Raises what reading a journal raises.
    """
    messages, prompts = _prompts(path, first, last)
    return {**_why(path, first, last), "messages": messages, "prompts": prompts}


def _why(path: str | Path, first: int, last: int) -> dict[str, Any]:
    """Explanations as short as the page can make whole again: it has the plans.

    Each is [round, kind, place, agents, account, whose plan is listed, change]; a change
    is [text, agent, its actions, whose plans a fork puts in by hand beside it]. Of the actions
    those of the recorded plan are given by position.
    """
    from goldrush.replay.worlds.mining.why import explained

    patterns = Patterns()
    most = min(WHY_MAX, Path(path).stat().st_size // 2)
    at_end = [_packed(patterns, *each) for each in explained(path, last, last)]
    if _size(at_end) > ROUND_MAX:
        at_end = []
    why: list[list[Any]] = []
    size, until = 0, last - 1
    for one, submitted in explained(path, first, last - 1) if first < last else ():
        is_over = size > most and one.unit != why[-1][0]
        if is_over or size > ROUND_MAX:
            until = why[-1][0] if is_over else one.unit - 1
            why = [each for each in why if each[0] <= until]
            break
        why.append(_packed(patterns, one, submitted))
        size += _size(why[-1])
    return {"patterns": patterns.known, "why": [*why, *at_end], "why_until": until}


def _size(value: object) -> int:
    return len(json.dumps(value, separators=(",", ":")))


def _packed(patterns: Patterns, one: Explanation, submitted: Sequence[Row]) -> list[Any]:
    return [
        one.unit, patterns.of(one.kind)[0], one.location, list(one.agents),
        [patterns.of(line) for line in one.account], one.plan and one.plan[0],
        one.change and _change(patterns, one.change, submitted),
    ]  # fmt: skip


def _change(patterns: Patterns, change: PlanChange, submitted: Sequence[Any]) -> list[Any]:
    recorded = [show_action(action) for action in submitted[change.agent][1]]
    actions: list[Any] = []
    for action in change.submissions[0]["actions"]:
        known = action in recorded
        actions.append(recorded.index(action) if known else action)
    others = [submission["agent"] for submission in change.submissions[1:]]
    return [patterns.of(change.text), change.agent, _spans(actions), others]


def _spans(actions: Sequence[Any]) -> list[Any]:
    """Positions that follow each other as text, `3-7`."""
    found: list[Any] = []
    for run, group in groupby(enumerate(actions), key=_span):
        items = [item for _, item in group]
        found += items if run is None else [f"{items[0]}-{items[-1]}"]
    return found


def _span(place: tuple[int, Any]) -> int | None:
    index, action = place
    return action - index if type(action) is int else None


def _prompts(
    path: str | Path, first: int, last: int
) -> tuple[list[dict[str, str]], dict[int, dict[int, list[int]]]]:
    from goldrush.replay.journal.prompts import prompts_by_unit

    known: dict[tuple[str, str], int] = {}
    prompts: dict[int, dict[int, list[int]]] = {}
    size = 0
    for unit, agent, sent in prompts_by_unit(path, GAME, first, last):
        indices = []
        for message in sent:
            key = message["role"], message["content"]
            size += 0 if key in known else len(message["content"])
            indices.append(known.setdefault(key, len(known)))
        if size > PROMPTS_MAX:
            break
        prompts.setdefault(unit, {})[agent] = indices
    return [{"role": role, "content": content} for role, content in known], prompts


VIEW: Final = View(
    script=_HERE / "view.js",
    modules=[_HERE / f"{name}.js" for name in _MODULES],
    style=_HERE / "view.css",
    selectors=("plot", "agent"),
    told=("claim_drawn", "raid_resolved", "ruled", "pruned"),
    facts=facts,
    computed=computed,
)
