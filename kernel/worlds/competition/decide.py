"""The events derived from a step of a season: refusals, then the results of each phase that ends.

Acts are judged one after the other on a copy of the state, and valid ones are applied to it before
the next is judged. Then phases end until one waits for an act; each gives its derived events
(kernel/worlds/competition/settle.py).
"""

from __future__ import annotations

from collections.abc import Iterable

from goldrush.kernel.world import Batch, Block, Row
from goldrush.kernel.worlds.competition.acts import author, fault_of
from goldrush.kernel.worlds.competition.events import CODES, Refused
from goldrush.kernel.worlds.competition.evolve import acts_in, apply, refuse
from goldrush.kernel.worlds.competition.phases import advance, waits
from goldrush.kernel.worlds.competition.settle import LEAVING
from goldrush.kernel.worlds.competition.state import SeasonState
from goldrush.kernel.worlds.competition.terms import Phase


def decide(state: SeasonState, inputs: Block) -> list[Batch]:
    """The events derived from these acts, in order. Needs the rules of the arena."""
    work = state.copy()
    derived: list[tuple[int, Row]] = []
    for index, (code, row) in enumerate(acts_in(inputs.batches)):
        why = fault_of(work, code, row)
        if why is None:
            apply(work, code, row)
        else:
            who = author(work, code, row)
            derived.append((CODES[Refused], (who, (index, code, row), why)))
            refuse(work, code, row, why)
    while True:
        leaving = LEAVING.get(work.phase)
        follows: Iterable[tuple[object, ...]] = () if leaving is None else leaving(work)
        for event in follows:
            code = CODES[type(event)]
            derived.append((code, tuple(event)))
            apply(work, code, event)
        advance(work)
        if waits(work) or work.phase == Phase.CLOSED:
            return [(code, [row]) for code, row in derived]


def pending_fault(state: SeasonState, pending: Block) -> str | None:
    """The reason why the recorded acts of an incomplete step are invalid, or None: an unknown
    author.

    Other faults, repeated acts included, are judged when the step is complete, and refused with a
    code.
    """
    for code, row in acts_in(pending.batches):
        who = author(state, code, row)
        if who not in state.agents:
            return f"a pending act of agent {who}, but there is no such agent"
    return None
