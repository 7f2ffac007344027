"""Progress bars on stderr, if it is a terminal; otherwise nothing is shown."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

# Called with the name of a bar, how much is done, and of how much.
OnStep = Callable[[str, int, int], None]

_under_way: list[Any] = []  # the bars that are shown


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
    """The function that updates the bars, one for each name that it is called with."""
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
