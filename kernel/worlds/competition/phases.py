"""The phases of an assignment: which acts are awaited, and which phase follows.

A phase in which nobody can act is passed over; the others end when one step of acts was judged.
Only four phases repeat until their act has come: the opening of the assignment, and the tests of
the bar, of a challenge, and of all other claims. In every other phase an act that is missing or
refused counts as the neutral one: a pass, a clean table, the stance that the proof left.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

import attrs

from goldrush.kernel.worlds.competition.config import CONTRACT_WAIT
from goldrush.kernel.worlds.competition.state import SeasonState
from goldrush.kernel.worlds.competition.table import Roundtable
from goldrush.kernel.worlds.competition.terms import Move, Phase, Signal


def _always(state: SeasonState) -> bool:
    return True


@attrs.frozen
class PhaseRule:
    """A phase. `next(state)` changes the state at its end and returns the phase that follows (the
    same one, if its act has not come); `waits(state)`: whether anybody can act in it.
    """

    next: Callable[[SeasonState], str]
    waits: Callable[[SeasonState], bool] = _always


def waits(state: SeasonState) -> bool:
    return state.phase != Phase.CLOSED and PHASE_RULES[state.phase].waits(state)


def advance(state: SeasonState) -> None:
    """Go on to the next phase, or stay if the act that this one needs has not come."""
    state.phase = PHASE_RULES[state.phase].next(state)


def is_over(table: Roundtable) -> bool:
    """Whether the talk ends with the round that was just judged.

    A round in which nobody proposed, amended or challenged ends it: what was refused counts as a
    pass, what was redirected as said.
    """
    if table.signal in (Signal.CONVERGED, Signal.WEAK_CONSENSUS):
        return table.signal == Signal.CONVERGED
    is_new = any(contribution.move in _NEW for contribution in table.of_round())
    return not is_new or not any(table.moves.values()) or table.round + 1 >= table.rounds


_NEW: Final = (Move.PROPOSE, Move.AMEND, Move.CHALLENGE)


def _after_open(state: SeasonState) -> str:
    return Phase.OPEN if state.opening is None else _set(state)


def _set(state: SeasonState) -> str:
    """Begin the next table of the assignment."""
    assert state.opening is not None
    number = len(state.tables)
    state.tables.append(Roundtable(number, state.opening.subjects[number], state.config.rounds_max))
    return Phase.SET


def _after_set(state: SeasonState) -> str:
    return Phase.TRY if state.table.participants else Phase.SET


def _can_try(state: SeasonState) -> bool:
    return any(state.trials_left(agent, early=True) > 0 for agent in state.table.participants)


def _after_try(state: SeasonState) -> str:
    state.table.barred.clear()
    return _next_turn(state.table, -1)


def _next_turn(table: Roundtable, turn: int) -> str:
    """Pass the turn to the next participant with moves left, or to the judge."""
    for index in range(turn + 1, len(table.order)):
        if table.moves[table.order[index]]:
            table.turn = index
            return Phase.SPEAK
    return Phase.JUDGE


def _after_speak(state: SeasonState) -> str:
    if state.table.challenge_to_test() is not None:
        return Phase.TEST
    state.table.barred.clear()
    return _next_turn(state.table, state.table.turn)


def _after_judge(state: SeasonState) -> str:
    if is_over(state.table):
        return Phase.PROVE
    table = state.table
    table.round += 1
    table.signal = None
    return _next_turn(table, -1)


def _after_prove(state: SeasonState) -> str:
    if state.table.untested():
        return Phase.PROVE
    state.table.prove()
    return Phase.STAND


def _can_stand(state: SeasonState) -> bool:
    return state.config.table and bool(state.table.unrefuted())


def _has_conclusion(state: SeasonState) -> bool:
    conclusion = state.table.conclusion
    return bool(conclusion and conclusion.proposal is not None and not state.table.is_rejected)


def _after_adopt(state: SeasonState) -> str:
    assert state.opening is not None
    return _set(state) if len(state.tables) < len(state.opening.subjects) else Phase.DEBRIEF


def _after_contract(state: SeasonState) -> str:
    for agent in state.interviewees():  # those who signed are none any more
        state.change(agent, interview_from=state.assignment + CONTRACT_WAIT)
    return Phase.KEEP


PHASE_RULES: Final[Mapping[str, PhaseRule]] = {
    Phase.OPEN: PhaseRule(_after_open),
    Phase.SET: PhaseRule(_after_set),
    Phase.TRY: PhaseRule(_after_try, _can_try),
    Phase.SPEAK: PhaseRule(_after_speak),
    Phase.TEST: PhaseRule(_after_speak),
    Phase.JUDGE: PhaseRule(_after_judge, lambda state: state.config.has_judge),
    Phase.PROVE: PhaseRule(_after_prove, lambda state: bool(state.table.untested())),
    Phase.STAND: PhaseRule(lambda state: Phase.DIGEST, _can_stand),
    Phase.DIGEST: PhaseRule(lambda state: Phase.ADOPT),
    Phase.ADOPT: PhaseRule(_after_adopt, _has_conclusion),
    Phase.DEBRIEF: PhaseRule(lambda state: Phase.IMPROVE),
    Phase.IMPROVE: PhaseRule(lambda state: Phase.FATE, lambda state: bool(state.bottomed)),
    Phase.FATE: PhaseRule(lambda state: Phase.CONTRACT, lambda state: bool(state.faced)),
    Phase.CONTRACT: PhaseRule(_after_contract, lambda state: bool(state.interviewees())),
    Phase.KEEP: PhaseRule(lambda state: Phase.CLOSED, lambda state: bool(state.stipulated())),
}
