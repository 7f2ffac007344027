"""The figures of a study and of a run that are common to all worlds."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Final

import msgspec

from goldrush.kernel.errors import BadInput
from goldrush.replay.data.measures import AgentMeasure, Measure, Measures
from goldrush.replay.data.run_data import measured_at
from goldrush.replay.data.sampling import sampled
from goldrush.replay.report.figure import Figure
from goldrush.replay.report.numbers import MINUS
from goldrush.replay.report.plot import DOTS, LINES, Row, Style, styles_of
from goldrush.replay.report.reported import ReportedStudy, defined
from goldrush.replay.study.comparisons import baseline_of
from goldrush.replay.study.contrasts import TREATMENTS
from goldrush.replay.study.inference import Interval
from goldrush.replay.study.outcomes import Comparison, outcome_in
from goldrush.replay.study.records import Cell
from goldrush.replay.text import capitalized
from goldrush.replay.tools import Tools

ROWS_MAX: Final = 24  # rows of a panel of the first figures
UNCORRECTED: Final = "The intervals are not corrected for the number of comparisons."

Limits = tuple[float, float]
NO_LIMITS: Final = (-math.inf, math.inf)


def showing(rows: Sequence[Row]) -> list[Row]:
    """The rows of panels that show something: not those without data, or 0 throughout."""
    shown = {row.panel for row in rows if row.y or row.high}
    return [row for row in rows if row.panel in shown]


def row_of(
    panel: str, series: str, x: str | float, values: Interval, limits: Limits = NO_LIMITS
) -> Row:
    """A row of a mean with its interval, which is cut at the limits of the measure."""
    low = None if values.low is None else max(values.low, limits[0])
    high = None if values.high is None else min(values.high, limits[1])
    return Row(panel, series, x, values.mean, low, high, values.n)


def outcome_figures(study: ReportedStudy) -> list[Figure]:
    """The outcome of each cell, differences of the first kind that is compared, policies within
    rosters, and every run.
    """
    outcome, answer = study.answer.outcome, study.answer
    labels = {cell: study.labelled(cell.treatment, cell.rounds) for cell in study.cells}
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
                    label=f"seed {run.seed}")
                for cell in cells
                for run in study.results.by_cell[cell]
                if outcome.of_run(run) is not None
            ],
            f"{title}{outcome.how}: a point for each run.", cells,
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
        return study.figure(
            "differences", DOTS,
            [
                row_of(
                    f"{title}: differences between {kind}", series[each],
                    study.labelled(f"{each.b} {MINUS} {each.a}", each.rounds),
                    each.change.difference,
                )
                for each in compared
            ],
            f"{capitalized(title)}: mean difference between runs with the same seed and its 95% "
            f"interval. {UNCORRECTED}", cells,
            {**styles_of(list(dict.fromkeys(series.values()))), **study.styles}, has_zero=True,
        )  # fmt: skip
    return []


def _in_common(comparison: Comparison) -> str:
    return comparison.cells[0].roster if comparison.kind == TREATMENTS else comparison.where


def over_time(study: ReportedStudy, rounds: int) -> list[Figure]:
    """A figure of each measure over the units of runs of one horizon: a line for each treatment or
    roster, the mean over seeds with its 95% interval; of a measure of agents for each policy.
    """
    cells = [cell for cell in study.cells if cell.rounds == rounds]
    known = study.shown(study.of.studies.compared)
    courses = {name for cell in cells for name in study.results.by_cell[cell][0].course.means}
    of_agents = study.results.measures.of_agents
    measures: list[AgentMeasure | Measure] = []
    measures += [each for each in of_agents.values() if each.name in courses]
    measures += [measure for measure in known.values() if measure.by_unit]
    drawn: list[Figure] = []
    for measure in measures:
        rows, styles = _courses(study, measure, cells)
        drawn += study.figure(
            study.named(f"{study.units}-{measure.name}", rounds), LINES,
            rows if showing(rows) else (),
            f"{capitalized(measure.title)} over {study.horizon(rounds)}: mean over seeds and "
            f"95% interval. {defined(measure)}",
            cells, styles, x_label=study.of.vocabulary.unit,
        )  # fmt: skip
    return drawn


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
    limits = measure.limits if isinstance(measure, Measure) else NO_LIMITS
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


def forest(study: ReportedStudy, rounds: int) -> list[Figure]:
    """Treatments against the baseline of their roster: mean difference and its 95% interval, a
    panel for each measure.
    """
    compared = [cell for cell in study.against if cell.rounds == rounds]
    rows = showing(
        [
            row_of(measure.title, cell.roster, treatment_label(study, cell),
                   study.against[cell][name])
            for name, measure in study.shown(study.of.studies.compared).items()
            for cell in compared
        ]
    )  # fmt: skip
    cells = [each for cell in compared for each in (baseline_of(cell), cell)]
    return study.figure(
        study.named("forest", rounds), DOTS, [row for row in rows if row.y is not None],
        f"Treatments {MINUS} baseline, {study.horizon(rounds)}: the mean difference between runs "
        f"with the same seed and its 95% interval. {UNCORRECTED}",
        list(dict.fromkeys(cells)), has_zero=True,
    )  # fmt: skip


def treatment_label(study: ReportedStudy, cell: Cell) -> str:
    return " ".join([cell.treatment, *(f"({it})" for it in study.covariate(cell).values())])


# The figures of a run.

SAMPLES_MAX: Final = 400  # units that are drawn of a run; of a longer one, one in 2, 4, 8, ...


def drawable(tools: Tools, known: Iterable[str]) -> Measures:
    """Those that can be drawn of a run that has these: of agents, and those that a unit has."""
    measures = tools.measures.of_run(known)
    by_unit = {name: each for name, each in measures.known.items() if each.by_unit}
    return msgspec.structs.replace(measures, known=by_unit)


def caption_of(tools: Tools, measure: AgentMeasure | Measure) -> str:
    """What a figure of this measure shows, with its definition."""
    of_policies = "" if isinstance(measure, Measure) else ", the mean of each policy"
    title, unit = capitalized(measure.title), tools.vocabulary.unit
    return f"{title} by {unit}{of_policies}. {defined(measure)}".strip()


def figure_of(tools: Tools, path: str | Path, name: str | None) -> Figure:
    """A figure of a run. `name`: of a measure; None: the outcome of its world.

    Raises BadInput for another name, and for a run without a closed unit; JournalError as reading
    a journal does.
    """
    run = measured_at(path)
    measure = drawable(tools, run.known).outcome(tools.name, name, "figure of a run")
    unit, title = run.vocabulary.unit, measure.title
    if not run.units:
        raise BadInput(f"{path} has no closed {unit}", "draw it when it has come to one")
    if isinstance(measure, Measure):
        styles = {title: Style(0, label=title)}
        values = run.values[measure.name]
        rows = [
            Row(title, title, run.vocabulary.number(at), values[at - 1])
            for at in sampled(run.units, SAMPLES_MAX)
        ]
    else:
        styles = styles_of(list(dict.fromkeys(run.roster)), studies=tools.studies)
        rows = [
            Row(title, policy, run.vocabulary.number(at), value)
            for policy, means in run.course.means.get(measure.name, {}).items()
            for at, value in zip(run.course.units, means, strict=True)
        ]
    if not rows:
        raise BadInput(f"{path} has no {measure.name}", "take another of run.figures()")
    caption = f"{caption_of(tools, measure)} {tools.measures.head(run)}."
    return Figure(
        name=measure.name, shows=caption, kind=LINES, rows=rows, styles=styles, x_label=unit
    )
