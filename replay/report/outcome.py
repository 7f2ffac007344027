"""The sections of a report on the outcome: the answer with its figure, and the tables behind it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from goldrush.kernel.text import format_count
from goldrush.replay.report.figures import ROW, interval_rows, key_of, legend_of
from goldrush.replay.report.marks import WIDE, Drawn, Key, Panel, Point, Style
from goldrush.replay.report.page import (
    MINUS,
    Block,
    Content,
    Heading,
    Marked,
    TableBlock,
    Text,
    bounds,
    number,
    p_value,
    rounded,
    within_bounds,
)
from goldrush.replay.report.plot import panel_of, reach
from goldrush.replay.report.sections import ReportedStudy, figure
from goldrush.replay.report.styles import labels_of
from goldrush.replay.study.inference import Interval, interval
from goldrush.replay.study.outcomes import POLICIES, ROSTERS, TREATMENTS, Comparison
from goldrush.replay.study.records import Cell
from goldrush.replay.text import capitalized

ROWS_MAX: Final = 24  # rows of a panel of the first figure
COMPARED_MAX: Final = 60  # rows of a table of comparisons
AGENTS_MAX: Final = 20  # rows of a table by agent

DIFFERS, NOT_FOUND = "differs", "no difference found"


def answer(study: ReportedStudy) -> list[Block]:
    """The beginning of the page: three sentences and one figure."""
    return [
        *(Text(sentence, leads=True) for sentence in study.answer.sentences),
        figure(
            study, "answer", answer_figure(study), _caption(study), _cells(study),
        ),
    ]  # fmt: skip


def _caption(study: ReportedStudy) -> str:
    differences = (
        ""
        if not study.answer.comparisons
        else (
            " Differences are between runs with the same seed; their intervals are not corrected "
            "for the number of comparisons."
        )
    )
    return (
        f"{capitalized(study.answer.outcome.title)}{study.answer.outcome.how}: mean "
        f"over seeds and 95% interval.{differences}"
    )


def _cells(study: ReportedStudy) -> list[Cell]:
    return [cell for cell in study.results.by_cell if cell not in study.same]


def answer_figure(study: ReportedStudy) -> Drawn:
    """The outcome of each cell, the first kind of differences, and policies within rosters."""
    title, styles, keys = study.answer.outcome.title, study.styles, dict[str, Key]()
    labels = _cell_labels(study)
    of_cells = [
        (labels[standing.cell], standing.cell.roster, standing.values)
        for standing in study.answer.standings
        if not standing.policy
    ]
    of_policies = [
        (f"{labels[standing.cell]}, {standing.cell.roster}", standing.policy, standing.values)
        for standing in study.answer.standings
        if standing.policy
    ]
    panels = _panel(title, of_cells[: 4 * ROWS_MAX], styles, keys, zero=False)
    for kind, compared in list(study.answer.comparisons.items())[:1]:
        panels += _panel(
            f"{title}: differences between {kind}", _differences(compared), styles, keys, zero=True
        )
    panels += _panel(f"{title}, by policy", of_policies[: 4 * ROWS_MAX], styles, keys, zero=False)
    return Drawn(panels, list(keys.values()))


def _cell_labels(study: ReportedStudy) -> dict[Cell, str]:
    """The rows of cells: the treatment, and the horizon where there are several."""
    cells = list(study.results.by_cell)
    several = len(study.results.horizons) > 1
    return {cell: f"{cell.treatment}{f', {cell.rounds}' if several else ''}" for cell in cells}


def _differences(compared: Sequence[Comparison]) -> list[tuple[str, str, Interval]]:
    """A row for each pair of names, its points by what they have in common; of many pairs those
    with the first name.
    """
    several = len({comparison.rounds for comparison in compared}) > 1
    if len({(comparison.a, comparison.b, comparison.rounds) for comparison in compared}) > ROWS_MAX:
        compared = [comparison for comparison in compared if comparison.a == compared[0].a]
    return [
        (
            f"{comparison.b} {MINUS} {comparison.a}{f', {comparison.rounds}' if several else ''}",
            comparison.cells[0].roster if comparison.kind == TREATMENTS else comparison.where,
            comparison.change.difference,
        )
        for comparison in compared
    ]


def _panel(
    title: str,
    rows: Sequence[tuple[str, str, Interval]],
    styles: Mapping[str, Style],
    keys: dict[str, Key],
    *,
    zero: bool,
) -> list[Panel]:
    """A panel of rows given as (label, name of the style, interval); none without data."""
    defined = [row for row in rows if row[2].mean is not None]
    if not defined:
        return []
    labels = list(dict.fromkeys(label for label, *_ in defined))
    names = list(dict.fromkeys(name for _, name, _ in defined))
    used = {name: styles.get(name, Style("ink", (), "circle", name, name)) for name in names}
    keys.update({name: key_of(style) for name, style in used.items() if name in styles})
    points = [(labels.index(label), name, values) for label, name, values in defined]
    return [interval_rows(title, labels, names, points, used, zero=zero)]


# the tables behind the answer


def outcome_section(study: ReportedStudy) -> list[Block]:
    """The outcome by treatment, roster and policy, by run, by agent, and all comparisons."""
    outcome = study.answer.outcome
    return [
        Heading(2, capitalized(outcome.title), "outcome"),
        Text(f"{capitalized(outcome.title)}: {outcome.definition}"),
        _standings(study),
        figure(
            study, "by-run", runs_figure(study),
            f"{capitalized(outcome.title)}{study.answer.outcome.how}, a point for each run"
            f"{', linked to its page' if study.hrefs else ''}.",
            _cells(study),
        ),
        *_by_agent(study),
        *_compared(study),
    ]  # fmt: skip


def _standings(study: ReportedStudy) -> Block:
    rows: list[Sequence[Content]] = []
    for standing in study.answer.standings:
        runs = study.results.by_cell[standing.cell]
        agents = (
            runs[0].policies.count(standing.policy) if standing.policy else len(runs[0].policies)
        )
        rows.append(
            [
                standing.cell.treatment, study.answer.label(standing.cell.roster),
                *_if_several(study, str(standing.cell.rounds)), *study.covariate(standing.cell),
                standing.policy or "all agents", str(agents), f"{standing.values.n}",
                bounds(standing.values),
            ]
        )  # fmt: skip
    head = [
        "treatment", "roster", *_if_several(study, study.units), *study.covariates, "policy",
        "agents", "seeds", "mean ± 95%",
    ]  # fmt: skip
    caption = f"{capitalized(study.answer.outcome.title)} by treatment, roster and policy."
    return TableBlock(head, rows, caption)


def _if_several(study: ReportedStudy, horizon: str) -> list[str]:
    """A cell of the column of horizons, which only a study of several has."""
    return [horizon] if len(study.results.horizons) > 1 else []


def runs_figure(study: ReportedStudy) -> Drawn:
    """A point for each run, in a row for each treatment with its rosters below each other."""
    labels, outcome = _cell_labels(study), study.answer.outcome
    cells = _cells(study)
    rows = list(dict.fromkeys(labels[cell] for cell in cells))
    rosters = list(dict.fromkeys(cell.roster for cell in cells))
    points = [
        (cell, run, value)
        for cell in cells
        for run in study.results.by_cell[cell]
        if (value := outcome.of_run(run)) is not None
    ]
    if not points:
        return Drawn([], [])
    marks = []
    for cell, run, value in points:
        place = (rosters.index(cell.roster) + 0.5) / len(rosters) * 0.8 - 0.4
        text = f"{labels[cell]}, {cell.roster}, seed {run.seed}: {number(value)}"
        href = study.hrefs.get((cell, run.seed), "")
        at, style = rows.index(labels[cell]) + place, study.styles[cell.roster]
        marks.append(Point(style, value, at, text=text, href=href, group=f"seed {run.seed}"))
    panel = panel_of(
        outcome.title, reach(value for *_, value in points), (0, 0), marks,
        f"{outcome.title}: {format_count(len(points), 'run')}",
        rows=list(labels_of(rows).values()), names=rows, width=WIDE,
        height=44 + max(ROW, 10.0 * len(rosters) + 4) * len(rows),
    )  # fmt: skip
    return Drawn([panel], legend_of(cells, study.styles))


def _by_agent(study: ReportedStudy) -> list[Block]:
    """A table for each roster of several policies: each agent under each treatment."""
    outcome = study.answer.outcome
    if not outcome.is_by_agent:
        return []
    tables: list[Block] = []
    groups: dict[tuple[str, int, tuple[str, ...]], list[Cell]] = {}
    for cell in _cells(study):
        policies = tuple(study.results.by_cell[cell][0].policies)
        if len(set(policies)) > 1 and len(policies) <= AGENTS_MAX:
            groups.setdefault((cell.roster, cell.rounds, policies), []).append(cell)
    for (roster, rounds, policies), cells in groups.items():
        rows = [
            [
                str(agent), policy,
                *(
                    bounds(interval([outcome.of_agents(run)[agent] for run in runs],
                                    [run.draw for run in runs]))
                    for runs in map(study.results.by_cell.__getitem__, cells)
                ),
            ]
            for agent, policy in enumerate(policies)
        ]  # fmt: skip
        tables.append(
            TableBlock(
                ["agent", "policy", *(cell.treatment for cell in cells)], rows,
                f"{capitalized(outcome.title)} by agent, {roster}, {study.horizon(rounds)}: mean "
                "over seeds ± half the 95% interval.",
            )
        )  # fmt: skip
    return tables


_PAIRED: Final = {
    TREATMENTS: "roster",
    ROSTERS: "treatment",
    POLICIES: "roster and treatment",
}


def _compared(study: ReportedStudy) -> list[Block]:
    if not study.answer.comparisons:
        return []
    parts: list[Block] = [
        Heading(3, "Differences", "differences"),
        *(Text(verdict) for verdict in study.answer.verdicts.values()),
        Text(
            "Each row is a difference of two means, b − a, in pairs of runs with the same seed. p: "
            "two-sided Wilcoxon signed-rank test; Holm: p after Holm's correction over all "
            "comparisons of the table; effect: matched-pairs rank-biserial correlation and its 95% "
            "interval, positive if b is higher. Intervals are not corrected: one may exclude 0 "
            "though Holm's p is above 0.05. Detectable: the least difference that the test finds "
            "with 80% power at the corrected level, if pairs vary as these do. "
            f"{study.identical_text}"
        ),
    ]
    for kind, compared in study.answer.comparisons.items():
        shown = compared
        more = ""
        if len(compared) > COMPARED_MAX:
            shown = sorted(
                compared, key=lambda comparison: 2.0 if comparison.p is None else comparison.p
            )[:COMPARED_MAX]
            more = f" Those with the smallest p of {len(compared):,}; --json gives all."
        head = [
            _PAIRED[kind], *_if_several(study, study.units), "b − a", "seeds", "mean of a",
            "mean of b", "difference ± 95%", "p", "Holm", "effect", "detectable", "result",
        ]  # fmt: skip
        caption = f"{capitalized(kind)} compared in {study.answer.outcome.title}.{more}"
        parts.append(TableBlock(head, [_row(study, comparison) for comparison in shown], caption))
    return parts


def _row(study: ReportedStudy, comparison: Comparison) -> list[Content]:
    change = comparison.change
    data = "" if change.n == change.seeds else f" ({change.n} of {change.seeds})"
    return [
        comparison.where, *_if_several(study, str(comparison.rounds)),
        f"{comparison.b} {MINUS} {comparison.a}",
        f"{change.n}{data}", rounded(change.first), rounded(change.second),
        bounds(change.difference), p_value(comparison.p), p_value(comparison.holm),
        within_bounds(change.effect, change.effect_low, change.effect_high),
        number(comparison.detectable, 2), Marked(DIFFERS if comparison.differs else NOT_FOUND),
    ]  # fmt: skip
