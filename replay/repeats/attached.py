"""The watchers in a process of a recorded program, which the hook starts when it is told to.

A folder holds the order; each process writes what it sees into a file there at once, so that no end
of the process loses it.
"""

from __future__ import annotations

import os
import pickle
import sys
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from importlib.machinery import SourceFileLoader
from pathlib import Path
from typing import Any, Final

from goldrush.kernel.game import watch
from goldrush.replay.repeats.causes import watching
from goldrush.replay.repeats.sightings import Sightings, home_of
from goldrush.replay.repeats.trace import Order, Place, Sighting

FOLDER: Final = "GOLDRUSH_WATCH"  # the variable with the folder
_ORDER, _SEEN = "order", "seen"  # files there
_KEPT: Final[list[object]] = []  # what watches, until the process ends


def place_order(order: Order, folder: str) -> None:
    """Write an order for the processes of a program."""
    (Path(folder) / _ORDER).write_bytes(pickle.dumps(order))


def seen_in(folder: str) -> Sequence[Sighting] | None:
    """What was seen in all processes; None: none was watched."""
    found, path = dict[Place, Sighting](), Path(folder) / _SEEN
    if not path.exists():
        return None
    with suppress(EOFError), path.open("rb") as file:
        while True:
            sighting: Sighting = pickle.load(file)  # noqa: S301  # of the user's own program
            found.setdefault(sighting.place, sighting)
    return [*found.values()]


def attach(folder: str, who: Callable[[], str]) -> None:
    """Watch this process to its end. `who`: the name of the task or thread that runs."""
    order: Order = pickle.loads((Path(folder) / _ORDER).read_bytes())  # noqa: S301  # of goldrush
    (Path(folder) / _SEEN).touch()
    watch.STABLE.update(("builtins.str", "builtins.bytes"))  # the seed of hashes is fixed

    def tell(sighting: Sighting) -> None:
        with open(Path(folder) / _SEEN, "ab", buffering=0) as file:
            file.write(pickle.dumps(sighting))

    threads = threading.get_ident, threading.get_native_id
    sightings = Sightings(order.fixes or (), home_of(order.target), who, tell)
    sightings.step = -1
    watched = watching(order, sightings, is_own=True)
    rewriting = watched.__enter__()
    threading.get_ident, threading.get_native_id = threads  # by which libraries tell threads apart
    _KEPT.append(watched)
    sys.addaudithook(partial(_run_rewritten, rewriting.takes))


def _run_rewritten(takes: Callable[[str], bool], event: str, given: tuple[Any, ...]) -> None:
    """An audit hook: the main program, which nobody imports, is loaded like a module."""
    if event == "cpython.run_file" and takes(path := os.path.abspath(os.fsdecode(given[0]))):
        loader, main = SourceFileLoader("__main__", path), sys.modules["__main__"]
        vars(main).update(__file__=path, __loader__=loader, __cached__=None)
        loader.exec_module(main)
        raise SystemExit
