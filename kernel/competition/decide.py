"""What follows from a step of a season: refusals first, then what the end of a phase brings.

Acts are judged one after the other on a copy of the state, each as if those before it had been
done, which they have if they were not refused. Then phases are left, as many as wait for nobody,
and each brings what it brings: a drawn order, a conclusion, scores and what they cost.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Final

from goldrush.kernel.competition.acts import author, code_of
from goldrush.kernel.competition.events import CONCLUDED, REFUSED, ROUNDTABLE_OPENED, SEAT
from goldrush.kernel.competition.evolve import acts_in, apply, refuse
from goldrush.kernel.competition.settle import contracts_signed, debriefed, fates, settled
from goldrush.kernel.competition.state import (
    ACTIVE,
    CLOSED,
    CONTRACT,
    DEBRIEF,
    FATE,
    KEEP,
    SET,
    SeasonState,
    copied,
)
from goldrush.kernel.competition.state import JUDGED as JUDGING
from goldrush.kernel.competition.turns import advance, is_over, waits
from goldrush.kernel.world import Batch, Block, Row

Derived = tuple[int, Row]


def decide(state: SeasonState, inputs: Block) -> list[Batch]:
    """What follows from these acts, in order."""
    work = copied(state)
    derived: list[Derived] = []

    def follows(events: Iterator[Derived]) -> None:
        for code, row in events:
            derived.append((code, row))
            apply(work, code, row)

    for place, (code, row) in enumerate(acts_in(inputs.batches)):
        why = code_of(work, code, row)
        if why is None:
            apply(work, code, row)
        else:
            derived.append((REFUSED, (author(work, code, row), (place, code, row), why)))
            refuse(work, code, row, why)
    while True:
        leaving = _LEAVING.get(work.phase)
        if leaving is not None:
            follows(leaving(work))
        advance(work)
        if waits(work) or work.phase == CLOSED:
            return [(code, [row]) for code, row in derived]


def waiting_fault(state: SeasonState, waiting: Block) -> str | None:
    """What is wrong with the acts of a step that is left open: each must be somebody's of the
    season.

    Whether it may be done is judged with the rest of the step, and so is what somebody does twice:
    by the rules a repeated act is refused with a code, and recorded, so it is no sign of forgery.
    """
    for code, row in acts_in(waiting.batches):
        who = author(state, code, row)
        if who not in state.agents:
            return f"an act of agent {who} waits to be judged, and there is no such agent"
    return None


def _opened(state: SeasonState) -> Iterator[Derived]:
    """A table whose bar is known: who sits at it, and in which order they speak.

    The directive goes before what the assistant chose; a contract may give somebody a seat.
    """
    table, opening = state.table, state.opening
    assert opening is not None
    if not table.is_bar_tested:
        return
    team = opening.team or table.team or state.active()
    guaranteed = [agent.ordinal for agent in state.workers(ACTIVE) if agent.has_condition(SEAT)]
    participants = tuple(sorted({*team, *guaranteed}))
    agenda, draws = opening.order or table.agenda, state.draws(table.number, 0, "order")
    if agenda is None:
        order = draws.shuffled(participants)
    else:
        order = [agent for agent in agenda if agent in participants]
        order += [agent for agent in participants if agent not in agenda]
    yield ROUNDTABLE_OPENED, (table.number, participants, tuple(order), draws.words(), table.rounds)


def _concluded(state: SeasonState) -> Iterator[Derived]:
    """What a table that is over ends with."""
    table = state.table
    if not is_over(table):
        return
    found = table.concluded_from(table.standing, state.draws(table.number, 0, "conclude"))
    stances = tuple(sorted(table.standing.stances.items()))
    yield (
        CONCLUDED,
        (table.number, found.proposal, found.conduct, stances, found.tied, found.words),
    )


_LEAVING: Final[Mapping[str, Callable[[SeasonState], Iterator[Derived]]]] = {
    SET: _opened,
    JUDGING: _concluded,
    DEBRIEF: debriefed,
    FATE: fates,
    CONTRACT: contracts_signed,
    KEEP: settled,
}
