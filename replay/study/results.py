"""The results of a study."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, Generic

import attrs

from goldrush.agents.llm.failures import Failures
from goldrush.replay.data.measures import Measures
from goldrush.replay.data.user_measures import with_users
from goldrush.replay.journal.taken import Taken, by_model
from goldrush.replay.levelled import levelled
from goldrush.replay.study.records import C, Cell, K, Manifest, Result
from goldrush.replay.tools import Tools

if TYPE_CHECKING:
    from goldrush.replay.data.user_functions import UserMeasure


@attrs.frozen(slots=False)
class Results(Generic[C, K]):
    """The results of a study of a world (`of`) in a folder; those of a cell are in the plan's order
    of seeds. `users`: measures of the user, besides those of the world.
    """

    folder: str
    of: Tools = attrs.field(repr=False)
    manifest: Manifest
    by_cell: Mapping[Cell, Sequence[Result[C, K]]]
    users: Sequence[UserMeasure] = ()

    @cached_property
    def runs(self) -> list[Result[C, K]]:
        """All runs, cell by cell."""
        return [run for runs in self.by_cell.values() for run in runs]

    @cached_property
    def equal(self) -> int:
        """The number of runs that are equal in every event to an earlier one of their cell."""
        return sum(run.equal_to is not None for run in self.runs)

    @cached_property
    def measures(self) -> Measures:
        """The measures of the world, and those of the user."""
        return measures_in(self.of, self.runs, self.users)

    @cached_property
    def horizons(self) -> list[int]:
        """The lengths of the runs in units, each once, the shortest first."""
        return sorted({cell.rounds for cell in self.by_cell})

    def config(self, cell: Cell) -> C:
        """The configuration of a cell's first run."""
        return self.by_cell[cell][0].config

    def settings(self, cell: Cell) -> dict[str, object]:
        """The settings that a cell's runs share, without what their seeds decide."""
        runs = (result.config.as_dict() for result in self.by_cell[cell])
        return levelled(runs, self.of.studies.seeded)

    def failures(self, cell: Cell) -> list[Failures]:
        """The failed answers of a cell's language models, over all its runs."""
        return [taken.failures for taken in self.taken(cell)]

    def taken(self, cell: Cell) -> list[Taken]:
        """The usage of each of a cell's language models, over all its runs."""
        return by_model(taken for result in self.by_cell[cell] for taken in result.taken)

    def failed(self, cell: Cell) -> float | None:
        """The share of failed answers of all models of a cell; None if it has no answers."""
        counts = self.failures(cell)
        answers = sum(each.answers for each in counts)
        return sum(each.failed for each in counts) / answers if answers else None


def measures_in(
    of: Tools, runs: Sequence[Result[Any, Any]], users: Sequence[UserMeasure]
) -> Measures:
    """The measures of runs of a world, those that they name themselves and that change in one of
    them, and those of the user.
    """
    measures = of.measures
    if measures.of_names is not None:
        own = {user.name for user in users}
        names = [
            name
            for name in runs[0].run
            if name not in own and all(name in run.run for run in runs)
            and any(name not in run.still for run in runs)
        ]  # fmt: skip
        measures = measures.of_names(names)
    return with_users(measures, users)


# Of a world that does not matter.
AnyResult = Result[Any, Any]
AnyResults = Results[Any, Any]


def cell_as_dict(results: Results[Any, Any], cell: Cell) -> dict[str, Any]:
    """A cell for JSON, with its number of agents and its covariate."""
    config, covariate = results.config(cell), results.of.studies.covariate
    known = {covariate: getattr(config, covariate)} if covariate else {}
    return {**attrs.asdict(cell), "agents": config.agents, **known}
