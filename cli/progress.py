"""Progress bars on stderr, if it is a terminal; otherwise nothing is shown."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

    from goldrush.replay.arguments import OnStep

AFTER = 0.5  # seconds

_under_way: list[Progress] = []  # the bars that are shown


@contextmanager
def paused() -> Iterator[None]:
    """Hide the bars while something is printed or a person types."""
    for bars in _under_way:
        bars.stop()
    try:
        yield
    finally:
        for bars in _under_way:
            bars.start()


@contextmanager
def progress() -> Iterator[OnStep]:
    """The function that updates the bars, one for each name that it is called with. The first is
    shown after AFTER seconds: to import rich and to draw bars takes as long as a short command.
    """
    if not sys.stderr.isatty():
        yield lambda what, done, every: None
        return
    begun, files = time.monotonic(), (sys.stdout, sys.stderr)
    shown: list[Progress] = []
    tasks: dict[str, TaskID] = {}

    def step(what: str, done: int, every: int) -> None:
        if not shown:
            if time.monotonic() - begun < AFTER:
                return
            bars = _bars()
            bars.start()
            shown.append(bars)
            _under_way.append(bars)
        [bars] = shown
        if what not in tasks:
            tasks[what] = bars.add_task(what, total=every)
        bars.update(tasks[what], completed=done, total=every)

    try:
        yield step
    finally:
        for bars in shown:
            _under_way.remove(bars)
            bars.stop()
            # rich puts back what it found, which may have been redirected while the work went on.
            sys.stdout, sys.stderr = files


def _bars() -> Progress:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TimeRemainingColumn

    columns = ("{task.description}", BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    return Progress(*columns, console=Console(stderr=True), transient=True)
