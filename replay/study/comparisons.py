"""Treatments against the baseline, run by run of the same seed.

Where a treatment cannot change anything for a roster, there is nothing to compare: it is said to be
identical by construction.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import attrs

from goldrush.kernel.rosters import Config
from goldrush.kernel.treatments import BASELINE
from goldrush.replay.study.inference import Interval, paired
from goldrush.replay.study.plan import Cell
from goldrush.replay.study.results import Results


@attrs.frozen
class Against:
    """A cell against the baseline of its roster and horizon: ours − theirs by measure, over the
    seeds that both have. `identical`: by construction, so that there are no differences.
    """

    cell: Cell
    baseline: Cell
    differences: Mapping[str, Interval]
    identical: bool


def against_baseline(results: Results[Any, Any]) -> list[Against]:
    """Every cell that is not of the baseline against the one that is, where the study has it."""
    identical = identical_cells(results)
    return [
        Against(
            cell,
            baseline,
            {} if cell in identical else _differences(results, cell, baseline),
            cell in identical,
        )
        for cell, baseline in _pairs(results)
    ]


def identical_cells(results: Results[Any, Any]) -> dict[Cell, Cell]:
    """The cells that are their baseline once more by construction, and that baseline."""
    return {
        cell: baseline
        for cell, baseline in _pairs(results)
        if results.of.studies.same(
            results.config(cell), results.config(baseline), results.by_cell[cell][0].policies
        )
    }


def nulls(results: Results[Any, Any]) -> dict[Cell, Cell]:
    """For each cell the one in which the null (Criteria.null) alone plays the same, whatever that
    roster is called; of a cell of the null itself it is that cell. Cells without one are left out.
    """
    policy = results.of.studies.criteria.null

    def setup(cell: Cell) -> tuple[str, Config]:
        return cell.treatment, attrs.evolve(results.config(cell), seed=0)

    blind = [c for c, runs in results.by_cell.items() if set(runs[0].policies) == {policy}]
    by_setup = {setup(cell): cell for cell in reversed(blind)}
    null_of = {cell: by_setup.get(setup(cell)) for cell in results.by_cell}
    return {
        cell: cell if cell in blind else null for cell, null in null_of.items() if null is not None
    }


def _pairs(results: Results[Any, Any]) -> Iterator[tuple[Cell, Cell]]:
    for cell in results.by_cell:
        baseline = attrs.evolve(cell, treatment=BASELINE)
        if cell != baseline and baseline in results.by_cell:
            yield cell, baseline


def _differences(results: Results[Any, Any], cell: Cell, baseline: Cell) -> dict[str, Interval]:
    ours = {result.seed: result for result in results.by_cell[cell]}
    theirs = {result.seed: result for result in results.by_cell[baseline]}
    seeds = [seed for seed in ours if seed in theirs]
    return {
        name: paired(
            [ours[seed].run[name] for seed in seeds], [theirs[seed].run[name] for seed in seeds]
        )
        for name in results.of.measures.known
    }
