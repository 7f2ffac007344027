"""Journals that tables and measures are made of: what each is called, and what it was part of."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import AbstractContextManager
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Any, Final

import attrs

from goldrush.kernel.errors import BadInput
from goldrush.kernel.journal import JournalReader
from goldrush.kernel.world import World
from goldrush.replay.declared import Declared, declared_in
from goldrush.replay.forged import reporting_forged
from goldrush.replay.measures import Measured
from goldrush.replay.study.manifest import cells_in
from goldrush.replay.toolkit import Measures, Toolkit, needed, open_world, toolkit_of

DEPTH: Final = 4  # folders above a journal, its own included, in which one is looked for


@attrs.frozen
class Front:
    """What every row of a run begins with.

    `journal`: the path as it was given; `treatment`: that of the study in whose folder the journal
    lies, None elsewhere; `roster`: the roster's name in the study, elsewhere who plays; None where
    it cannot be told; `seed`: the run's, the last one if a fork changed it, None without one.
    """

    journal: str
    treatment: str | None
    roster: str | None
    seed: int | None


class RunData:
    """A journal that rows are made of. It is measured once, when that is first needed."""

    def __init__(
        self, path: str | Path, toolkit: Toolkit, world: World[Any], cell: tuple[str, str] | None
    ) -> None:
        self.path = str(path)
        # A name that is no UTF-8 is escaped: neither format could hold it.
        self.name = os.fsencode(path).decode("utf-8", "backslashreplace")
        self.toolkit = toolkit
        self.world = world
        self._cell = cell

    @cached_property
    def measures(self) -> Measures:
        """Those of the run's world. Raises BadInput for a world that has none."""
        return needed(self.toolkit.measures, self.path, "measures")()

    @cached_property
    def measured(self) -> Measured[Any]:
        """The run, measured. Raises BadInput, and what reading a journal raises."""
        read = self.measures.read
        with self.reporting_forged(), JournalReader(self.path) as reader:
            return read(reader)

    @cached_property
    def declared(self) -> Declared:
        """Its settings, and who plays. Raises BadInput where the journal cannot be opened."""
        with self.reporting_forged(), JournalReader(self.path) as reader:
            return declared_in(self.world, reader)

    @cached_property
    def front(self) -> Front:
        """What every row begins with. Raises BadInput where the journal cannot be opened."""
        treatment, roster = self._cell or (None, self.declared.roster)
        return Front(self.name, treatment, roster, self.declared.seed)

    def reporting_forged(self) -> AbstractContextManager[None]:
        """The door for whatever reads the run's events (see replay.forged)."""
        return reporting_forged(self.path, world=self.world)


def run_at(
    path: str | Path, toolkit: Toolkit | None = None, studies: Studies | None = None
) -> RunData:
    """The run of a journal.

    `toolkit`: its world's, if it is not one that is found by its name; `studies`: those that were
    looked for already. Raises what reading a journal's header raises, and UnsupportedJournal for
    an unknown world.
    """
    given = None if toolkit is None else toolkit.world({})
    with reporting_forged(path, world=given), JournalReader(path) as reader:
        own = toolkit or toolkit_of(reader)
        world = open_world(reader, own)
    return RunData(path, own, world, (studies or Studies()).cell_of(path))


def measured_at(path: str | Path) -> Measured[Any]:
    """The run of a journal, measured. Raises BadInput for a world without measures, and what
    reading a journal raises.
    """
    return run_at(path).measured


def runs_at(paths: Iterable[str | Path], toolkit: Toolkit | None = None) -> Iterator[RunData]:
    """The runs of journals, one by one; each as `run_at`."""
    studies = Studies()
    for path in paths:
        yield run_at(path, toolkit, studies)


def of_one_world(runs: Iterable[RunData]) -> Iterator[RunData]:
    """These runs. Raises BadInput when it comes to one of another world than the first."""
    first: RunData | None = None
    for run in runs:
        first = first or run
        if run.world.name != first.world.name:
            raise BadInput(
                f"{run.path} is a run of the {run.world.name} world, {first.path} of the "
                f"{first.world.name} world",
                "give journals of one world at a time",
            )
        yield run


class Studies:
    """The studies in whose folders journals lie. Each folder is looked into once."""

    def __init__(self) -> None:
        self._cells: dict[Path, Mapping[Path, tuple[str, str]]] = {}

    def cell_of(self, path: str | Path) -> tuple[str, str] | None:
        """The treatment and the roster's name of a journal; None where no study lists it."""
        journal = Path(os.path.abspath(path))
        for folder in islice(journal.parents, DEPTH):
            if folder not in self._cells:
                self._cells[folder] = cells_in(folder)
            if journal in self._cells[folder]:
                return self._cells[folder][journal]
        return None
