"""Waiting for what happens, never for a clock.

A test waits until something has come about, however long that takes on a machine that is busy.
`HANGS` ends what would otherwise wait for ever: no assertion is about it.
"""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Final, TypeVar

T = TypeVar("T")

HANGS: Final = 600.0  # seconds after which a test counts as hanging


def until(found: Callable[[], T]) -> T:
    """The first of the answers of `found` that is true."""
    hangs = time.monotonic() + HANGS
    while not (answer := found()):
        assert time.monotonic() < hangs, "what is waited for does not come"
        time.sleep(0.005)
    return answer


def marked(mark: str) -> list[str]:
    """The processes that have MARK=`mark` in their environment."""
    found = []
    for path in Path("/proc").glob("[0-9]*/environ"):
        try:
            if f"MARK={mark}\0".encode() in path.read_bytes() + b"\0":
                found.append(path.parent.name)
        except OSError:
            continue  # ended meanwhile, or somebody else's
    return found


def until_gone(mark: str) -> None:
    """Wait until the processes with this mark have ended: one that outlives its parent hangs."""
    until(lambda: not marked(mark))
