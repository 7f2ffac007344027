"""Tasks shared among worker processes: how many, and their results in order."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Generator, Sequence
from typing import TYPE_CHECKING, Final, TypeVar

from goldrush.agents.modules import printing_to_stderr
from goldrush.agents.pool import WorkerDied

if TYPE_CHECKING:
    from concurrent.futures import Future

T = TypeVar("T")
R = TypeVar("R")

AHEAD: Final = 4  # tasks per process that are submitted in advance
SERIAL_MAX: Final = 1 << 19  # bytes of journals that are read sooner than a process starts


def jobs_for(tasks: int, jobs: int | None = None, size: int | None = None) -> int:
    """The number of processes for some tasks. `jobs`: the maximum; None: one per processor; `size`:
    bytes of the journals that the tasks read; one process reads up to `SERIAL_MAX`. None: unknown.
    """
    if size is not None and size <= SERIAL_MAX:
        return 1
    return max(1, min(jobs or os.cpu_count() or 1, tasks))


def map_in_order(
    function: Callable[[T], R],
    tasks: Sequence[T],
    jobs: int | None = None,
    size: int | None = None,
) -> Generator[R, None, None]:
    """Call a function for each task; results in the order of the tasks.

    It is called in worker processes, or in this one if `jobs_for` gives one process. The first
    exception in the order of the tasks, or KeyboardInterrupt, ends the processes without waiting
    for their tasks.

    Args:
        function: importable by the processes. What it prints goes to stderr (see
            `printing_to_stderr`).
        jobs, size: see `jobs_for`.

    Raises WorkerDied if a process was killed, and what the function raises.
    """
    count = jobs_for(len(tasks), jobs, size)
    if count == 1:
        for task in tasks:
            with printing_to_stderr():
                result = function(task)
            yield result
        return
    from concurrent.futures import BrokenExecutor

    from goldrush.agents.pool import result_of, workers

    pool = workers(count)
    waiting: deque[Future[R]] = deque()
    left = iter(tasks)
    try:
        while True:
            while len(waiting) < AHEAD * count and (ahead := next(left, None)) is not None:
                waiting.append(pool.submit(function, ahead))
            if not waiting:
                break
            yield result_of(waiting.popleft())
    except BrokenExecutor:
        pool.stop()
        raise WorkerDied from None
    except BaseException:
        pool.stop()
        raise
    pool.shutdown()
