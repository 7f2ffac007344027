"""Progress bars on stderr, where that is a terminal; elsewhere nothing is shown."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

# Told how much is done, of how much, and of what, if that changes on the way.
Step = Callable[..., None]


@contextmanager
def progress(what: str) -> Iterator[Step]:
    """What moves a bar, with the time left: `step(done, every)`, or `step(done, every, what)` for
    a bar of its own.
    """
    if not sys.stderr.isatty():
        yield lambda done, every, what=what: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TimeRemainingColumn

    columns = ("{task.description}", BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bars:
        tasks: dict[str, Any] = {}

        def step(done: int, every: int, what: str = what) -> None:
            if what not in tasks:
                tasks[what] = bars.add_task(what, total=every)
            bars.update(tasks[what], completed=done, total=every)

        yield step
