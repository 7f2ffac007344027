"""The files that a program writes while it is run again: kept before, and put back afterwards.

A folder holds what is kept. The hook starts this in each process of the program whose Python has
goldrush, where it sees a file before that is opened to be written. So what others write meanwhile
stays, which a comparison of the working folder before and after could not tell apart.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

FOLDER: Final = "GOLDRUSH_WATCH"  # the variable with the folder
_ORDER: Final = "order"  # a file there, by `attached.place_order`
_PATH: Final = ".path"  # ends the name of a file with the path of one that is kept
_WRITES: Final = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC
# Audit events that begin with paths of what is about to change, and how many.
_EVENTS: Final = {"open": 1, "os.mkdir": 1, "os.remove": 1, "os.rename": 2, "os.rmdir": 1}


def keep(folder: str, path: str | bytes | os.PathLike[str]) -> None:
    """Keep a file or folder, or that there is none, as it was when this was called first."""
    real = os.path.realpath(os.fsdecode(path))
    is_file, is_folder = os.path.isfile(real), os.path.isdir(real)
    is_other = os.path.lexists(real) and not (is_file or is_folder)  # a device, say
    if is_other or real.startswith(os.path.realpath(folder)):
        return
    copy = os.path.join(folder, sha256(os.fsencode(real)).hexdigest())
    with suppress(OSError), open(copy + _PATH, "xb") as file:
        if is_file:
            shutil.copy2(real, copy)
        elif is_folder:
            os.mkdir(copy)
        file.write(os.fsencode(real))  # after the copy: what has none is taken for new


def put_back(folder: str) -> None:
    """Make all that was kept as it was, and remove what was not there."""
    notes = Path(folder).glob("*" + _PATH)
    kept = {os.fsdecode(each.read_bytes()): each.with_suffix("") for each in notes}
    for path, copy in sorted(kept.items(), reverse=True):  # a file before its folder
        with suppress(OSError):  # of a folder that others use by now, say
            if copy.is_dir():
                os.makedirs(path, exist_ok=True)
            elif not copy.exists():
                (os.rmdir if os.path.isdir(path) else os.remove)(path)
            elif not os.path.exists(path) or os.path.getmtime(path) != os.path.getmtime(copy):
                os.makedirs(os.path.dirname(path), exist_ok=True)
                shutil.copy2(copy, path)


def attach(folder: str, who: Callable[[], str]) -> None:
    """Keep what this process writes, and watch it if there is an order; see `attached.attach`."""

    def tell(event: str, given: tuple[Any, ...]) -> None:  # an audit hook
        is_read = event == "open" and not given[2] & _WRITES
        is_below = event in ("os.remove", "os.rmdir") and given[1] > 0  # in an open folder
        paths = [] if is_read or is_below else [*given[: _EVENTS.get(event, 0)]]
        if event == "shutil.rmtree":
            paths += Path(os.fsdecode(given[0])).rglob("*")
        for path in paths:
            if not isinstance(path, int):
                keep(folder, path)

    sys.addaudithook(tell)
    if os.path.exists(os.path.join(folder, _ORDER)):
        from goldrush.replay.repeats.attached import attach as watch

        watch(folder, who)
