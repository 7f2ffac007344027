"""The records of a study: its cells, its manifest, and the results of its runs."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from operator import attrgetter
from typing import Any, Final, Generic, TypeVar

import attrs

from goldrush.kernel.grouping import grouped
from goldrush.kernel.rosters import Config
from goldrush.replay.data.course import Course
from goldrush.replay.data.measures import Span
from goldrush.replay.journal.taken import Taken


@attrs.frozen
class Cell:
    """A set of runs that differ only in the seed: a treatment, a roster by its name in the plan,
    and a horizon, in the world's units.
    """

    treatment: str
    roster: str
    rounds: int

    def __str__(self) -> str:
        return f"{self.treatment}, {self.roster}, {self.rounds}"

    def format(self, units: str) -> str:
        return f"{self} {units}"


@attrs.frozen
class StudyRun:
    """A run of a study; `path`: its journal, relative to the study's folder. `sha256` and `bytes`
    of the journal are None until the run is done.
    """

    cell: Cell
    seed: int
    path: str
    config: Config
    sha256: str | None = None
    bytes: int | None = None


R = TypeVar("R", bound=StudyRun)


def cells_of(runs: Iterable[R]) -> dict[Cell, list[R]]:
    """The runs by cell, in their order."""
    return grouped(runs, attrgetter("cell"))


@attrs.frozen
class Manifest:
    """The contents of a manifest: the plan (as `StudyPlan.as_dict`), runs cell by cell, the version
    of the world's rules, the SHA-256 by path of the files of given code that played them, and that
    of the file it was read from (empty for a new one).
    """

    world: str
    plan: Mapping[str, Any]
    runs: Sequence[StudyRun]
    rules: int
    code: Mapping[str, str] = attrs.field(factory=dict)
    digest: str = attrs.field(default="", eq=False)

    @property
    def played(self) -> list[StudyRun]:
        """The runs that are done."""
        return [run for run in self.runs if run.sha256 is not None]


POINTS: Final = 40  # points of a curve over the units, at most


@cache
def points_of(units: int) -> Sequence[Span]:
    """The units for which the points of a curve stand: at most POINTS windows of equal length (the
    last may be shorter) over the units of a horizon, also for runs that stopped early.
    """
    length = math.ceil(units / POINTS)
    firsts = range(1, units + 1, length)
    return tuple([Span(first, min(first + length - 1, units)) for first in firsts])


C = TypeVar("C", bound=Config)  # the configuration of a run


K = TypeVar("K")  # the world's own part of a result


Number = int | float | None  # a value, whose type the cache keeps


@attrs.frozen(kw_only=True)
class Result(StudyRun, Generic[C, K]):
    """A measured run: its measures by name, of the whole run, of its halves after the burn-in and
    without one, and over windows of its units (`curves`), as each defines it.

    Attributes:
        units: the number of closed units.
        equal_to: the seed of the first run of the cell that is equal in every event, which makes
            this one no further draw; None: it is the first itself.
        policies: labels by agent.
        by_agent: as in `Measured`, by agent of `policies`.
        windows: the units of this run in the windows of `points_of`, as far as it came.
        course: as in `Measured`.
        still: the names in `run` that are no measures of it: they never changed.
        taken: the usage of each model, without costs.
        kept: values for the world's own part of a report (`Studies.kept`).
    """

    config: C
    units: int
    run: Mapping[str, Number]
    halves: Mapping[str, tuple[Number, Number]]
    halves_whole: Mapping[str, tuple[Number, Number]]
    windows: tuple[Span, ...]
    curves: Mapping[str, tuple[Number, ...]]
    policies: tuple[str, ...]
    by_agent: Mapping[str, tuple[Number, ...]]
    course: Course = attrs.field(factory=Course)
    still: tuple[str, ...] = ()
    kept: K
    taken: tuple[Taken, ...] = ()
    equal_to: int | None = None

    @property
    def draw(self) -> int:
        """What runs of a cell share that are equal in every event: the seed of the first."""
        return self.seed if self.equal_to is None else self.equal_to
