"""The competition world: roundtables, scores, a leaderboard, rewards, elimination, contracts."""

from __future__ import annotations

from functools import partial

from goldrush.kernel.world import Block, Row, Vocabulary, World
from goldrush.kernel.worlds.competition.arena import Rules
from goldrush.kernel.worlds.competition.decide import decide, pending_fault
from goldrush.kernel.worlds.competition.events import CODES, EVENTS, Answered
from goldrush.kernel.worlds.competition.evolve import close, evolve
from goldrush.kernel.worlds.competition.fork import fork, show_fork
from goldrush.kernel.worlds.competition.state import (
    SeasonState,
    copied,
    digest,
    ended,
    freeze,
    initial,
    thaw,
    unit_done,
)

_ANSWERED = CODES[Answered]

NAME = "competition"
RULES = 2
VOCABULARY = Vocabulary(
    unit="assignment",
    started="season_started",
    ended="season_ended",
    first=0,
    players="cast",
)


def arrange(inputs: Block) -> Block:
    """The inputs of a step in canonical order: adjacent answers sorted by agent, question and
    prompt.

    So the order of arrival of answers has no effect on the state.
    """
    if not any(code == _ANSWERED and len(rows) > 1 for code, rows in inputs):
        return inputs
    fault = EVENTS[_ANSWERED].fault
    return Block(
        [
            (code, rows)
            if code != _ANSWERED or any(map(fault, rows))
            else (code, sorted(rows, key=_asked))
            for code, rows in inputs
        ]
    )


def _asked(row: Row) -> tuple[int, str, str, str]:
    agent, question, text, source = row
    prompt = (source or {}).get("prompt")
    return agent, question, prompt if type(prompt) is str else "", text


def competition(rules: Rules | None, missing: str | None = None) -> World[SeasonState]:
    """The world of seasons in one arena.

    Args:
        rules: the arena's rules; None: seasons can be read and folded but not decided.
        missing: the reason why there are no rules.

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
        copy=copied,
        fork=fork,
        show_fork=show_fork,
        freeze=freeze,
        thaw=partial(thaw, rules=rules),
        vocabulary=VOCABULARY,
        missing=missing,
        checks_rows=False,
    )
