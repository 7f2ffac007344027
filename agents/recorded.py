"""`recorded`: an agent that submits again what the agent of the same id submitted in a journal.

The roster holds the SHA-256 of that journal in place of its path, so that the new journal's bytes
do not depend on where files lie; whoever asks such an agent again brings the file.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from goldrush.kernel.errors import BadInput
from goldrush.kernel.fold import checked, units
from goldrush.kernel.journal import JournalReader
from goldrush.kernel.world import Row, World


class Recording:
    """All submissions of a journal, in memory: `units[u - 1]` has the rows, by agent, of
    closed unit u of the journal.
    """

    def __init__(self, path: str | Path, world: World[Any], code: int) -> None:
        """Read a journal of `world`; `code` is that of the event of a submission, whose rows begin
        with the agent. Raises JournalError or BadInput where that cannot be done.
        """
        self.path = str(path)
        self.units: list[Mapping[int, Row]] = []
        self._vocabulary = world.vocabulary
        with JournalReader(path, hashed=True) as reader:
            for unit in units(checked(world, reader), world.arrange):
                if unit.digest is not None:
                    rows = [row for step in unit.steps for row in step.inputs.rows(code)]
                    self.units.append({row[0]: row for row in rows})
            self.sha256 = reader.sha256()

    def check(self, agent: int, units: int) -> None:
        """Raises BadInput unless this agent's submissions of so many units are there."""
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
