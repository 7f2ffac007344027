"""Sources of what differs between runs, watched by patching: who took from which, and fixed.

`watching` patches the global generators, clocks, and what the operating system tells, before a
subject is imported. A place that is fixed gets the same in every run: draws from a stream of a
constant seed, a clock that counts its readings, a list of files in order of name. Every other place
gets what it would have got. `sites` adds what no patch can see: the order of sets, `id`, `hash`.
"""

from __future__ import annotations

import os
import random
import sys
import threading
import time
import uuid
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent import futures
from contextlib import ExitStack, contextmanager
from functools import partial, wraps
from types import ModuleType
from typing import Any, Final

from goldrush.replay.repeats import sites
from goldrush.replay.repeats.sightings import Sightings
from goldrush.replay.repeats.trace import CLOCKS, Order

FIXED_SEED: Final = 20_240_229
TICK: Final = 1_000_000  # nanoseconds between two readings of a fixed clock
APART: Final = (
    1_012_345_678_000_000  # nanoseconds between forced runs: no unit of time is a divisor
)
WAITING: Final = 1_000  # readings in a step, after which the ticks grow: a loop waits for the clock

_SEEDING: Final = ("seed", "setstate", "set_state")
# Functions of `time` that take one, or now: the position of it, and what it is made of seconds.
_GIVEN: Final[Mapping[str, tuple[int, Callable[[float], object]]]] = {
    "gmtime": (0, float), "localtime": (0, float), "ctime": (0, float),
    "asctime": (0, time.localtime), "strftime": (1, time.localtime),
}  # fmt: skip


@contextmanager
def watching(order: Order, sightings: Sightings, is_own: bool = False) -> Iterator[sites.Rewriting]:
    """Watches what the code that is imported inside takes, with the places of an order fixed.
    Without any, nothing is patched: only the sets of the subject's own code have the order's order.

    Modules that were imported before keep the functions that they took by name.

    Args:
        sightings: take what is seen.
        is_own: whether only modules of the subject's own are rewritten.
    """
    clock = _Clock(sightings, order)
    rewriting = sites.Rewriting(order, sightings, clock.seconds, is_own or order.fixes is None)
    with ExitStack() as stack:
        after = {}
        if order.fixes is not None:
            patches = _Patches(stack, sightings)
            _patch_random(patches)
            _patch_system(patches, order.forced)
            _patch_clocks(patches, clock)
            _patch_machine(patches)
            after = {"numpy.random": partial(_patch_numpy, patches)}
        for name in after.keys() & sys.modules.keys():
            after[name](sys.modules[name])
        stack.enter_context(sites.loading(rewriting, after))
        yield rewriting


class _Patches:
    """Sets attributes until the stack closes."""

    def __init__(self, stack: ExitStack, sightings: Sightings) -> None:
        self._stack = stack
        self.sightings = sightings

    def put(self, holder: object, name: str, value: object) -> None:
        self._stack.callback(setattr, holder, name, getattr(holder, name))
        setattr(holder, name, value)

    def replace(self, holder: object, name: str, kind: str, fixed: Callable[..., Any]) -> None:
        """A function of a module gives what `fixed` gives where its place is fixed."""
        real = getattr(holder, name)
        what = f"{getattr(holder, '__name__', holder)}.{name}".removeprefix("_")
        sightings = self.sightings

        @wraps(real)
        def function(*args: Any, **kwargs: Any) -> Any:
            if sightings.is_fixed(kind, what):
                return fixed(*args, **kwargs)
            return real(*args, **kwargs)

        self.put(holder, name, function)


class _Streams:
    """Draws for places that are fixed: a stream for each task or thread."""

    def __init__(self, sightings: Sightings, seed: int = FIXED_SEED) -> None:
        self._sightings, self._seed = sightings, seed
        self._streams: dict[str, random.Random] = {}

    def here(self) -> random.Random:
        """The stream of whom runs."""
        who = self._sightings.who()
        if who not in self._streams:
            with self._sightings.quiet():
                self._streams[who] = random.Random(f"{self._seed} {who}")  # noqa: S311
        return self._streams[who]


