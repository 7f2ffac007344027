"""`recorded`: an agent that replays the submissions of the same agent in another journal.

The roster has the SHA-256 of that journal instead of its path, so the new journal's bytes do not
depend on file locations. Asking such an agent again needs the file (`--source`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from goldrush.kernel.errors import BadInput
from goldrush.kernel.fold import checked, units
from goldrush.kernel.journal import JournalReader
from goldrush.kernel.world import Row, World


class Recording:
    """All submissions of a journal, in memory.

    Attributes:
        path: of the journal.
        units: `units[u - 1]` has the rows of closed unit u, by agent.
        repeated: for each agent that submitted several times in a unit, the first such unit.
        sha256: of the journal, in hex.
    """

    def __init__(self, path: str | Path, world: World[Any], code: int) -> None:
        """Read a journal. `code`: of the event of a submission, whose rows begin with the agent.

        Raises BadInput, JournalError if it cannot be read.
        """
        self.path = str(path)
        self.units: list[Mapping[int, Row]] = []
        self.repeated: dict[int, int] = {}
        self._vocabulary = world.vocabulary
        with JournalReader(path, hashed=True) as reader:
            for unit in units(checked(world, reader), world.arrange):
                if unit.digest is not None:
                    rows = [row for step in unit.steps for row in step.inputs.rows(code)]
                    self.units.append({row[0]: row for row in rows})
                    if len(self.units[-1]) < len(rows):
                        for agent, count in Counter(row[0] for row in rows).items():
                            if count > 1:
                                self.repeated.setdefault(agent, unit.number)
            self.sha256 = reader.sha256()

    def check(self, agent: int, units: int) -> None:
        """Raises BadInput unless the first `units` units have a submission of this agent, and no
        unit has several.
        """
        vocabulary = self._vocabulary
        if len(self.units) < units:
            raise BadInput(
                f"{self.path} holds {len(self.units)} {vocabulary.units} of submissions",
                f"--rounds may be at most that, not {units}",
            )
        if any(agent not in rows for rows in self.units[:units]):
            raise BadInput(
                f"{self.path} holds no submissions of agent {agent}",
                "give `recorded` to agents that it has",
            )
        if agent in self.repeated:
            place = vocabulary.format_unit(self.repeated[agent])
            raise BadInput(
                f"{self.path} has several submissions of agent {agent} in {place}",
                f"`recorded` replays one a {vocabulary.unit}; give another policy",
            )
