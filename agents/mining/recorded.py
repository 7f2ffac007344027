"""`recorded`: an agent that submits again what the agent of the same id submitted in a journal.

The roster holds the SHA-256 of that journal in place of its path, so that the new journal's bytes
do not depend on where files lie; whoever asks such an agent again brings the file.
"""

from __future__ import annotations

from pathlib import Path

import attrs

from goldrush.kernel.draws import Draws
from goldrush.kernel.errors import BadInput
from goldrush.kernel.fold import steps
from goldrush.kernel.journal import JournalReader
from goldrush.kernel.mining import MINING
from goldrush.kernel.mining.events import SUBMITTED
from goldrush.kernel.mining.observe import Observation
from goldrush.kernel.mining.submit import Submission


class Recording:
    """All submissions of a mining journal, in memory: `rounds[r - 1][agent]`."""

    def __init__(self, path: str | Path) -> None:
        """Read a journal. Raises JournalError or BadInput where that cannot be done."""
        self.path = str(path)
        self.rounds: list[dict[int, Submission]] = []
        with JournalReader(path, hashed=True) as reader:
            for step in steps(MINING, reader):
                rows = step.inputs.rows(SUBMITTED)
                self.rounds.append(
                    {row[0]: Submission(row[1], row[2], row[3], row[4]) for row in rows}
                )
            self.sha256 = reader.sha256()

    def check(self, agent: int, rounds: int) -> None:
        """Raises BadInput unless this agent's submissions of so many rounds are there."""
        if len(self.rounds) < rounds:
            raise BadInput(
                f"{self.path} holds {len(self.rounds)} rounds of submissions",
                f"--rounds may be at most that, not {rounds}",
            )
        if any(agent not in submissions for submissions in self.rounds[:rounds]):
            raise BadInput(
                f"{self.path} holds no submissions of agent {agent}",
                "give `recorded` to agents that it has",
            )


class Recorded:
    """Plays one agent of a recording."""

    def __init__(self, recording: Recording) -> None:
        self._rounds = recording.rounds

    def plan(self, seen: Observation, draws: Draws) -> Submission:
        submission = self._rounds[seen.round - 1][seen.agent]
        return submission if seen.communication else attrs.evolve(submission, say=None)