class _Clock:
    """Clocks that go on by a tick whenever a fixed place reads one, and by what is slept: for each
    task or thread, one of its own.
    """

    def __init__(self, sightings: Sightings, order: Order) -> None:
        self._sightings, self._order = sightings, order
        self._ahead = max(0, order.forced - 1) * APART  # of the real time, where it is not fixed
        self._clocks = {name: getattr(time, f"{name}_ns") for name in CLOCKS}
        self._real, self._sleep = time.monotonic_ns, time.sleep
        self._passed, self._readings = Counter[str](), Counter[str]()
        self._set_at = self._real()
        self._step = self._slept = 0

    def nanoseconds(self, what: str, clock: str = "time") -> int | None:
        """What a clock shows; None if the place that reads it gets the real one's time."""
        since, slept, self._slept = 0, self._slept, 0
        who = self._sightings.who()
        if self._sightings.is_fixed("clock", what):
            if self._step != self._sightings.step:
                self._step = self._sightings.step
                self._readings.clear()
            self._readings[who] += 1
            self._passed[who] += slept + TICK * max(1, self._readings[who] - WAITING)
            self._set_at = self._real()
        elif self._order.one_epoch:
            since = self._real() - self._set_at
        else:
            return self._clocks[clock]() + self._ahead if self._ahead else None
        return self._order.epochs.get(clock, 0) + self._passed[who] + since

    def seconds(self, what: str, clock: str = "time") -> float | None:
        """As `nanoseconds`, in seconds."""
        now = self.nanoseconds(what, clock)
        return None if now is None else now / 1e9

    def sleep(self, seconds: Any, /) -> None:
        """Sleep; a place that reads a clock next, and is fixed, finds that it went on."""
        self._sleep(seconds)
        if threading.current_thread() is threading.main_thread():  # others sleep in any order
            self._slept += int(seconds * 1e9)


def _global(base: Any, kind: str, real: Any, fixed: Callable[[], Any], sightings: Sightings) -> Any:
    """A class of generators: `fixed` for places that are fixed, the `real` global one for others.

    Once a subject has seeded it, its draws are no source any more: the seed may be one.
    """
    seeded = list[str]()

    def delegated(name: str) -> Callable[..., Any]:
        def method(self: object, *args: Any, **kwargs: Any) -> Any:
            if name in _SEEDING:
                seeded.append(name)
            what = f"{kind.replace('-', '.')}.{name}"
            is_fixed = not seeded and sightings.is_fixed(kind, what)
            return getattr(fixed() if is_fixed else real, name)(*args, **kwargs)

        return method

    names = ["__reduce__", *(name for name in dir(base) if name[0] != "_" and name != "VERSION")]
    return type(base.__name__, (base,), {name: delegated(name) for name in names})


def _patch_random(patches: _Patches) -> None:
    real, sightings = random._inst, patches.sightings
    kind = _global(random.Random, "random", real, _Streams(sightings).here, sightings)
    hidden = kind.__new__(kind)  # its `__init__` would seed it
    for name, value in list(vars(random).items()):
        if getattr(value, "__self__", None) is real:
            patches.put(random, name, getattr(hidden, name))
    patches.put(random, "_inst", hidden)
    seed, seeds = random.Random.seed, _Streams(sightings, FIXED_SEED + 1)

    @wraps(seed)
    def seeded(self: random.Random, a: Any = None, version: int = 2) -> None:
        if a is None and sightings.is_fixed("random-unseeded", "random.Random"):
            a = seeds.here().getrandbits(64)
        seed(self, a, version)

    patches.put(random.Random, "seed", seeded)


