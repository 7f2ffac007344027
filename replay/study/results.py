"""The results of a study."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Generic

import attrs

from goldrush.agents.llm.failures import Failures, merge_failures
from goldrush.replay.levelled import levelled
from goldrush.replay.study.records import C, Cell, K, Manifest, Result
from goldrush.replay.tools import Tools


@attrs.frozen
class Results(Generic[C, K]):
    """The results of a study of a world (`of`) in a folder; those of a cell are in the plan's order
    of seeds.
    """

    folder: str
    of: Tools = attrs.field(repr=False)
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
