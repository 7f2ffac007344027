"""Whose turn it is: the phases of an assignment, one after the other.

A phase waits for acts of somebody, is left when they were judged, and is passed over where nobody
has anything to do in it. Only four phases are waited out, however often: an assignment must be
opened, and tests must come in, of the bar, of a challenge, of all other claims. In every other one
what was not done, or refused, counts as the neutral act: a pass, a clean table, no word.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from goldrush.kernel.competition.config import CONTRACT_WAIT
from goldrush.kernel.competition.events import CONVERGED, PASS, WEAK_CONSENSUS
from goldrush.kernel.competition.state import (
    ADOPT,
    CLOSED,
    CONTRACT,
    DEBRIEF,
    DIGEST,
    FATE,
    IMPROVE,
    JUDGED,
    KEEP,
    OPEN,
    PROVE,
    SET,
    SPEAK,
    TEST,
    SeasonState,
)
from goldrush.kernel.competition.table import Table


def waits(state: SeasonState) -> bool:
    """Whether the phase waits for an act."""
    phase = state.phase
    if phase == PROVE:
        return bool(state.table.untested())
    if phase == ADOPT:
        conclusion = state.table.conclusion
        return bool(conclusion and conclusion.proposal is not None and not state.table.is_rejected)
    if phase == IMPROVE:
        return bool(state.bottomed)
    if phase == FATE:
        return bool(state.faced)
    if phase == CONTRACT:
        return bool(state.interviewees())
    if phase == KEEP:
        return bool(state.stipulated())
    return phase != CLOSED


def advance(state: SeasonState) -> None:
    """Go on to the next phase, or stay where what is waited for has not come.

    With it goes what a phase leaves behind, whatever was done in it: another table, the next turn
    or round, a later interview for who has no contract yet.
    """
    state.phase = _NEXT[state.phase](state)


def speaker(state: SeasonState) -> int:
    """Whose turn it is to speak."""
    return state.table.order[state.table.turn]


def has_spoken(table: Table, agent: int) -> bool:
    """Whether somebody had its turn in this round."""
    return any(said.agent == agent for said in table.of_round())


def is_over(table: Table) -> bool:
    """Whether a table ends with the round that the judge has just judged."""
    if table.signal in (CONVERGED, WEAK_CONSENSUS):
        return table.signal == CONVERGED
    spoke = any(said.move != PASS for said in table.of_round())
    return not spoke or not any(table.moves.values()) or table.round + 1 >= table.rounds


def _after_open(state: SeasonState) -> str:
    return OPEN if state.opening is None else _set(state)


def _set(state: SeasonState) -> str:
    """Another table of the assignment is set."""
    assert state.opening is not None
    number = len(state.tables)
    table = Table(number, state.opening.subjects[number], state.config.rounds_max)
    state.tables.append(table)
    return SET


def _after_set(state: SeasonState) -> str:
    return _next_turn(state.table, -1) if state.table.participants else SET


def _next_turn(table: Table, turn: int) -> str:
    """The turn of the next one with moves left, or the judge's."""
    for place in range(turn + 1, len(table.order)):
        if table.moves[table.order[place]]:
            table.turn = place
            return SPEAK
    return JUDGED


def _after_speak(state: SeasonState) -> str:
    if state.table.challenge_to_test() is not None:
        return TEST
    return _next_turn(state.table, state.table.turn)


def _after_judged(state: SeasonState) -> str:
    table = state.table
    if table.conclusion is not None:
        return PROVE
    table.round += 1
    table.signal = None
    return _next_turn(table, -1)


def _after_prove(state: SeasonState) -> str:
    return PROVE if state.table.untested() else DIGEST


def _after_adopt(state: SeasonState) -> str:
    assert state.opening is not None
    return _set(state) if len(state.tables) < len(state.opening.subjects) else DEBRIEF


def _after_contract(state: SeasonState) -> str:
    for agent in state.interviewees():  # those who signed are none any more
        state.change(agent, interview_from=state.assignment + CONTRACT_WAIT)
    return KEEP


_NEXT: Final[Mapping[str, Callable[[SeasonState], str]]] = {
    OPEN: _after_open,
    SET: _after_set,
    SPEAK: _after_speak,
    TEST: _after_speak,
    JUDGED: _after_judged,
    PROVE: _after_prove,
    DIGEST: lambda state: ADOPT,
    ADOPT: _after_adopt,
    DEBRIEF: lambda state: IMPROVE,
    IMPROVE: lambda state: FATE,
    FATE: lambda state: CONTRACT,
    CONTRACT: _after_contract,
    KEEP: lambda state: CLOSED,
}
