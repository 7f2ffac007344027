"""A study carried out: every run of a plan a journal in one folder, wherever the runs are played.

What is finished is checked and kept, what is broken is played anew, so a study that was killed goes
on where it stopped and ends in the same folder, byte for byte.
"""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from concurrent.futures import Executor, Future
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any, Final

import attrs

from goldrush.agents.llm.models import Models
from goldrush.agents.players import RunContext
from goldrush.kernel import files
from goldrush.kernel.errors import BadInput, WriteFailed
from goldrush.replay.studies import Studied, studied
from goldrush.replay.study.manifest import (
    MANIFEST,
    UNFINISHED,
    Manifest,
    check_size,
    listed,
    read_manifest,
    write_manifest,
)
from goldrush.replay.study.place import Place, each_of, processes
from goldrush.replay.study.plan import Plan, Planned, cells_of
from goldrush.replay.study.play import Done, folders_of, kept, make_way, played, played_away, put

LOCK_WAIT: Final = 2.0  # seconds in which the workers of a study that was killed end
CHECKED: Final = "checked"
PLAYED: Final = "played"

# Told what is done with runs (CHECKED, PLAYED), with how many it is, and with how many it will be.
OnStep = Callable[[str, int, int], None]


def carry_out(
    plan: Plan,
    folder: str | Path,
    *,
    place: Place | None = None,
    models: Models | None = None,
    on_step: OnStep | None = None,
) -> Manifest:
    """Carry out a study in `folder`, made if need be, and return its manifest.

    A plan may grow: a folder that holds a study is taken if the plan has all its runs. Runs that
    ask language models go on where they broke off, and no answer is asked for twice; the ceilings
    of `models` are those of the whole study, of which each run has an equal share.

    Raises BadInput for a plan or a folder that cannot be taken, before anything is written;
    RunFailed where a run stops before its end, WorkersLost where it takes its worker with it again
    and again, and WriteFailed. What is finished then is kept.
    """
    place = place or processes()
    runs = runs_of(plan, models, away=not place.sees_folder)
    models = _shared(models, runs)
    root = Path(folder)
    told = on_step or (lambda what, done, every: None)
    with _locked(root):
        known = _known(root, plan, runs)
        there = [run for run in runs if os.path.lexists(root / run.path)]
        done = _checked(there, root, known, place if place.sees_folder else processes(), told)
        synced = known.keys() & done.keys()  # the manifest names them since they were
        if len(done) < len(runs) or len(known) < len(runs):
            _write(root, plan, runs, done, synced)
        _make_room(root, runs, done)
        left = [run for run in runs if run.path not in done]
        done.update(_played(left, root, place, models, told))
        return _write(root, plan, runs, done, synced)


def _write(
    root: Path,
    plan: Plan,
    runs: Sequence[Planned],
    done: Mapping[str, Done],
    synced: Set[str],
) -> Manifest:
    """Write the manifest, when the disk has all that it names, also what is not `synced` yet."""
    _sync(root, done.keys() - synced)
    manifest = listed(plan, runs, done)
    write_manifest(root, plan, runs, manifest)
    return manifest


def _sync(root: Path, paths: Iterable[str]) -> None:
    """Wait until the disk has these journals, their names and those of their folders."""
    folders: set[Path] = set()
    for path in sorted(paths):
        files.sync_file(str(root / path))
        folders.update(folders_of(path, str(root)))
    for folder in folders:
        files.sync_folder(str(folder / "any"))


def runs_of(plan: Plan, models: Models | None = None, *, away: bool = False) -> list[Planned]:
    """The runs of a plan, of which each could begin; `away`: where this folder is not.

    Raises BadInput where somebody cannot play.
    """
    runs = plan.runs(models)
    check_size(plan, runs)
    of = studied(plan.world)
    seated: set[str] = set()
    for cell, members in cells_of(runs):
        first = members[0]
        if first.models and away:
            raise BadInput(
                f"{cell.called(of.units)}: language models are asked from this machine alone",
                "leave the cluster out (--dask)",
            )
        for model in set(first.models):
            (models or Models()).endpoint_of(model).key()
        if not first.models and cell.roster not in seated:
            seated.add(cell.roster)
            _seat(of, first)
    return runs


def _seat(of: Studied, run: Planned) -> None:
    """Raises BadInput where a policy of a run cannot be made."""
    state = of.toolkit.world(run.setup).initial(run.setup)
    prepared = run.prepared
    with of.players.start_agents(RunContext(state, trust=prepared.trust, sources=prepared.sources)):
        pass


def _shared(models: Models | None, runs: Sequence[Planned]) -> Models | None:
    """The models with ceilings for a single run: an equal share, so that no order of the runs, and
    no number of processes, can take more than all may.
    """
    if models is None or (models.max_tokens, models.max_cost) == (None, None):
        return models
    asking = sum(len(members) for _, members in cells_of(runs) if members[0].models)
    tokens, cost = models.max_tokens, models.max_cost
    if asking and tokens is not None and tokens < asking:
        raise BadInput(
            f"{tokens:,} tokens are less than one for each of {asking:,} runs",
            "give more (--max-tokens)",
        )
    share = max(asking, 1)
    return attrs.evolve(
        models,
        max_tokens=None if tokens is None else tokens // share,
        max_cost=None if cost is None else cost / share,
    )


