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
import time
from collections import Counter, deque
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from concurrent.futures import (
    FIRST_COMPLETED,
    BrokenExecutor,
    CancelledError,
    Executor,
    Future,
    wait,
)
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any, Final

import attrs

from agents import mining
from agents.llm.models import LLM, Models
from agents.roster import policy_of
from kernel.errors import (
    BadInput,
    DamagedJournal,
    GoldrushError,
    MalformedEvents,
    NotAJournal,
    TornTail,
    UnsupportedJournal,
    WriteFailed,
    described,
)
from kernel.journal import Header, JournalReader, sha256_of
from kernel.mining import MINING
from replay.study.manifest import (
    MANIFEST,
    UNFINISHED,
    Manifest,
    check_size,
    listed,
    read_manifest,
    write_manifest,
)
from replay.study.plan import Plan, Planned, cells_of
from replay.verify import FOLD, verify
from replay.workers import Workers, jobs_for, workers

DEATHS_MAX: Final = 3  # how often a run may take its worker with it
LOCK_WAIT: Final = 2.0  # seconds in which the workers of a study that was killed end
WATCHED: Final = 15.0  # seconds without any run after which a place is looked at
CHECKED: Final = "checked"
PLAYED: Final = "played"

Done = tuple[str, int]  # SHA-256 and size of a journal
# Told what is done with runs (CHECKED, PLAYED), with how many it is, and with how many it will be.
OnStep = Callable[[str, int, int], None]
HandOver = Callable[[Executor, Planned], "Future[Any]"]


def _shut_down(executor: Executor) -> None:
    executor.shutdown(cancel_futures=True)


@attrs.frozen
class Place:
    """Where runs are played: `executor` makes any `concurrent.futures.Executor` for so many runs,
    and is called again where one broke; `window`: how many runs are handed to it at once; `died`:
    what a future raises whose worker was lost; `stop` ends an executor in the middle.
    `sees_folder`: whether its workers write into the study's folder; if not, journals come back as
    bytes. `watch` is called where nothing came for a while, and raises where nothing can come.
    """

    executor: Callable[[int], Executor]
    window: int
    died: tuple[type[BaseException], ...] = (BrokenExecutor,)
    stop: Callable[[Executor], None] = _shut_down
    sees_folder: bool = True
    watch: Callable[[], None] | None = None


def processes(jobs: int | None = None) -> Place:
    """`jobs` processes of this machine, by default one a processor."""

    def stop(executor: Executor) -> None:
        assert isinstance(executor, Workers)
        executor.stop()

    return Place(
        lambda runs: workers(jobs_for(runs, jobs)), 2 * (jobs or os.cpu_count() or 1), stop=stop
    )


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
        if len(done) < len(runs) or len(known) < len(runs):
            write_manifest(root, plan, runs, listed(plan, runs, done))
        _make_room(root, runs, done)
        left = [run for run in runs if run.path not in done]
        done.update(_played(left, root, place, models, told))
        manifest = listed(plan, runs, done)
        write_manifest(root, plan, runs, manifest)
    return manifest


def runs_of(plan: Plan, models: Models | None = None, *, away: bool = False) -> list[Planned]:
    """The runs of a plan, of which each could begin; `away`: where this folder is not.

    Raises BadInput where somebody cannot play.
    """
    runs = plan.runs(models)
    check_size(plan, runs)
    own: set[str] = set()
    for cell, members in cells_of(runs):
        roster = members[0].roster
        for entry in roster.entries:
            if entry.is_own and entry.policy not in own:
                policy_of(entry)
                own.add(entry.policy)
        chosen = mining.models_in(roster.entries)
        if chosen and away:
            raise BadInput(
                f"{cell}: language models are asked from this machine alone",
                "leave the cluster out (--dask)",
            )
        for model in set(chosen.values()):
            (models or Models()).endpoint_of(model).key()
    return runs


def _shared(models: Models | None, runs: Sequence[Planned]) -> Models | None:
    """The models with ceilings for a single run: an equal share, so that no order of the runs, and
    no number of processes, can take more than all may.
    """
    if models is None or (models.max_tokens, models.max_cost) == (None, None):
        return models
    asking = sum(
        len(members) for _, members in cells_of(runs) if mining.models_in(members[0].roster.entries)
    )
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