def _patch_numpy(patches: _Patches, numpy_random: ModuleType) -> None:
    """Patches `numpy.random`, which has just been imported.

    Each of its constructors without a seed asks `randbits` of its module for one.
    """
    sightings = patches.sightings
    mtrand, bits = numpy_random.mtrand, numpy_random.bit_generator
    real, randbits, streams = mtrand._rand, bits.randbits, _Streams(sightings)

    with sightings.quiet():
        real.seed()  # its first seed was taken while numpy was imported, from fixed bytes perhaps

    def watched_bits(k: int) -> int:
        if sightings.is_fixed("numpy-unseeded", "a generator of numpy.random"):
            return streams.here().getrandbits(k)
        with sightings.quiet():
            return int(randbits(k))

    fixed = numpy_random.RandomState(FIXED_SEED)
    kind = _global(numpy_random.RandomState, "numpy-random", real, lambda: fixed, sightings)
    hidden = kind(FIXED_SEED)
    for module in (numpy_random, mtrand):
        for name in set(vars(module)) & set(vars(kind)):
            if name[0] != "_":
                patches.put(module, name, getattr(hidden, name))
    patches.put(mtrand, "_rand", hidden)
    patches.put(bits, "randbits", watched_bits)


def _patch_system(patches: _Patches, forced: int) -> None:
    streams = _Streams(patches.sightings)
    if forced:
        patches.put(os, "urandom", _forced_bytes(forced))

    def fixed_bytes(size: int, /) -> bytes:
        return streams.here().randbytes(size)

    def identifier(*_: object, **__: object) -> uuid.UUID:
        return uuid.UUID(bytes=fixed_bytes(16), version=1)

    patches.replace(os, "urandom", "system-random", fixed_bytes)
    patches.put(random, "_urandom", os.urandom)
    patches.replace(uuid, "uuid1", "system-random", identifier)


def _forced_bytes(forced: int) -> Callable[[int], bytes]:
    """Random bytes of which every bit is another one in the next forced run."""
    stream, mask = random.Random(FIXED_SEED + 1), 0xFF * (forced % 2)  # noqa: S311

    def urandom(size: int, /) -> bytes:
        return bytes(byte ^ mask for byte in stream.randbytes(size))

    return urandom


def _patch_clocks(patches: _Patches, clock: _Clock) -> None:
    for name in CLOCKS:
        patches.put(time, name, _read(name, partial(clock.seconds, clock=name)))
        patches.put(time, f"{name}_ns", _read(f"{name}_ns", partial(clock.nanoseconds, clock=name)))
    for name in _GIVEN:
        patches.put(time, name, _read(name, clock.seconds))
    patches.put(time, "sleep", clock.sleep)


def _read(name: str, reading: Callable[[str], float | None]) -> Callable[..., Any]:
    """A function of `time` that gives a reading of a clock, unless that is None; or, if it takes
    one (`_GIVEN`), has the reading in its place where it is left out.
    """
    real, what = getattr(time, name), f"time.{name}"
    position, made_of = _GIVEN.get(name, (0, None))

    @wraps(real)
    def function(*args: Any) -> Any:
        is_given = args[position : position + 1] not in ((), (None,))
        now = None if is_given else reading(what)
        if now is None:
            return real(*args)
        return now if made_of is None else real(*args[:position], made_of(now))

    return function


def _patch_machine(patches: _Patches) -> None:
    """Files, results and numbers of processes and threads: all else is the same in every run."""
    listdir = os.listdir
    patches.replace(os, "listdir", "files", lambda *args: sorted(listdir(*args)))
    patches.replace(futures, "as_completed", "completion", _in_order)
    for module, names in ((os, ("getpid", "getppid")), (threading, ("get_ident", "get_native_id"))):
        for name in names:
            patches.replace(module, name, "process", lambda: FIXED_SEED)


def _in_order(
    fs: Iterable[futures.Future[Any]], timeout: float | None = None
) -> Iterator[futures.Future[Any]]:
    for future in fs:
        futures.wait([future], timeout)
        yield future
