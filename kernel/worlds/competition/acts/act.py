"""`ActKind`: validity, author and effect of one kind of act; and checks that acts share."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final, Generic, TypeVar

import attrs

from goldrush.kernel.shape import BOOLEAN, INTEGER, Kind, optional, several, text
from goldrush.kernel.worlds.competition.state import SeasonState
from goldrush.kernel.worlds.competition.terms import Refusal

A = TypeVar("A")

TEXT_MAX: Final = 4_000  # characters of words, reasons, digests and answers
SHORT_MAX: Final = 200  # characters of a trait and of a persona
LINES_MAX: Final = 20  # questions, answers
FACTS_MAX: Final = 50  # of instructions
TEAM_MIN: Final = 3

# What a valid act has in fields that hold any plain values.
WORDS: Final = text(TEXT_MAX)
_SHORT: Final = text(SHORT_MAX)
SHORT: Final = Kind("a short text", lambda value: _SHORT.holds(value) and value != "")
LINES: Final = several(WORDS, LINES_MAX)
IDS: Final = several(INTEGER)
TAKEN: Final = optional(BOOLEAN)  # null: nobody was asked


# What can be wrong with an act, in order: whether it is, and the code of the refusal. What comes
# after a fault is not looked at, so a check can rely on those before it.
Faults = Iterator[tuple[object, str]]


def field(name: str) -> Callable[[SeasonState, object], int]:
    """An `ActKind.by` for acts that name their author in this field."""
    return lambda state, act: getattr(act, name)


def of(role: str) -> Callable[[SeasonState, object], int]:
    """An `ActKind.by` for acts of an office or of the user."""
    return lambda state, act: state.holder(role).ordinal


@attrs.frozen
class ActKind(Generic[A]):
    """One kind of act.

    Attributes:
        form: its event (kernel/worlds/competition/events.py).
        phases: the phases in which it is valid.
        faults: `faults(state, act)`: what can be wrong with it in its phases. Changes nothing and
            never raises.
        apply: `apply(state, act)`: changes the state by a valid act.
        by: `by(state, act)`: the ordinal of its author; see `field` and `of`.
        untimely: `untimely(state)`: the code of its refusal in other phases.
        switch: the name of a switch of the configuration, without which it is forbidden; empty:
            there is none.
    """

    form: type[A]
    phases: Sequence[str]
    faults: Callable[[SeasonState, A], Faults]
    apply: Callable[[SeasonState, A], None]
    by: Callable[[SeasonState, A], int] = attrs.field(kw_only=True)
    untimely: Callable[[SeasonState], str] = lambda state: Refusal.MALFORMED
    switch: str = ""


def are_pairs(questions: Any, answers: Any) -> bool:
    """Whether these are two lists of texts of the same length."""
    return LINES.holds(questions) and LINES.holds(answers) and len(questions) == len(answers)


def are_workers(state: SeasonState, team: Any) -> bool:
    """Whether this is a list of active workers, each once."""
    return IDS.holds(team) and len(set(team)) == len(team) and set(team) <= set(state.active())


def team_faults(state: SeasonState, team: Any) -> Faults:
    """What can be wrong with a team."""
    yield not are_workers(state, team), Refusal.MALFORMED
    yield len(team) < TEAM_MIN, Refusal.TOO_SMALL
