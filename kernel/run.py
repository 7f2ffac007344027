"""The run loop: ask, decide, evolve, commit.

What decides nothing itself stands here: `ask` brings the inputs from outside (policies, models,
people), the world judges them, the journal keeps both. A unit that is not whole is not
committed, so whatever stops a run, the journal ends with a unit closed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from kernel.journal import END, START, UNIT, Commit, JournalWriter
from kernel.world import Batch, Block, World

S = TypeVar("S")

Ask = Callable[[S], Sequence[Batch]]


def record(
    world: World[S],
    setup: Mapping[str, Any],
    ask: Ask[S],
    journal: JournalWriter,
    on_unit: Callable[[int, S], None] | None = None,
) -> S:
    """Play a run from its start to its end into a fresh journal and return the last state.

    `ask(state)` gives the input batches of the next step. `on_unit(unit, state)` is called after
    each commit, for progress. Raises BadInput for a setup that the world refuses, WriteFailed from
    the journal, and whatever `ask` raises; the journal then ends with the last whole unit.
    """
    state = world.initial(setup)
    journal.append(Commit(START, 0, world.digest(state), setup=setup))
    unit = 0
    blocks: list[Block] = []
    while not world.ended(state):
        inputs = Block(ask(state))
        derived = Block(world.decide(state, inputs))
        state = world.evolve(world.evolve(state, inputs), derived)
        blocks += (inputs, derived)
        if world.unit_done(state):
            state = world.close(state)
            unit += 1
            journal.append(Commit(UNIT, unit, world.digest(state), blocks))
            blocks = []
            if on_unit is not None:
                on_unit(unit, state)
    journal.append(Commit(END, unit))
    return state
