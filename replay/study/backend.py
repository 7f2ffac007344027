"""Backends: executors that play the runs of a study in parallel, and survive lost workers."""

from __future__ import annotations

import os
import time
from collections import Counter, deque
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import BrokenExecutor, CancelledError, Executor, Future
from itertools import chain
from queue import Empty, SimpleQueue
from typing import Any, Final, TypeVar, cast

import attrs

from goldrush.agents.pool import NOTICED, Workers, workers
from goldrush.kernel.errors import GoldrushError, format_error
from goldrush.kernel.text import format_count
from goldrush.replay.study.plan import Planned
from goldrush.replay.workers import jobs_for

DEATHS_MAX: Final = 3  # crashes of the worker of one run, after which the study stops
WATCH_AFTER: Final = 15.0  # seconds without a finished run, after which `Backend.watch` is called

TASK_SECONDS: Final = 1.0  # after which a task of several runs begins no further one

R = TypeVar("R")


def _shut_down(executor: Executor) -> None:
    executor.shutdown(cancel_futures=True)


@attrs.frozen
class Backend:
    """An executor of runs, and how to use it.

    Attributes:
        executor: makes one for a number of runs; called again when one has broken.
        window: the maximum number of tasks submitted at once.
        batch: the maximum number of runs in a task, which begins none after `TASK_SECONDS`.
        lost_errors: exceptions of a future whose worker was lost.
        stop: ends an executor without waiting for its runs.
        shares_folder: whether workers write into the study's folder, or return journals as bytes.
        watch: called when no run has finished for `WATCH_AFTER` seconds. Returns whether the
            submitted runs are lost; raises WorkersLost if no worker is left.
    """

    executor: Callable[[int], Executor]
    window: int
    batch: int = 1
    lost_errors: tuple[type[BaseException], ...] = (BrokenExecutor,)
    stop: Callable[[Executor], None] = _shut_down
    shares_folder: bool = True
    watch: Callable[[], bool] | None = None


def processes(jobs: int | None = None) -> Backend:
    """A backend of `jobs` local processes; None: one per processor."""
    return Backend(
        lambda runs: workers(jobs_for(runs, jobs)),
        2 * (jobs or os.cpu_count() or 1),
        stop=lambda executor: cast(Workers, executor).stop(),
    )


class _Here(Executor):
    def submit(self, function: Callable[..., R], /, *args: Any, **kwargs: Any) -> Future[R]:
        future: Future[R] = Future()
        try:
            future.set_result(function(*args, **kwargs))
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            future.set_exception(error)
        return future


def this_process() -> Backend:
    """A backend without workers."""
    return Backend(lambda runs: _Here(), window=1)


class RunFailed(GoldrushError):
    """A run that could not be played to its end; `path`: its journal, relative to the study's
    folder; `stopped`: the number of runs that stopped by a limit, a server that does not answer
    among them; 0: this one failed.
    """

    def __init__(self, path: str, reason: str, *, stopped: int = 0) -> None:
        others = f"; {format_count(stopped - 1, 'other run')} stopped, too" if stopped > 1 else ""
        super().__init__(f"{path}: {reason}{others}")
        self.path = path
        self.reason = reason
        self.stopped = stopped


class WorkersLost(GoldrushError):
    """No worker is left, or one run (`path`: its journal) repeatedly crashed its worker."""

    def __init__(self, message: str, path: str | None = None) -> None:
        super().__init__(message)
        self.path = path


def as_completed(
    runs: Sequence[Planned], backend: Backend, function: Callable[[Planned], R]
) -> Generator[tuple[Planned, R], None, None]:
    """Call a function, which workers can import, for every run; yield runs with their results.

    When a worker is lost, the runs submitted to it are submitted again, one at a time, so that the
    run that crashes it is identified. When a run fails, no other is submitted; its error is raised
    after the running ones have ended. That of runs that stop is raised after all others.

    Raises RunFailed; WorkersLost if a run lost its worker `DEATHS_MAX` times, or no worker is left.
    """
    rank = {run.path: index for index, run in enumerate(runs)}
    waiting, suspects, deaths = deque(runs), set[str](), Counter[str]()
    stopped: list[RunFailed] = []
    while waiting:
        executor = backend.executor(len(waiting))
        try:
            lost = yield from _until_lost(executor, backend, function, waiting, suspects, stopped)
            if lost and isinstance(executor, Workers):
                executor.check_guarded()
        except BaseException:  # above all Ctrl-C: do not wait for the running ones
            backend.stop(executor)
            raise
        if not lost:
            executor.shutdown()
            break
        backend.stop(executor)
        if len(lost) == 1:
            _count_death(lost[0], deaths)
        suspects.update(run.path for run in lost)
        waiting.extendleft(sorted(lost, key=lambda run: rank[run.path], reverse=True))
    if stopped:
        raise RunFailed(stopped[0].path, stopped[0].reason, stopped=len(stopped))


