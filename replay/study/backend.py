"""Backends: executors that play the runs of a study in parallel, and survive lost workers."""

from __future__ import annotations

import os
from collections import Counter, deque
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import (
    FIRST_COMPLETED,
    BrokenExecutor,
    CancelledError,
    Executor,
    Future,
    wait,
)
from typing import Any, Final

import attrs

from goldrush.agents.pool import NOTICED, Workers, workers
from goldrush.agents.workers import jobs_for
from goldrush.kernel.errors import GoldrushError, format_error
from goldrush.replay.study.plan import Planned

DEATHS_MAX: Final = 3  # crashes of the worker of one run, after which the study stops
WATCH_AFTER: Final = 15.0  # seconds without a finished run, after which `Backend.watch` is called

Submit = Callable[[Executor, Planned], "Future[Any]"]


def _shut_down(executor: Executor) -> None:
    executor.shutdown(cancel_futures=True)


@attrs.frozen
class Backend:
    """An executor of runs, and how to use it.

    Attributes:
        executor: makes a `concurrent.futures.Executor` for a number of runs; called again when one
            has broken.
        window: the maximum number of runs submitted at once.
        lost_errors: exceptions of a future whose worker was lost.
        stop: ends an executor without waiting for its runs.
        shares_folder: whether the workers write into the study's folder. If not, they return
            journals as bytes.
        watch: called when no run has finished for `WATCH_AFTER` seconds. Returns whether the
            submitted runs are lost; raises WorkersLost if no worker is left.

    """

    executor: Callable[[int], Executor]
    window: int
    lost_errors: tuple[type[BaseException], ...] = (BrokenExecutor,)
    stop: Callable[[Executor], None] = _shut_down
    shares_folder: bool = True
    watch: Callable[[], bool] | None = None


def processes(jobs: int | None = None) -> Backend:
    """A backend of `jobs` local processes; None: one per processor."""

    def stop(executor: Executor) -> None:
        assert isinstance(executor, Workers)
        executor.stop()

    return Backend(
        lambda runs: workers(jobs_for(runs, jobs)), 2 * (jobs or os.cpu_count() or 1), stop=stop
    )


class RunFailed(GoldrushError):
    """A run that could not be played to its end.

    Attributes:
        path: its journal, relative to the study's folder.
        reason: why it failed.
        unwritten: whether the operating system refused to write the journal.

    """

    def __init__(self, run: Planned, reason: str, *, unwritten: bool = False) -> None:
        super().__init__(f"{run.path}: {reason}")
        self.path = run.path
        self.reason = reason
        self.unwritten = unwritten


class WorkersLost(GoldrushError):
    """No worker is left, or one run repeatedly crashed its worker.

    Attributes:
        path: the journal of that run, relative to the study's folder, if it is known.

    """

    def __init__(self, message: str, path: str | None = None) -> None:
        super().__init__(message)
        self.path = path


def as_completed(
    runs: Sequence[Planned], backend: Backend, submit: Submit
) -> Generator[tuple[Planned, Any], None, None]:
    """Submit every run, and yield runs with their results as they complete.

    When a worker is lost, the runs submitted to it are submitted again, one at a time, so that the
    run that crashes it is identified. When a run fails, no other is submitted; its error is raised
    after the running ones have ended.

    Args:
        runs: the runs.
        backend: their executor.
        submit: submits one run to an executor.

    Raises:
        RunFailed: if a run failed.
        WorkersLost: if a run lost its worker `DEATHS_MAX` times, or no worker is left.

    """
    waiting = deque(runs)
    suspects: set[str] = set()
    deaths: Counter[str] = Counter()
    under_way: dict[Future[Any], Planned] = {}
    lost: list[Planned] = []
    failed: GoldrushError | None = None
    if not runs:
        return
    executor = backend.executor(len(runs))
    try:
        while waiting or under_way:
            room = 1 if suspects else backend.window
            while waiting and not lost and len(under_way) < room:
                run = waiting.popleft()
                under_way[_submitted(submit, executor, run, backend)] = run
            # With a timeout, because the wait does not notice a Ctrl-C pressed just before it.
            patience = NOTICED if backend.watch is None else WATCH_AFTER
            finished, _ = wait(under_way, patience, return_when=FIRST_COMPLETED)
            if not finished and backend.watch is not None and backend.watch():
                lost.extend(under_way.values())
                under_way.clear()
            for future in [future for future in under_way if future in finished]:
                run = under_way.pop(future)
                try:
                    outcome = future.result()
                except backend.lost_errors:
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
                backend.stop(executor)
                executor = backend.executor(len(waiting))
        if failed is not None:
            raise failed
    except BaseException:  # above all Ctrl-C: do not wait for the running ones
        backend.stop(executor)
        raise
    executor.shutdown()


def _submitted(submit: Submit, executor: Executor, run: Planned, backend: Backend) -> Future[Any]:
    try:
        return submit(executor, run)
    except backend.lost_errors as error:  # a worker was lost in the meantime
        future: Future[Any] = Future()
        future.set_exception(error)
        return future


def _failure(run: Planned, error: Exception) -> GoldrushError:
    if isinstance(error, CancelledError):
        return RunFailed(run, "its worker is gone")
    return error if isinstance(error, GoldrushError) else RunFailed(run, format_error(error))


def _deadly(run: Planned) -> WorkersLost:
    return WorkersLost(
        f"the process playing {run.path} died {DEATHS_MAX} times; a policy ends its process, or "
        "memory is short",
        run.path,
    )
