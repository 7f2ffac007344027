"""Execution of a study: the journals of all its runs, in one folder, on any backend.

Journals of finished runs are checked and kept; damaged ones are played again. A study that was
killed therefore continues where it stopped and, without language models, ends with the same folder,
byte for byte.
"""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager, suppress
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any, Final

import attrs
import msgspec

from goldrush.agents.given import given
from goldrush.agents.llm.budget import Budget
from goldrush.agents.llm.models import Models
from goldrush.agents.players import context_of
from goldrush.agents.pool import in_child
from goldrush.agents.targets import import_early
from goldrush.kernel import files
from goldrush.kernel.errors import BadInput, GoldrushError, WriteFailed
from goldrush.kernel.journal import JournalReader
from goldrush.replay.arguments import OnStep
from goldrush.replay.estimate import Estimate, estimate
from goldrush.replay.find import is_built_in, is_shipped
from goldrush.replay.folders import make_folder
from goldrush.replay.journal.declared import labels_of
from goldrush.replay.journal.usage import asked_by
from goldrush.replay.study.backend import Backend, RunFailed, as_completed, processes
from goldrush.replay.study.code import checked_code
from goldrush.replay.study.contrasts import Contrasted
from goldrush.replay.study.listing import MANIFEST
from goldrush.replay.study.manifest import (
    UNFINISHED,
    Done,
    read_manifest,
    write_manifest,
)
from goldrush.replay.study.plan import Planned, StudyPlan, studied
from goldrush.replay.study.play import (
    check_journal,
    clear_path,
    folders_of,
    play,
    play_remotely,
    store_journal,
)
from goldrush.replay.study.records import Manifest, StudyRun, cells_of

LOCK_WAIT: Final = 2.0  # seconds; the workers of a killed study end within them
SYNCED_AT_ONCE: Final = 8  # journals

CHECKED: Final = "checked"
PLAYED: Final = "played"


def carry_out(
    plan: StudyPlan,
    folder: str | Path,
    *,
    backend: Backend | None = None,
    models: Models | None = None,
    on_step: OnStep | None = None,
) -> Manifest:
    """Play the runs of a plan that the folder does not have yet, and return its manifest.

    The plan of an earlier study in the folder may be a subset of this one. Runs that ask language
    models continue after their last commit; no answer is requested twice. The ceilings of `models`
    hold for the whole study, with all that its runs took before: they share one budget.

    `on_step` is called with the stages CHECKED and PLAYED, in runs.

    Raises:
        Unguarded: in a script without a main guard, where processes begin afresh.
        BadInput: before anything is written, if the plan is invalid or the folder holds something
            else: another study, or finished runs of code that was changed since.
        RunFailed: if a run fails; if runs stop by a limit or because a server does not answer,
            after all others are played. Finished runs are kept, also after the following.
        MalformedEvents: if the first run of a world that is not one of goldrush's own comes out
            otherwise when it is derived once more in another process.
        WorkersLost: if a run crashes its worker repeatedly.
        WriteFailed: if the folder cannot be written.
    """
    backend = backend or processes()
    runs = runs_of(plan, models)
    is_isolated = _is_isolated(plan, runs, backend)
    _check_contrasts(plan, runs)
    root = Path(folder)
    report = on_step or (lambda stage, done, total: None)
    with _locked(root), _sharing(models, runs, root) as shared:
        known, code = _known(root, plan, runs)
        done: dict[str, Done] = {}
        there = [
            attrs.evolve(run, sha256=known.get(run.path))
            for run in runs
            if os.path.lexists(root / run.path)
        ]
        checkers = backend if backend.shares_folder else processes()
        check = partial(_check, folder=str(root), is_isolated=is_isolated)
        for run, found in _called(there, checkers, check, report, CHECKED):
            if found is not None:
                done[run.path] = found
        left = [run for run in runs if run.path not in done]
        if left:
            # Done, or begun and continued, as answers of models are.
            kept = [
                run
                for run in runs
                if run.path in done
                or (run.models and os.path.lexists(root / (run.path + UNFINISHED)))
            ]
            code = checked_code(root, plan, code, kept)
        synced = known.keys() & done.keys()
        if left or len(known) < len(runs):
            _write(root, plan, runs, code, done, synced)
        _make_room(root, runs, done)
        # The first of a world that is not one of goldrush's own is derived once more.
        again = left[0].path if left and not is_built_in(plan.world) else None
        task: Callable[..., Done | bytes]
        task = partial(play, folder=str(root), models=shared, again=again)
        if not backend.shares_folder:
            task = partial(play_remotely, game=given(plan.world).elsewhere)
        elif is_isolated:
            task = partial(in_child, task)
        if left:
            report(PLAYED, 0, len(left))
        try:
            for run, made in _called(left, backend, task, report, PLAYED):
                is_remote = isinstance(made, bytes)
                done[run.path] = store_journal(run, str(root), made) if is_remote else made
        except RunFailed as error:
            if error.stopped:  # all others are done
                _write(root, plan, runs, code, done, synced)
            raise
        return _write(root, plan, runs, code, done, synced)


