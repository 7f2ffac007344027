"""Mining's own part of a report: the trade-off, and survival of ownership. Its prose is in
`report.html`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

from goldrush.replay.report.chapter import Chapter
from goldrush.replay.report.figure import Figure
from goldrush.replay.report.numbers import number, within_bounds
from goldrush.replay.report.plot import SCATTER, STEPS, Row
from goldrush.replay.report.reported import ReportedStudy
from goldrush.replay.report.tables import ReportTable
from goldrush.replay.study.comparisons import baseline_of
from goldrush.replay.study.records import Cell
from goldrush.replay.worlds.mining.measures import MEASURES
from goldrush.replay.worlds.mining.spells import curve
from goldrush.replay.worlds.mining.study import trade_offs

SCARCE: Final = 1.0  # the pressure at and above which plots are scarce


def figures_of(study: ReportedStudy) -> Iterator[Figure]:
    """For each horizon the trade-off and the survival of ownership."""
    for rounds in study.results.horizons:
        cells = [cell for cell in study.cells if cell.rounds == rounds]
        yield from _trade_off(study, cells, study.named("trade-off", rounds))
        yield from _survival(study, cells, study.named("survival", rounds))


def _trade_off(study: ReportedStudy, cells: Sequence[Cell], name: str) -> list[Figure]:
    """Concentration against turnover, a point for each run."""
    names, styles = study.lines(cells)
    rows = [
        Row(
            _titled(MEASURES[measure].title, panel), series, x, y,
            label=f"{cell.treatment}, {cell.roster}, seed {run.seed}",
        )
        for measure in ("gini", "hhi")
        for cell, (panel, series) in names.items()
        for run in study.results.by_cell[cell]
        if (x := run.run[measure]) is not None and (y := run.run["turnover"]) is not None
    ]  # fmt: skip
    caption = "Concentration of gold and of plots against the turnover rate, a point for each run."
    return study.figure(
        name, SCATTER, rows, caption, cells, styles,
        x_label="concentration at the end", y_label=MEASURES["turnover"].title,
    )  # fmt: skip


def _titled(title: str, panel: str) -> str:
    return f"{title}, {panel}" if panel else title


def _survival(study: ReportedStudy, cells: Sequence[Cell], name: str) -> list[Figure]:
    """The Kaplan–Meier curve of the ownership spells of all seeds."""
    names, styles = study.lines(cells)
    rows = []
    for cell in cells:
        lengths: Counter[tuple[int, bool]] = Counter()
        for result in study.results.by_cell[cell]:
            lengths.update(result.kept.lengths)
        if lengths:
            steps = [(0, 1.0), *curve(lengths)]
            longest = max(length for length, _ in lengths)
            panel, series = names[cell]
            rows += [
                Row(_titled("ownership of plots", panel), series, at, share)
                for at, share in [*steps, (longest, steps[-1][1])]
            ]
    return study.figure(
        name, STEPS, rows,
        "Survival of ownership: Kaplan–Meier over the spells of all seeds; those still running at "
        "the end are censored.", cells, styles,
        x_label="length of a spell, rounds", y_label="share that last longer", limits=(0.0, 1.0),
    )  # fmt: skip


def values_of(study: ReportedStudy) -> Mapping[str, object]:
    """What the prose needs: under which treatments plots are scarce, and which differ in size."""
    config = study.results.config
    pressures = {cell: config(cell).pressure for cell in study.results.by_cell}
    sizes = {cell: (config(cell).agents, config(cell).plots) for cell in study.results.by_cell}
    slack = [cell for cell, pressure in pressures.items() if pressure < SCARCE]
    scarce = [cell for cell, pressure in pressures.items() if pressure >= SCARCE]
    resized = [cell for cell in study.against if sizes[cell] != sizes[baseline_of(cell)]]
    return {
        "least": number(min(pressures.values())), "most": number(max(pressures.values())),
        "slack": study.treatments(slack), "scarce": study.treatments(scarce),
        "resized": study.treatments(resized),
    }  # fmt: skip


def tables_of(study: ReportedStudy) -> list[ReportTable]:
    """Correlations of concentration and turnover."""
    return [
        ReportTable.of(
            "trade-off", "Spearman's rank correlation and its 95% interval.",
            [
                {
                    "roster": each.roster or "all", "rounds": str(each.rounds),
                    "runs": f"{each.gini.n:,}",
                    "Gini with turnover": within_bounds(each.gini),
                    "HHI with turnover": within_bounds(each.hhi),
                }
                for each in trade_offs(study.results)
            ],
        )
    ]  # fmt: skip


CHAPTER: Final = Chapter(
    template=Path(__file__).with_name("report.html"),
    tables=tables_of,
    figures=lambda study: list(figures_of(study)),
    values=values_of,
)
