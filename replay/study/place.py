"""Where runs are played: many at once, by any executor, and by workers that may die."""

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

from goldrush.agents.workers import NOTICED, Workers, jobs_for, workers
from goldrush.kernel.errors import GoldrushError, format_error
from goldrush.replay.study.plan import Planned

DEATHS_MAX: Final = 3  # how often a run may take its worker with it
WATCHED: Final = 15.0  # seconds without any run after which a place is looked at

HandOver = Callable[[Executor, Planned], "Future[Any]"]


def _shut_down(executor: Executor) -> None:
    executor.shutdown(cancel_futures=True)


@attrs.frozen
class Place:
    """Where runs are played: `executor` makes any `concurrent.futures.Executor` for so many runs,
    and is called again where one broke; `window`: how many runs are handed to it at once; `died`:
    what a future raises whose worker was lost; `stop` ends an executor in the middle.
    `sees_folder`: whether its workers write into the study's folder; if not, journals come back as
    bytes. `watch` is called where nothing came for a while: it raises where nothing can come, and
    is true where what was handed over has been lost without a word.
    """

    executor: Callable[[int], Executor]
    window: int
    died: tuple[type[BaseException], ...] = (BrokenExecutor,)
    stop: Callable[[Executor], None] = _shut_down
    sees_folder: bool = True
    watch: Callable[[], bool] | None = None


def processes(jobs: int | None = None) -> Place:
    """`jobs` processes of this machine, by default one a processor."""

    def stop(executor: Executor) -> None:
        assert isinstance(executor, Workers)
        executor.stop()

    return Place(
        lambda runs: workers(jobs_for(runs, jobs)), 2 * (jobs or os.cpu_count() or 1), stop=stop
    )


class RunFailed(GoldrushError):
    """A run that could not be played to its end; `path` is where its journal would be. `unwritten`:
    because the system refused to write it.
    """

    def __init__(self, run: Planned, reason: str, *, unwritten: bool = False) -> None:
        super().__init__(f"{run.path}: {reason}")
        self.path = run.path
        self.reason = reason
        self.unwritten = unwritten


class WorkersLost(GoldrushError):
    """Nobody is left to go on, or a run ended the process that was at work on it every time: `path`
    is where its journal would be.
    """

    def __init__(self, says: str, path: str | None = None) -> None:
        super().__init__(says)
        self.path = path


def each_of(
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
            # Never without an end: Ctrl-C may come just before the wait, which does not see it.
            patience = NOTICED if place.watch is None else WATCHED
            finished, _ = wait(under_way, patience, return_when=FIRST_COMPLETED)
            if not finished and place.watch is not None and place.watch():
                lost.extend(under_way.values())
                under_way.clear()
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
                place.stop(executor)
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
    return error if isinstance(error, GoldrushError) else RunFailed(run, format_error(error))


def _deadly(run: Planned) -> WorkersLost:
    return WorkersLost(
        f"the process at work on {run.path} died {DEATHS_MAX} times; what plays there ends its "
        "process, or memory is short",
        run.path,
    )
