"""Processes that work at many things at once."""

from __future__ import annotations

import atexit
import os
import signal
import sys
import threading
from collections import deque
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import BrokenExecutor, Future, ProcessPoolExecutor
from contextlib import contextmanager, suppress
from multiprocessing import get_start_method, parent_process
from multiprocessing.connection import wait
from queue import Empty, SimpleQueue
from typing import Final, ParamSpec, TypeVar

from goldrush.kernel.errors import GoldrushError
from goldrush.kernel.files import remove_temporaries

_SAFE: Final = "PYTHONSAFEPATH"

P = ParamSpec("P")
T = TypeVar("T")
R = TypeVar("R")

AHEAD: Final = 8  # tasks a process that are handed over at once
GRACE: Final = 2.0  # seconds that a process has to end itself
NOTICED: Final = 0.5  # seconds after which Ctrl-C is noticed at the latest


_exit_hooks: Final[list[Callable[[], None]]] = [remove_temporaries]


class WorkerDied(GoldrushError):
    """A process was ended while it was at work: by the system for want of memory, or by hand."""

    def __init__(self) -> None:
        super().__init__("a process at work has died, for want of memory perhaps; try again")


class Workers(ProcessPoolExecutor):
    """A pool of processes that can be ended in the middle of what they do."""

    def submit(self, task: Callable[P, T], /, *given: P.args, **named: P.kwargs) -> Future[T]:
        """Hand over a task, as any pool takes it; a process may begin here."""
        with _safe_path():
            return super().submit(task, *given, **named)

    def stop(self) -> None:
        """End them now; what they were at is lost."""
        processes = list((self._processes or {}).values())
        for process in processes:
            process.terminate()  # so that it removes what it has not finished
        for process in processes:
            process.join(GRACE)
            process.kill()
        self.shutdown(cancel_futures=True)


def workers(jobs: int, first: Callable[[], object] | None = None) -> Workers:
    """A pool of `jobs` processes that can import what this one can, and that end by Ctrl-C and with
    this one, however that ends. `first`: what each does before its first task.
    """
    with _safe_path():  # what watches over them begins here
        return Workers(jobs, initializer=_begin, initargs=(list(sys.path), first))


@contextmanager
def _safe_path() -> Iterator[None]:
    """Let a process that begins afresh not look for Python's own modules in the working folder. The
    path of this process it is given anyway.
    """
    before = os.environ.get(_SAFE)
    if get_start_method() != "fork":
        os.environ[_SAFE] = "1"
    try:
        yield
    finally:
        if before is None:
            os.environ.pop(_SAFE, None)
        else:
            os.environ[_SAFE] = before


def before_exit(clean: Callable[[], None]) -> None:
    """Let something be done before this process ends: by itself, by a signal that a worker takes,
    or with the process that began it.
    """
    if clean not in _exit_hooks:
        _exit_hooks.append(clean)
        atexit.register(clean)


def jobs_for(tasks: int, jobs: int | None = None) -> int:
    """How many processes so many tasks are worth: `jobs`, by default one a processor."""
    return max(1, min(jobs or os.cpu_count() or 1, tasks))


def map_in_order(
    function: Callable[[T], R], tasks: Sequence[T], jobs: int | None = None
) -> Generator[R, None, None]:
    """What a function makes of each task, in their order, `jobs` at a time.

    Raises WorkerDied where a process is ended from outside, and what the function raises; whatever
    stops this, Ctrl-C above all, nobody waits for what is under way.
    """
    if not tasks:
        return
    count = jobs_for(len(tasks), jobs)
    pool = workers(count)
    waiting: deque[Future[R]] = deque()
    left = iter(tasks)
    try:
        while True:
            while len(waiting) < AHEAD * count and (task := next(left, None)) is not None:
                waiting.append(pool.submit(function, task))
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


# Waits are short, for a signal that arrives between Python's last look and the system's wait goes
# unnoticed until that wait ends.


def result_of(future: Future[R]) -> R:
    """The result of a future, or what it raises."""
    while not future.done():
        with suppress(TimeoutError):
            return future.result(NOTICED)
    return future.result()


def next_of(queue: SimpleQueue[T]) -> T:
    """The next item. Ctrl-C leaves no lock behind that a thread waits for, as a future's may be."""
    while True:
        with suppress(Empty):
            return queue.get(timeout=NOTICED)


def _begin(path: list[str], first: Callable[[], object] | None) -> None:
    sys.path[:] = path
    # What a policy prints is no part of an answer. A file of its own: that of the parent may draw a
    # progress bar, and one of its threads may hold the lock of it.
    sys.stdout = sys.stderr = open(2, "w", buffering=1, errors="replace", closefd=False)  # noqa: SIM115
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    # A thread takes them, for nobody knows what the main one waits for. HUP may be ignored (nohup).
    signals = {signal.SIGINT, signal.SIGTERM, signal.SIGHUP}
    taken = {number for number in signals if signal.getsignal(number) != signal.SIG_IGN}
    signal.pthread_sigmask(signal.SIG_BLOCK, taken)
    threading.Thread(target=_end_by_signal, args=(taken,), daemon=True).start()
    threading.Thread(target=_end_with_parent, daemon=True).start()
    if first is not None:
        first()


def _end_by_signal(taken: set[signal.Signals]) -> None:
    _end(128 + signal.sigwait(taken))


def _end_with_parent() -> None:
    parent = parent_process()
    assert parent is not None  # this is a worker
    wait([parent.sentinel])
    _end(1)


def _end(code: int) -> None:
    """End this process where it is, and leave nothing behind that is not whole."""
    for clean in _exit_hooks:
        clean()
    os._exit(code)
