"""Worker processes: pools that end cleanly with Ctrl-C, signals and their parent.

A user's code may keep something in a class or a module, which the next run in the same process
would find there. `in_child` gives a run memory of its own: a process forked from one that has
imported the code and has run none of it. Unlike a new interpreter it costs milliseconds.

Importing this module takes as long as verifying a short journal, because it imports
multiprocessing. Callers that may need one process only import it once they need more.
"""

from __future__ import annotations

import atexit
import os
import signal
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager, suppress
from functools import partial
from multiprocessing import (
    active_children,
    current_process,
    get_context,
    get_start_method,
    parent_process,
)
from multiprocessing.connection import Connection, wait
from multiprocessing.pool import ExceptionWithTraceback  # type: ignore[attr-defined]
from multiprocessing.process import BaseProcess
from multiprocessing.reduction import ForkingPickler
from multiprocessing.sharedctypes import Synchronized
from queue import Empty, SimpleQueue
from typing import Final, ParamSpec, TypeAlias, TypeVar

from goldrush.agents import interrupts
from goldrush.agents.given import give, options
from goldrush.kernel.errors import BadInput, GoldrushError, format_error
from goldrush.kernel.files import remove_temporaries

P = ParamSpec("P")
T = TypeVar("T")
R = TypeVar("R")

Waiting: TypeAlias = "Synchronized[int]"  # processes that are to end, and wait for answers before

GRACE: Final = 2.0  # seconds that a process has to end by itself
NOTICED: Final = 0.5  # seconds after which Ctrl-C is noticed at the latest
SOON: Final = 0.02  # seconds between looks at what is soon over

_ending: Final = threading.Lock()
_SAFE: Final = "PYTHONSAFEPATH"
_UNGUARDED: Final = 121  # exit code of a worker whose main program would start workers


class WorkerDied(GoldrushError):
    """A worker process was killed: by the system when memory ran out, or by a user."""

    def __init__(self) -> None:
        super().__init__("a worker process was killed, perhaps because memory ran out; try again")


class ChildDied(GoldrushError, BrokenProcessPool):
    """A process that was forked for one task was killed, or ended itself."""

    def __init__(self) -> None:
        super().__init__("a process that ran given code was killed, or that code ended it")


class Unguarded(BadInput):
    """The main program starts workers when it is imported, which new interpreters do."""

    def __init__(self) -> None:
        super().__init__(
            "a study starts processes, which import this script again and would start it anew",
            'put the call under `if __name__ == "__main__":`, or give jobs=1',
        )


def end_if_inherited() -> None:
    """End a worker that imports the main program, before that program starts workers in it."""
    if getattr(current_process(), "_inheriting", False):  # as multiprocessing itself asks
        os._exit(_UNGUARDED)


class Workers(ProcessPoolExecutor):
    """A process pool whose processes can be ended at any time."""

    def __init__(self, jobs: int, first: Callable[[], object] | None) -> None:
        """See `workers`."""
        self._waiting: Waiting = get_context().Value("i", 0)
        given = (list(sys.path), options(), first, self._waiting)
        super().__init__(jobs, initializer=_begin, initargs=given)

    def submit(self, task: Callable[P, T], /, *given: P.args, **named: P.kwargs) -> Future[T]:
        """See `ProcessPoolExecutor.submit`; may start a process."""
        with _safe_path():
            return super().submit(task, *given, **named)

    def check_guarded(self) -> None:
        """Raises Unguarded if a process ended because the main program started workers in it."""
        processes = list((self._processes or {}).values())
        for process in processes:  # a broken pool ends all; one may not have its exit code yet
            process.join(GRACE)
        if _UNGUARDED in [process.exitcode for process in processes]:
            raise Unguarded

    def stop(self) -> None:
        """End the processes now; their tasks are lost. Ctrl-C kills those whose answers come."""
        processes = list((self._processes or {}).values())
        try:
            _end_all(processes, self._waiting)
        finally:
            if self._result_queue is not None:
                # A process that ended while it sent a large result leaves a part of it in the pipe.
                # The thread that reads results waits for the rest until no process can write to the
                # pipe, and this one could.
                self._result_queue._writer.close()  # type: ignore[attr-defined]
            self.shutdown(cancel_futures=True)


def workers(jobs: int, first: Callable[[], object] | None = None) -> Workers:
    """A pool of processes with the import path of this one, which end by Ctrl-C and with this one.

    `first` is called in each process before its first task.
    """
    with _safe_path():  # starts the pool's own helper processes
        return Workers(jobs, first)


