"""The competition world: roundtables, scores, a leaderboard, rewards, elimination, contracts."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, Final

from goldrush.kernel.world import Block, Row, World
from goldrush.kernel.worlds.competition.arena import Rules
from goldrush.kernel.worlds.competition.decide import decide, pending_fault
from goldrush.kernel.worlds.competition.events import CODES, EVENTS, Answered, Stood
from goldrush.kernel.worlds.competition.evolve import close, evolve
from goldrush.kernel.worlds.competition.fork import fork, show_fork
from goldrush.kernel.worlds.competition.state import (
    SeasonState,
    digest,
    ended,
    freeze,
    initial,
    thaw,
    unit_done,
)
from goldrush.kernel.worlds.competition.terms import VOCABULARY

NAME = "competition"
RULES = 3


def arrange(inputs: Block) -> Block:
    """The inputs of a step in canonical order: adjacent answers sorted by agent, question and
    prompt; adjacent final stances by agent.

    So the order in which they arrive has no effect on the state.
    """
    if not any(code in _ORDER and len(rows) > 1 for code, rows in inputs):
        return inputs
    return Block([(code, _arranged(code, rows)) for code, rows in inputs])


def _arranged(code: int, rows: Sequence[Row]) -> Sequence[Row]:
    order = _ORDER.get(code)
    if order is None or any(map(EVENTS[code].fault, rows)):
        return rows
    return sorted(rows, key=order)


def _asked(row: Row) -> tuple[int, str, str, str]:
    agent, question, text, source = row
    prompt = (source or {}).get("prompt")
    return agent, question, prompt if type(prompt) is str else "", text


_ORDER: Final[Mapping[int, Callable[[Row], Any]]] = {
    CODES[Answered]: _asked,
    CODES[Stood]: lambda row: Stood._make(row).agent,
}


def competition(rules: Rules | None, missing: str | None = None) -> World[SeasonState]:
    """The world of seasons in one arena. `rules`: the arena's rules; None: seasons can be read and
    folded but not decided; `missing`: the reason why there are no rules.
    """
    return World(
        name=NAME,
        rules=RULES,
        events=EVENTS,
        initial=partial(initial, rules=rules),
        decide=decide,
        evolve=evolve,
        arrange=arrange,
        pending_fault=pending_fault,
        ended=ended,
        unit_done=unit_done,
        close=close,
        digest=digest,
        copy=SeasonState.copy,
        fork=fork,
        show_fork=show_fork,
        freeze=freeze,
        thaw=partial(thaw, rules=rules),
        vocabulary=VOCABULARY,
        missing=missing,
        checks_rows=False,
    )
