"""Backends: executors that play the runs of a study in parallel, and survive lost workers."""

from __future__ import annotations

import os
import time
from collections import Counter, deque
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import BrokenExecutor, CancelledError, Executor, Future
from contextlib import suppress
from queue import Empty, SimpleQueue
from typing import Any, Final, TypeVar

import attrs

from goldrush.agents.pool import NOTICED, Workers, workers
from goldrush.agents.workers import jobs_for
from goldrush.kernel.errors import GoldrushError, format_error
from goldrush.replay.study.plan import Planned

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
        on_all_workers: calls a function in each worker that is there; raises BadInput if it raises.
            None: workers are made by this process.
    """

    executor: Callable[[int], Executor]
    window: int
    batch: int = 1
    lost_errors: tuple[type[BaseException], ...] = (BrokenExecutor,)
    stop: Callable[[Executor], None] = _shut_down
    shares_folder: bool = True
    watch: Callable[[], bool] | None = None
    on_all_workers: Callable[[Callable[[], object]], None] | None = None


def processes(jobs: int | None = None) -> Backend:
    """A backend of `jobs` local processes; None: one per processor."""

    def stop(executor: Executor) -> None:
        assert isinstance(executor, Workers)
        executor.stop()

    return Backend(
        lambda runs: workers(jobs_for(runs, jobs)), 2 * (jobs or os.cpu_count() or 1), stop=stop
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
    """A backend without workers, for policies that no worker can import."""
    return Backend(lambda runs: _Here(), window=1)


class RunFailed(GoldrushError):
    """A run that could not be played to its end; `path`: its journal, relative to the study's
    folder; `stopped`: whether a limit that was set for it stopped it.
    """

    def __init__(self, run: Planned, reason: str, *, stopped: bool = False) -> None:
        super().__init__(f"{run.path}: {reason}")
        self.path = run.path
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
    after the running ones have ended.

    Raises RunFailed; WorkersLost if a run lost its worker `DEATHS_MAX` times, or no worker is left.
    """
    waiting = deque(runs)
    suspects: set[str] = set()
    deaths: Counter[str] = Counter()
    under_way: dict[Future[list[Any]], Sequence[Planned]] = {}
    ended: SimpleQueue[Future[list[Any]]] = SimpleQueue()  # asking every future takes too long
    lost: list[Planned] = []
    size = 1  # of the next task: it grows while workers end whole tasks in time
    failed: GoldrushError | None = None
    if not runs:
        return
    executor = backend.executor(len(runs))
    try:
        while waiting or under_way:
            room = 1 if suspects else backend.window
            while waiting and not lost and len(under_way) < room:
                # Towards the end fewer, so that all workers have some.
                few = max(1, min(size, len(waiting) // backend.window))
                wanted = [waiting.popleft() for _ in range(1 if suspects else few)]
                submitted = _submitted(function, executor, wanted, backend)
                under_way[submitted] = wanted
                submitted.add_done_callback(ended.put)
            future = _next_of(ended, backend)
            if future is None and backend.watch is not None and backend.watch():
                lost.extend(run for task in under_way.values() for run in task)
                under_way.clear()
            # A future that is not there is of an executor that was stopped.
            task = [] if future is None else under_way.pop(future, [])
            outcomes = _outcomes(future, task, backend) if future is not None and task else []
            if outcomes is None:
                lost.extend(task)
            elif outcomes:
                left = task[len(outcomes) :]
                waiting.extendleft(reversed(left))
                size = len(outcomes) if left else min(max(size, 2 * len(task)), backend.batch)
            for run, outcome in zip(task, outcomes or (), strict=False):
                if isinstance(outcome, GoldrushError):
                    failed = failed or outcome
                else:
                    suspects.discard(run.path)
                    yield run, outcome
            if failed is not None:
                waiting.clear()
            if lost and isinstance(executor, Workers):
                executor.check_guarded()
            if lost and not under_way and failed is None:
                _check_deaths(lost, deaths)
                suspects.update(run.path for run in lost)
                _put_back(lost, waiting, runs)
                backend.stop(executor)
                executor = backend.executor(len(waiting))
        if failed is not None:
            raise failed
    except BaseException:  # above all Ctrl-C: do not wait for the running ones
        backend.stop(executor)
        raise
    executor.shutdown()


def _submitted(
    function: Callable[[Planned], Any],
    executor: Executor,
    task: Sequence[Planned],
    backend: Backend,
) -> Future[list[Any]]:
    try:
        return executor.submit(call_each, function, [run.as_sent() for run in task])
    except backend.lost_errors as error:  # a worker was lost in the meantime
        future: Future[list[Any]] = Future()
        future.set_exception(error)
        return future


def _next_of(ended: SimpleQueue[Future[list[Any]]], backend: Backend) -> Future[list[Any]] | None:
    """The next future that ended; None if there was none for a while, so that Ctrl-C is noticed."""
    with suppress(Empty):
        return ended.get(timeout=NOTICED if backend.watch is None else WATCH_AFTER)
    return None


def _outcomes(
    future: Future[list[Any]], task: Sequence[Planned], backend: Backend
) -> list[Any] | None:
    """The outcomes of a task; None if its worker was lost."""
    try:
        return future.result()
    except backend.lost_errors:
        return None
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # a world may raise anything
        return [_failure(task[0], error)]


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
        except BaseException as error:
            return [*results, _failure(run, error)]
        if time.monotonic() > until:
            break
    return results


def _failure(run: Planned, error: BaseException) -> GoldrushError:
    if isinstance(error, CancelledError):
        return RunFailed(run, "its worker is gone")
    return error if isinstance(error, GoldrushError) else RunFailed(run, format_error(error))


def _put_back(lost: list[Planned], waiting: deque[Planned], runs: Sequence[Planned]) -> None:
    """Move the lost runs to the front of those waiting, in the order of all runs."""
    rank = {run.path: index for index, run in enumerate(runs)}
    waiting.extendleft(sorted(lost, key=lambda run: rank[run.path], reverse=True))
    lost.clear()


def _check_deaths(lost: Sequence[Planned], deaths: Counter[str]) -> None:
    """Count the death of a worker that played one run alone. Raises WorkersLost."""
    if len(lost) > 1:
        return
    [run] = lost
    deaths[run.path] += 1
    if deaths[run.path] == DEATHS_MAX:
        raise WorkersLost(
            f"the process playing {run.path} died {DEATHS_MAX} times; a policy ends its process, "
            "or memory is short",
            run.path,
        )
