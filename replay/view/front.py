"""The content of the top of the page of a run: its outcome, and the outcome over the units.

All of it is of the whole run, also where the page carries a part of the journal.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Final

import attrs

from goldrush.kernel.measures import Value
from goldrush.replay.data.measures import AgentMeasure
from goldrush.replay.outcome import RunOutcome
from goldrush.replay.view.chart import Lines, short

POINTS_MAX: Final = 240  # points of a line of the chart of the outcome


@attrs.frozen
class RunFront:
    """The content of the front for one run; `outcome` is None where none can be told.

    Attributes:
        labels: the group of each agent: what it plays, of two runs also in which.
        lines: those of the chart; None where the outcome is of the run and not of its agents.
        points: of some units, the number and the value of each line.
        measures: of agents, with the value of each agent.
        charted: the measures of the run that have the values of the chart's one line.
    """

    outcome: RunOutcome | None
    labels: Sequence[str] = ()
    lines: Lines | None = None
    points: Sequence[tuple[int, Sequence[Value]]] = ()
    measures: Sequence[tuple[AgentMeasure, Sequence[Value]]] = ()
    charted: Collection[str] = ()

    def as_dict(self) -> dict[str, object]:
        """For the page's script."""
        measure = None if self.outcome is None else self.outcome.measure
        return {
            "title": "score" if measure is None else measure.title,
            "definition": "" if measure is None else measure.definition,
            "units": [unit for unit, _ in self.points],
            "lines": self._lines(),
            "measures": [
                {"title": each.title, "values": [short(value) for value in values]}
                for each, values in self.measures
            ],
        }

    def _lines(self) -> list[dict[str, object]]:
        values = list(zip(*(row for _, row in self.points), strict=True))
        if self.lines is None:
            title = "" if self.outcome is None else self.outcome.measure.title
            return [{"title": title, "values": line} for line in values]
        return [
            {
                **({"agent": title} if isinstance(title, int) else {"count": len(agents)}),
                "policy": self.labels[agents[0]],
                "values": line,
            }
            for title, agents, line in zip(
                self.lines.titles, self.lines.members, values, strict=bool(values)
            )
        ]
