"""Journals as sources of tables and measures: names, settings, and the study of each."""

from __future__ import annotations

import os
from collections.abc import Callable, Generator, Iterator, Sequence
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import attrs

from goldrush.kernel.errors import BadInput
from goldrush.kernel.world import World
from goldrush.replay.data.measures import Measured, Measures
from goldrush.replay.data.user_measures import can_be_shared, with_users
from goldrush.replay.find import open_world, tools_of
from goldrush.replay.folders import total_size
from goldrush.replay.journal.forged import reading
from goldrush.replay.journal.index import commits_near
from goldrush.replay.journal.outline import Outline, outline_of
from goldrush.replay.journal.source import warn_of_other_code
from goldrush.replay.study.listing import StudyFolders
from goldrush.replay.tools import Tools, lacks
from goldrush.replay.workers import map_in_order

if TYPE_CHECKING:
    from goldrush.replay.data.user_functions import UserMeasure

R = TypeVar("R")


@attrs.define(slots=False)
class RunData:
    """A journal as a source of rows. It is measured once, on first use.

    Attributes:
        users: measures of the user.
        on_bytes: called while it is measured, as of JournalReader.
        step: see `Measured.by_step`.
    """

    path: str = attrs.field(converter=str)
    tools: Tools
    world: World[Any]
    _cell: tuple[str, str] | None
    users: Sequence[UserMeasure] = ()
    on_bytes: Callable[[int], None] | None = None
    step: str | None = None

    @property
    def name(self) -> str:
        """Its path as text that either format can hold: what is not UTF-8 is escaped."""
        return os.fsencode(self.path).decode("utf-8", "backslashreplace")

    @cached_property
    def measures(self) -> Measures:
        """The measures of the run's world, and those of the user. Raises BadInput if there are
        none.
        """
        measures = with_users(self.tools.measures, self.users)
        if not (measures.known or measures.of_agents):
            raise lacks(self.tools, self.path, "measures")
        return measures

    @cached_property
    def measured(self) -> Measured[Any]:
        """The run with its measures, by units of its own where it has such. Raises as `by_unit`,
        and BadInput for an unknown step.
        """
        return self.by_unit.by_step(self.step)

    @cached_property
    def by_unit(self) -> Measured[Any]:
        """The run with its measures by the units of its world. Raises BadInput for a world without
        any, JournalError.
        """
        read = self.measures.read
        with reading(self.path) as reader:
            reader.on_bytes = self.on_bytes
            return read(reader)

    @cached_property
    def outline(self) -> Outline:
        """The run when it is first asked for: a journal may grow while its tables are written."""
        return outline_of(self.path)

    @cached_property
    def front(self) -> tuple[str, str | None, str | None, int | None]:
        """The first values of every row, as in columns.FRONT."""
        treatment, roster = self._cell or (None, self.outline.declared.roster)
        return self.name, treatment, roster, self.outline.declared.seed


def run_at(path: str | Path, users: Sequence[UserMeasure] = ()) -> RunData:
    """The run of a journal. `users`: measures of the user, besides those of its world.

    Raises BadInput, NotAJournal, DamagedJournal if the journal cannot be opened; UnsupportedJournal
    for an unknown world.
    """
    return run_of(path, StudyFolders().cell_of(path), users)


def run_of(
    path: str | Path, cell: tuple[str, str] | None, users: Sequence[UserMeasure] = ()
) -> RunData:
    """As `run_at`, of a journal whose treatment and roster are known, or that is in no study."""
    with reading(path) as reader:
        tools = tools_of(reader)
        world = open_world(reader, tools.world)
    return RunData(path, tools, world, cell, users)


def measured_at(path: str | Path, users: Sequence[UserMeasure] = ()) -> Measured[Any]:
    """The run of a journal with its measures, and those of the user. Raises BadInput if there are
    none, JournalError as reading a journal does.
    """
    warn_of_other_code([path])
    return run_at(path, users).measured


def measured_until(path: str | Path, unit: int, users: Sequence[UserMeasure] = ()) -> Measured[Any]:
    """The first units of a run, up to this one (its number in the journal, from 1), with their
    measures; what comes after is not read. `unit`: one that is closed. Raises BadInput if there are
    no measures, JournalError as reading a journal does.
    """
    run = run_at(path, users)
    read = run.measures.read
    with reading(path) as reader:
        commits = commits_near(run.world, reader, unit)
        closing = (each for each in commits if each.unit == unit and each.digest is not None)
        with reader.again(next(closing).end) as first:
            return read(first)


def map_runs(
    function: Callable[[RunData], R],
    paths: Sequence[str | Path],
    jobs: int | None = None,
    *,
    users: Sequence[UserMeasure] = (),
) -> Generator[R, None, None]:
    """Call a function for the run of each journal, in worker processes; results in the order of
    the journals.

    Args:
        function: importable by the processes (a function of a module, or a partial of one), with
            results that can be pickled.
        jobs: number of processes; None: one per processor. Few small journals need one.
        users: measures of the user; with one that other processes do not find, this one reads all.

    Raises:
        BadInput: as `run_at`.
        WorkerDied: if a process was killed.
        Exception: of the function.
    """
    studies = StudyFolders()
    tasks = [(path, studies.cell_of(path)) for path in paths]
    call = partial(_call, function, users)
    return map_in_order(call, tasks, jobs if can_be_shared(users) else 1, total_size(paths))


def _call(
    function: Callable[[RunData], R], users: Sequence[UserMeasure],
    task: tuple[str | Path, tuple[str, str] | None],
) -> R:  # fmt: skip
    return function(run_of(*task, users))


def runs_of_one_world(
    paths: Sequence[str | Path], users: Sequence[UserMeasure] = ()
) -> Iterator[RunData]:
    """The runs of journals, in order. Raises as `run_at`, and BadInput for a journal of another
    world than the first.
    """
    studies, first = StudyFolders(), None
    for path in paths:
        run = run_of(path, studies.cell_of(path), users)
        first = first or run
        if run.world.name != first.world.name:
            here, there = run.world.name, first.world.name
            raise BadInput(
                f"{run.path} is a run of the {here} world, {first.path} of the {there} world",
                "give journals of one world at a time",
            )
        yield run
