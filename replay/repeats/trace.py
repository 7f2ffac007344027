"""What the judging process and a process that runs a subject tell each other: an order, a trace;
and where two traces part.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import attrs

STEPS_MAX: Final = 1_000_000
SECONDS: Final = 300.0  # for one run, by default
SECONDS_MAX: Final = 1_000_000.0

KINDS: Final = {
    "random": "draws from the global generator of `random`, which nothing seeded",
    "random-unseeded": "makes or seeds a `random.Random` without a seed",
    "numpy-random": "draws from the global generator of `numpy.random`, which nothing seeded",
    "numpy-unseeded": "makes a generator of numpy without a seed",
    "system-random": "takes random bytes from the operating system",
    "clock": "reads a clock",
    "process": "reads the number of the process or thread",
    "id": "uses the address of an object",
    "hash": "uses a hash that differs from process to process",
    "files": "lists files in the order of the file system",
    "completion": "takes results of threads in the order in which they are ready",
    "set-order": "iterates over a set",
    "set-pop": "pops an arbitrary element of a set",
}
"""Kinds of sources, and what a line of each kind does."""

FORCED: Final = ("clock", "system-random")
"""Kinds that can be forced to differ from run to run."""

CLOCKS: Final = ("time", "monotonic", "perf_counter", "process_time", "thread_time")
"""Functions of `time`, which also give nanoseconds."""


@attrs.frozen
class Place:
    """A line of a subject's code, or of a library's, where something is used that can differ.

    Attributes:
        kind: what is used, one of KINDS.
        file: its path.
        line: from 1.
    """

    kind: str
    file: str
    line: int


@attrs.frozen
class Sighting:
    """A place that a run passed.

    Attributes:
        within: the line of the subject that led there; None: the place itself is the subject's, or
            nothing of it led there.
        what: the function called, or what was read.
        first_step: the first step; 0: while the subject was made; -1: nobody counts steps.
    """

    place: Place
    within: Place | None
    what: str
    first_step: int


@attrs.frozen
class Way:
    """In which process a subject is run.

    Attributes:
        hash_seed: its PYTHONHASHSEED.
        sets: the order of sets that can have another one in another process, where the subject's
            own code iterates over them and no fix says otherwise: "up", "down"; "": as it comes.
    """

    hash_seed: int = 0
    sets: str = ""

    def __str__(self) -> str:
        order = {"": "", "up": ", sets ascending", "down": ", sets descending"}[self.sets]
        return f"hash seed {self.hash_seed}{order}"


@attrs.frozen
class Order:
    """How a subject is run.

    Attributes:
        target: the subject, as it is typed.
        seed: its seed.
        steps: how many; None: the default of its kind.
        settings: its other parameters.
        seed_parameter: the parameter that takes the seed; None: the one that has a known name; "":
            none does.
        ignored: paths of values that are left out, as the verdict prints them.
        network: whether it may connect to other machines.
        way: the process.
        leaves_at: the last step, whose values are told, of these names: `leaves_of`; None: none.
        again: whether the subject is run once more in the same process: an environment that is
            reset by the seed, and another one that is made.
        fixes: places where what can differ is made to repeat, while all places are sighted; None:
            nothing is patched.
        epochs: what each of CLOCKS shows at first where it is fixed, in nanoseconds.
        one_epoch: whether clocks that are not fixed begin there as well, and go on in real time
            from what a fixed one showed last.
        forced: which of the runs that are compared this is, from 1, where clocks and random bytes
            that are not fixed are to differ clearly; 0: they are as they come.
        files: modules in which the order of sets, `id` and `hash` are sighted; None: in all that
            are imported.
    """

    target: str
    seed: int = 1
    steps: int | None = None
    settings: Mapping[str, object] = attrs.field(factory=dict)
    seed_parameter: str | None = None
    ignored: Sequence[str] = ()
    network: bool = False
    way: Way = Way()
    leaves_at: int | None = None
    leaves_of: Sequence[str] = ()
    again: bool = False
    fixes: Sequence[Place] | None = None
    epochs: Mapping[str, int] = attrs.field(factory=dict)
    one_epoch: bool = False
    forced: int = 0
    files: Sequence[str] | None = None


@attrs.frozen
class Trace:
    """What a run showed.

    Attributes:
        kind: of the subject.
        is_seeded: whether it takes a seed.
        way: the process.
        rows: of each step, the digests of what it holds, by name.
        resets: whether the run comes again from an environment that is reset; None: it is none, or
            that was not tried.
        forgets: whether it comes again from another subject in the same process; None: not tried.
        leaves: the values that were asked for, by path.
        not_seen: how many values of a step, by what they are, were not compared; 0: unknown.
        left_out: how many values of a step were ignored, by the path that said so.
        compared: how many values were compared; 0: nothing can be said.
        sightings: places that were passed.
        kept_from: machines to which no connection was allowed.
        error: of the subject, after the last row; empty if there was none.
        refused: what is wrong with the target, and what to give instead; empty if nothing is.
    """

    kind: str = ""
    is_seeded: bool = True
    way: Way = Way()
    rows: Sequence[Mapping[str, int]] = ()
    resets: bool | None = None
    forgets: bool | None = None
    leaves: Mapping[str, str] = attrs.field(factory=dict)
    not_seen: Mapping[str, int] = attrs.field(factory=dict)
    left_out: Mapping[str, int] = attrs.field(factory=dict)
    compared: int = 0
    sightings: Sequence[Sighting] = ()
    kept_from: Sequence[str] = ()
    error: str = ""
    refused: Sequence[str] = ()


@attrs.frozen
class Split:
    """Where two traces part.

    Attributes:
        step: the first that differs; 0: what was made, before any step.
        names: the names that differ in it; none where one run ends before the other, or both end
            in different errors.
    """

    step: int
    names: Sequence[str] = ()


def split_of(a: Trace, b: Trace) -> Split | None:
    """Where two runs part; None if they are equal."""
    for step, (row_a, row_b) in enumerate(zip(a.rows, b.rows, strict=False)):
        if row_a != row_b:
            names = sorted(row_a.keys() | row_b.keys())
            return Split(step, [name for name in names if row_a.get(name) != row_b.get(name)])
    if len(a.rows) == len(b.rows) and a.error == b.error:
        return None
    return Split(min(len(a.rows), len(b.rows)))


def leaf_that_differs(a: Mapping[str, str], b: Mapping[str, str]) -> tuple[str, str, str] | None:
    """The path of the shallowest value that differs, and the two values; None if all are equal."""
    for path in {**a, **b}:
        values = a.get(path, "missing"), b.get(path, "missing")
        if values[0] != values[1]:
            return path, *values
    return None
