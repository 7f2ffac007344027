"""The section of a report on language models: counts of failed answers, by kind."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from goldrush.agents.llm.failures import KINDS, MOSTLY, PLAYED_INSTEAD, Failures
from goldrush.replay.report.page import Block, Content, Marked, TableBlock, Text, section
from goldrush.replay.study.records import Cell
from goldrush.replay.study.results import Results

LINES_MAX: Final = 10  # models named above the verdicts; the table has all


def hardly_played(results: Results[Any, Any]) -> list[str]:
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


def warning(results: Results[Any, Any]) -> list[Block]:
    """A warning above the verdicts, if models hardly played."""
    lines = shortened(hardly_played(results))
    if not lines:
        return []
    return [
        Text(
            f"Models that hardly played: more than {MOSTLY:.0%} of their answers failed, so the "
            f"results say little about how they would play. {'; '.join(lines)}."
        )
    ]


def models_section(results: Results[Any, Any]) -> list[Block]:
    words = results.of.vocabulary
    kinds = KINDS.values()
    head = ["treatment", "roster", words.units, "model", "answers", *kinds, "failed"]
    head += ["cut off, played", "different"]
    rows = [_row(results, cell, failures) for cell, failures in _by_cell(results)]
    return section(
        "Answers of language models",
        "models",
        "A failed answer was missing, cut off before a readable part, refused, unreadable, or had "
        f"an illegal value or no readable action in it: {PLAYED_INSTEAD}. One that was cut "
        "off after its readable part was played. Counts over all seeds. Runs of other seeds are "
        "other samples of a model only where it answers differently: the last column counts the "
        "different answers among those to prompts that it was asked several times in the first "
        f"{words.unit} of the runs.",
        TableBlock(
            head, rows, "Answers of every model, failed by kind, and different to equal prompts."
        ),
    )


def _by_cell(results: Results[Any, Any]) -> Sequence[tuple[Cell, Failures]]:
    return [(cell, failures) for cell in results.by_cell for failures in results.failures(cell)]


def _row(results: Results[Any, Any], cell: Cell, failures: Failures) -> list[Content]:
    share = f"{failures.share:.0%}"
    different, first = results.first_answers(cell, failures.model)
    return [
        cell.treatment, cell.roster, str(cell.rounds), failures.model, f"{failures.answers:,}",
        *(f"{failures.kinds.get(kind, 0):,}" for kind in KINDS),
        Marked(share, "hardly played") if failures.hardly_played else share,
        f"{failures.cut:,}",
        f"{different:,} of {first:,}" if first else "",
    ]  # fmt: skip
