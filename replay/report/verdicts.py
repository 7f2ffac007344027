"""Verdicts of a report: their tables."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from goldrush.kernel.text import format_count
from goldrush.replay.report.answer import NULL_NOTE
from goldrush.replay.report.numbers import TOGETHER, bounds, p_value, rounded, within_bounds
from goldrush.replay.report.reported import ReportedStudy
from goldrush.replay.report.tables import Content, Marked, ReportTable
from goldrush.replay.study.inference import PairedChange, seeds_for, smallest_p
from goldrush.replay.study.judging import (
    NOT_SUPPORTED,
    SUPPORTED,
    UNDECIDED,
    CriterionVerdict,
    Finding,
)
from goldrush.replay.study.records import Cell
from goldrush.replay.study.verdicts import Assessment, families

# Outcomes with one number of agents, in other words than verdicts.
_OUTCOMES: Final = {
    SUPPORTED: "as expected",
    NOT_SUPPORTED: "not as expected",
    UNDECIDED: "unclear",
}


def format_effect(change: PairedChange) -> str:
    """An effect with its interval: "0.60 [0.10, 0.85]"."""
    return within_bounds(change.effect, change.effect_low, change.effect_high)


def criteria_tables(study: ReportedStudy) -> list[ReportTable]:
    """The verdicts, what they rest on, and each treatment by itself; empty without criteria."""
    criteria, verdicts = study.of.studies.criteria, study.assessment.verdicts
    if not criteria.every:
        return []
    tables = [_verdict_table(study, verdicts), *_behind(study)] if verdicts else []
    rows: list[list[Content]] = [
        [
            *study.of_cell(cell), str(study.results.config(cell).agents),
            *(Marked(_OUTCOMES[each.outcome], each.note) for each in study.assessment.judged(cell)),
        ]
        for cell in study.cells
    ]  # fmt: skip
    head = [*study.cell_head, "N", *(criterion.name for criterion in criteria.every)]
    caption = "Outcomes of each treatment with its own number of agents."
    return [*tables, ReportTable("every-treatment", head, rows, caption)]


def _verdict_table(study: ReportedStudy, verdicts: Sequence[CriterionVerdict]) -> ReportTable:
    """The verdicts, beside those on halves of all units, which the beginning of a run is in."""
    whole = Assessment(study.results, burn_in=False).verdicts
    rows: list[list[Content]] = [
        [
            now.treatments, now.roster, str(now.rounds), *study.covariate(*now.cells),
            now.criterion, *(Marked(verdict.verdict, verdict.note) for verdict in (now, then)),
        ]
        for now, then in zip(verdicts, whole, strict=True)
    ]  # fmt: skip
    sizes = " and ".join(f"with N = {n}" for n in study.of.studies.criteria.sizes)
    head = [
        "treatments", "roster", study.units, *study.covariates, "criterion", "verdict",
        "without a burn-in",
    ]  # fmt: skip
    return ReportTable("verdicts", head, rows, f"Verdicts on each criterion, {sizes}.")


_BEHIND: Final = (
    "sub-measure", "N", "first half", "second half", "difference ± 95%",
    "seeds as expected", "opposite", "same", "p", "Holm", "Holm, opposite", "effect", "shows",
)  # fmt: skip


def _behind(study: ReportedStudy) -> Iterator[ReportTable]:
    """The tests behind the verdicts, a table for each family of cells."""
    for index, cells in enumerate(families(study.results), 1):
        by_size = [(cell, study.assessment.findings(cell)) for cell in cells]
        rows = [
            _finding_row(study, cell, findings[name])
            for name in by_size[0][1]
            for cell, findings in by_size
        ]
        treatments = " and ".join(cell.treatment for cell in cells)
        null = NULL_NOTE if study.assessment.is_null(cells[0]) else ""
        covariates = zip(study.covariates, study.covariate(*cells), strict=True)
        where = [cells[0].roster, treatments, study.horizon(cells[0].rounds)]
        caption = f"{', '.join([*where, *map(' '.join, covariates)])}{null}."
        yield ReportTable(f"behind-{index}", _BEHIND, rows, caption)


def _finding_row(study: ReportedStudy, cell: Cell, finding: Finding) -> list[str]:
    change = finding.change
    arrow = "↑" if change.expected > 0 else "↓"
    data = "" if change.n == change.seeds else f" ({change.n} with data)"
    shows = finding.shows if finding.shows == finding.alone else f"{finding.alone}, {finding.shows}"
    return [
        f"{study.results.measures.known[finding.measure].title}{TOGETHER}{arrow}",
        str(study.results.config(cell).agents),
        rounded(change.first),
        rounded(change.second),
        bounds(change.difference),
        f"{change.right} of{TOGETHER}{change.seeds}{data}",
        str(change.wrong),
        str(change.same),
        p_value(change.p),
        p_value(finding.holm),
        p_value(finding.holm_opposite),
        format_effect(change),
        shows,
    ]


def too_few(study: ReportedStudy) -> str:
    """That there are too few seeds for any test to pass, and how many would do; empty if there are
    enough, or no verdicts.
    """
    cells = {cell for verdict in study.assessment.verdicts for cell in verdict.cells}
    fewest = min(
        (len({run.draw for run in study.results.by_cell[cell]}) for cell in cells), default=0
    )
    measures = len(study.of.studies.criteria.expected)
    enough = seeds_for(measures)
    if not cells or fewest >= enough:
        return ""
    return (
        f"With {format_count(fewest, 'seed')}, the smallest possible p-value is "
        f"{p_value(smallest_p(fewest))} before the correction, so no sub-measure can pass the test "
        f"in either direction. At least {enough} seeds are needed."
    )
