"""The summary of a run of any world: its headline, and a table of its measures."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import msgspec

from goldrush.kernel.text import escaped
from goldrush.replay.data.measures import Measured, Measures
from goldrush.replay.data.run_data import measured_at
from goldrush.replay.find import tools_at
from goldrush.replay.journal.outline import Outline, outline_of
from goldrush.replay.outcome import RunOutcome, outcome_of
from goldrush.replay.text import TABLE_DIGITS, format_number, format_table

SHOWN_MAX: Final = 20  # measures in the table


class RunSummary(msgspec.Struct, frozen=True):
    """A run in a few sentences and numbers.

    Attributes:
        path: the journal.
        outline: its size, and the forks that led to it.
        head: the run on one line.
        run: the run with its measures; None in a world without any.
        outcome: who ended with how much; None without measures.
    """

    path: str
    outline: Outline
    head: str = ""
    run: Measured[Any] | None = None
    outcome: RunOutcome | None = None

    def as_dict(self) -> dict[str, Any]:
        """For JSON: the run and its measures, those of the last unit, and the outcome."""
        front = {"path": self.path, "bytes": self.outline.bytes}
        if self.run is None or self.outcome is None:
            return front
        last = {name: values[-1] for name, values in self.run.values.items() if self.run.units}
        return {
            **front,
            **self.run.as_dict(),
            "last": last,
            "outcome": self.outcome.as_dict(),
            "forks": [event.as_dict() for event in self.outline.forks],
        }

    def __str__(self) -> str:
        if self.run is None:
            return ""
        forks = [escaped(text) for _, text in self.outline.declared.history]
        parts = ["\n".join([self.head, *forks]), repr(self.outcome)]
        if self.run.known:
            parts.append(_table(self.run))
        return "\n\n".join(parts)


def summarise(path: str | Path) -> RunSummary:
    """The summary of a journal's run. Raises BadInput for a measure that fails, JournalError as
    reading a journal does.
    """
    tools, outline = tools_at(path), outline_of(path)
    if not tools.measures.outcomes:
        return RunSummary(str(path), outline)
    run = measured_at(path)
    return RunSummary(str(path), outline, tools.measures.head(run), run, outcome_of(tools, run))


def _table(run: Measured[Any]) -> str:
    """Of each measure the value over the run, and in its last unit; where all are of the last unit,
    once.
    """
    names = Measures(run.known).of_runs or run.known
    measures = [run.known[name] for name in names]
    first = int(all(measure.at_end for measure in measures))
    rows: list[Sequence[str]] = [("measure", *("run", f"last {run.vocabulary.unit}")[first:])]
    for measure in measures:
        last = run.values[measure.name][-1] if measure.by_unit and run.units else None
        numbers = (run.of(measure.name), last)[first:]
        texts = (format_number(number, TABLE_DIGITS) for number in numbers)
        rows.append((escaped(measure.title), *texts))
    return format_table(rows, range(1, len(rows[0])), SHOWN_MAX, "`goldrush measure` has all")
