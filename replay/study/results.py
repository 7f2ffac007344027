"""A world that is studied, and the results of a study of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Generic

import attrs

from goldrush.agents.llm.failures import Failures, merge_failures
from goldrush.agents.players import Players
from goldrush.kernel.errors import BadInput
from goldrush.kernel.treatments import Treatment
from goldrush.kernel.world import World
from goldrush.replay.data.measures import Measures
from goldrush.replay.levelled import Seeded, levelled
from goldrush.replay.studies import Studies
from goldrush.replay.study.records import C, Cell, K, Manifest, Result


@attrs.frozen
class Studied:
    """A world that can be studied: the parts of its tools that studies need.

    Attributes:
        name: the world's name.
        players, studies: see the types.
        world_of: `world_of(setup)`, as `Tools.world`.
        settings: the class of its settings.
        treatments: by name, including the baseline.
        measures_of, seeded: as `Tools.measures` and `Tools.seeded`.
    """

    name: str
    players: Players[Any]
    studies: Studies
    world_of: Callable[[Mapping[str, Any]], World[Any]]
    settings: type[attrs.AttrsInstance]
    treatments: Mapping[str, Treatment[Any]]
    measures_of: Callable[[], Measures] | None
    seeded: Seeded

    @property
    def world(self) -> World[Any]:
        """The world itself."""
        return self.world_of({})

    @property
    def units(self) -> str:
        """The noun for the units of a horizon."""
        return self.world.vocabulary.units

    @property
    def measures(self) -> Measures:
        """Its measures. Raises BadInput for a world without any."""
        if self.measures_of is None:
            raise BadInput(
                f"the {self.name} world has no measures",
                "`goldrush export DIR --format csv --table events` prints the events of its runs",
            )
        return self.measures_of()


@attrs.frozen
class Results(Generic[C, K]):
    """The results of a study of a world (`of`) in a folder; those of a cell are in the plan's order
    of seeds.
    """

    folder: str
    of: Studied = attrs.field(repr=False)
    manifest: Manifest
    by_cell: Mapping[Cell, Sequence[Result[C, K]]]

    def config(self, cell: Cell) -> C:
        """The configuration of a cell's first run."""
        return self.by_cell[cell][0].config

    def settings(self, cell: Cell) -> dict[str, object]:
        """The settings that a cell's runs share, without what their seeds decide."""
        runs = (result.config.as_dict() for result in self.by_cell[cell])
        return levelled(runs, self.of.seeded)

    def failures(self, cell: Cell) -> list[Failures]:
        """The failed answers of a cell's language models, over all its runs."""
        return merge_failures(one for result in self.by_cell[cell] for one in result.failures)


def cell_as_dict(results: Results[Any, Any], cell: Cell) -> dict[str, Any]:
    """A cell for JSON, with its number of agents and its covariate."""
    config, covariate = results.config(cell), results.of.studies.covariate
    known = {covariate.name: covariate.of(config)} if covariate else {}
    return {**attrs.asdict(cell), "agents": config.agents, **known}