class RunFailed(GoldrushError):
    """A run that could not be played to its end; `path` is where its journal would be."""

    def __init__(self, run: Planned, reason: str) -> None:
        super().__init__(f"{run.path}: {reason}")
        self.path = run.path
        self.reason = reason


class WorkersLost(GoldrushError):
    """Nobody is left to go on, or a run ended the process that was at work on it every time: `path`
    is where its journal would be.
    """

    def __init__(self, says: str, path: str | None = None) -> None:
        super().__init__(says)
        self.path = path


def _deadly(run: Planned) -> WorkersLost:
    return WorkersLost(
        f"the process at work on {run.path} died {DEATHS_MAX} times; what plays there ends its "
        "process, or memory is short",
        run.path,
    )


def _known(root: Path, plan: Plan, runs: Sequence[Planned]) -> dict[str, str]:
    """By path, the SHA-256 of the journals that the folder's manifest has.

    Raises BadInput for a folder that is not this study's, nor free for it.
    """
    if not os.path.lexists(root / MANIFEST):
        # A study that was killed at its very beginning left no more than a piece of one.
        if {entry.name for entry in root.iterdir()} - {MANIFEST + UNFINISHED}:
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
    """Hold the folder, made if need be: two studies at once would play the same runs."""
    try:
        root.mkdir(parents=True, exist_ok=True)
        fd = os.open(root, os.O_RDONLY | os.O_DIRECTORY)
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
        os.close(fd)


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
        for folder in {(root / run.path).parent for run in runs}:
            folder.mkdir(parents=True, exist_ok=True)
        for path in done:
            (root / (path + UNFINISHED)).unlink(missing_ok=True)
    except OSError as error:
        raise WriteFailed(
            str(error.filename), f"is in the way of the study: {error.strerror}"
        ) from None


def _checked(
    runs: Sequence[Planned], root: Path, known: Mapping[str, str], place: Place, told: OnStep
) -> dict[str, Done]:
    """What of the journals that are there is kept."""

    def hand_over(executor: Executor, run: Planned) -> Future[Any]:
        return executor.submit(kept, run, str(root / run.path), known.get(run.path))

    found: dict[str, Done | None] = {}
    with closing(_each(runs, place, hand_over)) as outcomes:
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
            return executor.submit(played, run, str(root / run.path), models)
        return executor.submit(played_away, run)

    done: dict[str, Done] = {}
    if runs:
        told(PLAYED, 0, len(runs))
    with closing(_each(runs, place, hand_over)) as outcomes:
        for run, made in outcomes:
            done[run.path] = made if place.sees_folder else _put(root / run.path, made)
            told(PLAYED, len(done), len(runs))
    return done


def _each(
    runs: Sequence[Planned], place: Place, hand_over: HandOver
) -> Generator[tuple[Planned, Any], None, None]:
    """Hand every run over, and give what comes of each as it comes.

    Where a worker dies, the runs that were lost with it are handed over again, one at a time: so
    the run that it died of is known. Where a run fails, no more are begun; its error is raised when
    those under way have ended.
    """
    waiting = deque(runs)
    suspects: set[str] = set()
    deaths: Counter[str] = Counter()
    under_way: dict[Future[Any], Planned] = {}
    lost: list[Planned] = []
    failed: GoldrushError | None = None
    if not runs:
        return
    executor = place.executor(len(runs))
    try:
        while waiting or under_way:
            room = 1 if suspects else place.window
            while waiting and not lost and len(under_way) < room:
                run = waiting.popleft()
                under_way[_handed_over(hand_over, executor, run, place)] = run
            patience = None if place.watch is None else WATCHED
            finished, _ = wait(under_way, patience, return_when=FIRST_COMPLETED)
            if not finished and place.watch is not None:
                place.watch()
            for future in [future for future in under_way if future in finished]:
                run = under_way.pop(future)
                try:
                    outcome = future.result()
                except place.died:
                    lost.append(run)
                except Exception as error:
                    failed = failed or _failure(run, error)
                    waiting.clear()
                else:
                    suspects.discard(run.path)
                    yield run, outcome
            if lost and not under_way and failed is None:
                if len(lost) == 1:
                    deaths[lost[0].path] += 1
                    if deaths[lost[0].path] == DEATHS_MAX:
                        raise _deadly(lost[0])
                suspects.update(run.path for run in lost)
                waiting.extendleft(sorted(lost, key=runs.index, reverse=True))
                lost.clear()
                executor.shutdown()
                executor = place.executor(len(waiting))
        if failed is not None:
            raise failed
    except BaseException:  # Ctrl-C above all: nobody waits for what is under way
        place.stop(executor)
        raise
    executor.shutdown()


