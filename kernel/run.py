"""The run loop: ask, decide, evolve, commit.

What decides nothing itself stands here: `ask` brings the inputs from outside (policies, models,
people), the world judges them, the journal keeps both. A unit that is not whole is not
committed, so whatever stops a run, the journal ends with a unit closed, and `resume` goes on there.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

from kernel import fold
from kernel.errors import BadInput, MalformedEvents, TornTail, shown
from kernel.journal import END, START, UNIT, Commit, JournalReader, JournalWriter
from kernel.world import Batch, Block, World

S = TypeVar("S")

Ask = Callable[[S], Sequence[Batch]]
OnUnit = Callable[[int, S], None]


def record(
    world: World[S],
    setup: Mapping[str, Any],
    ask: Ask[S],
    journal: JournalWriter,
    on_unit: OnUnit[S] | None = None,
) -> S:
    """Play a run from its start to its end into a fresh journal and return the last state.

    `ask(state)` gives the input batches of the next step. `on_unit(unit, state)` is called after
    each commit, for progress; the state is the run's own, not to be changed. Raises BadInput for a
    setup that the world refuses, WriteFailed from the journal, and whatever `ask` raises; the
    journal then ends with the last whole unit.
    """
    state = world.initial(setup)
    journal.append(Commit(START, 0, _digest(world, state), setup=setup))
    return _play(world, state, 0, ask, journal, on_unit)


def resume(
    world: World[S],
    path: str | Path,
    ask_of: Callable[[Mapping[str, Any]], Ask[S]],
    on_unit: OnUnit[S] | None = None,
    *,
    fsync: bool = False,
) -> S:
    """Go on with a run that broke off, from its last whole commit, and return the last state.

    A torn tail is dropped. `ask_of(setup)` makes what `record` was given as `ask`. Raises BadInput
    for a run that has ended, MalformedEvents for a state that the journal contradicts or a unit
    left open, and what reading a journal and `record` raise; nothing is written before `ask`
    is made.
    """
    with JournalWriter.reopen(path, fsync=fsync) as journal:
        with JournalReader(path) as reader:
            setup, last, state = _last(world, reader)
        if last.kind == END:
            raise BadInput(f"{path} has ended with {_unit(world, last)}", "record another run")
        if last.digest is None:
            raise MalformedEvents(reader.path, last.where, f"{_unit(world, last)} is left open")
        if world.digest(state) != last.digest:
            raise MalformedEvents(reader.path, last.where, "the events do not give its digest")
        ask = ask_of(setup)
        journal.go_on_after(last)
        return _play(world, state, last.unit, ask, journal, on_unit)


def _last(world: World[S], reader: JournalReader) -> tuple[Mapping[str, Any], Commit, S]:
    """The setup, the last whole commit, and the state after it."""
    setup: Mapping[str, Any] = {}
    found: tuple[Commit, S] | None = None
    try:
        for commit, state in fold.states(world, reader):
            setup = commit.setup or setup
            found = commit, state
    except TornTail:
        if found is None:
            raise
    assert found is not None  # the reader refuses a journal without a START
    return setup, *found


def _unit(world: World[Any], commit: Commit) -> str:
    return f"{world.vocabulary.unit} {commit.unit}"


def _play(
    world: World[S],
    state: S,
    unit: int,
    ask: Ask[S],
    journal: JournalWriter,
    on_unit: OnUnit[S] | None,
) -> S:
    """From a state whose unit `unit` is closed to the end of the run."""
    blocks: list[Block] = []
    while not world.ended(state):
        inputs = Block(ask(state))
        derived = Block(world.decide(state, inputs))
        state = world.evolve(world.evolve(state, inputs), derived)
        blocks += (inputs, derived)
        if world.unit_done(state):
            state = world.close(state)
            unit += 1
            journal.append(Commit(UNIT, unit, _digest(world, state), blocks))
            blocks = []
            if on_unit is not None:
                on_unit(unit, state)
    if blocks:
        raise BadInput(
            f"world {world.name} ended inside {world.vocabulary.unit} {unit + 1}",
            "its `unit_done` must hold before its `ended` does",
        )
    journal.append(Commit(END, unit))
    return state


def _digest(world: World[S], state: S) -> int:
    digest = world.digest(state)
    if type(digest) is not int or not 0 <= digest < 1 << 64:
        raise BadInput(f"world {world.name} has digest {shown(digest)}", "it must be 64 bits")
    return digest
