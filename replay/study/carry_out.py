"""A study carried out: every run of a plan a journal in one folder, wherever the runs are played.

What is finished is checked and kept, what is broken is played anew, so a study that was killed goes
on where it stopped and ends in the same folder, byte for byte. A run is written beside its place
and moved there when it is done: a journal in its place is a whole one.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import tempfile
from collections import Counter, deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Executor, Future, wait
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import attrs

from agents import mining
from agents.llm.models import LLM, Models
from kernel.errors import BadInput, GoldrushError, TornTail, WriteFailed
from kernel.journal import JournalReader, sha256_of
from replay.study.manifest import MANIFEST, Manifest, listed, read_manifest, write_manifest
from replay.study.plan import Plan, Planned
from replay.verify import FOLD, verify
from replay.workers import jobs_for, workers

UNFINISHED: Final = ".unfinished"
DEATHS_MAX: Final = 3  # how often a run may take its worker with it

Done = tuple[str, int]  # SHA-256 and size of a journal
# Told (runs settled, runs kept among them, runs in all).
OnRun = Callable[[int, int, int], None]


@attrs.frozen
class Place:
    """Where runs are played: `executor` makes any `concurrent.futures.Executor`, and is called
    again where one broke; `window`: how many runs are handed to it at once; `died`: what a future
    raises whose worker was lost. `sees_folder`: whether its workers write into the study's folder;
    if not, journals come back as bytes.
    """

    executor: Callable[[], Executor]
    window: int
    died: tuple[type[BaseException], ...] = (BrokenExecutor,)
    sees_folder: bool = True


def processes(jobs: int | None = None) -> Place:
    """`jobs` processes of this machine, by default one a processor."""
    count = jobs_for(1_000_000, jobs)
    return Place(lambda: workers(count), 2 * count)


def carry_out(
    plan: Plan,
    folder: str | Path,
    *,
    place: Place | None = None,
    models: Models | None = None,
    on_run: OnRun | None = None,
) -> Manifest:
    """Carry out a study in `folder`, made if need be, and return its manifest.

    A plan may grow: a folder that holds a study is taken if the plan has all its runs. Runs that
    ask language models go on where they broke off, and no answer is asked for twice.

    Raises BadInput for a plan or a folder that cannot be taken, before anything is written;
    RunFailed where a run stops before its end, and WorkersLost where it takes its worker with it
    again and again. What is finished then is kept.
    """
    runs = plan.runs(models)
    root = Path(folder)
    _check_folder(root, runs)
    with _locked(root):
        known = {run.path: run.sha256 for run in _listed_in(root, runs) if run.sha256 is not None}
        there = [run for run in runs if (root / run.path).exists()]
        done: dict[str, Done] = {}
        for run, found in zip(there, _checked(root, there, known), strict=True):
            if found is not None:
                done[run.path] = found
                _tell(on_run, done, len(done), runs)
        kept = len(done)
        if kept < len(runs) or len(known) < len(runs):
            write_manifest(root, plan, runs, listed(plan, runs, done))
        left = [run for run in runs if run.path not in done]
        for run in left:
            (root / run.path).parent.mkdir(parents=True, exist_ok=True)
        for run, made in _played(left, root, place or processes(), models):
            done[run.path] = made
            _tell(on_run, done, kept, runs)
        manifest = listed(plan, runs, done)
        write_manifest(root, plan, runs, manifest)
    return manifest


def _tell(
    on_run: OnRun | None, done: Mapping[str, Done], kept: int, runs: Sequence[Planned]
) -> None:
    if on_run is not None:
        on_run(len(done), kept, len(runs))


class RunFailed(GoldrushError):
    """A run that could not be played to its end; `path` is where its journal would be."""

    def __init__(self, run: Planned, reason: str) -> None:
        super().__init__(f"{run.path}: {reason}")
        self.path = run.path
        self.reason = reason


class WorkersLost(GoldrushError):
    """A run whose worker died every time it was played; `path` is where its journal would be."""

    def __init__(self, run: Planned) -> None:
        super().__init__(
            f"the process that played {run.path} died {DEATHS_MAX} times; what it plays ends its "
            f"process, or memory is short"
        )
        self.path = run.path


def _check_folder(root: Path, runs: Sequence[Planned]) -> None:
    """Raises BadInput for a folder that is not this study's, nor free for it."""
    try:
        if not root.exists() or not any(root.iterdir()):
            return
    except OSError as error:
        raise BadInput(f"cannot use {root}: {error.strerror}", "give another folder") from None
    if not (root / MANIFEST).exists():
        if all(name.name == f"{MANIFEST}{UNFINISHED}" for name in root.iterdir()):
            return  # killed before it had one
        raise BadInput(f"{root} is not empty and holds no study", "give a new folder (--out)")
    planned = {run.path: run.config for run in runs}
    for run in read_manifest(root).runs:
        if planned.get(run.path) != run.config:
            raise BadInput(
                f"{root} holds a study with {run.path}, which this plan has not, or otherwise",
                "give another folder (--out), or a plan that has all its runs",
            )


def _listed_in(root: Path, runs: Sequence[Planned]) -> Sequence[Any]:
    return read_manifest(root).runs if (root / MANIFEST).exists() else ()


@contextmanager
def _locked(root: Path) -> Iterator[None]:
    """Hold the folder, made if need be: two studies at once would play the same runs."""
    try:
        root.mkdir(parents=True, exist_ok=True)
        fd = os.open(root, os.O_RDONLY)
    except OSError as error:
        raise BadInput(f"cannot use {root}: {error.strerror}", "give another folder") from None
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    except BlockingIOError:
        raise BadInput(f"another study is at work in {root}", "wait for it") from None
    finally:
        os.close(fd)


