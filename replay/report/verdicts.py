"""Verdicts of a report: their tables."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from goldrush.kernel.text import format_count
from goldrush.replay.report.answer import NULL_NOTE
from goldrush.replay.report.numbers import TOGETHER, bounds, p_value, rounded, within_bounds
from goldrush.replay.report.reported import ReportedStudy
from goldrush.replay.report.tables import Content, Marked, ReportTable
from goldrush.replay.study.inference import seeds_for, smallest_p
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


def criteria_tables(study: ReportedStudy) -> list[ReportTable]:
    """The verdicts, what they rest on, and each treatment by itself; empty without criteria."""
    criteria, verdicts = study.of.studies.criteria, study.assessment.verdicts
    if not criteria.every:
        return []
    tables = [_verdict_table(study, verdicts), *_behind(study)] if verdicts else []
    rows: list[dict[str, Content]] = [
        {
            **study.of_cell(cell), "N": str(study.results.config(cell).agents),
            **{each.criterion: Marked(_OUTCOMES[each.outcome], each.note)
               for each in study.assessment.judged(cell)},
        }
        for cell in study.cells
    ]  # fmt: skip
    caption = "Outcomes of each treatment with its own number of agents."
    return [*tables, ReportTable.of("every-treatment", caption, rows)]


def _verdict_table(study: ReportedStudy, verdicts: Sequence[CriterionVerdict]) -> ReportTable:
    """The verdicts, beside those on halves of all units, which the beginning of a run is in."""
    whole = Assessment(study.results, burn_in=False).verdicts
    rows: list[dict[str, Content]] = [
        {
            "treatments": now.treatments, "roster": now.roster, study.units: str(now.rounds),
            **study.covariate(*now.cells), **study.failed(*now.cells),
            "criterion": now.criterion,
            "verdict": Marked(now.verdict, now.note),
            "without a burn-in": Marked(then.verdict, then.note),
        }
        for now, then in zip(verdicts, whole, strict=True)
    ]  # fmt: skip
    sizes = " and ".join(f"with N = {n}" for n in study.of.studies.criteria.sizes)
    return ReportTable.of("verdicts", f"Verdicts on each criterion, {sizes}.", rows)


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
        named = {**study.covariate(*cells), **study.failed(*cells)}
        covariates = map(" ".join, named.items())
        where = [cells[0].roster, treatments, study.horizon(cells[0].rounds), *covariates]
        yield ReportTable.of(f"behind-{index}", f"{', '.join(where)}{null}.", rows)


def _finding_row(study: ReportedStudy, cell: Cell, finding: Finding) -> dict[str, str]:
    change = finding.change
    arrow = "↑" if change.expected > 0 else "↓"
    data = "" if change.n == change.seeds else f" ({change.n} with data)"
    shows = finding.shows if finding.shows == finding.alone else f"{finding.alone}, {finding.shows}"
    return {
        "sub-measure": f"{study.results.measures.known[finding.measure].title}{TOGETHER}{arrow}",
        "N": str(study.results.config(cell).agents),
        "first half": rounded(change.first),
        "second half": rounded(change.second),
        "difference ± 95%": bounds(change.difference),
        "seeds as expected": f"{change.right} of{TOGETHER}{change.seeds}{data}",
        "opposite": str(change.wrong),
        "same": str(change.same),
        "p": p_value(change.p),
        "Holm": p_value(finding.holm),
        "Holm, opposite": p_value(finding.holm_opposite),
        "effect": within_bounds(change.effect, change.effect_low, change.effect_high),
        "shows": shows,
    }


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
