"""The runs in and below a folder, measured, and files there that are no whole runs, with why."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

import attrs

from goldrush.agents.workers import map_in_order
from goldrush.kernel.errors import BadInput, GoldrushError
from goldrush.kernel.text import format_count
from goldrush.replay.data.groups import format_treatment, kind_of
from goldrush.replay.data.run_data import StudyFolders, run_of, total_size
from goldrush.replay.data.user_measures import can_be_shared
from goldrush.replay.journal.batch import SUFFIX, journals_in
from goldrush.replay.journal.outline import Outline, outline_of
from goldrush.replay.study.comparisons import equal_journals
from goldrush.replay.study.listing import MANIFEST, manifests_below
from goldrush.replay.study.manifest import UNFINISHED, read_manifest
from goldrush.replay.study.measuring import measured_runs, result_of
from goldrush.replay.study.records import Cell, StudyRun
from goldrush.replay.study.results import AnyResult

if TYPE_CHECKING:
    from goldrush.replay.data.user_functions import UserMeasure

    # Path of a journal, the same relative to the folder, its treatment and roster, user's measures.
    _Task = tuple[str, str, tuple[str, str] | None, Sequence[UserMeasure]]

OnRun = Callable[[int, int], None]  # called with the number of runs that are measured, and of all

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
class LeftOut:
    """A file in a folder that is no whole run, and why."""

    path: str
    reason: str


@attrs.frozen
class FolderRuns:
    """The runs of a folder, sorted by path, and the files that are left out.

    `unplayed`: the number of runs of studies there that were not played yet.
    """

    runs: Sequence[FolderRun]
    left_out: Sequence[LeftOut]
    unplayed: int


def runs_in(
    folder: str | Path,
    *,
    jobs: int | None = None,
    on_run: OnRun | None = None,
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
    unplayed = 0
    for study, _ in manifests_below(str(folder)):
        try:
            more, missing = _of_study(Path(study), base, jobs, on_run, users)
        except BadInput as error:
            manifest = Path(study, MANIFEST)
            by_path[_relative(manifest, base)] = _reason(error, manifest)
            continue
        by_path |= more
        unplayed += missing
    others = [path for path in paths if _relative(path, base) not in by_path]
    studies = StudyFolders()
    tasks = [(path, _relative(path, base), studies.cell_of(path), users) for path in others]
    jobs = jobs if can_be_shared(users) else 1
    for done, (task, run) in enumerate(
        zip(tasks, map_in_order(_tried, tasks, jobs, total_size(others)), strict=True), 1
    ):
        by_path[task[1]] = run
        if on_run is not None:
            on_run(done, len(others))
    for path in base.rglob(f"*{SUFFIX}{UNFINISHED}"):
        by_path[_relative(path, base)] = _unfinished(outline_of(path))
    cells: dict[tuple[str, Cell], list[Path]] = {}
    for run in by_path.values():
        if isinstance(run, FolderRun):
            cells.setdefault((run.world, run.cell), []).append(base / run.path)
    equal = equal_journals(list(cells.values()))
    runs = [
        attrs.evolve(run, draw=str(equal.get(base / path, base / path)))
        for path, run in sorted(by_path.items())
        if isinstance(run, FolderRun)
    ]
    left_out = [LeftOut(path, why) for path, why in sorted(by_path.items()) if isinstance(why, str)]
    if users and left_out and not runs:
        first = left_out[0]
        raise BadInput(
            f"no run can be measured ({first.path}: {first.reason})", "correct the measure"
        )
    return FolderRuns(runs, left_out, unplayed)


def _of_study(
    folder: Path,
    base: Path,
    jobs: int | None,
    on_run: OnRun | None,
    users: Sequence[UserMeasure],
) -> tuple[dict[str, FolderRun | str], int]:
    """The runs of a study, and why others are left out, by path; the number of unplayed ones."""
    manifest = read_manifest(folder)
    by_path: dict[str, FolderRun | str] = {}
    measured = measured_runs(folder, manifest, jobs=jobs, on_run=on_run, users=users)
    for run, result in measured:
        path = _relative(folder / run.path, base)
        if isinstance(result, GoldrushError):
            by_path[path] = _reason(result, folder / run.path)
        else:
            by_path[path] = FolderRun(
                path=path, world=manifest.world, seed=run.seed, is_studied=True, result=result
            )
    return by_path, sum(run.sha256 is None for run in manifest.runs)


def _tried(task: _Task) -> FolderRun | str:
    """A run that no study in the folder has measured, or why it is left out."""
    path, relative, cell, users = task
    outline = outline_of(path, cell and cell[0])
    if outline.trouble is not None:
        return _reason(outline.trouble, path)
    if not outline.finished:
        return _unfinished(outline)
    try:
        run = run_of(path, cell, users)
        with run.reporting_forged():
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


def _relative(path: str | Path, base: Path) -> str:
    return os.path.relpath(path, base)
