"""`recorded` in episodes: what was done in another run is done again, step by step."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import cast

from goldrush.agents.recorded import Recording
from goldrush.kernel.errors import BadInput
from goldrush.kernel.fold import checked, units
from goldrush.kernel.journal import JournalReader
from goldrush.kernel.world import Row
from goldrush.kernel.worlds.episode.events import ACTED, RESET
from goldrush.kernel.worlds.episode.world import episode_world


class EpisodeRecording(Recording):
    """The actions and resets of a journal, in memory.

    Attributes:
        resets: the rows of resets, by the number of the unit.
    """

    def __init__(self, path: str | Path) -> None:
        """Read a journal. Raises BadInput, JournalError if it cannot be read."""
        world = episode_world()
        super().__init__(path, world, (ACTED,))
        self.resets: dict[int, Row] = {}
        with JournalReader(path) as reader:
            for unit in units(checked(world, reader), world.arrange):
                rows = [row for step in unit.steps for row in step.inputs.rows(RESET)]
                if rows:
                    self.resets[unit.number] = rows[0]

    def action(self, unit: int, agent: int | None) -> Row | None:
        """The row of an agent's action, or of all together (None), in a unit, from 1 on; None:
        there is none.
        """
        if not 1 <= unit <= len(self.units):
            return None
        actions = cast("Mapping[tuple[int, int | None], Row]", self.units[unit - 1])
        return actions.get((0, agent))

    def check(self, agent: int, units: int) -> None:
        """Raises BadInput unless some unit has an action of this agent, or of all together."""
        if not any(who in (agent, None) for rows in self.units for _, who in rows):
            raise BadInput(
                f"{self.path} holds no actions of agent {agent}",
                "give `recorded` to agents that it has",
            )
