"""The summary of a run of any world: its headline, and a table of its measures."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import msgspec

from goldrush.kernel.text import escaped
from goldrush.kernel.world import RecordedEvent
from goldrush.replay.data.measures import Measure, Measured
from goldrush.replay.data.run_data import measured_at
from goldrush.replay.find import tools_at
from goldrush.replay.journal.outline import outline_of
from goldrush.replay.journal.story import narrator
from goldrush.replay.outcome import RunOutcome, outcome_of
from goldrush.replay.text import TABLE_DIGITS, format_number, format_table

SHOWN_MAX: Final = 20  # measures in the table


class RunSummary(msgspec.Struct, frozen=True):
    """A run in a few sentences and numbers.

    Attributes:
        path: the journal.
        bytes: its size.
        head: the run on one line.
        run: the run with its measures; None in a world without any.
        outcome: who ended with how much; None without measures.
        forks: the events of the forks that led to it, each with its sentence.
    """

    path: str
    bytes: int
    head: str = ""
    run: Measured[Any] | None = None
    outcome: RunOutcome | None = None
    forks: Sequence[tuple[RecordedEvent, str]] = ()

    def as_dict(self) -> dict[str, Any]:
        """For JSON: the run and its measures, those of the last unit, and the outcome."""
        front = {"path": self.path, "bytes": self.bytes}
        if self.run is None or self.outcome is None:
            return front
        last = {name: values[-1] for name, values in self.run.values.items() if self.run.units}
        return {
            **front,
            **self.run.as_dict(),
            "last": last,
            "outcome": self.outcome.as_dict(),
            "forks": [event.as_dict() for event, _ in self.forks],
        }

    def __str__(self) -> str:
        if self.run is None:
            return ""
        unit = self.run.vocabulary.unit
        forks = [f"after {unit} {event.unit} {escaped(text)}" for event, text in self.forks]
        parts = ["\n".join([self.head, *forks]), repr(self.outcome)]
        if self.run.known:
            parts.append(_table(self.run))
        return "\n\n".join(parts)


def summarise(path: str | Path) -> RunSummary:
    """The summary of a journal's run. Raises BadInput for a measure that fails, JournalError as
    reading a journal does.
    """
    tools, size = tools_at(path), os.stat(path).st_size
    if not tools.measures.outcomes:
        return RunSummary(str(path), size)
    run, forks = measured_at(path), outline_of(path).forks
    return RunSummary(
        str(path), size, tools.measures.head(run), run, outcome_of(tools, run),
        list(zip(forks, narrator(path)(forks), strict=True)),
    )  # fmt: skip


def _table(run: Measured[Any]) -> str:
    """Of each measure the value over the run, and in its last unit; where all are of the last unit,
    once.
    """
    measures = chosen(run)
    first = int(all(measure.at_end for measure in measures))
    rows: list[Sequence[str]] = [("measure", *("run", f"last {run.vocabulary.unit}")[first:])]
    for measure in measures:
        last = run.values[measure.name][-1] if measure.by_unit and run.units else None
        numbers = (run.of(measure.name), last)[first:]
        texts = (format_number(number, TABLE_DIGITS) for number in numbers)
        rows.append((escaped(measure.title), *texts))
    return format_table(rows, range(1, len(rows[0])), SHOWN_MAX, "`goldrush measure` has all")


def chosen(run: Measured[Any]) -> list[Measure]:
    """The measures of a run that stand where space is short (`Measure.column`), in their order;
    all of them if none is marked.
    """
    marked = [measure for measure in run.known.values() if measure.column]
    return sorted(marked, key=lambda measure: measure.column) or list(run.known.values())
