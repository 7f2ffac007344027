"""Differences between each treatment and the baseline, over pairs of runs with the same seed.

A treatment that cannot affect a roster is reported as identical by construction instead.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any, Final

import attrs
from xxhash import xxh3_128

from goldrush.kernel.codec import pack
from goldrush.kernel.errors import BadInput, JournalError
from goldrush.kernel.grouping import grouped
from goldrush.kernel.journal import JournalReader
from goldrush.kernel.settings import hashable
from goldrush.kernel.text import format_count
from goldrush.kernel.treatments import BASELINE
from goldrush.replay.find import open_world
from goldrush.replay.levelled import SEED
from goldrush.replay.study.inference import Interval, paired
from goldrush.replay.study.judging import by_seed
from goldrush.replay.study.records import Cell, StudyRun, cells_of
from goldrush.replay.study.results import Results

LOOKED_AT: Final = 8  # commits in which most runs of different seeds differ


def baseline_of(cell: Cell) -> Cell:
    """The baseline of a cell's roster and horizon."""
    return attrs.evolve(cell, treatment=BASELINE)


def against_baseline(results: Results[Any, Any]) -> dict[Cell, dict[str, Interval]]:
    """The difference of each measure between cells and their baselines, over the seeds of both:
    cell − baseline. Cells that are identical to theirs by construction are left out.
    """
    identical = identical_cells(results)
    return {
        cell: _differences(results, cell) for cell in _treated(results) if cell not in identical
    }


def identical_cells(results: Results[Any, Any]) -> dict[Cell, Cell]:
    """The cells that are identical to their baseline by construction, with that baseline."""
    return {
        cell: baseline_of(cell)
        for cell in _treated(results)
        if _is_same(results, cell, baseline_of(cell))
    }


def _is_same(results: Results[Any, Any], cell: Cell, baseline: Cell) -> bool:
    ours, theirs = results.settings(cell), results.settings(baseline)
    return results.of.studies.same(ours, theirs, results.by_cell[cell][0].policies)


def nulls(results: Results[Any, Any]) -> dict[Cell, Cell]:
    """For each cell the null's cell of the same treatment and configuration, if the study has one:
    one whose agents all play `Studies.null`. It is its own null.
    """
    policy = results.of.studies.null

    def setup(cell: Cell) -> tuple[str, Hashable]:
        return cell.treatment, hashable(results.settings(cell))

    blind = [c for c, runs in results.by_cell.items() if set(runs[0].policies) == {policy}]
    by_setup = {setup(cell): cell for cell in reversed(blind)}
    null_of = {cell: by_setup.get(setup(cell)) for cell in results.by_cell}
    return {
        cell: cell if cell in blind else null for cell, null in null_of.items() if null is not None
    }


def equal_runs(folder: str | Path, runs: Sequence[StudyRun]) -> dict[str, int]:
    """The played runs that are equal in every event but for their seeds to an earlier one of the
    cell: by the path of each, the seed of the first.
    """
    played = {Path(folder, run.path): run for run in runs if run.sha256 is not None}
    cells = cells_of(played.values()).values()
    equal = equal_journals([[Path(folder, run.path) for run in members] for members in cells])
    return {played[path].path: played[first].seed for path, first in equal.items()}


def equal_journals(groups: Sequence[Sequence[Path]]) -> dict[Path, Path]:
    """The journals that are equal in every event but for their seeds to an earlier one of their
    group: by the path of each, that of the first.
    """
    for most in (LOOKED_AT, None):  # whole journals are read of those alone that begin equally
        groups = [
            equal
            for group in groups
            if len(group) > 1
            for equal in grouped(group, partial(_events_digest, most=most)).values()
        ]
    return {path: group[0] for group in groups for path in group[1:]}


def format_equal(runs: int, equal: int) -> str:
    """How many of so many runs are distinct, in a sentence; empty: all. `equal`: the number of
    `equal_runs`.
    """
    if not equal:
        return ""
    return (
        f"Only {runs - equal:,} of {format_count(runs, 'run')} are distinct: the others are equal "
        "in every event to one of another seed. Means are of all runs; intervals, p-values and "
        "numbers of seeds count equal runs once."
    )


def _events_digest(path: Path, most: int | None) -> Hashable:
    """A digest of START and the events of the first `most` commits, but for seeds; of a journal
    that cannot be read, which others tell, one that no other has.
    """
    hashed = xxh3_128()
    try:
        with JournalReader(path) as reader:
            events = open_world(reader).events
            seeds = {
                code: list(event.fields).index(SEED)
                for code, event in enumerate(events)
                if SEED in event.fields
            }
            for commit in islice(reader, most):
                if commit.setup is not None:
                    config = {**commit.setup.get("config", {}), SEED: None}
                    hashed.update(pack({**commit.setup, "config": config}))
                for code, rows in (batch for block in commit.blocks for batch in block.batches):
                    at = seeds.get(code)
                    others = rows if at is None else [(*row[:at], *row[at + 1 :]) for row in rows]
                    hashed.update(pack((code, others)))
    except (BadInput, JournalError):
        return path
    return hashed.digest()


def _treated(results: Results[Any, Any]) -> list[Cell]:
    """The cells other than baselines that have a baseline."""
    return [
        cell
        for cell in results.by_cell
        if cell.treatment != BASELINE and baseline_of(cell) in results.by_cell
    ]


def _differences(results: Results[Any, Any], cell: Cell) -> dict[str, Interval]:
    pairs = by_seed(results.by_cell[cell], results.by_cell[baseline_of(cell)])
    draws = [(ours.draw, theirs.draw) for ours, theirs in pairs]
    return {
        name: paired(((ours.run[name], theirs.run[name]) for ours, theirs in pairs), draws)
        for name in results.measures.known
    }
