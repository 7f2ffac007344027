"""The watchers in a process of a recorded program, which the hook starts when it is told to.

A folder holds the order; each process writes what it sees into a file there at once, so that no end
of the process loses it.
"""

from __future__ import annotations

import importlib.util
import os
import pickle
import sys
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from importlib.machinery import ModuleSpec
from pathlib import Path
from typing import Any, Final

from goldrush.kernel.game import watch
from goldrush.replay.repeats.causes import is_own, watching
from goldrush.replay.repeats.sightings import Sightings, home_of
from goldrush.replay.repeats.trace import Order, Sighting

FOLDER: Final = "GOLDRUSH_WATCH"  # the variable with the folder
_ORDER, _SEEN = "order", "seen"  # files there
_KEPT: Final[list[object]] = []  # what watches, until the process ends


def place_order(order: Order, folder: str) -> None:
    """Write an order for the processes of a program."""
    (Path(folder) / _ORDER).write_bytes(pickle.dumps(order))


def seen_in(folder: str) -> tuple[bool, Sequence[Sighting]]:
    """Whether any process was watched, and what was seen by all of them."""
    found = dict[object, Sighting | None]()
    with suppress(OSError, EOFError), open(Path(folder) / _SEEN, "rb") as file:
        while True:
            sighting: Sighting | None = pickle.load(file)  # noqa: S301  # of the user's own program
            found.setdefault(sighting and sighting.place, sighting)
    return bool(found), [each for each in found.values() if each is not None]


def attach(folder: str, who: Callable[[], str]) -> None:
    """Watch this process to its end. `who`: the name of the task or thread that runs."""
    order: Order = pickle.loads((Path(folder) / _ORDER).read_bytes())  # noqa: S301  # of goldrush
    watch.STABLE.update(("builtins.str", "builtins.bytes"))  # the seed of hashes is fixed

    def tell(sighting: Sighting | None) -> None:
        with open(Path(folder) / _SEEN, "ab", buffering=0) as file:
            file.write(pickle.dumps(sighting))

    threads = threading.get_ident, threading.get_native_id
    sightings = Sightings(order.fixes or (), home_of(order.target), who, tell)
    sightings.step = -1
    takes = is_own if order.files is None else frozenset(order.files).__contains__
    watched = watching(order, sightings, takes)
    watched.__enter__()
    threading.get_ident, threading.get_native_id = threads  # by which libraries tell threads apart
    _KEPT.append(watched)
    tell(None)
    sys.addaudithook(partial(_run_rewritten, takes))


def _run_rewritten(takes: Callable[[str], bool], event: str, given: tuple[Any, ...]) -> None:
    """An audit hook: the main program is not imported, so it is loaded here like a module."""
    if event == "cpython.run_file":
        path = os.path.abspath(os.fsdecode(given[0]))
        spec = importlib.util.spec_from_file_location("__main__", path)
    elif event == "cpython.run_module":
        spec = _spec_of(given[0])
    else:
        return
    if spec is None or spec.loader is None or not takes(str(spec.origin)):
        return
    main = sys.modules["__main__"]
    vars(main).update(__file__=spec.origin, __loader__=spec.loader, __cached__=None)
    if event == "cpython.run_module":
        vars(main).update(__spec__=spec, __package__=spec.parent)
        sys.argv[0] = str(spec.origin)
    spec.loader.exec_module(main)
    raise SystemExit


def _spec_of(name: str) -> ModuleSpec | None:
    """What `python -m` runs of this name; None if it is not found."""
    with suppress(ImportError, ValueError):
        spec = importlib.util.find_spec(name)
        if spec is not None and spec.submodule_search_locations is not None:
            spec = importlib.util.find_spec(f"{name}.__main__")
        return spec
    return None
