"""The runs in and below a folder, measured, and files there that are no whole runs, with why."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

import attrs

from goldrush.kernel.errors import BadInput, GoldrushError
from goldrush.kernel.text import format_count
from goldrush.replay.data.groups import format_treatment, kind_of
from goldrush.replay.data.run_data import run_of
from goldrush.replay.data.user_measures import can_be_shared
from goldrush.replay.folders import total_size
from goldrush.replay.journal.batch import SUFFIX, journals_in
from goldrush.replay.journal.forged import reporting_forged
from goldrush.replay.journal.outline import Outline, outline_of
from goldrush.replay.study.comparisons import equal_journals
from goldrush.replay.study.listing import MANIFEST, StudyFolders, manifests_below
from goldrush.replay.study.manifest import UNFINISHED, read_manifest
from goldrush.replay.study.measuring import measured_runs, result_of
from goldrush.replay.study.records import Cell, StudyRun
from goldrush.replay.study.results import AnyResult
from goldrush.replay.workers import map_in_order

if TYPE_CHECKING:
    from goldrush.replay.data.user_functions import UserMeasure

    # Path of a journal, the same relative to the folder, its treatment and roster, user's measures.
    _Task = tuple[str, str, tuple[str, str] | None, Sequence[UserMeasure]]

OnRun = Callable[[int, int], None]  # called with the number of runs that are measured, and of all

NOT_PLAYED: Final = "not played"  # why a run of a study is left out
DEFAULTS: Final = "defaults"  # the treatment of a run of no study whose settings are all defaults


@attrs.frozen(kw_only=True)
class FolderRun:
    """A finished run in a folder.

    Attributes:
        path: of its journal, relative to the folder.
        world: the name of its world.
        seed: None where the journal names none.
        is_studied: its study lists it.
        result: the treatment of a run of no study are the settings that differ from the defaults,
            its roster is text.
        history: a sentence for each fork that led to it.
        draw: the path of the first run of its cell that is equal in every event, often its own.
    """

    path: str
    world: str
    seed: int | None
    is_studied: bool
    result: AnyResult
    history: Sequence[str] = ()
    draw: str = ""

    @property
    def cell(self) -> Cell:
        """Its treatment, its roster, and the number of units that it was to have."""
        return self.result.cell


@attrs.frozen
class FolderRuns:
    """The runs of a folder, sorted by path, and what is left out, by path with why."""

    runs: Sequence[FolderRun]
    left_out: Mapping[str, str]


def runs_in(
    folder: str | Path,
    *,
    jobs: int | None = None,
    on_run: OnRun = lambda done, every: None,
    users: Sequence[UserMeasure] = (),
) -> FolderRuns:
    """Measure the runs in and below a folder; those of studies only if they are not kept measured.
    `users`: measures of the user, besides those of the worlds.

    Raises BadInput for a folder without journals, or that cannot be read, and if the user's
    measures fail in each run; WorkerDied.
    """
    base = Path(folder)
    paths = journals_in([folder])
    by_path: dict[str, FolderRun | str] = {}
    for name, _ in manifests_below(str(folder)):
        study, in_study = Path(name), dict[str, FolderRun | str]()
        try:
            manifest = read_manifest(study)
            for run, result in measured_runs(
                study, manifest, jobs=jobs, on_run=on_run, users=users
            ):
                path = os.path.relpath(study / run.path, base)
                in_study[path] = (
                    _reason(result, study / run.path)
                    if isinstance(result, GoldrushError)
                    else FolderRun(
                        path=path, world=manifest.world, seed=run.seed, is_studied=True,
                        result=result,
                    )
                )  # fmt: skip
        except BadInput as error:
            in_study = {os.path.relpath(study / MANIFEST, base): _reason(error, study / MANIFEST)}
        else:
            waiting = [study / run.path for run in manifest.runs if run.sha256 is None]
            by_path |= {
                os.path.relpath(path, base): NOT_PLAYED for path in waiting if not path.exists()
            }
        by_path |= in_study
    others = [path for path in paths if os.path.relpath(path, base) not in by_path]
    studies = StudyFolders()
    tasks = [(path, os.path.relpath(path, base), studies.cell_of(path), users) for path in others]
    jobs = jobs if can_be_shared(users) else 1
    tried = map_in_order(_tried, tasks, jobs, total_size(others))
    for done, (task, found) in enumerate(zip(tasks, tried, strict=True), 1):
        by_path[task[1]] = found
        on_run(done, len(others))
    for unfinished in base.rglob(f"*{SUFFIX}{UNFINISHED}"):
        by_path[os.path.relpath(unfinished, base)] = _unfinished(outline_of(unfinished))
    measured = {path: run for path, run in sorted(by_path.items()) if isinstance(run, FolderRun)}
    left_out = {path: why for path, why in sorted(by_path.items()) if isinstance(why, str)}
    cells: dict[tuple[str, Cell], list[Path]] = {}
    for path in filter(measured.__contains__, by_path):
        cells.setdefault((measured[path].world, measured[path].cell), []).append(base / path)
    equal = equal_journals(list(cells.values()))
    runs = [
        attrs.evolve(run, draw=str(equal.get(base / path, base / path)))
        for path, run in measured.items()
    ]
    if users and left_out and not runs:
        first, reason = next(iter(left_out.items()))
        raise BadInput(f"no run can be measured ({first}: {reason})", "correct the measure")
    return FolderRuns(runs, left_out)


def _tried(task: _Task) -> FolderRun | str:
    """A run that no study in the folder has measured, or why it is left out."""
    path, relative, cell, users = task
    outline = outline_of(path)
    if outline.trouble is not None:
        return _reason(outline.trouble, path)
    if not outline.finished:
        return _unfinished(outline)
    try:
        run = run_of(path, cell, users)
        with reporting_forged(run.path):
            kind, measured = kind_of(run), run.measured
            treatment, roster = format_treatment(kind) or DEFAULTS, kind.roster or ""
            listed = StudyRun(
                Cell(treatment, roster, max(1, kind.horizon)), outline.declared.seed or 0,
                relative, measured.config,
            )  # fmt: skip
            result = result_of(listed, measured, None)
    except GoldrushError as error:
        return _reason(error, path)
    return FolderRun(
        path=relative,
        world=run.tools.name,
        seed=outline.declared.seed,
        is_studied=cell is not None,
        result=result,
        history=[text for _, text in outline.declared.history],
    )


def _unfinished(outline: Outline) -> str:
    if outline.trouble is not None:
        return _reason(outline.trouble, outline.path)
    units = format_count(outline.units, outline.vocabulary.unit)
    of = "" if outline.of is None else f" of {outline.of:,}"
    return f"unfinished: {units}{of} closed"


def _reason(error: GoldrushError, path: str | Path) -> str:
    """An error in one line, without the path of the file that it is about."""
    text = " ".join(str(error).split())
    return text.removeprefix(f"{path}: ").replace(str(path), Path(path).name)
