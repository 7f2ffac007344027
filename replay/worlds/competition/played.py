"""The closed assignments of a season, one at a time, each with the acts at its tables.

An act is in the inputs of a step, the code of its refusal in the derived events, and its effect in
the state when the assignment closes. Here the three are joined.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final, TypeVar

import attrs

from goldrush.kernel.journal import FORK, START
from goldrush.kernel.walk import Walk
from goldrush.kernel.world import Step, World
from goldrush.kernel.worlds.competition.arena import Conduct
from goldrush.kernel.worlds.competition.events import (
    CODES,
    Answered,
    Spoke,
    Stood,
    Tested,
    Tried,
    named,
)
from goldrush.kernel.worlds.competition.evolve import acts_in, refused_in
from goldrush.kernel.worlds.competition.state import SeasonState
from goldrush.kernel.worlds.competition.table import Roundtable
from goldrush.kernel.worlds.competition.terms import Phase

F = TypeVar("F")

_KEPT: Final = {CODES[form] for form in (Answered, Spoke, Stood, Tested, Tried)}


@attrs.frozen
class Act:
    """An act at a table (a contribution, a final stance, a trial or a test), or an answer.

    Attributes:
        act: its event as recorded, valid or not.
        code: of its refusal; None if it was not refused.
        round: the current round; None before the first and after the talk.
        id: the index of a contribution in Roundtable.contributions; None for all other acts, and
            for contributions refused because it was not their author's turn.
    """

    act: Any
    code: str | None
    round: int | None
    id: int | None


@attrs.frozen
class Played:
    """A closed assignment with the state just before it closes, the acts at its tables and the
    derived events, both in order.
    """

    state: SeasonState
    acts: Sequence[Act]
    derived: Sequence[Any]

    def done(self, form: type[F]) -> Iterator[F]:
        """The acts of a kind that were not refused."""
        return (one.act for one in self.acts if one.code is None and isinstance(one.act, form))

    def followed(self, form: type[F]) -> Iterator[F]:
        """The derived events of a kind."""
        return (event for event in self.derived if isinstance(event, form))

    def bar_of(self, table: Roundtable) -> Conduct:
        """The conduct that set the bar of a table."""
        bars = (test for test in self.done(Tested) if test.at is None)
        return next(test.conduct for test in bars if test.table == table.number)


def played(
    world: World[SeasonState], walk: Walk[SeasonState], set_up: Callable[[], None] = lambda: None
) -> Iterator[Played]:
    """The closed assignments of a season, in order, on a walk that has not begun. Copy a state to
    keep it. `set_up`: called after each START and FORK. Raises as a Walk does.
    """
    acts: list[Act] = []
    derived: list[Any] = []
    heard: list[int] = []  # contributions, by table
    under_way: int | None = None  # the round
    for commit, step, state in walk.steps():
        if step is None:
            if commit.kind in (START, FORK):
                set_up()
            continue
        acts += _acts(step, state, heard, under_way)
        for code, rows in step.derived:
            derived += (named(code, row) for row in rows)
        if world.unit_done(state):
            yield Played(state, acts, derived)
            acts, derived = [], []
        heard = [len(table.contributions) for table in state.tables]
        under_way = state.table.round if state.phase == Phase.SPEAK else None


def _acts(
    step: Step, state: SeasonState, heard: Sequence[int], under_way: int | None
) -> Iterator[Act]:
    """The acts at tables in a step; `heard`: the contributions of each table before it."""
    codes = refused_in(step.derived)
    heard = list(heard)
    for index, (form, row) in enumerate(acts_in(step.inputs.batches)):
        if form not in _KEPT:
            continue
        act, code, id = named(form, row), codes.get(index), None
        if isinstance(act, Spoke) and act.table < len(heard):
            said = state.tables[act.table].contributions[heard[act.table] :]
            if said and (said[0].agent, said[0].code) == (act.agent, code):
                id = said[0].id
                heard[act.table] += 1
        yield Act(act, code, under_way, id)
