"""The measuring of a study's runs, by several processes.

Of each run only the values are kept that comparisons and figures need, so that thousands of runs
fit into memory. They are cached between reports (see kept.py).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from goldrush.agents.llm.failures import Failures
from goldrush.agents.roster import matches_label
from goldrush.agents.workers import map_in_order
from goldrush.kernel.errors import BadInput, format_value
from goldrush.kernel.journal import JournalReader, open_regular, sha256_in
from goldrush.kernel.measures import mean
from goldrush.replay.data.measures import Measured, Span
from goldrush.replay.journal.forged import reporting_forged
from goldrush.replay.journal.usage import failures_by
from goldrush.replay.study import kept
from goldrush.replay.study.manifest import read_manifest
from goldrush.replay.study.models import is_model
from goldrush.replay.study.plan import studied
from goldrush.replay.study.records import POINTS, Cell, K, Listed, Result
from goldrush.replay.study.results import Results, Studied


def results_of(
    folder: str | Path,
    *,
    jobs: int | None = None,
    on_run: Callable[[int, int], None] | None = None,
) -> Results[Any, Any]:
    """Measure every run of a study.

    Args:
        folder: the study's folder.
        jobs: the number of processes; None: one per processor.
        on_run: called with the number of runs measured, and their total.

    Raises:
        BadInput: if the folder holds no study, the study is not finished, a journal is not the one
            in the manifest, or the world has no measures.
        WorkerDied: if a process that measures dies.

    """
    manifest = read_manifest(folder)
    of = studied(manifest.world)
    if not manifest.finished:
        left = sum(run.sha256 is None for run in manifest.runs)
        raise BadInput(
            f"the study in {folder} is not finished: {left:,} of {len(manifest.runs):,} runs are "
            "left, or were when it stopped",
            "run the study's command again to continue",
        )
    journals: dict[Cell, list[str]] = {}
    runs: dict[Cell, list[Listed]] = {}
    for run in manifest.runs:
        runs.setdefault(run.cell, []).append(run)
        journals.setdefault(run.cell, []).append(run.path)
    texts = manifest.plan["rosters"]
    known = {
        cell: found
        for cell, listed in runs.items()
        if (found := kept.read(of, texts[cell.roster], listed)) is not None
        and all(_sha256(Path(folder, run.path)) == run.sha256 for run in listed)
    }
    tasks = [
        (str(folder), of.name, run, texts[run.cell.roster])
        for run in manifest.runs
        if run.cell not in known
    ]
    report = on_run or (lambda done, total: None)
    start = len(manifest.runs) - len(tasks)
    if start:
        report(start, len(manifest.runs))
    measured: dict[Cell, list[Result[Any, Any]]] = {cell: [] for cell in runs if cell not in known}
    size = sum(run.bytes or 0 for _, _, run, _ in tasks)
    for done, result in enumerate(map_in_order(_result, tasks, jobs, size), start + 1):
        of_cell = measured[result.cell]
        of_cell.append(result)
        if len(of_cell) == len(runs[result.cell]):
            kept.write(of, texts[result.cell.roster], runs[result.cell], of_cell)
        report(done, len(manifest.runs))
    if measured:
        kept.trim()
    by_cell = {cell: known.get(cell) or measured[cell] for cell in runs}
    return Results(str(folder), of, manifest, by_cell, journals)


def _sha256(path: Path) -> str | None:
    """The SHA-256 of a file; None if it cannot be read."""
    try:
        with open_regular(str(path)) as file:
            return sha256_in(file)
    except (OSError, BadInput):
        return None


def _result(task: tuple[str, str, Listed, str | None]) -> Result[Any, Any]:
    folder, world, run, roster = task
    of = studied(world)
    path = Path(folder, run.path)
    again = "run the study's command again, which plays the run again"
    if not path.is_file():
        raise BadInput(f"{path} is missing", again)
    # Hashed before it is read, and again while it is measured, when it may be edited.
    with open_regular(str(path)) as file:
        sha256 = sha256_in(file)
        if sha256 == run.sha256:
            reader = JournalReader.over(file.fileno(), str(path), hashed=True)
            with reader, reporting_forged(path):
                measured = of.measures.read(reader)
                sha256 = reader.sha256()
                asks = any(map(is_model, measured.roster))
                failures = failures_by(reader.again()) if asks else ()
    if sha256 != run.sha256:
        raise BadInput(f"{path} is not the journal that the manifest lists", again)
    if not measured.finished:
        raise BadInput(f"{path} is not finished", again)
    _check_begun(of, path, run, roster, measured)
    return result_of(run.cell, measured, of.studies.kept.of(measured), failures)


def _check_begun(
    of: Studied, path: Path, run: Listed, roster: str | None, measured: Measured[Any]
) -> None:
    """Raises BadInput unless a journal begins as the manifest says, and is not a fork."""
    instead = "restore the manifest, or run the study's command again, which plays the run again"
    if measured.forks:
        raise BadInput(f"{path} is a fork, and not a run of a study", instead)
    if measured.config != run.config:
        raise BadInput(f"the configuration of {path} differs from the manifest", instead)
    names = of.studies.seats(roster, run.config.agents)
    for agent, (name, called) in enumerate(zip(names, measured.roster, strict=True)):
        if not matches_label(name, called):
            raise BadInput(
                f"the roster of {path} differs from {format_value(run.cell.roster)} in the "
                f"manifest: agent {agent} plays {format_value(called)}, not {format_value(name)}",
                instead,
            )


def result_of(
    cell: Cell, measured: Measured[Any], own: K, failures: Sequence[Failures] = ()
) -> Result[Any, K]:
    """The result of a measured run.

    Args:
        cell: the cell it belongs to.
        measured: the run.
        own: values for the world's own part of a report.
        failures: failed answers of its language models.

    """
    halves = [name for name, measure in measured.known.items() if measure.by_half]
    windows = _windows(cell.rounds)
    return Result(
        cell=cell,
        seed=measured.config.seed,
        config=measured.config,
        units=measured.units,
        run={name: measured.of(name) for name in measured.known},
        halves={name: measured.compared(name) for name in halves},
        halves_whole={name: measured.compared(name, burn_in=False) for name in halves},
        curves={
            name: tuple(mean(values[span.first - 1 : span.last]) for span in windows)
            for name, values in measured.values.items()
        },
        policies=tuple(measured.roster),
        own=own,
        failures=failures,
    )


def _windows(units: int) -> list[Span]:
    """At most POINTS windows of equal length over the units of a horizon (the last may be shorter).
    Runs that stopped early have their curves in the same windows.
    """
    length = math.ceil(units / POINTS)
    return [Span(first, min(first + length - 1, units)) for first in range(1, units + 1, length)]
