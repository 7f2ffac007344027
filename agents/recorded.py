"""`recorded`: an agent that replays the submissions of the same agent in another journal.

The roster has the SHA-256 of that journal instead of its path, so the new journal's bytes do not
depend on file locations. Asking such an agent again needs the file (`--source`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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

        Raises JournalError if it cannot be read, and BadInput if a unit of one step has several.
        """
        self.path = str(path)
        self.units: list[Mapping[tuple[int, int], Row]] = []
        self._vocabulary = world.vocabulary
        with JournalReader(path, hashed=True) as reader:
            for unit in units(checked(world, reader), world.arrange):
                if unit.digest is not None:
                    if len(codes) == 1 < len(unit.steps):  # which the world does not tell apart
                        place = world.vocabulary.format_unit(unit.number)
                        raise several_steps_error(world.name, place, is_replaced=False)
                    steps = enumerate(zip(codes, unit.steps, strict=False))
                    rows = {
                        (number, row[0]): row
                        for number, (code, step) in steps
                        if code is not None
                        for row in step.inputs.rows(code)
                    }
                    self.units.append(rows)
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
        """Raises BadInput unless the first `units` units have a submission of this agent."""
        if len(self.units) < units:
            raise BadInput(
                f"{self.path} holds {len(self.units)} {self._vocabulary.units} of submissions",
                f"--rounds may be at most that, not {units}",
            )
        if not any(who == agent for rows in self.units[:units] for _, who in rows):
            raise BadInput(
                f"{self.path} holds no submissions of agent {agent}",
                "give `recorded` to agents that it has",
            )


def several_steps_error(world: str, place: str, *, is_replaced: bool) -> BadInput:
    """The error for replaced submissions, or those of `recorded` agents, where a unit has several
    steps: they are known by unit and agent, so one would be that of every step.
    """
    what = f"agents of the {world} world submit several times in {place}"
    if is_replaced:
        return BadInput(
            f"{what}, so a replaced submission would replace all of them",
            "fork without replaced submissions",
        )
    return BadInput(f"{what}, so `recorded` cannot replay them", "give other policies")
