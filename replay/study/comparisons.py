"""Differences between each treatment and the baseline, over pairs of runs with the same seed.

A treatment that cannot affect a roster is reported as identical by construction instead.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from typing import Any

import attrs

from goldrush.kernel.treatments import BASELINE
from goldrush.replay.levelled import hashable
from goldrush.replay.study.inference import Interval, paired
from goldrush.replay.study.judging import by_seed
from goldrush.replay.study.records import Cell
from goldrush.replay.study.results import Results


@attrs.frozen
class Against:
    """A cell compared with the baseline of its roster and horizon: cell − baseline by measure, over
    the seeds of both; empty if the treatment cannot affect this roster (`identical`).
    """

    cell: Cell
    baseline: Cell
    differences: Mapping[str, Interval]
    identical: bool


def against_baseline(results: Results[Any, Any]) -> list[Against]:
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
    """The cells that are identical to their baseline by construction, with that baseline."""
    return {
        cell: baseline for cell, baseline in _pairs(results) if _is_same(results, cell, baseline)
    }


def _is_same(results: Results[Any, Any], cell: Cell, baseline: Cell) -> bool:
    ours, theirs = results.settings(cell), results.settings(baseline)
    return results.of.studies.same(ours, theirs, results.by_cell[cell][0].policies)


def nulls(results: Results[Any, Any]) -> dict[Cell, Cell]:
    """For each cell the null's cell of the same treatment and configuration, if the study has one:
    one whose agents all play `Criteria.null`. It is its own null.
    """
    policy = results.of.studies.criteria.null

    def setup(cell: Cell) -> tuple[str, Hashable]:
        return cell.treatment, hashable(results.settings(cell))

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
    pairs = by_seed(results.by_cell[cell], results.by_cell[baseline])
    return {
        name: paired((ours.run[name], theirs.run[name]) for ours, theirs in pairs)
        for name in results.measures.known
    }