@contextmanager
def _safe_path() -> Iterator[None]:
    """Keep the working folder off the import path of a new interpreter, which gets this one's path
    from `_begin` instead.
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


def in_child(task: Callable[P, T], /, *given: P.args, **named: P.kwargs) -> T:
    """The result of a call in a process that is forked for it. Only the result comes back: what the
    call leaves in classes and modules does not.

    On macOS, whose system libraries do not survive the fork of a main process, that one calls it.

    Raises what the task raises; ChildDied.
    """
    if sys.platform == "darwin" and parent_process() is None:
        return task(*given, **named)
    fork, waiting = get_context("fork"), _waiting_here()
    receiver, sender = fork.Pipe(duplex=False)
    child = fork.Process(
        target=_send_result, args=(sender, partial(task, *given, **named)), daemon=False
    )
    with warnings.catch_warnings():
        # The threads of a worker wait for a signal and for its parent, and hold no lock.
        warnings.simplefilter("ignore", DeprecationWarning)
        with _as_no_daemon():
            child.start()
    sender.close()
    try:
        while not receiver.poll(NOTICED):
            if not child.is_alive() and not receiver.poll():
                raise ChildDied
        is_result, outcome = receiver.recv()
        child.join(GRACE)
    except EOFError:
        raise ChildDied from None
    finally:
        receiver.close()
        _end_all([child], waiting)
    if not is_result:
        raise outcome
    result: T = outcome
    return result


@contextmanager
def _as_no_daemon() -> Iterator[None]:
    """Let a worker of `multiprocessing.Pool` start a process, which ends with it by itself."""
    config: dict[str, object] = current_process()._config  # type: ignore[attr-defined]
    is_daemon = config.get("daemon")
    config["daemon"] = False
    try:
        yield
    finally:
        config["daemon"] = bool(is_daemon)


def _send_result(sender: Connection, task: Callable[[], object]) -> None:
    _end_in_time()
    try:
        outcome = True, task()
    except BaseException as error:  # as a pool does
        outcome = False, _sendable(error)
    try:
        sender.send(outcome)
    except Exception as error:  # a result or an exception that cannot be pickled
        sender.send((False, error))


def _sendable(error: BaseException) -> object:
    """An error as it can be pickled, with its place and its traceback, which are not; a goldrush
    error of the same text where it cannot be.
    """
    text = format_error(error)
    sent: object = error
    if not isinstance(error, GoldrushError):
        sent = ExceptionWithTraceback(error, error.__traceback__)
        if where := text.removesuffix(format_error(error.with_traceback(None))).removesuffix(": "):
            error.add_note(where)
    try:
        ForkingPickler.loads(ForkingPickler.dumps(sent))
    except Exception:  # its class takes other arguments than it keeps, or holds what is not pickled
        return GoldrushError(text)
    return sent


def _end_children() -> None:
    if children := active_children():
        _end_all(children, _waiting_here())


def _end_all(processes: Sequence[BaseProcess], waiting: Waiting) -> None:
    """End processes and wait for them: for GRACE seconds, and for answers that were paid for."""
    for process in processes:
        process.terminate()  # so that it removes what it has not finished
    try:
        for process in processes:
            process.join(GRACE)
            while process.is_alive() and waiting.get_obj().value > 0:
                process.join(NOTICED)
    finally:
        for process in processes:
            process.kill()
            process.join()


_waiting: Final[list[Waiting]] = []  # one, which the processes that this one forks share


def _waiting_here() -> Waiting:
    if not _waiting:
        _waiting.append(get_context("fork").Value("i", 0))
    return _waiting[0]


_exit_hooks: Final[list[Callable[[], None]]] = [_end_children, remove_temporaries]


def before_exit(clean: Callable[[], None]) -> None:
    """Call `clean` before this process ends: normally, by a signal, or with its parent."""
    if clean not in _exit_hooks:
        _exit_hooks.append(clean)
        atexit.register(clean)


# Waits are short, for a signal that arrives between Python's last look and the system's wait goes
# unnoticed until that wait ends.


def result_of(future: Future[R]) -> R:
    """The result of a future; wakes up every NOTICED seconds, so that Ctrl-C is noticed."""
    while not future.done():
        with suppress(TimeoutError):
            return future.result(NOTICED)
    return future.result()


def next_of(queue: SimpleQueue[T]) -> T:
    """The next item of a queue. Ctrl-C leaves no lock held, as it may with a future."""
    while True:
        with suppress(Empty):
            return queue.get(timeout=NOTICED)


def _begin(
    path: list[str],
    given: list[tuple[str, str]],
    first: Callable[[], object] | None,
    waiting: Waiting,
) -> None:
    sys.path[:] = path
    _waiting[:] = [waiting]
    for _, location in given:
        with suppress(BadInput):  # its file is gone: a task about it says so, others need it not
            give(location)
    _end_in_time()
    if first is not None:
        first()


def _end_in_time() -> None:
    """Have this process end by signals and with its parent, and print to stderr alone."""
    # What a policy prints goes to stderr, through a file object of its own: the parent's may be
    # drawing a progress bar, with its lock held by a thread that does not exist here.
    sys.stdout = sys.stderr = open(2, "w", buffering=1, errors="replace", closefd=False)  # noqa: SIM115
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    interrupts.ended_by(_end_after_answers)
    # Handled by a thread, because the main thread may be blocked. HUP may be ignored (nohup).
    signals = {signal.SIGINT, signal.SIGTERM, signal.SIGHUP}
    taken = {number for number in signals if signal.getsignal(number) != signal.SIG_IGN}
    signal.pthread_sigmask(signal.SIG_BLOCK, taken)
    threading.Thread(target=_end_by_signal, args=(taken,), daemon=True).start()
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_by_signal(taken: set[signal.Signals]) -> None:
    number = signal.sigwait(taken)
    _count(1)
    interrupts.note(number)
    while interrupts.is_deferring():
        time.sleep(SOON)
    _end_after_answers(number)


def _end_after_answers(number: int) -> None:
    """End the process by a signal. Called by the main thread at the end of a block of
    `interrupts.deferred`, or by the one that received the signal; the second one waits.
    """
    _ending.acquire()
    _count(-1)
    _end(128 + number)


def _count(more: int) -> None:
    waiting = _waiting_here()
    with waiting.get_lock():
        waiting.value += more


def _end_with_parent() -> None:
    parent = parent_process()
    assert parent is not None  # this is a worker
    wait([parent.sentinel])
    _end(1)


def _end(code: int) -> None:
    """Call the exit hooks, which remove unfinished files, and end this process at once."""
    for clean in _exit_hooks:
        clean()
    os._exit(code)
