"""The observation of an agent of a season when it is asked a question.

An agent sees the leaderboard, the tables so far, and its own trials, memory and instructions. Only
the therapist and the admin see options, instructions, persona, traits and memory of others. In
independent search the table is shown empty until it has concluded. An observation is read-only.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any, Final

import attrs

from goldrush.agents.llm.messages import Messages
from goldrush.agents.llm.wordings import Framed
from goldrush.agents.worlds.competition.bench import Bench
from goldrush.agents.worlds.competition.wordings import UNFRAMED
from goldrush.kernel.draws import Draws
from goldrush.kernel.worlds.competition.acts.roundtable import is_rejectable
from goldrush.kernel.worlds.competition.arena import Conduct, Rules, Subject
from goldrush.kernel.worlds.competition.config import SeasonConfig
from goldrush.kernel.worlds.competition.memory import Remembered
from goldrush.kernel.worlds.competition.rubric import Grounds
from goldrush.kernel.worlds.competition.settle import grounds_at
from goldrush.kernel.worlds.competition.state import AgentState, SeasonState
from goldrush.kernel.worlds.competition.table import Roundtable, Stances
from goldrush.kernel.worlds.competition.terms import Phase, Role

_PRIVATE: Final[dict[str, Any]] = {
    "options": {}, "instructions": {}, "persona": None, "traits": (), "memory": {},
}  # fmt: skip


class SeasonObservation:
    """The season as one agent, `me`, sees it."""

    def __init__(
        self,
        state: SeasonState,
        ordinal: int,
        bench: Bench,
        grounds: dict[int, Mapping[int, Grounds]] | None = None,
        framed: Framed = UNFRAMED,
    ) -> None:
        """Observe a state. `bench` is for `vary` and texts; `grounds` is a cache by table,
        shared by the observations of the same state; `framed`: how the agent is asked.
        """
        self._state = state
        self._grounds = {} if grounds is None else grounds
        self._bench = bench
        self.framed = framed
        self.wording: Messages = framed.messages
        self.me: AgentState = state.agents[ordinal]
        self.config: SeasonConfig = state.config
        self.rules: Rules = state.arena_rules
        self.arena_text: str = bench.text  # the rules, as text
        # The full text of a conduct, where descriptions are shortened.
        self.whole: Callable[[Conduct], str] | None = bench.whole
        self.assignment: int = state.assignment  # from 0
        self.day: int = state.day
        self.project: int = state.project
        self.projects: int = state.projects  # that are completed
        self.is_split: bool = state.is_split  # the judge recommended two tables
        self.is_early: bool = state.phase == Phase.TRY  # the first round is still to come
        self.recommended: tuple[int, ...] | None = state.recommended  # team, by the therapist
        # (rank, agent, rolling score, all-time score), as last posted
        self.leaderboard: tuple[tuple[int, int, int, int], ...] = state.leaderboard

    @property
    def table(self) -> Roundtable:
        """The current table, as in `tables`."""
        return self.tables[-1]

    @property
    def tables_left(self) -> int:
        """Number of tables left in the assignment, with the current one."""
        opening = self._state.opening
        return 1 if opening is None else len(opening.subjects) - self.table.number

    @cached_property
    def tables(self) -> tuple[Roundtable, ...]:
        """The tables of the assignment so far, each with the trials of `me` only. In independent
        search a table is empty until it has concluded.
        """
        return tuple(map(self._shown, self._state.tables))

    def _shown(self, table: Roundtable) -> Roundtable:
        if table.conclusion is None and not self.config.table:
            table = attrs.evolve(table, contributions=[], tests={}, stances=Stances())
        trials = [trial for trial in table.trials if trial.agent == self.me.ordinal]
        return attrs.evolve(table, trials=trials)

    @cached_property
    def people(self) -> Mapping[int, AgentState]:
        """All agents by ordinal, also deleted ones, without private fields (see the module)."""
        if self.me.role in (Role.THERAPIST, Role.ADMIN):
            return dict(self._state.agents)
        return {
            ordinal: agent if agent is self.me else attrs.evolve(agent, **_PRIVATE)
            for ordinal, agent in self._state.agents.items()
        }

    @property
    def active(self) -> list[int]:
        """The ordinals of the active roster, ascending."""
        return self._state.active()

    @property
    def approved(self) -> Subject | None:
        """The subject of an approved project that is not opened yet, or None."""
        approved = self._state.approved
        return None if approved is None else self._state.arena.by_key[approved]

    @property
    def stipulated(self) -> str | None:
        """The objective that a contract requires in the next assignment, or None."""
        holder = self._state.objective_holder()
        return None if holder is None else holder[1].objective

    @property
    def is_rejectable(self) -> bool:
        """Whether the conclusion of the table may be rejected before the admin sees it."""
        return is_rejectable(self._state)

    @property
    def trials_left(self) -> int:
        """Number of trials that `me` may order now."""
        return self._state.trials_left(self.me.ordinal, early=self.is_early)

    @property
    def memory(self) -> Sequence[Remembered]:
        """The memory of `me` for the family of the table's subject, oldest fact first."""
        return self.me.memory.get(self.table.subject.family, ())

    @cached_property
    def known(self) -> list[Conduct]:
        """The conducts proposed in the last `rolling_days` days, then those at this table."""
        known = self._state.known_before(self._state.table)
        return [*known, *(proposal.conduct for proposal in self.table.proposals())]

    def grounds(self, table: int) -> Mapping[int, Grounds]:
        """The grounds of the scores at a concluded table, by agent."""
        if table not in self._grounds:
            self._grounds[table] = grounds_at(self._state, self._state.tables[table])
        return self._grounds[table]

    def rank(self, agent: int) -> int | None:
        """An agent's rank on the leaderboard; None while it has none."""
        return next((rank for rank, who, _, _ in self.leaderboard if who == agent), None)

    def supportable(self) -> list[int]:
        """The proposals that the agent can support: of others, not refuted, not its stance."""
        me, table = self.me.ordinal, self.table
        held = table.stances.by_agent.get(me)
        return [said.id for said in table.unrefuted() if said.agent != me and said.id != held]

    def challengeable(self) -> list[tuple[int, str]]:
        """The parts of claims of others that have not been challenged."""
        return [
            (said.id, part)
            for said in self.table.proposals()
            for part in said.parts
            if said.agent != self.me.ordinal and not self.table.was_challenged(said.id, part)
        ]

    def vary(self, conduct: Conduct, draws: Draws) -> Conduct:
        """A drawn neighbour of a conduct, for the subject of the table."""
        return self._bench.vary(conduct, self.table.treatment, draws)

    def conduct(self, value: Any, treatment: str) -> Any:
        """A value of an answer as a conduct for a subject of this treatment; null stays null."""
        return None if value is None else self._bench.read(value, treatment)

    def agenda(self, ahead: int = 0) -> Subject:
        """The subject on the agenda of this assignment, or of the one `ahead` assignments later.

        The agenda visits all families in turns, each turn in a drawn order, and takes the subjects
        of a family in the arena's order.
        """
        arena, assignment = self._state.arena, self.assignment + ahead
        turn, index = divmod(assignment, len(arena.families))
        draws = Draws(self.config.seed, turn, 0, 0, "policy")
        draws.taken = AGENDA_WORDS
        family = draws.shuffled(arena.families)[index]
        return family[turn % len(family)]


# First draw word of the agenda in the admin's sequence, far from the words of its answers.
AGENDA_WORDS: Final = 1 << 62