def _checked(
    root: Path, runs: Sequence[Planned], known: Mapping[str, str]
) -> Iterator[Done | None]:
    """What of the journals that are there is kept."""
    if not runs:
        return
    with workers(jobs_for(len(runs))) as pool:
        paths = [str(root / run.path) for run in runs]
        hashes = [known.get(run.path) for run in runs]
        yield from pool.map(kept, runs, paths, hashes, chunksize=8)


def kept(run: Planned, path: str, sha256: str | None = None) -> Done | None:
    """The journal at `path`, if it can be kept as that of `run`: the bytes that the manifest has
    (`sha256`, where it has any), whole and finished, with digests that follow from its events, and
    begun as planned. None if it is to be played anew.
    """
    try:
        found = sha256_of(path)
        if sha256 is not None and found != sha256:
            return None
        verdict = verify(path, FOLD)
        if not (verdict.holds and verdict.finished) or verdict.forks:
            return None
        with JournalReader(path) as reader:
            setup = next(iter(reader)).setup or {}
    except GoldrushError:
        return None
    return (found, verdict.bytes) if _begins_as(run, setup) else None


def _begins_as(run: Planned, setup: Mapping[str, Any]) -> bool:
    """Whether a journal's setup is the planned one, but for how models turned out to be asked."""

    def decided(roster: Sequence[Mapping[str, Any]]) -> list[Any]:
        return [
            (
                entry["policy"],
                {
                    name: value
                    for name, value in entry["options"].items()
                    if entry["policy"] != LLM or name not in ("answer", "limit")
                },
            )
            for entry in roster
        ]

    return setup["config"] == run.setup["config"] and decided(setup["roster"]) == decided(
        run.setup["roster"]
    )


def _played(
    runs: Sequence[Planned], root: Path, place: Place, models: Models | None
) -> Iterator[tuple[Planned, Done]]:
    """Play runs, wherever that is, and give each as it is done.

    Where a worker dies, what was under way is played again, a run at a time: so the run that it
    died of is known.
    """
    waiting = deque(runs)
    suspects: set[str] = set()
    deaths: Counter[str] = Counter()
    under_way: dict[Future[Any], Planned] = {}
    executor = place.executor()
    try:
        while waiting or under_way:
            while waiting and len(under_way) < (1 if waiting[0].path in suspects else place.window):
                if any(run.path in suspects for run in under_way.values()):
                    break
                run = waiting.popleft()
                under_way[_handed_over(executor, run, root, place, models)] = run
            finished, _ = wait(under_way, return_when=FIRST_COMPLETED)
            lost = []
            for future in finished:
                run = under_way.pop(future)
                try:
                    made = future.result()
                except place.died:
                    lost.append(run)
                    continue
                suspects.discard(run.path)
                yield run, made if place.sees_folder else _put(root / run.path, made)
            if lost:
                lost += under_way.values()
                under_way.clear()
                executor.shutdown(wait=False, cancel_futures=True)
                if len(lost) == 1:
                    deaths[lost[0].path] += 1
                    if deaths[lost[0].path] == DEATHS_MAX:
                        raise WorkersLost(lost[0])
                suspects.update(run.path for run in lost)
                waiting.extendleft(reversed(lost))
                executor = place.executor()
    finally:
        executor.shutdown(cancel_futures=True)


def _handed_over(
    executor: Executor, run: Planned, root: Path, place: Place, models: Models | None
) -> Future[Any]:
    if place.sees_folder:
        return executor.submit(played, run, str(root / run.path), models)
    return executor.submit(played_away, run)


def played(run: Planned, path: str, models: Models | None = None) -> Done:
    """Play a run into a journal at `path`; with models, go on with what is there of it."""
    unfinished = path + UNFINISHED
    try:
        if not _went_on(run, unfinished, models):
            mining.play(unfinished, run.config, run.roster, models=models, force=True)
        made = sha256_of(unfinished), os.stat(unfinished).st_size
        os.replace(unfinished, path)
    except GoldrushError as error:
        raise RunFailed(run, str(error)) from None
    return made


def _went_on(run: Planned, path: str, models: Models | None) -> bool:
    """Whether a run that asks models was there in part, and is played to its end now.

    What it holds was paid for: it is never thrown away, and where nobody can go on with it, the
    error says why.
    """
    if not mining.models_in(run.roster.entries) or not os.path.exists(path):
        return False
    try:
        with JournalReader(path) as reader:
            setup = next(iter(reader)).setup or {}
            finished = all(True for _ in reader) and reader.ended
    except TornTail as error:
        if not error.commits:
            return False  # nobody was asked yet
        finished = False
    if not _begins_as(run, setup):
        raise BadInput(f"{path} is another run", "take it away")
    if not finished:
        own = [entry.policy for entry in run.roster.entries if entry.is_own]
        sources = [recording.path for recording in run.roster.recordings]
        mining.resume(path, models=models, trust=own, sources=sources)
    return True


def played_away(run: Planned) -> bytes:
    """Play a run where the study's folder is not, and return its journal."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "run.journal")
        played(run, path)
        return Path(path).read_bytes()


def _put(path: Path, journal: bytes) -> Done:
    """Put a journal that came from elsewhere in its place."""
    unfinished = path.with_name(path.name + UNFINISHED)
    try:
        unfinished.write_bytes(journal)
        os.replace(unfinished, path)
    except OSError as error:
        raise WriteFailed(str(path), f"cannot be written: {error.strerror}") from None
    return hashlib.sha256(journal).hexdigest(), len(journal)