def _until_lost(
    executor: Executor,
    backend: Backend,
    function: Callable[[Planned], R],
    waiting: deque[Planned],
    suspects: set[str],
    stopped: list[RunFailed],
) -> Generator[tuple[Planned, R], None, list[Planned]]:
    """Take runs from those waiting and yield them with their results, until all are done or a
    worker is lost. Returns the runs that were lost. `suspects`: runs of lost workers, played alone;
    `stopped`: gets the errors of runs that stop.
    """
    under_way: dict[Future[list[Any]], list[Planned]] = {}
    ended: SimpleQueue[Future[list[Any]]] = SimpleQueue()  # asking every future takes too long
    lost: list[Planned] = []
    failed: GoldrushError | None = None
    while under_way or (waiting and not lost):
        room = 1 if suspects else backend.window
        while waiting and not lost and len(under_way) < room:
            # Towards the end fewer, so that all workers have some.
            few = max(1, min(backend.batch, len(waiting) // backend.window))
            task = [waiting.popleft() for _ in range(1 if suspects else few)]
            try:
                future = executor.submit(call_each, function, [run.as_sent() for run in task])
            except backend.lost_errors:
                lost += task
                break
            under_way[future] = task
            future.add_done_callback(ended.put)
        if not under_way:
            break
        try:
            future = ended.get(timeout=NOTICED if backend.watch is None else WATCH_AFTER)
        except Empty:  # for a while, so that Ctrl-C is noticed
            if backend.watch is not None and backend.watch():
                lost += chain(*under_way.values())
                under_way.clear()
            continue
        task = under_way.pop(future)
        try:
            outcomes = future.result()
        except backend.lost_errors:
            lost += task
            continue
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # of whatever type an executor has
            gone = isinstance(error, CancelledError)
            reason = "its worker is gone" if gone else format_error(error)
            outcomes = [RunFailed(task[0].path, reason)]
        waiting.extendleft(reversed(task[len(outcomes) :]))
        for run, outcome in zip(task, outcomes, strict=False):
            if isinstance(outcome, RunFailed) and outcome.stopped:
                stopped.append(outcome)
            elif isinstance(outcome, GoldrushError):
                failed = failed or outcome
            else:
                suspects.discard(run.path)
                yield run, outcome
        if failed is not None:
            waiting.clear()
    if failed is not None:
        raise failed
    return lost


def call_each(function: Callable[[Planned], R], runs: Sequence[Planned]) -> list[R | GoldrushError]:
    """Call a function for runs, one after the other, in a worker.

    Returns the results of the first runs, at least of one. An error of a run is the last result, so
    that those before it are kept.
    """
    until = time.monotonic() + TASK_SECONDS
    results: list[R | GoldrushError] = []
    for run in runs:
        try:
            results.append(function(run))
        # A run that has lost a process of its own is as one that has lost its worker.
        except (KeyboardInterrupt, BrokenExecutor):
            raise
        except GoldrushError as error:
            return [*results, error]
        except BaseException as error:  # a world may raise anything
            return [*results, RunFailed(run.path, format_error(error))]
        if time.monotonic() > until:
            break
    return results


def _count_death(run: Planned, deaths: Counter[str]) -> None:
    """Count the death of a worker that played one run alone. Raises WorkersLost."""
    deaths[run.path] += 1
    if deaths[run.path] == DEATHS_MAX:
        raise WorkersLost(
            f"the process playing {run.path} died {DEATHS_MAX} times; a policy ends its process, "
            "or memory is short",
            run.path,
        )
