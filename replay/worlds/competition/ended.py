"""The closed assignments of a season, one at a time, each with its tables and all of its events.

Tables are dropped from the state when their assignment closes. Whoever needs them (measures, tables
of data, explanations, scores) reads them here, in the state just before.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, TypeVar

import attrs

from goldrush.kernel.journal import FORK, START, JournalReader
from goldrush.kernel.walk import ROWS, Walk
from goldrush.kernel.world import World
from goldrush.kernel.worlds.competition.events import named
from goldrush.kernel.worlds.competition.evolve import acts_in
from goldrush.kernel.worlds.competition.state import SeasonState
from goldrush.replay.data.run_data import RunData
from goldrush.replay.journal.forged import reading
from goldrush.replay.journal.rebuild import walk_through
from goldrush.replay.worlds.competition.steps import season_world

F = TypeVar("F")


@attrs.frozen
class Ended:
    """An assignment all of whose events are there: the state just before it closes, and the events
    in order, what was submitted and then refused among them.
    """

    state: SeasonState
    events: Sequence[Any]

    def of(self, form: type[F]) -> Iterator[F]:
        """The events of a kind."""
        return (event for event in self.events if isinstance(event, form))


def ended(
    world: World[SeasonState], walk: Walk[SeasonState], set_up: Callable[[], None] = lambda: None
) -> Iterator[Ended]:
    """The closed assignments of a season, in order, on a walk that has not begun. Copy a state to
    keep it. `set_up`: called after each START and FORK. Raises as a Walk does.
    """
    events: list[Any] = []
    for commit, step, state in walk.steps():
        if step is None:
            if commit.kind in (START, FORK):
                set_up()
            continue
        events += (named(code, row) for code, row in acts_in(step.inputs.batches))
        events += (named(code, row) for code, rows in step.derived for row in rows)
        if world.unit_done(state):
            yield Ended(state, events)
            events = []


def ended_at(path: str | Path, assignment: int, *, judging: bool = False) -> Ended:
    """A closed assignment by its number. `judging`: the rules of its arena are needed.

    Raises BadInput if there is no such closed assignment; UnsupportedJournal if the rules are
    needed and not installed; JournalError if the journal cannot be read.
    """
    with reading(path) as reader:
        world = season_world(reader, judging=judging)
        return next(ended(world, walk_through(world, reader, assignment)))


def assignments_of(run: RunData) -> Iterator[Ended]:
    """The assignments that were closed when the run was measured."""
    closed = run.measured.units
    with JournalReader(run.path) as reader:
        yield from islice(ended(run.world, Walk(run.world, reader, ROWS)), closed)
