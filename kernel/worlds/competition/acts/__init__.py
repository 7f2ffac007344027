"""The acts of a season: input events, each judged before it is applied.

Judging changes nothing and never raises, even for a malformed act.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from goldrush.kernel.world import Row
from goldrush.kernel.worlds.competition.acts import contracts, debrief, opening, roundtable
from goldrush.kernel.worlds.competition.acts.act import ActKind, field
from goldrush.kernel.worlds.competition.events import CODES, Answered, named
from goldrush.kernel.worlds.competition.state import SeasonState
from goldrush.kernel.worlds.competition.terms import Phase, Refusal, Status, names_of

# An answer is never refused and changes nothing.
_ANSWERED: Final = ActKind(
    Answered, names_of(Phase), lambda *_: iter(()), lambda *_: None, by=field("agent")
)

ACTS: Final[Mapping[int, ActKind[Any]]] = {
    CODES[act.form]: act
    for act in (_ANSWERED, *opening.ACTS, *roundtable.ACTS, *debrief.ACTS, *contracts.ACTS)
}


def author(state: SeasonState, code: int, row: Row) -> int:
    """The ordinal of an act's author: named in the act, or the holder of an office."""
    return ACTS[code].by(state, named(code, row))


def fault_of(state: SeasonState, code: int, row: Row) -> str | None:
    """The code with which an act is refused; None for a valid act."""
    act = ACTS[code]
    done = named(code, row)
    who = state.agents.get(act.by(state, done))
    if who is None or who.status == Status.GONE:
        return Refusal.MALFORMED
    if act.switch and not getattr(state.config, act.switch):
        return Refusal.OFF
    if state.phase not in act.phases:
        return act.untimely(state)
    if state.phase == Phase.OPEN and state.opening is not None and act is not _ANSWERED:
        return Refusal.MALFORMED  # nothing is taken after the opening
    return next((code for is_fault, code in act.faults(state, done) if is_fault), None)
