"""Language models most of whose answers failed, in a report."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from goldrush.replay.study.results import AnyResults

LINES_MAX: Final = 10  # models named above the verdicts; the table has all


def hardly_played(results: AnyResults) -> list[str]:
    """A line for each model and cell in which more than MOSTLY of the answers failed."""
    units = results.of.vocabulary.units
    return [
        f"{cell.format(units)}: {failures}"
        for cell in results.by_cell
        for failures in results.failures(cell)
        if failures.hardly_played
    ]


def shortened(lines: Sequence[str]) -> list[str]:
    more = len(lines) - LINES_MAX
    return [*lines[:LINES_MAX], *([f"and {more:,} more"] if more > 0 else [])]
