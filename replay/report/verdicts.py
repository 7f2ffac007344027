"""Verdicts of a report: tiles, the sentence that sums them up, the tables behind them and the
figure of their effects.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

import attrs

from goldrush.kernel.text import format_count
from goldrush.replay.report.answer import NULL_NOTE
from goldrush.replay.report.figure import Figure
from goldrush.replay.report.numbers import TOGETHER, bounds, p_value, rounded, within_bounds
from goldrush.replay.report.plot import DOTS, ZERO, Row, styles_of
from goldrush.replay.report.reported import ReportedStudy
from goldrush.replay.report.tables import Content, Marked, ReportTable
from goldrush.replay.study.inference import SIGNIFICANT, PairedChange, smallest_p
from goldrush.replay.study.judging import (
    NOT_SUPPORTED,
    SUPPORTED,
    UNDECIDED,
    CriterionVerdict,
    Finding,
)
from goldrush.replay.study.records import Cell
from goldrush.replay.study.verdicts import Assessment, families
from goldrush.replay.text import capitalized

VARIES: Final = "varies"  # in a tile: the verdicts differ
NAMED_MAX: Final = 4  # verdicts named in the sentence; the table has all
EFFECT: Final = (
    "the matched-pairs rank-biserial correlation and its 95% interval (an effect of 1 or −1 has "
    "none)"
)
# Outcomes with one number of agents, in other words than verdicts.
_OUTCOMES: Final = {
    SUPPORTED: "as expected",
    NOT_SUPPORTED: "not as expected",
    UNDECIDED: "unclear",
}


@attrs.frozen
class Tile:
    """A verdict on a subject at the top of a section, with a short explanation."""

    name: str
    verdict: str
    text: str


def tiles(verdicts: Sequence[CriterionVerdict]) -> list[Tile]:
    """A tile for each criterion."""
    by_criterion: dict[str, list[CriterionVerdict]] = {}
    for verdict in verdicts:
        by_criterion.setdefault(verdict.criterion, []).append(verdict)
    return [
        tile(criterion, [verdict.verdict for verdict in members], members[0].note)
        for criterion, members in by_criterion.items()
    ]


def tile(name: str, outcomes: Sequence[str], why: str = "") -> Tile:
    """A tile for the verdicts on a criterion; `why`: the reason, shown for a single verdict."""
    if len(set(outcomes)) == 1:
        text = why if len(outcomes) == 1 else f"in all {len(outcomes)} comparisons"
        return Tile(name, outcomes[0], text)
    counts = [
        (outcome, outcomes.count(outcome)) for outcome in (SUPPORTED, NOT_SUPPORTED, UNDECIDED)
    ]
    return Tile(name, VARIES, ", ".join(f"{n} {outcome}" for outcome, n in counts if n))


def finding(verdicts: Sequence[tuple[str, str]]) -> str:
    """A sentence on verdicts, given as pairs of subject and verdict."""
    if len(verdicts) == 1:
        [(name, verdict)] = verdicts
        return f"{capitalized(name)}: {verdict}."
    supported = [name for name, verdict in verdicts if verdict == SUPPORTED]
    outcomes = [verdict for _, verdict in verdicts]
    counts = [(outcomes.count(outcome), outcome) for outcome in (NOT_SUPPORTED, UNDECIDED)]
    others = " and ".join(
        f"{n:,} {'is' if n == 1 else 'are'} {outcome}" for n, outcome in counts if n
    )
    if len(set(outcomes)) == 1 and not supported:
        others = f"all are {outcomes[0]}"
    if not supported:
        return f"None of {format_count(len(outcomes), 'verdict')} is {SUPPORTED}: {others}."
    rest = f"; of the others, {others}" if others else ""
    more = len(supported) - NAMED_MAX
    named = [*supported[:NAMED_MAX], *([f"and {more:,} more"] if more > 0 else [])]
    return (
        f"{len(supported):,} of {format_count(len(outcomes), 'verdict')} "
        f"{'is' if len(supported) == 1 else 'are'} {SUPPORTED} ({'; '.join(named)}){rest}."
    )


def names_of(verdicts: Sequence[CriterionVerdict]) -> list[tuple[str, str]]:
    """Verdicts as pairs of subject and verdict."""
    return [
        (f"{verdict.criterion} of {verdict.roster} under {verdict.treatments}", verdict.verdict)
        for verdict in verdicts
    ]


def format_effect(change: PairedChange) -> str:
    """An effect with its interval: "0.60 [0.10, 0.85]"."""
    return within_bounds(change.effect, change.effect_low, change.effect_high)


def effects(
    study: ReportedStudy, rows: Sequence[Row], caption: str, cells: Sequence[Cell]
) -> list[Figure]:
    """The effects behind verdicts, by size."""
    return study.figure(
        "effects", DOTS, rows, caption, cells,
        styles_of(list(dict.fromkeys(row.series for row in rows))), rule=ZERO, limits=(-1.0, 1.0),
        x_label="← opposite · effect · as expected →",
    )  # fmt: skip


def effect_row(
    panel: str, series: str, x: str, change: PairedChange, label: str | None = None
) -> Row:
    """A row of an effect; without one, no pair changed."""
    label = "no change to test" if change.effect is None else label
    ends = change.effect_low, change.effect_high
    return Row(panel, series, x, change.effect, *ends, change.n, label)


def criteria_figure(study: ReportedStudy) -> list[Figure]:
    """The effects behind all verdicts on the criteria of the world."""
    verdicts, measures = study.assessment.verdicts(), study.results.measures.known
    horizons = {verdict.rounds for verdict in verdicts}
    rows = []
    for verdict in verdicts:
        first = verdict.cells[0]
        where = f"{first.treatment}, {first.roster}"
        where += f", {verdict.rounds}" if len(horizons) > 1 else ""
        rows += [
            effect_row(
                f"{verdict.criterion}: {measures[each.measure].title}", f"N = {size}", where,
                each.change, judged.cell.format(study.units),
            )
            for size, judged in verdict.by_size.items()
            for each in judged.findings
        ]  # fmt: skip
    panels = list(dict.fromkeys(row.panel for row in rows))
    rows.sort(key=lambda row: panels.index(row.panel))
    caption = (
        f"Effects behind the verdicts, second half against first, by treatment and roster: "
        f"{EFFECT}. A row is named by the treatment with fewer agents; the data name that of each "
        "point. On the right: as expected; on the left: the opposite. A criterion is supported "
        "only if all points of its panels are on the right, significant, and not shown by the "
        "null as well."
    )
    cells = list(dict.fromkeys(cell for verdict in verdicts for cell in verdict.cells))
    return effects(study, rows, caption, cells)


def criteria_tables(study: ReportedStudy) -> list[ReportTable]:
    """The verdicts, what they rest on, and each treatment by itself; empty without criteria."""
    criteria, verdicts = study.of.studies.criteria, study.assessment.verdicts()
    if not criteria.every:
        return []
    names = [criterion.name for criterion in criteria.every]
    tables = []
    if verdicts:
        by_family: dict[tuple[str, ...], list[CriterionVerdict]] = {}
        for verdict in verdicts:
            key = (verdict.treatments, verdict.roster, str(verdict.rounds))
            by_family.setdefault(key, []).append(verdict)
        rows: list[list[Content]] = [
            [
                *key, *study.covariate(*members[0].cells),
                *(Marked(verdict.verdict, verdict.note) for verdict in members),
            ]
            for key, members in by_family.items()
        ]  # fmt: skip
        sizes = " and ".join(f"with N = {n}" for n in criteria.sizes)
        head = ["treatments", "roster", study.units, *study.covariates, *names]
        tables = [
            ReportTable("verdicts", head, rows, f"Verdicts on each criterion, {sizes}."),
            *_behind(study),
            *_without_burn_in(study, verdicts),
        ]
    alone: list[list[Content]] = [
        [
            treatment, study.answer.label(cell.roster), str(rounds),
            str(study.results.config(cell).agents), *study.covariate(cell),
            *(Marked(_OUTCOMES[each.outcome], each.note) for each in study.assessment.judged(cell)),
        ]
        for (treatment, rounds), cells in study.groups.items()
        for cell in cells
        if cell not in study.same
    ]  # fmt: skip
    head = ["treatment", "roster", study.units, "N", *study.covariates, *names]
    caption = "Outcomes of each treatment with its own number of agents."
    return [*tables, ReportTable("every-treatment", head, alone, caption)]


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
        sizes = ", ".join(
            " ".join(
                [
                    *study.covariates, *study.covariate(cell),
                    f"with N = {study.results.config(cell).agents}",
                ]
            )
            for cell in cells
        )  # fmt: skip
        treatments = " and ".join(cell.treatment for cell in cells)
        where = f"{cells[0].roster}, {treatments}, {study.horizon(cells[0].rounds)}"
        null = NULL_NOTE if study.assessment.is_null(cells[0]) else ""
        yield ReportTable(f"behind-{index}", _BEHIND, rows, f"{where}: {sizes}{null}.")


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


def _without_burn_in(
    study: ReportedStudy, verdicts: Sequence[CriterionVerdict]
) -> list[ReportTable]:
    """The verdicts that differ on halves of all units, where the beginning of a run counts, too."""
    whole = Assessment(study.results, burn_in=False).verdicts()
    rows: list[list[Content]] = [
        [
            now.treatments, now.roster, str(now.rounds), *study.covariate(*now.cells),
            now.criterion, *(Marked(verdict.verdict, verdict.note) for verdict in (now, then)),
        ]
        for now, then in zip(verdicts, whole, strict=True)
        if now.verdict != then.verdict
    ]  # fmt: skip
    head = [
        "treatments", "roster", study.units, *study.covariates, "criterion", "after the burn-in",
        f"all {study.units}",
    ]  # fmt: skip
    return (
        [ReportTable("no-burn-in", head, rows, "Verdicts that differ without a burn-in.")]
        if rows
        else []
    )


@attrs.frozen
class TooFew:
    """A study with too few seeds for any test to pass: how many, the least p, and how many would
    do.
    """

    seeds: str
    least_p: str
    enough: int


def too_few(study: ReportedStudy) -> TooFew | None:
    """None if there are enough seeds, or no verdicts."""
    cells = {cell for verdict in study.assessment.verdicts() for cell in verdict.cells}
    fewest = min(
        (len({run.draw for run in study.results.by_cell[cell]}) for cell in cells), default=0
    )
    measures = len(study.of.studies.criteria.expected)
    if not cells or _can_pass(fewest, measures):
        return None
    enough = next(seeds for seeds in range(fewest, fewest + 64) if _can_pass(seeds, measures))
    return TooFew(format_count(fewest, "seed"), p_value(smallest_p(fewest)), enough)


def _can_pass(seeds: int, measures: int) -> bool:
    """Whether any sub-measure can pass: Holm multiplies the smallest p by their number."""
    return measures * smallest_p(seeds) < SIGNIFICANT