def _known(root: Path, plan: Plan, runs: Sequence[Planned]) -> dict[str, str]:
    """By path, the SHA-256 of the journals that the folder's manifest has.

    Raises BadInput for a folder that is not this study's, nor free for it.
    """
    if not os.path.lexists(root / MANIFEST):
        # A study that was killed at its very beginning left no more than a piece of one.
        if not all(files.is_temporary(entry.name) for entry in root.iterdir()):
            raise BadInput(
                f"{root} is not empty and holds no study (no {MANIFEST})",
                "give a new folder (--out), or bring the manifest back",
            )
        return {}
    manifest = read_manifest(root)
    planned = {run.path: run for run in runs}
    for run in manifest.runs:
        found = planned.get(run.path)
        if found is None:
            raise _another(root, run.path, "which this plan has not")
        text = manifest.plan["rosters"].get(run.cell.roster)
        if (run.cell, run.config, text) != (
            found.cell,
            found.config,
            plan.rosters[found.cell.roster],
        ):
            raise _another(root, run.path, "which is another run in this plan")
    return {run.path: run.sha256 for run in manifest.runs if run.sha256 is not None}


def _another(root: Path, path: str, says: str) -> BadInput:
    return BadInput(
        f"{root} holds a study with {path}, {says}",
        "give another folder (--out), or a plan that has all its runs as they are",
    )


@contextmanager
def _locked(root: Path) -> Iterator[None]:
    """Hold the folder, made if need be: two studies at once would play the same runs. What was made
    and has nothing in it at the end is removed.
    """
    if os.path.lexists(root) and not os.path.isdir(root):
        raise BadInput(f"{root} is not a folder", "give a folder (--out)")
    made = [folder for folder in (root, *root.parents) if not os.path.lexists(folder)]
    try:
        files.make_folder(str(root))
        fd = files.system.open(str(root), os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC, 0)
    except (OSError, ValueError) as error:
        says = getattr(error, "strerror", None) or error
        raise BadInput(f"cannot use {root}: {says}", "give another folder (--out)") from None
    try:
        if not os.access(root, os.W_OK | os.X_OK):
            raise BadInput(f"cannot write in {root}", "give another folder (--out)")
        _lock(fd, root)
        try:
            yield
        finally:
            fcntl.flock(fd, fcntl.LOCK_UN)  # whatever process still has it open
    finally:
        with suppress(OSError):  # nothing was written into it
            files.system.close(fd)
        with suppress(OSError):  # the first one that has something in it
            for folder in made:
                files.system.remove_folder(str(folder))


def _lock(fd: int, root: Path) -> None:
    """Take the lock. The workers of a study that was killed have it, too, until they end."""
    until = time.monotonic() + LOCK_WAIT
    while True:
        try:
            return fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() > until:
                raise BadInput(f"another study is at work in {root}", "wait for it") from None
        except OSError as error:
            raise BadInput(
                f"cannot lock {root}: {error.strerror}", "give another folder (--out)"
            ) from None
        time.sleep(0.02)


def _make_room(root: Path, runs: Sequence[Planned], done: Mapping[str, Done]) -> None:
    """Make the folders of runs that are to be played; take away what is left beside others."""
    try:
        for run in runs:
            if run.path not in done:
                make_way(run, str(root))
                continue
            files.make_folders_within(str(root), run.path)
            with suppress(FileNotFoundError):
                files.system.unlink(str(root / (run.path + UNFINISHED)))
    except OSError as error:
        raise WriteFailed(
            str(error.filename or root), f"is in the way of the study: {error.strerror}"
        ) from None


def _checked(
    runs: Sequence[Planned], root: Path, known: Mapping[str, str], place: Place, told: OnStep
) -> dict[str, Done]:
    """What of the journals that are there is kept."""

    def hand_over(executor: Executor, run: Planned) -> Future[Any]:
        return executor.submit(kept, run, str(root / run.path), known.get(run.path))

    found: dict[str, Done | None] = {}
    with closing(each_of(runs, place, hand_over)) as outcomes:
        for run, outcome in outcomes:
            found[run.path] = outcome
            told(CHECKED, len(found), len(runs))
    return {path: done for path, done in found.items() if done is not None}


def _played(
    runs: Sequence[Planned], root: Path, place: Place, models: Models | None, told: OnStep
) -> dict[str, Done]:
    """Play runs, wherever that is."""

    def hand_over(executor: Executor, run: Planned) -> Future[Any]:
        if place.sees_folder:
            return executor.submit(played, run, str(root), models)
        return executor.submit(played_away, run)

    done: dict[str, Done] = {}
    if runs:
        told(PLAYED, 0, len(runs))
    with closing(each_of(runs, place, hand_over)) as outcomes:
        for run, made in outcomes:
            done[run.path] = made if place.sees_folder else put(run, str(root), made)
            told(PLAYED, len(done), len(runs))
    return done
