"""The run of a season in Python: what every run has, its scores and its leaderboard."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from goldrush.replay.arguments import integer
from goldrush.replay.run import Location, Run

if TYPE_CHECKING:
    from goldrush.replay.worlds.competition.leaderboard import Leaderboard
    from goldrush.replay.worlds.competition.score import Score


class SeasonRun(Run):
    """A season that is recorded in a journal.

    Besides settings, `record` takes an `agenda` (a TOML file of the assignments, in arenas that
    have one) and `class_models` (the name of a language model of the workers of each class).
    """

    def score(self, at: int, agent: int | str, table: Location | None = None) -> Sequence[Score]:
        """The scores of a worker in an assignment, each with the steps that lead to it.

        Args:
            at: the assignment, from 0 on.
            agent: the worker, by number or name.
            table: only at this table.

        Raises BadInput for an unknown assignment, worker or table; JournalError as reading a
        journal does.
        """
        from goldrush.replay.worlds.competition.score import scores

        unit, number = integer(at, "at"), self._agent(str(agent))
        return scores(self.path, unit, number, self._location(table))

    def leaderboard(self, at: int | None = None) -> Leaderboard:
        """The leaderboard after an assignment; None: after the last one. Raises as `score`."""
        from goldrush.replay.worlds.competition.leaderboard import leaderboard

        return leaderboard(self.path, None if at is None else integer(at, "at"))
