"""What the judging process and a process that runs a subject tell each other: an order, a trace.

Both pass as JSON: text of a subject may be no valid Unicode, which JSON escapes.
"""

from __future__ import annotations

import json
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
    "environment": "reads the hash seed",
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
    """How often a place was passed in a run.

    Attributes:
        within: the line of the subject that led there; None: the place itself is the subject's, or
            nothing of it led there.
        what: the function called, or what was read.
        count: how often.
        first_step: the first step; 0: while the subject was made.
    """

    place: Place
    within: Place | None
    what: str
    count: int
    first_step: int


@attrs.frozen
class Way:
    """In which process a subject is run.

    Attributes:
        hash_seed: its PYTHONHASHSEED.
        sets: as in an `Order`.
    """

    hash_seed: int
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
        sets: the order of sets that can have another one in another process, where the subject's
            own code iterates over them and no fix says otherwise: "up", "down"; "": as it comes.
        leaves_at: the last step, whose values are told, of these names: `leaves_of`; None: none.
        every_from: the step from which on every step is looked at; None: of large subjects, some.
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
    sets: str = ""
    leaves_at: int | None = None
    leaves_of: Sequence[str] = ()
    every_from: int | None = None
    again: bool = False
    fixes: Sequence[Place] | None = None
    epochs: Mapping[str, int] = attrs.field(factory=dict)
    one_epoch: bool = False
    forced: int = 0
    files: Sequence[str] | None = None

    def text(self) -> str:
        """As JSON."""
        return json.dumps(attrs.asdict(self))

    @classmethod
    def of(cls, text: str) -> Order:
        """The order of a text."""
        given = json.loads(text)
        fixes = given.pop("fixes")
        return cls(**given, fixes=None if fixes is None else tuple(Place(**f) for f in fixes))


@attrs.frozen
class Leaf:
    """A value within a name.

    Attributes:
        path: where it stands, such as `agents[3].wealth`.
        text: the value.
        is_generator: whether it is the state of a generator of random numbers.
    """

    path: str
    text: str
    is_generator: bool = False


Row = Mapping[str, int]  # the digests of a step, by name


@attrs.frozen
class Trace:
    """What a run showed.

    Attributes:
        kind: of the subject.
        is_seeded: whether it takes a seed.
        steps: the numbers of those that were looked at; 0: when it was made, or reset.
        rows: of these steps.
        states: of these steps, the digests of the states of generators of random numbers.
        again: the rows and states of a second run of an environment; None: there was none.
        another: those of another subject in the same process; None: there was none.
        ended_with: the code with which one of these two runs ended the process; None: none did.
        remembers: where classes, modules and defaults of the subject's own code hold something that
            these runs changed.
        leaves: the values that were asked for.
        not_seen: how many values of a step, by what they are, were not compared; 0: unknown.
        left_out: how many values of a step were ignored, by the path that said so.
        compared: how many values were compared; 0: nothing can be said.
        sightings: places that were passed.
        files_read: paths of files that it read, and had not written before.
        files_written: paths of those that it wrote, and left.
        error: of the subject, after the last row; empty if there was none.
        refused: what is wrong with the target, and what to give instead; empty if nothing is.
    """

    kind: str = ""
    is_seeded: bool = True
    steps: Sequence[int] = ()
    rows: Sequence[Row] = ()
    states: Sequence[Row] = ()
    again: Sequence[Sequence[Row]] | None = None
    another: Sequence[Sequence[Row]] | None = None
    ended_with: int | None = None
    remembers: Sequence[str] = ()
    leaves: Sequence[Leaf] = ()
    not_seen: Mapping[str, int] = attrs.field(factory=dict)
    left_out: Mapping[str, int] = attrs.field(factory=dict)
    compared: int = 0
    sightings: Sequence[Sighting] = ()
    files_read: Sequence[str] = ()
    files_written: Sequence[str] = ()
    error: str = ""
    refused: Sequence[str] = ()

    def text(self) -> str:
        """As JSON."""
        given = attrs.asdict(self, recurse=False)
        given["leaves"] = [(leaf.path, leaf.text, leaf.is_generator) for leaf in self.leaves]
        given["sightings"] = [attrs.asdict(sighting) for sighting in self.sightings]
        return json.dumps(given)

    @classmethod
    def of(cls, text: str | bytes) -> Trace:
        """The trace of a text."""
        given = json.loads(text)
        leaves = tuple(Leaf(*leaf) for leaf in given.pop("leaves"))
        sightings = tuple(
            Sighting(
                Place(**sighting.pop("place")),
                Place(**within) if (within := sighting.pop("within")) else None,
                **sighting,
            )
            for sighting in given.pop("sightings")
        )
        return cls(**given, leaves=leaves, sightings=sightings)