def _handed_over(
    hand_over: HandOver, executor: Executor, run: Planned, place: Place
) -> Future[Any]:
    try:
        return hand_over(executor, run)
    except place.died as error:  # a worker has died since
        future: Future[Any] = Future()
        future.set_exception(error)
        return future


def _failure(run: Planned, error: Exception) -> GoldrushError:
    """What is told of an error that a future raised: of a place that cannot play, above all."""
    if isinstance(error, CancelledError):
        return RunFailed(run, "who was to play it is gone")
    return error if isinstance(error, GoldrushError) else RunFailed(run, described(error))


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
            if reader.header != Header(MINING.name, MINING.rules):
                return None
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

    return setup.get("config") == run.setup["config"] and decided(
        setup.get("roster", ())
    ) == decided(run.setup["roster"])


def played(run: Planned, path: str, models: Models | None = None) -> Done:
    """Play a run into a journal at `path`; with models, go on with what is there of it.

    Raises RunFailed.
    """
    unfinished = path + UNFINISHED
    try:
        if not _went_on(run, path, models):
            Path(unfinished).unlink(missing_ok=True)
            mining.play(unfinished, run.config, run.roster, models=models)
        made = sha256_of(unfinished), os.stat(unfinished).st_size
        os.replace(unfinished, path)
    except GoldrushError as error:
        raise RunFailed(run, str(error)) from None
    except OSError as error:
        raise RunFailed(run, f"cannot be written: {error.strerror}") from None
    return made


def _went_on(run: Planned, path: str, models: Models | None) -> bool:
    """Whether a run that asks models was there in part, and is played to its end now.

    What it holds was paid for: it is never thrown away, and where nobody can go on with it, the
    error says why.
    """
    if not mining.models_in(run.roster.entries):
        return False
    unfinished = path + UNFINISHED
    if not os.path.lexists(unfinished):
        with suppress(FileNotFoundError):
            os.rename(path, unfinished)  # it was found to be no whole journal of this run
    if not os.path.lexists(unfinished) or not os.stat(unfinished).st_size:
        return False
    try:
        ended = _ended(run, unfinished)
        if ended is False:
            own = [entry.policy for entry in run.roster.entries if entry.is_own]
            sources = [recording.path for recording in run.roster.recordings]
            mining.resume(unfinished, models=models, trust=own, sources=sources)
    except (NotAJournal, UnsupportedJournal, DamagedJournal, MalformedEvents) as error:
        raise BadInput(str(error), "take it away, or bring it back whole") from None
    if ended and kept(run, unfinished) is None:
        raise BadInput(f"{unfinished} is not what follows from its events", "take it away")
    return ended is not None


def _ended(run: Planned, path: str) -> bool | None:
    """Whether this journal of a run has come to its end; None where nobody was asked yet."""
    ended = False
    try:
        with JournalReader(path) as reader:
            commits = iter(reader)
            setup = next(commits).setup or {}
            ended = all(True for _ in commits) and reader.ended
    except TornTail as error:
        if not error.commits:
            return None
    if not _begins_as(run, setup):
        raise BadInput(f"{path} is another run", "take it away")
    return ended


def played_away(run: Planned) -> bytes:
    """Play a run where the study's folder is not, and return its journal. Raises RunFailed."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "run.journal")
        played(run, path)
        return Path(path).read_bytes()


def _put(path: Path, journal: bytes) -> Done:
    """Put a journal that came from elsewhere in its place."""
    unfinished = path.with_name(path.name + UNFINISHED)
    try:
        unfinished.unlink(missing_ok=True)
        unfinished.write_bytes(journal)
        os.replace(unfinished, path)
    except OSError as error:
        raise WriteFailed(str(path), f"cannot be written: {error.strerror}") from None
    return hashlib.sha256(journal).hexdigest(), len(journal)