def _is_isolated(plan: StudyPlan, runs: Sequence[Planned], backend: Backend) -> bool:
    """Whether each run has a process of its own. Raises BadInput if workers of a cluster cannot
    play the runs.
    """
    if not backend.shares_folder and any(run.models for run in runs):
        raise BadInput("a cluster cannot ask language models", "leave out --dask")
    game = given(plan.world)
    if not backend.shares_folder and game.value and not game.location:
        raise BadInput(
            f"workers elsewhere cannot import the game {plan.world}",
            "write it in a file, or leave out --dask",
        )
    if not backend.shares_folder or not runs_given_code(plan):
        return False
    for event in studied(plan.world).world({}).events:
        event.holds_all(())  # compiles the check here, once for all that are forked from here
    return True


def _check(run: Planned, folder: str, *, is_isolated: bool) -> Done | None:
    path = os.path.join(folder, run.path)
    if is_isolated and run.sha256 is None:
        return in_child(check_journal, run, path)
    return check_journal(run, path)  # which runs no code


def _called(
    runs: Sequence[Planned],
    backend: Backend,
    function: Callable[[Planned], Any],
    report: OnStep,
    stage: str,
) -> Iterator[tuple[Planned, Any]]:
    """The runs with the results of a function, as they come."""
    with closing(as_completed(runs, backend, function)) as outcomes:
        for number, (run, outcome) in enumerate(outcomes, 1):
            yield run, outcome
            report(stage, number, len(runs))


def _write(
    root: Path,
    plan: StudyPlan,
    runs: Sequence[Planned],
    code: Mapping[str, str],
    done: Mapping[str, Done],
    synced: Set[str],
) -> Manifest:
    """Write the manifest, which lists only synced journals; `synced`: those that are already."""
    _sync(root, done.keys() - synced)
    listed = [
        StudyRun(run.cell, run.seed, run.path, run.config, *done.get(run.path, (None,) * 2))
        for run in runs
    ]
    rules = studied(plan.world).world({}).rules
    manifest = Manifest(plan.world, plan.as_dict(), listed, rules, code)
    write_manifest(root, manifest)
    return manifest


def _sync(root: Path, paths: Iterable[str]) -> None:
    ordered = sorted(paths)
    folders = {folder for path in ordered for folder in folders_of(path, str(root))}
    with ThreadPoolExecutor(SYNCED_AT_ONCE) as threads:  # a disk takes many at once sooner
        for _ in threads.map(files.sync_file, [str(root / path) for path in ordered]):
            pass
    for folder in folders:
        files.sync_folder(str(folder / "any"))


def runs_of(plan: StudyPlan, models: Models | None = None) -> list[Planned]:
    """The runs of a plan. Raises BadInput if one cannot be played.

    Given code is called to prepare them, in a process of its own: those that play the runs are
    forked from this one.
    """
    if not runs_given_code(plan):
        return _prepared(plan, models)
    import_early(plan.policies, plan.policies if plan.trust is None else plan.trust)
    runs = in_child(_sendable, plan, models)
    return [
        attrs.evolve(run, config=outline.config)
        for run, outline in zip(runs, plan.outlines(), strict=True)
    ]


def estimate_study(plan: StudyPlan, models: Models | None = None) -> list[Estimate]:
    """What each language model would take in all runs: in those of a cell as in its first. Raises
    BadInput as `carry_out`, and as `estimate`.
    """
    players, sums = studied(plan.world).players, dict[str, list[Any]]()
    for members in cells_of(runs_of(plan, models)).values():
        for each in estimate(players, members[0].prepared, members[0].resources(models)):
            name, *numbers = msgspec.structs.astuple(each)
            more = [number and number * len(members) for number in numbers]
            before = sums.get(name, [0] * len(more))
            sums[name] = [b if b is None else a + b for a, b in zip(before, more, strict=True)]
    return [Estimate(name, *numbers) for name, numbers in sums.items()]


def _check_contrasts(plan: StudyPlan, runs: Sequence[Planned]) -> None:
    """Raises BadInput for a contrast that the study does not have, before anything is asked."""
    prompt = studied(plan.world).players.prompt
    cells = {cell: members[0].prepared.roster for cell, members in cells_of(runs).items()}
    who = {cell: labels_of(roster.as_setup(), prompt) for cell, roster in cells.items()}
    Contrasted(who).chosen(plan.contrasts)


def runs_given_code(plan: StudyPlan) -> bool:
    """Whether a plan has a world or a policy that goldrush does not have itself."""
    return not is_shipped(plan.world, plan.policies)


def _sendable(plan: StudyPlan, models: Models | None) -> list[Planned]:
    return [run.as_sent() for run in _prepared(plan, models)]


