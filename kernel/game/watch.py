"""Mistakes in a game's rules and policies, found while they run.

A run must give the same bytes again. So rules and policies may use what they are given and nothing
that differs between two processes (global random numbers, the clock, hashes, addresses), and only
`apply` may change the state. Where they are watched, the first breach raises BadInput with the line
and the cure. Watching costs more than the rules themselves: it is done in some units of a run
(`is_watched`), or in all of them on request. Measures are never let change a state.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from types import FrameType, FunctionType
from typing import Any, Final, cast

from goldrush.kernel.codec import TooLarge, encode, pack, unpack
from goldrush.kernel.errors import BadInput, format_value
from goldrush.kernel.game.hints import check_value
from goldrush.kernel.game.records import State, values_of

EVENTS: Final = 100  # about so many are watched from the start
SURROGATE: Final = "it has a lone surrogate, which UTF-8 cannot encode"
NO_SURROGATE: Final = 'replace it, as text.encode(errors="replace").decode() does'

_DRAW: Final = 'take `draw`, as in draw.below(6, "die", agent)'
_CLOCK: Final = "leave it out: count units and steps (state.unit, state.step)"
_NUMBERS: Final = frozenset([int.__hash__, float.__hash__, complex.__hash__])
# Types whose hash is the same in every process; those of texts, too, where their seed is fixed.
STABLE: Final = {"decimal.Decimal", "fractions.Fraction", "uuid.UUID"}
_ADDRESS: Final = "leave it out: it differs in every process"

# By module and name, or by name alone for methods: what it is, and what to do instead.
_CLOCKS: Final = frozenset(
    ["time", "time_ns", "monotonic", "monotonic_ns", "perf_counter", "perf_counter_ns",
     "process_time", "process_time_ns", "localtime", "gmtime", "thread_time", "thread_time_ns",
     "ctime", "asctime", "strftime", "clock_gettime", "clock_gettime_ns"]
)  # fmt: skip
_DATES: Final = frozenset(["now", "utcnow", "today"])
_RANDOM: Final = frozenset(["random", "getrandbits", "seed", "getstate", "setstate"])
_BYTES: Final = frozenset(["urandom", "getrandom"])
_NAMES: Final = _CLOCKS | _DATES | _RANDOM | _BYTES | {"getpid", "hash", "id"}


# Of this thread: other threads may record the same game without it.
_ALL_UNITS: Final[ContextVar[bool]] = ContextVar("all_units", default=False)


@contextmanager
def watching_all_units() -> Iterator[None]:
    """Within it, in its thread, mistakes are looked for in all units."""
    token = _ALL_UNITS.set(True)
    try:
        yield
    finally:
        _ALL_UNITS.reset(token)


def is_watching() -> bool:
    """Whether this is within `watching_all_units`."""
    return _ALL_UNITS.get()


def is_watched(state: State, ago: int = 0) -> bool:
    """Whether mistakes are looked for in the unit of a state's next step, or `ago` units before it:
    in the first units, which have about EVENTS events, and then after 1, 3, 7, 15 closed units and
    so on; within `watching_all_units`, in all.
    """
    unit = state.unit - ago
    is_first = unit < EVENTS and unit < EVENTS // (_events_of_unit(state) + 1)
    return is_first or unit & (unit + 1) == 0 or _ALL_UNITS.get()


def _events_of_unit(state: State) -> int:
    """About how many: one for each agent or, where nobody submits, for each item of a list."""
    agents: int = state.config.agents
    return agents or max([len(v) for v in values_of(state) if type(v) is list], default=0)


def varies(elements: Collection[object]) -> bool:
    """Whether a set of these can be iterated in another order in another process."""
    return len(elements) > 1 and not all(map(is_stable, elements))


def is_stable(value: object) -> bool:
    """Whether its hash is the same in every process; that of NaN is its address. Of an object whose
    class makes its own, the code of `__hash__` is run, to see whether all that it hashes is; where
    it hashes nothing there, what it gives may come from anywhere: False.
    """
    kind: Any = type(value)
    made = kind.__hash__
    if made in _NUMBERS or f"{kind.__module__}.{kind.__name__}" in STABLE:
        return _is_itself(value)
    if made in (tuple.__hash__, frozenset.__hash__):
        return all(map(is_stable, cast(Collection[object], value)))
    if isinstance(made, FunctionType):
        return _hashes_stable(made, value)
    is_numpy = kind.__module__ == "numpy" and kind.__name__ not in ("str_", "bytes_")
    return is_numpy and _is_itself(value)


def _is_itself(value: Any) -> bool:
    """Whether it is no NaN, which equals nothing."""
    return bool(value == value)


def _hashes_stable(made: FunctionType, value: object) -> bool:
    hashed = list[bool]()

    def noted(given: object) -> int:
        hashed.append(is_stable(given))
        return hash(given)

    def address(given: object) -> int:
        hashed.append(False)
        return id(given)

    names = {**made.__globals__, "hash": noted, "id": address}
    probe = FunctionType(made.__code__, names, None, made.__defaults__, made.__closure__)
    try:
        probe(value)
    except Exception:  # whatever its code raises
        return False
    return bool(hashed) and all(hashed)


def check_ordered(value: object, what: str) -> None:
    """Check that a value is no set whose order varies. `what`: what takes it in order, and where.
    Raises BadInput.
    """
    if isinstance(value, (set, frozenset)) and varies(value):
        raise BadInput(
            f"{what} a set, {format_value(value)}: its order differs between processes",
            "take sorted(...) or a list",
        )


class watched:  # noqa: N801  # a context, as those of contextlib
    """Watch a part of a game. A class, for a generator takes as long as a policy.

    Raises BadInput for a changed state, and for a call whose result differs between processes.
    """

    __slots__ = ("_before", "_is_profiled", "_numpy", "_state", "_what")

    def __init__(self, what: str, state: State | None, before: bytes | None = None) -> None:
        """Watch what is within.

        Args:
            what: the part, for messages, such as "`decide`".
            state: the state that it is given and must not change; None: it may change one.
            before: `packed(state)`, if it is known.
        """
        self._what, self._state, self._before = what, state, before

    def __enter__(self) -> None:
        if self._state is not None and self._before is None:
            self._before = packed(self._state)
        self._numpy = _numpy_state()
        # By somebody who measures: leave it to them.
        self._is_profiled = sys.getprofile() is not None
        if not self._is_profiled:
            sys.setprofile(_hook(self._what))

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        if not self._is_profiled:
            sys.setprofile(None)
        if error is not None:
            return
        if _numpy_state() != self._numpy:
            raise BadInput(f"{self._what} uses the global random numbers (numpy.random)", _DRAW)
        if self._state is not None and self._before is not None:
            check_unchanged(self._what, self._state, self._before)


def packed(state: State) -> bytes:
    """The fields of a state, to be compared: `check_state` tells a set from a list. Raises BadInput
    for a text with a lone surrogate.
    """
    try:
        return encode(values_of(state))
    except UnicodeEncodeError:
        raise unstorable(state) from None


def unstorable(state: State, when: str = "") -> BadInput:
    """The error for a state that cannot be encoded: the innermost part that cannot, and a cure.
    `when`: its first words.
    """
    fields = zip(state.types, state.plain(), strict=True)
    field, value = next(each for each in fields if not _is_storable(each[1]))
    error = _unstorable(f"{type(state).__name__}.{field}", value, "give a float")
    return BadInput(f"{when}{error.what}", error.instead)


def _is_storable(value: object) -> bool:
    try:
        pack(value)
    except (TooLarge, UnicodeEncodeError):
        return False
    return True


def _unstorable(where: str, value: Any, instead: str) -> BadInput:
    """`instead`: what to give for a number that is too large."""
    is_list = isinstance(value, (list, tuple))
    items = enumerate(value) if is_list else value.items() if isinstance(value, dict) else ()
    for key, item in items:
        if not _is_storable(key):
            return _unstorable(f"a key of {where}", key, "give a smaller key")
        if not _is_storable(item):
            return _unstorable(f"{where}[{format_value(key)}]", item, "give a float")
    if isinstance(value, str):
        return BadInput(f"{where} is {format_value(value)}: {SURROGATE}", NO_SURROGATE)
    return BadInput(f"{where} is {format_value(value)}, a number beyond 64 bits", instead)


@contextmanager
def unchanged(what: str, state: State) -> Iterator[None]:
    """Check that a part of a game leaves the state as it is; see `watched`. Raises BadInput."""
    before = packed(state)
    yield
    check_unchanged(what, state, before)


def check_unchanged(what: str, state: State, before: bytes) -> None:
    if packed(state) != before:
        raise BadInput(
            f"{what} changed the state: {_changed(state, before)}",
            "change a copy, as of list(...), or yield an event whose `apply` changes the state",
        )


def check_state(state: State, what: str) -> None:
    """Check that every field of a state has the type that it is declared with, and shares no list.
    `what`: when, for messages. Raises BadInput.
    """
    seen: set[int] = set()
    for field, typed in state.types.items():
        where = f"after {what}, {type(state).__name__}.{field}"
        check_value(getattr(state, field), typed, where)
        _check_unshared(getattr(state, field), where, seen)


def _check_unshared(value: object, where: str, seen: set[int]) -> None:
    """Check that no list or dict of a state is in it twice: a change of one would be a change of
    both here, and not in the state that is read from a journal. Raises BadInput.
    """
    if type(value) not in (list, dict):
        return
    if id(value) in seen:
        raise BadInput(
            f"{where} holds a list or dict that is in the state twice",
            "make each by itself: [[0] * 3 for _ in range(3)], list(other)",
        )
    seen.add(id(value))
    for item in value.values() if isinstance(value, dict) else cast(list[object], value):
        _check_unshared(item, where, seen)


def _changed(state: State, before: bytes) -> str:
    was = unpack(before)
    now = unpack(pack(state.plain()))
    for field, old, new in zip(state.types, was, now, strict=True):
        if pack(old) != pack(new):
            return _difference(field, old, new)
    return "another order of its fields"


def _difference(where: str, old: Any, new: Any) -> str:
    """The first part of two plain values that differs, with both."""
    if type(old) is type(new) is tuple and len(old) == len(new):
        pairs = enumerate(zip(old, new, strict=True))
        place, (old, new) = next((at, pair) for at, pair in pairs if pack(pair[0]) != pack(pair[1]))
        return _difference(f"{where}[{place}]", old, new)
    return f"{where} was {format_value(old)} and is {format_value(new)}"


def _hook(what: str) -> Callable[[FrameType, str, Any], None]:
    def hook(frame: FrameType, event: str, function: Any) -> None:
        if event != "c_call" or function.__name__ not in _NAMES:  # the quick way, for almost all
            return
        if frame.f_globals.get("__name__", "").startswith("goldrush.kernel."):
            return
        mistake = _differs(function, frame, is_direct=_is_author(frame))
        if mistake is not None:
            sys.setprofile(None)
            called, instead = mistake
            raise BadInput(f"{_place(frame)}: {what} uses {called}", instead)

    return hook


def _differs(function: Any, frame: FrameType, *, is_direct: bool) -> tuple[str, str] | None:
    """What a built-in function depends on that differs between two processes, and what to do
    instead; None: nothing. `frame`: that of the call; `is_direct`: the game's own code calls it;
    Python's library may look at the clock (logging) and at addresses (copies) without a trace in
    what it gives.
    """
    name, module = function.__name__, getattr(function, "__module__", None)
    owner = getattr(function, "__self__", None)
    if is_direct and module == "time" and name in _CLOCKS:
        return f"the clock (time.{name})", _CLOCK
    if is_direct and name in _DATES and isinstance(owner, type) and owner.__module__ == "datetime":
        return f"the clock (datetime.{owner.__name__}.{name})", _CLOCK
    if name in _BYTES and module in ("posix", "nt"):
        return "random bytes of the system", _DRAW
    if is_direct and name == "getpid" and module in ("posix", "nt"):
        return "the number of the process", _ADDRESS
    if is_direct and module == "builtins" and name in ("hash", "id"):
        return f"{name}()", _ADDRESS
    python = sys.modules.get("random")
    if owner is not None and owner is getattr(python, "_inst", None):
        return f"the global random numbers (random.{name})", _DRAW
    if (
        name == "seed"
        and isinstance(owner, getattr(python, "Random", ()))
        and frame.f_locals.get("a", 0) is None
    ):
        return "a generator without a seed (random.Random())", _DRAW
    return None


def _numpy_state() -> object:
    """The state of numpy's global random numbers, whose calls Python tells no profiler; None: numpy
    is not imported.
    """
    module: Any = sys.modules.get("numpy.random.mtrand")
    if module is None:
        return None
    generator = module._rand._bit_generator
    if type(generator).__name__ != "MT19937":  # the user has set another
        return generator.state
    return _memory_of(generator).raw


@cache
def _memory_of(generator: Any) -> Any:
    """Where a generator has its 624 words and a place in them: read a hundred times as fast as its
    `state`.
    """
    from ctypes import c_char  # which numpy has imported

    return (c_char * (4 * 625)).from_address(generator.ctypes.state_address)


def _place(frame: FrameType | None) -> str:
    """The file and line of the innermost frame of the game's own code."""
    inner = frame
    while frame is not None and not _is_author(frame):
        frame = frame.f_back
    frame = frame or inner
    assert frame is not None  # the one that called
    return f"{os.path.basename(frame.f_code.co_filename)}:{frame.f_lineno}"


_LIBRARY: Final = (os.path.dirname(os.__file__), "<")


def _is_author(frame: FrameType) -> bool:
    """Whether a frame is of the game's own code: neither the library's, nor Python's, nor an
    installed package's.
    """
    file = frame.f_code.co_filename
    return not file.startswith(_LIBRARY) and "site-packages" not in file and not _is_ours(frame)


def _is_ours(frame: FrameType) -> bool:
    name: str = frame.f_globals.get("__name__", "")
    return name.partition(".")[0] == "goldrush" and not name.startswith("goldrush.games.")
