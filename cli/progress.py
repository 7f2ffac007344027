"""Progress bars on stderr, where that is a terminal; elsewhere nothing is shown."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

# Told what is under way, how much of it is done, and of how much.
OnStep = Callable[[str, int, int], None]

_under_way: list[Any] = []  # the bars that are shown


@contextmanager
def paused() -> Iterator[None]:
    """No bars: they would be drawn over what a person is asked and types."""
    for bars in _under_way:
        bars.stop()
    try:
        yield
    finally:
        for bars in _under_way:
            bars.start()


@contextmanager
def progress() -> Iterator[OnStep]:
    """What moves the bars, one with the time left for each thing that is under way."""
    if not sys.stderr.isatty():
        yield lambda what, done, every: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TimeRemainingColumn

    columns = ("{task.description}", BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bars:
        tasks: dict[str, Any] = {}

        def step(what: str, done: int, every: int) -> None:
            if what not in tasks:
                tasks[what] = bars.add_task(what, total=every)
            bars.update(tasks[what], completed=done, total=every)

        _under_way.append(bars)
        try:
            yield step
        finally:
            _under_way.remove(bars)
