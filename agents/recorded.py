"""`recorded`: an agent that replays the submissions of the same agent in another journal.

The roster has the SHA-256 of that journal instead of its path, so the new journal's bytes do not
depend on file locations. Asking such an agent again needs the file (`--source`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import repeat
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
        units: `units[u - 1]` has the rows of closed unit u, by step and agent.
        sha256: of the journal, in hex.
    """

    def __init__(self, path: str | Path, world: World[Any], codes: Sequence[int | None]) -> None:
        """Read a journal. `codes`: by step, of the event of a submission, whose rows begin with the
        agent; see SimultaneousPlayers.

        Raises BadInput, JournalError if it cannot be read.
        """
        self.path = str(path)
        self.units: list[Mapping[tuple[int, int], Row]] = []
        self._vocabulary = world.vocabulary
        self._steps = 1  # the most in a unit, where the world does not tell them apart
        # A unit of one step may have several where a world does not tell them apart.
        of_steps = codes if len(codes) > 1 else repeat(codes[0])
        with JournalReader(path, hashed=True) as reader:
            for unit in units(checked(world, reader), world.arrange):
                if unit.digest is not None:
                    steps = enumerate(zip(of_steps, unit.steps, strict=False))
                    rows = {
                        (number, row[0]): row
                        for number, (code, step) in steps
                        if code is not None
                        for row in step.inputs.rows(code)
                    }
                    self.units.append(rows)
                    if len(codes) == 1:
                        self._steps = max(self._steps, len(unit.steps))
            self.sha256 = reader.sha256()

    def submission(self, unit: int, step: int, agent: int) -> Row:
        """The submission of an agent, `unit` as the journal numbers it. Raises BadInput."""
        try:
            return self.units[unit - 1][step, agent]
        except LookupError:
            place = self._vocabulary.format_unit(unit)
            raise BadInput(
                f"{self.path} has no submission of agent {agent} in step {step} of {place}",
                "give another policy",
            ) from None

    def check(self, agent: int, units: int) -> None:
        """Raises BadInput unless the first `units` units have a submission of this agent, and no
        unit of one step has several.
        """
        vocabulary = self._vocabulary
        if len(self.units) < units:
            raise BadInput(
                f"{self.path} holds {len(self.units)} {vocabulary.units} of submissions",
                f"--rounds may be at most that, not {units}",
            )
        if not any(who == agent for rows in self.units[:units] for _, who in rows):
            raise BadInput(
                f"{self.path} holds no submissions of agent {agent}",
                "give `recorded` to agents that it has",
            )
        for unit, rows in enumerate(self.units, 1):
            if sum((step, agent) in rows for step in range(self._steps)) > 1:
                place = vocabulary.format_unit(unit)
                raise BadInput(
                    f"{self.path} has several submissions of agent {agent} in {place}",
                    f"`recorded` replays one a {vocabulary.unit}; give another policy",
                )
