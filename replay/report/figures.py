"""The figures of a study that are common to all worlds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import attrs

from goldrush.replay.data.measures import AgentMeasure, Measure
from goldrush.replay.report.figure import Figure
from goldrush.replay.report.numbers import MINUS
from goldrush.replay.report.plot import DOTS, LINES, ZERO, Row, Style, styles_of
from goldrush.replay.report.reported import ReportedStudy
from goldrush.replay.study.inference import Interval, interval
from goldrush.replay.study.outcomes import TREATMENTS, Comparison, outcome_in
from goldrush.replay.study.records import Cell
from goldrush.replay.text import capitalized

RARE: Final = 10  # a line that is defined in at most one of so many windows is not drawn
ROWS_MAX: Final = 24  # rows of a panel of the first figures
FIRST, SECOND = "first half", "second half"
UNCORRECTED: Final = "The intervals are not corrected for the number of comparisons."

Limits = tuple[float, float]


@attrs.frozen
class Drawn:
    """Figures, and sentences on what is not drawn, by reason."""

    figures: Sequence[Figure]
    omitted: Sequence[str] = ()


def within(limits: Limits, values: Interval) -> tuple[float | None, float | None]:
    """The ends of an interval, cut at the limits of the measure."""
    if values.low is None or values.high is None:
        return None, None
    return max(values.low, limits[0]), min(values.high, limits[1])


def row_of(
    panel: str, series: str, x: str | float, values: Interval, limits: Limits | None = None,
    label: str | None = None,
) -> Row:  # fmt: skip
    """A row of a mean with its interval."""
    ends = (values.low, values.high) if limits is None else within(limits, values)
    return Row(panel, series, x, values.mean, *ends, values.n, label)


def _left_out(reasons: Mapping[str, Sequence[str]]) -> list[str]:
    return [f"{reason}: {', '.join(titles)}." for reason, titles in reasons.items() if titles]


def cell_labels(study: ReportedStudy) -> dict[Cell, str]:
    """The rows of cells: the treatment, and the horizon where there are several."""
    several = len(study.results.horizons) > 1
    return {
        cell: f"{cell.treatment}{f', {cell.rounds}' if several else ''}"
        for cell in study.results.by_cell
    }


def outcome_figures(study: ReportedStudy) -> list[Figure]:
    """The outcome of each cell, differences of the first kind that is compared, policies within
    rosters, and every run.
    """
    outcome, labels, answer = study.answer.outcome, cell_labels(study), study.answer
    title = capitalized(outcome.title)
    means = f"{title}{outcome.how}: mean over seeds and 95% interval"
    of_cells = [each for each in answer.standings if not each.policy][: 4 * ROWS_MAX]
    of_policies = [each for each in answer.standings if each.policy][: 4 * ROWS_MAX]
    cells = study.cells
    return [
        *study.figure(
            "answer", DOTS,
            [row_of(outcome.title, each.cell.roster, labels[each.cell], each.values)
             for each in of_cells],
            f"{means}, by treatment{' and roster' if study.is_played else ''}.", cells,
        ),
        *_differences(study, cells),
        *study.figure(
            "by-policy", DOTS,
            [row_of(outcome.title, each.policy, f"{labels[each.cell]}, {each.cell.roster}",
                    each.values) for each in of_policies],
            f"{means}, by policy within each cell.", cells,
        ),
        *study.figure(
            "by-run", DOTS,
            [
                Row(outcome.title, cell.roster, labels[cell], outcome.of_run(run),
                    label=f"seed {run.seed}", href=study.hrefs.get((cell, run.seed), ""))
                for cell in cells
                for run in study.results.by_cell[cell]
                if outcome.of_run(run) is not None
            ],
            f"{title}{outcome.how}: a point for each run"
            f"{', linked to its page' if study.hrefs else ''}.", cells,
        ),
    ]  # fmt: skip


def _differences(study: ReportedStudy, cells: Sequence[Cell]) -> list[Figure]:
    """A row for each pair of names, its points by what they have in common; of many pairs those
    with the first name.
    """
    title = study.answer.outcome.title
    for kind, compared in list(study.answer.comparisons.items())[:1]:
        pairs = {(comparison.a, comparison.b, comparison.rounds) for comparison in compared}
        if len(pairs) > ROWS_MAX:
            compared = [each for each in compared if each.a == compared[0].a]
        series = {each: _in_common(each) for each in compared}
        horizons = {each.rounds for each in compared}
        return study.figure(
            "differences", DOTS,
            [
                row_of(
                    f"{title}: differences between {kind}", series[each],
                    f"{each.b} {MINUS} {each.a}{f', {each.rounds}' if len(horizons) > 1 else ''}",
                    each.change.difference,
                )
                for each in compared
            ],
            f"{capitalized(title)}: mean difference between runs with the same seed and its 95% "
            f"interval. {UNCORRECTED}", cells,
            {**styles_of(list(dict.fromkeys(series.values()))), **study.styles}, rule=ZERO,
        )  # fmt: skip
    return []


def _in_common(comparison: Comparison) -> str:
    return comparison.cells[0].roster if comparison.kind == TREATMENTS else comparison.where


def over_time(study: ReportedStudy, rounds: int) -> Drawn:
    """A figure of each measure over the units of runs of one horizon: a line for each treatment or
    roster, the mean over seeds with its 95% interval; of a measure of agents for each policy.
    """
    cells = [cell for cell in study.cells if cell.rounds == rounds]
    known = study.shown(study.of.studies.curves)
    courses = {name for cell in cells for name in study.results.by_cell[cell][0].course.means}
    of_agents = study.results.measures.of_agents
    measures: list[AgentMeasure | Measure] = []
    measures += [each for each in of_agents.values() if each.name in courses]
    measures += [measure for measure in known.values() if measure.by_unit]
    drawn: dict[str, Figure] = {}
    undefined, zero, same, rare = [], [], [], []
    for measure in measures:
        rows, styles = _courses(study, measure, cells)
        values = [row.y for row in rows if row.y is not None]
        twin = next((title for title, other in drawn.items() if _equal(other.rows, rows)), None)
        if not values:
            undefined.append(measure.title)
        elif not any(row.high or row.y for row in rows):
            zero.append(measure.title)
        elif len(values) * RARE <= len(rows):
            rare.append(measure.title)
        elif twin is not None:
            same.append(f"{measure.title} (as {twin})")
        else:
            several = f"-{rounds}" if len(study.results.horizons) > 1 else ""
            [drawn[measure.title]] = study.figure(
                f"{study.units}-{measure.name}{several}", LINES, rows,
                f"{capitalized(measure.title)} over {study.horizon(rounds)}: mean over seeds and "
                f"95% interval. {measure.definition}",
                cells, styles, x_label=study.of.vocabulary.unit,
            )  # fmt: skip
    omitted = _left_out(
        {
            "No data for": undefined,
            "0 throughout": zero,
            f"Defined in at most 1 of {RARE} windows": rare,
            "Identical to another one": same,
        }
    )
    return Drawn(list(drawn.values()), omitted)


def _courses(
    study: ReportedStudy, measure: AgentMeasure | Measure, cells: Sequence[Cell]
) -> tuple[list[Row], Mapping[str, Style]]:
    """The rows of a measure over time, with the styles of their series: those of `lines`, or the
    policies of cells with several, each cell in a panel of its own. A mean stands in the middle of
    its window.
    """
    by_cell = study.results.by_cell
    curves = {cell: outcome_in(by_cell[cell], measure).over_units(by_cell[cell]) for cell in cells}
    by_policy = any(len(of_cell) > 1 for of_cell in curves.values())
    names, styles = study.lines(cells)
    if by_policy:
        styles = dict(study.styles)
    limits = measure.limits if isinstance(measure, Measure) else None
    start = study.of.vocabulary.number(0)
    rows = []
    for cell, of_cell in curves.items():
        panel, series = (", ".join(filter(None, names[cell])), "") if by_policy else names[cell]
        title = f"{measure.title}, {panel}" if panel else measure.title
        rows += [
            row_of(title, series or policy, start + (span.first + span.last) / 2, values, limits)
            for policy, curve in of_cell.items()
            for span, values in curve
        ]
    return rows, styles


def _equal(a: Sequence[Row], b: Sequence[Row]) -> bool:
    """Whether rows have the same values, whatever their panel."""
    return [attrs.evolve(row, panel="") for row in a] == [attrs.evolve(row, panel="") for row in b]


def halves(study: ReportedStudy, rounds: int) -> Drawn:
    """The judged measures in both halves of the runs of one horizon; without criteria, all."""
    cells = [cell for cell in study.cells if cell.rounds == rounds]
    expected = study.of.studies.criteria.expected
    known = study.shown(None)
    shown = study.shown(expected or [name for name in known if known[name].by_half])
    names, _ = study.lines(cells)
    rows: list[Row] = []
    undefined, zero = [], []
    for name, measure in shown.items():
        arrow = {1: " ↑", -1: " ↓"}.get(expected.get(name, 0), "")
        pairs = {
            cell: [(run.draw, *run.halves[name]) for run in study.results.by_cell[cell]
                   if None not in run.halves[name]]
            for cell in cells
        }  # fmt: skip
        if not any(pairs.values()):
            undefined.append(measure.title)
        elif not any(any(pair) for each in pairs.values() for _, *pair in each):
            zero.append(measure.title)
        else:
            for cell, every in pairs.items():
                title, label = f"{measure.title}{arrow}", ", ".join(filter(None, names[cell]))
                rows += _halves(every, title, label, measure.limits)
    blank = Style(0, label=FIRST, hollow=True), Style(0, label=SECOND)
    several = f"-{rounds}" if len(study.results.horizons) > 1 else ""
    found = study.figure(
        f"halves{several}", DOTS, rows,
        f"The first and the second half of runs of {study.horizon(rounds)}, after a burn-in of a "
        "tenth: mean over seeds with data in both, and 95% interval."
        f"{' Arrows: the expected direction.' if expected else ''}",
        cells, dict(zip((FIRST, SECOND), blank, strict=True)),
    )  # fmt: skip
    return Drawn(found, _left_out({"No data for": undefined, "0 in every half": zero}))


def _halves(pairs: Sequence[tuple[Any, ...]], title: str, label: str, limits: Limits) -> list[Row]:
    """The rows of a cell: the first half before the second."""
    if not pairs:
        return [Row(title, FIRST, label, None, label="no data")]
    draws, *both = zip(*pairs, strict=True)
    return [
        row_of(title, name, label, interval(values, draws), limits)
        for name, values in zip((FIRST, SECOND), both, strict=True)
    ]


def forest(study: ReportedStudy, rounds: int) -> Drawn:
    """Treatments against the baseline of their roster: mean difference and its 95% interval, a
    panel for each measure.
    """
    compared = [each for each in study.against if not each.identical and each.cell.rounds == rounds]
    rows: list[Row] = []
    undefined, zero = [], []
    for name, measure in study.shown(study.of.studies.compared).items():
        values = {each.cell: each.differences[name] for each in compared}
        known = [each for each in values.values() if each.mean is not None]
        if not known:
            undefined.append(measure.title)
        elif not any(each.mean or each.high for each in known):
            zero.append(measure.title)
        else:
            rows += [
                row_of(measure.title, cell.roster, treatment_label(study, cell), each)
                for cell, each in values.items()
                if each.mean is not None
            ]
    cells = [cell for each in compared for cell in (each.baseline, each.cell)]
    several = f"-{rounds}" if len(study.results.horizons) > 1 else ""
    found = study.figure(
        f"forest{several}", DOTS, rows,
        f"Treatments {MINUS} baseline, {study.horizon(rounds)}: the mean difference between runs "
        f"with the same seed and its 95% interval. {UNCORRECTED}",
        list(dict.fromkeys(cells)), rule=ZERO,
    )  # fmt: skip
    return Drawn(found, _left_out({"No data for": undefined, "No difference in any seed": zero}))


def treatment_label(study: ReportedStudy, cell: Cell) -> str:
    return " ".join([cell.treatment, *(f"({it})" for it in study.covariate(cell))])
