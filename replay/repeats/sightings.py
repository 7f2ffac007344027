"""What a watched run comes by: places where it takes what need not be the same in the next run.

The line is found by walking the stack: the innermost one that a person can mend, which is neither
in the standard library nor in numpy. Each call is told whether its place is fixed.
"""

from __future__ import annotations

import os
import sys
import sysconfig
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from functools import cache
from types import FrameType
from typing import Final

import attrs

from goldrush.replay.repeats.trace import Place, Sighting


class Sightings:
    """Places that a run came by so far. Those in `fixes` are to give the same in every run."""

    def __init__(
        self, fixes: Collection[Place] = (), home: str = "", who: Callable[[], str] = str,
        tell: Callable[[Sighting], object] = lambda sighting: None,
    ) -> None:  # fmt: skip
        """`who`: the name of the task or thread that runs, if there are several, in any order;
        `tell`: takes each new sighting.
        """
        self.who = who
        self.home, self._tell = home, tell
        self._fixes = frozenset(fixes)
        self._seen: dict[Place, Sighting] = {}
        self.step = 0  # the number of the one that runs; see `Sighting.first_step`
        self._is_quiet = False

    @contextmanager
    def quiet(self) -> Iterator[None]:
        """Notes nothing, and fixes nothing, of what is called inside."""
        before, self._is_quiet = self._is_quiet, True
        try:
            yield
        finally:
            self._is_quiet = before

    def all(self) -> tuple[Sighting, ...]:
        """What was seen, in the order of place."""
        return tuple(sorted(self._seen.values(), key=lambda each: attrs.astuple(each.place)))

    def is_fixed(self, kind: str, what: str) -> bool:
        """Notes that the code that called took from a source; whether that place is fixed. Draws
        from a global generator that no code of the subject's made are, if any place is.
        """
        if self._is_quiet:
            return False
        frame, through = self._caller(sys._getframe(1))
        if frame is None:
            return kind in _GLOBAL and bool(self._fixes)
        if kind == "process" and through is not None:
            return False  # the standard library's own use of it
        if kind == "clock" and (through or "").startswith(_WAITING):
            return False  # it would wait for a clock that stands still
        place = Place(kind, frame.f_code.co_filename, frame.f_lineno)
        if place not in self._seen:
            within, what = self._within(frame, kind), (through or what).removesuffix(".__init__")
            self._seen[place] = Sighting(place, within, what, self.step)
            self._tell(self._seen[place])
        return place in self._fixes

    def _caller(self, frame: FrameType | None) -> tuple[FrameType | None, str | None]:
        """The innermost frame of the subject, and what it called of the standard library; None for
        what a module of that takes while it is imported.
        """
        through = None
        while frame is not None:
            file, function = frame.f_code.co_filename, frame.f_code
            role, is_frozen = package_of(file, self.home), file[0] == "<"
            if role not in ("std", "between", "doctor"):
                return frame, through
            if role == "doctor" or (
                role == "std" and function.co_name == "<module>" and not is_frozen
            ):
                break
            if role == "std":
                module = frame.f_globals.get("__name__", "")
                through = None if is_frozen else f"{module}.{function.co_qualname}"
            frame = frame.f_back
        return None, None

    def _within(self, inner: FrameType, kind: str) -> Place | None:
        """The line of another package that called the code of a frame, if that is installed."""
        package, frame = package_of(inner.f_code.co_filename, self.home), inner.f_back
        while package and frame is not None:
            file = frame.f_code.co_filename
            role = package_of(file, self.home)
            if role == "doctor" or file.startswith("<frozen importlib"):
                break  # the subject only imported it
            if role not in ("std", "between", package):
                return Place(kind, file, frame.f_lineno)
            frame = frame.f_back
        return None


_GLOBAL: Final = ("random", "numpy-random")
# Of the standard library: they read clocks only to see how long to wait.
_WAITING: Final = ("asyncio.", "concurrent.", "multiprocessing.", "queue.", "selectors.",
                   "subprocess.", "threading.")  # fmt: skip
_HERE: Final = os.path.dirname(os.path.abspath(__file__)) + os.sep
_TOP: Final = os.path.dirname(os.path.dirname(_HERE[:-1]))
_BETWEEN: Final = frozenset([
    *(f"{_HERE}{name}.py" for name in ("sightings", "causes", "sites")),
    *(os.path.join(_TOP, name) for name in ("inside.py", "hook/goldrush_hook.py")),
])  # fmt: skip
_STDLIB: Final = tuple(
    os.path.join(sysconfig.get_path(name), "") for name in ("stdlib", "platstdlib")
)
_INSTALLED: Final = ("site-packages", "dist-packages")
_ROOMS: Final = tuple(
    os.path.join(_TOP, room, "") for room in ("kernel", "agents", "replay", "cli")
)


def home_of(target: str) -> str:
    """The folder of a target's module, or its end: `/package`. Empty for a module in none."""
    module, _, name = target.rpartition(":")
    if not name or not module:
        return ""
    if module.endswith(".py"):
        return os.path.dirname(os.path.abspath(module))
    return "".join(f"{os.sep}{part}" for part in module.split(".")[:-1])


@cache
def package_of(file: str, home: str = "") -> str:
    """The installed package of a file; "" for what is in `home` or in no package; "std" for what
    nobody mends: the standard library, numpy (its Python is glue), and code that is in no file;
    "between" for the patches, "doctor" for what runs a subject.
    """
    if file in _BETWEEN:
        return "between"
    if file.startswith(_HERE):
        return "doctor"
    parts = file.split(os.sep)
    folder = os.path.dirname(file) + os.sep
    _, is_home, below = folder.partition(home + os.sep) if home else ("", "", folder)
    if is_home and not set(_INSTALLED).intersection(below.split(os.sep)):
        return ""
    for folder in _INSTALLED:
        if folder in parts:
            name = parts[len(parts) - parts[::-1].index(folder)].removesuffix(".py")
            return "std" if name == "numpy" else name
    if file.startswith(_ROOMS):
        return "goldrush"
    return "std" if file.startswith(("<", *_STDLIB)) else ""
