"""Counts of failed answers of language models in a report, by kind."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from goldrush.agents.llm.failures import KINDS, Failures
from goldrush.replay.report.tables import Content, Marked, ReportTable
from goldrush.replay.study.records import Cell
from goldrush.replay.study.results import AnyResults

LINES_MAX: Final = 10  # models named above the verdicts; the table has all


def hardly_played(results: AnyResults) -> list[str]:
    """A line for each model and cell in which more than MOSTLY of the answers failed."""
    units = results.of.vocabulary.units
    return [
        f"{cell.format(units)}: {failures}"
        for cell, failures in _by_cell(results)
        if failures.hardly_played
    ]


def shortened(lines: Sequence[str]) -> list[str]:
    more = len(lines) - LINES_MAX
    return [*lines[:LINES_MAX], *([f"and {more:,} more"] if more > 0 else [])]


def model_table(results: AnyResults) -> ReportTable:
    """The answers of every model."""
    rows = [_row(results, cell, failures) for cell, failures in _by_cell(results)]
    caption = "Answers of every model, failed by kind."
    return ReportTable.of("models", caption, rows)


def _by_cell(results: AnyResults) -> Sequence[tuple[Cell, Failures]]:
    return [(cell, failures) for cell in results.by_cell for failures in results.failures(cell)]


def _row(results: AnyResults, cell: Cell, failures: Failures) -> dict[str, Content]:
    share = f"{failures.share:.0%}"
    return {
        "treatment": cell.treatment, "roster": cell.roster,
        results.of.vocabulary.units: str(cell.rounds),
        "model": failures.model, "answers": f"{failures.answers:,}",
        **{title: f"{failures.kinds.get(kind, 0):,}" for kind, title in KINDS.items()},
        "failed": Marked(share, "hardly played") if failures.hardly_played else share,
        "cut off, played": f"{failures.cut:,}",
    }  # fmt: skip
