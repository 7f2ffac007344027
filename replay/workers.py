"""Processes that work at many journals at once."""

from __future__ import annotations

import os
import signal
import sys
import threading
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import parent_process
from multiprocessing.connection import wait


def workers(jobs: int) -> ProcessPoolExecutor:
    """A pool of `jobs` processes that can import what this one can, and that end by Ctrl-C and with
    this one, however that ends.
    """
    return ProcessPoolExecutor(jobs, initializer=_begin, initargs=(list(sys.path),))


def jobs_for(tasks: int, jobs: int | None = None) -> int:
    """How many processes so many tasks are worth: `jobs`, by default one a processor."""
    return max(1, min(jobs or os.cpu_count() or 1, tasks))


def _begin(path: list[str]) -> None:
    sys.path[:] = path
    sys.stdout = sys.stderr  # what a policy prints is no part of an answer
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent = parent_process()
    assert parent is not None  # this is a worker
    wait([parent.sentinel])
    os._exit(1)
