"""The run of a mining journal in Python: what every run has, and its plots and agents."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import attrs

from goldrush.kernel.errors import BadInput
from goldrush.kernel.world import Event
from goldrush.kernel.worlds.mining.config import MiningConfig
from goldrush.replay.arguments import integer
from goldrush.replay.run import Location, Run

if TYPE_CHECKING:
    from goldrush.replay.data.user_functions import Functions
    from goldrush.replay.journal.tie_break import TieBreak
    from goldrush.replay.journal.why import Explanation
    from goldrush.replay.worlds.mining.measures import MeasuredRun
    from goldrush.replay.worlds.mining.spells import Spell


class MiningRun(Run):
    """A mining run that is recorded in a journal.

    >>> run = MiningRun.record(seed=7, rounds=20)
    >>> run.plot(17).owners()[:6]
    [3, 3, 3, 3, 3, 3]
    >>> run.plot((1, 7)).spells()[0].length
    20
    >>> run.agent(3).gold()[-1]
    57.0
    """

    _measured: tuple[tuple[int, int] | None, MeasuredRun] | None = None

    def measured(self, measures: Functions = ()) -> MeasuredRun:
        """The run with its measures, its spells of ownership, and everybody's gold. `measures`: see
        `measures`.

        It is kept until the journal changes. Raises what reading a journal raises.
        """
        from goldrush.replay.worlds.mining.measures import (  # at a command's start, too long
            MeasuredRun,
            measure,
        )

        if measures:
            run = super().measured(measures)
            assert isinstance(run, MeasuredRun)
            return run
        stamp = _stamp(self.path)
        if self._measured is None or stamp is None or self._measured[0] != stamp:
            self._measured = stamp, measure(self.path)
        return self._measured[1]

    def config(self) -> MiningConfig:
        """The settings in force at the end of the run. Raises as `measured`."""
        config: MiningConfig = self.last().state.config
        return config

    def plot(self, plot: Location | None = None) -> Plot:
        """A plot, by id, by (row, column), or by either as text ("3,4"). Raises BadInput without
        one, and for one that is not on the map.
        """
        if plot is None:  # in other libraries `plot()` draws
            raise BadInput(
                "no plot was given",
                "type run.plot(17) or run.plot((1, 7)); run.view('run.html') draws the run",
            )
        return Plot(self, self._plot(plot))

    def agent(self, agent: int) -> Agent:
        """An agent, by its id. Raises BadInput for one that does not play."""
        agents = len(self.info().declared.players)
        if not 0 <= integer(agent, "the agent") < agents:
            raise BadInput(f"there is no agent {agent}", f"give one from 0 to {agents - 1}")
        return Agent(self, integer(agent, "the agent"))


def _stamp(path: Path) -> tuple[int, int] | None:
    """Changes when a file is written; None where there is none."""
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_size, found.st_mtime_ns


@attrs.frozen
class Plot:
    """A plot of a run: its `id`, row · columns + column."""

    run: MiningRun
    id: int

    def owners(self) -> list[int | None]:
        """Who owns it at the end of each round, from round 1 on; None where nobody does.

        Raises what reading a journal raises.
        """
        found = self.run.measured()
        owners: list[int | None] = [None] * found.rounds
        for spell in found.spells:
            if spell.plot == self.id:
                owners[spell.start - 1 : spell.end] = [spell.owner] * spell.length
        return owners

    def spells(self) -> list[Spell]:
        """The spells of ownership of the plot, in order. Raises as `owners`."""
        return [spell for spell in self.run.measured().spells if spell.plot == self.id]

    def events(self, *names: str, first: int | None = None, last: int | None = None) -> list[Event]:
        """The events on the plot; submissions only if `names` has `submitted`. See `Run.events`."""
        return list(self.run.events(*names, first=first, last=last, plot=self.id))

    def log(self, *names: str, first: int | None = None, last: int | None = None) -> list[str]:
        """The same events as text; see `Run.log`."""
        return self.run.log(*names, first=first, last=last, plot=self.id)

    def audit(self, round: int, kind: str | None = None) -> Sequence[TieBreak]:
        """The draws on the plot in a round; see `Run.audit`."""
        return self.run.audit(round, self.id, kind)

    def why(self, round: int) -> Sequence[Explanation]:
        """Why things came out as they did on the plot in a round; see `Run.why`."""
        return self.run.why(round, self.id)


@attrs.frozen
class Agent:
    """An agent of a run: its `id`."""

    run: MiningRun
    id: int

    def gold(self) -> list[float]:
        """Its gold at the end of each round; the first item is the start.

        Raises what reading a journal raises.
        """
        found = self.run.measured()
        return [float(found.gold_after(round)[self.id]) for round in range(found.rounds + 1)]

    def spells(self) -> list[Spell]:
        """Its spells of ownership, by their start. Raises as `gold`."""
        return [spell for spell in self.run.measured().spells if spell.owner == self.id]

    def events(self, *names: str, first: int | None = None, last: int | None = None) -> list[Event]:
        """The events that name the agent; see `Run.events`."""
        return list(self.run.events(*names, first=first, last=last, agent=self.id))

    def log(self, *names: str, first: int | None = None, last: int | None = None) -> list[str]:
        """The same events as text; see `Run.log`."""
        return self.run.log(*names, first=first, last=last, agent=self.id)

    def why(self, round: int) -> Sequence[Explanation]:
        """Why things came out as they did for the agent in a round; see `Run.why`."""
        return self.run.why(round, agent=self.id)
