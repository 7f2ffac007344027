"""What one of the cast is shown when it is asked something.

Everybody sees the leaderboard, the tables so far, its own memory and instructions. Of others a
worker sees what is posted; the therapist, who debriefs everybody, sees all. A view is read, never
changed.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any, Final

import attrs

from goldrush.agents.competition.lab import Lab
from goldrush.kernel.competition.acts import stipulated_objective
from goldrush.kernel.competition.conduct import Conduct, Subject
from goldrush.kernel.competition.config import SeasonConfig
from goldrush.kernel.competition.rubric import Grounds
from goldrush.kernel.competition.settle import grounds_at
from goldrush.kernel.competition.state import THERAPIST, Agent, SeasonState
from goldrush.kernel.competition.table import Table
from goldrush.kernel.measures import Value

_PRIVATE: Final[dict[str, Any]] = {
    "options": {}, "instructions": {}, "persona": None, "traits": (), "memory": (),
}  # fmt: skip


class Seen:
    """The season as `me` sees it. `lab` is where a scripted agent tries things out."""

    def __init__(
        self,
        state: SeasonState,
        ordinal: int,
        lab: Lab,
        grounds: dict[int, Mapping[int, Grounds]] | None = None,
    ) -> None:
        """`grounds`: those that were worked out already, by table; new ones are added."""
        self._state = state
        self._grounds = {} if grounds is None else grounds
        self.me: Agent = state.agents[ordinal]
        self.lab = lab

    @property
    def config(self) -> SeasonConfig:
        """The configuration of the season."""
        return self._state.config

    @property
    def assignment(self) -> int:
        """The assignment under way."""
        return self._state.assignment

    @property
    def day(self) -> int:
        """Its day."""
        return self._state.day

    @property
    def project(self) -> int:
        """Its project."""
        return self._state.project

    @property
    def table(self) -> Table:
        """The table under way."""
        return self._state.table

    @property
    def tables(self) -> tuple[Table, ...]:
        """The tables of the assignment so far."""
        return tuple(self._state.tables)

    @cached_property
    def people(self) -> Mapping[int, Agent]:
        """Everybody who is or was there, by ordinal."""
        if self.me.role == THERAPIST:
            return dict(self._state.agents)
        return {
            ordinal: agent if agent is self.me else attrs.evolve(agent, **_PRIVATE)
            for ordinal, agent in self._state.agents.items()
        }

    @property
    def active(self) -> list[int]:
        """The active roster, in order."""
        return self._state.active()

    @property
    def leaderboard(self) -> tuple[tuple[int, int, int, int], ...]:
        """(rank, agent, rolling, all-time), as posted last."""
        return self._state.leaderboard

    @property
    def is_split(self) -> bool:
        """Whether the judge recommended two tables."""
        return self._state.is_split

    @property
    def approved(self) -> Subject | None:
        """The subject of an approved project that was not opened yet."""
        return self._state.approved

    @property
    def stipulated(self) -> str | None:
        """The objective that a contract gives somebody the right to, for the next assignment."""
        return stipulated_objective(self._state)

    @property
    def recommended(self) -> tuple[int, ...] | None:
        """The team that the therapist recommends."""
        return self._state.recommended

    @property
    def projects(self) -> int:
        """How many projects are completed."""
        return self._state.projects

    @cached_property
    def known(self) -> list[Conduct]:
        """What was proposed before in the days that count, and at this table."""
        table = self.table
        return [
            *self._state.known_before(table),
            *(said.conduct for said in table.proposals() if said.conduct is not None),
        ]

    def grounds(self, table: int) -> Mapping[int, Grounds]:
        """What the scores of everybody at a concluded table rest on, by agent."""
        if table not in self._grounds:
            self._grounds[table] = grounds_at(self._state, self._state.tables[table])
        return self._grounds[table]

    def rank(self, agent: int) -> int | None:
        """An agent's rank on the leaderboard; None while it has none."""
        return next((rank for rank, who, _, _ in self.leaderboard if who == agent), None)

    def tried(self, conduct: Conduct, treatment: str, seeds: tuple[int, ...]) -> Value:
        """What a conduct is worth in the objective of the table, on seeds of one's own."""
        return self.lab.value(conduct, treatment, self.table.objective, seeds)[0]