def _prepared(plan: StudyPlan, models: Models | None) -> list[Planned]:
    runs = plan.runs(models)
    of = studied(plan.world)
    checked: set[str] = set()
    for cell, members in cells_of(runs).items():
        first = members[0]
        for model in set(first.models):
            (models or Models()).endpoint_of(model).key()
        if not first.models and cell.roster not in checked:
            checked.add(cell.roster)
            state = of.world(first.setup).initial(first.setup)
            context = context_of(of.players, state, first.prepared.roster, first.resources())
            with of.players.start_agents(context):  # each policy can be created
                pass
    return runs


@contextmanager
def _sharing(models: Models | None, runs: Sequence[Planned], root: Path) -> Iterator[Models | None]:
    """The models with one budget for all runs, which has what those in the folder took: each takes
    of it what it needs, and no order of runs and no number of processes can exceed the total.
    """
    if models is None or (models.max_tokens, models.max_cost, models.max_requests) == (None,) * 3:
        yield models
        return
    asking = [root / run.path for run in runs if run.models]
    budget = Budget(models, ())
    for path in chain.from_iterable((path, Path(f"{path}{UNFINISHED}")) for path in asking):
        with suppress(GoldrushError, OSError), JournalReader(path) as reader:
            for recorded in asked_by(reader):
                budget.take(recorded.charged, requests=recorded.answer.tries)
    with files.TemporaryFolder() as folder:
        shared = os.path.join(folder.path, "budget")
        budget.share(shared)
        yield attrs.evolve(models, shared=shared)


def _known(
    root: Path, plan: StudyPlan, runs: Sequence[Planned]
) -> tuple[dict[str, str], Mapping[str, str]]:
    """SHA-256 by path of the journals that the folder's manifest lists as done, and of the files of
    their code. Raises BadInput if it holds another study, or anything else.
    """
    if not os.path.lexists(root / MANIFEST):
        # A study that was killed at its very start may have left a temporary file.
        if not all(files.is_temporary(entry.name) for entry in root.iterdir()):
            raise BadInput(
                f"{root} is not empty and holds no study (no {MANIFEST})",
                "give a new folder (--out), or restore the manifest",
            )
        return {}, {}
    manifest = read_manifest(root)
    rules = studied(plan.world).world({}).rules
    if manifest.world == plan.world and manifest.rules != rules:
        raise BadInput(
            f"{root} holds a study under rules {manifest.rules}, and this plays rules {rules}",
            "report on it as it is, or give a new folder (--out)",
        )
    planned = {run.path: run for run in runs}
    for run in manifest.runs:
        found = planned.get(run.path)
        if found is None:
            raise _another(root, run.path, "which is not in this plan")
        text = manifest.plan["rosters"].get(run.cell.roster)
        if (run.cell, run.config, text) != (
            found.cell,
            found.config,
            plan.rosters[found.cell.roster],
        ):
            raise _another(root, run.path, "which differs in this plan")
    known = {run.path: run.sha256 for run in manifest.runs if run.sha256 is not None}
    return known, manifest.code


def _another(root: Path, path: str, reason: str) -> BadInput:
    return BadInput(
        f"{root} holds a study with {path}, {reason}",
        "give another folder (--out), or a plan that has all its runs unchanged",
    )


@contextmanager
def _locked(root: Path) -> Iterator[None]:
    """Create the folder if needed, and lock it: two studies at once would play the same runs. The
    workers of a killed study hold the lock until they end.
    """
    made = [folder for folder in (root, *root.parents) if not os.path.lexists(folder)]
    try:
        make_folder(str(root))
        fd = files.system.open(str(root), os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC, 0)
    except (OSError, ValueError) as error:
        reason = files.format_reason(error)
        raise BadInput(f"cannot use {root}: {reason}", "give another folder (--out)") from None
    until = time.monotonic() + LOCK_WAIT
    try:
        if not os.access(root, os.W_OK | os.X_OK):
            raise BadInput(f"cannot write in {root}", "give another folder (--out)")
        while True:
            with suppress(BlockingIOError):
                fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            if time.monotonic() > until:
                raise BadInput(f"another study is running in {root}", "wait until it ends")
            time.sleep(0.02)
        try:
            yield
        finally:
            fcntl.flock(fd, fcntl.LOCK_UN)  # also for processes that still have it open
    finally:
        with suppress(OSError):  # the descriptor was never written to
            files.system.close(fd)
        with suppress(OSError):  # stops at the first folder that is not empty
            for folder in made:
                files.system.remove_folder(str(folder))


def _make_room(root: Path, runs: Sequence[Planned], done: Mapping[str, Done]) -> None:
    """Create the folders of the runs; remove unfinished journals of those that are done."""
    try:
        for run in runs:
            clear_path(run, str(root))
            if run.path in done:
                with suppress(FileNotFoundError):
                    files.system.unlink(str(root / (run.path + UNFINISHED)))
    except OSError as error:
        raise WriteFailed(
            str(error.filename or root), f"blocks the study: {error.strerror}"
        ) from None
