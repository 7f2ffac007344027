"""What a study's runs have come to: of each journal the figures for comparisons and pictures.

A run measured whole is large; what is kept of it here is small, so that thousands fit, and is
worked out by many processes at once. It is kept from one report to the next (see kept.py).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, Generic, TypeVar

import attrs

from goldrush.agents.llm.failures import Failures, merge_failures
from goldrush.agents.roster import matches_label
from goldrush.agents.workers import map_in_order
from goldrush.kernel.errors import BadInput, format_value
from goldrush.kernel.journal import JournalReader, open_regular, sha256_in
from goldrush.kernel.measures import Value, mean
from goldrush.kernel.rosters import Config
from goldrush.replay.forged import reporting_forged
from goldrush.replay.measures import Measured, Span
from goldrush.replay.studies import Studied, studied
from goldrush.replay.study import kept
from goldrush.replay.study.manifest import Listed, Manifest, read_manifest
from goldrush.replay.study.models import is_model
from goldrush.replay.study.plan import Cell
from goldrush.replay.usage import failures_by

POINTS: Final = 40  # of a curve over the units

C = TypeVar("C", bound=Config)  # the settings of a run
K = TypeVar("K")  # what its world keeps of it


@attrs.frozen
class Result(Generic[C, K]):
    """A run's figures. `units`: how many were closed. `run`, `halves` and `halves_whole` (without
    burn-in): by measure. `curves`: by measure, the mean of each window of units. `policies`: by
    agent; `failures`: what became of the answers of those that are models. `own`: what the world
    keeps for its own part of a report (Studies.kept).
    """

    cell: Cell
    seed: int
    config: C
    units: int
    run: Mapping[str, Value]
    halves: Mapping[str, tuple[Value, Value]]
    halves_whole: Mapping[str, tuple[Value, Value]]
    curves: Mapping[str, Sequence[Value]]
    policies: Sequence[str]
    own: K
    failures: Sequence[Failures] = ()


@attrs.frozen
class Results(Generic[C, K]):
    """The results of a study of a world by cell, seeds in the order of the plan; `journals`: by
    cell, where they are, in the same order.
    """

    folder: str
    of: Studied = attrs.field(repr=False)
    manifest: Manifest
    by_cell: Mapping[Cell, Sequence[Result[C, K]]]
    journals: Mapping[Cell, Sequence[str]]

    def config(self, cell: Cell) -> C:
        """The configuration of a cell's first run."""
        return self.by_cell[cell][0].config

    def failures(self, cell: Cell) -> list[Failures]:
        """What became of the answers of a cell's models, over all its runs."""
        return merge_failures(one for result in self.by_cell[cell] for one in result.failures)


def cell_as_dict(results: Results[Any, Any], cell: Cell) -> dict[str, Any]:
    """A cell for JSON, with how many agents play in it, and its covariate."""
    config, covariate = results.config(cell), results.of.studies.covariate
    known = {covariate.name: covariate.of(config)} if covariate else {}
    return {**attrs.asdict(cell), "agents": config.agents, **known}


def results_of(
    folder: str | Path,
    *,
    jobs: int | None = None,
    on_run: Callable[[int, int], None] | None = None,
) -> Results[Any, Any]:
    """Measure every run of a study, `jobs` at a time; `on_run` is told (runs measured, in all).

    Raises BadInput for a folder without a study, one that is not finished, one whose journals are
    not those that its manifest lists, and a world without measures; WorkerDied.
    """
    manifest = read_manifest(folder)
    of = studied(manifest.world)
    if not manifest.finished:
        left = sum(run.sha256 is None for run in manifest.runs)
        raise BadInput(
            f"the study in {folder} is not finished: {left:,} of {len(manifest.runs):,} runs are "
            "left, or were when it stopped",
            "give the command of the study again, it goes on",
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
    told = on_run or (lambda done, every: None)
    start = len(manifest.runs) - len(tasks)
    if start:
        told(start, len(manifest.runs))
    measured: dict[Cell, list[Result[Any, Any]]] = {cell: [] for cell in runs if cell not in known}
    for done, result in enumerate(map_in_order(_result, tasks, jobs), start + 1):
        of_cell = measured[result.cell]
        of_cell.append(result)
        if len(of_cell) == len(runs[result.cell]):
            kept.write(of, texts[result.cell.roster], runs[result.cell], of_cell)
        told(done, len(manifest.runs))
    if measured:
        kept.trim()
    by_cell = {cell: known.get(cell) or measured[cell] for cell in runs}
    return Results(str(folder), of, manifest, by_cell, journals)


def _sha256(path: Path) -> str | None:
    """The SHA-256 of a file; None of one that cannot be read."""
    try:
        with open_regular(str(path)) as file:
            return sha256_in(file)
    except (OSError, BadInput):
        return None


def _result(task: tuple[str, str, Listed, str | None]) -> Result[Any, Any]:
    folder, world, run, roster = task
    of = studied(world)
    path = Path(folder, run.path)
    again = "give the command of the study again, it plays it anew"
    if not path.is_file():
        raise BadInput(f"{path} is missing", again)
    # Hashed before, so that nothing else is read, and while it is measured: it may be edited.
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
    """Raises BadInput unless a journal began as the manifest says, and played on undisturbed."""
    instead = "restore the manifest, or give the command of the study again, it plays it anew"
    if measured.forks:
        raise BadInput(f"{path} is a fork, which no study plays", instead)
    if measured.config != run.config:
        raise BadInput(f"{path} is a run of another configuration than the manifest says", instead)
    names = of.studies.seats(roster, run.config.agents)
    for agent, (name, called) in enumerate(zip(names, measured.roster, strict=True)):
        if not matches_label(name, called):
            raise BadInput(
                f"{path} is a run of another roster than {format_value(run.cell.roster)} in the "
                f"manifest: agent {agent} plays {format_value(called)}, not {format_value(name)}",
                instead,
            )


def result_of(
    cell: Cell, measured: Measured[Any], own: K, failures: Sequence[Failures] = ()
) -> Result[Any, K]:
    """What is kept of a run that was measured: `own` by its world; `failures`: of the answers of
    its models.
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
    """So many units cut into at most POINTS windows of equal length, the last one shorter perhaps.
    Those of a horizon, so that runs which end before it have their curves in the same windows.
    """
    length = math.ceil(units / POINTS)
    return [Span(first, min(first + length - 1, units)) for first in range(1, units + 1, length)]
