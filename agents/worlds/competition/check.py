"""Asks the cast of a recorded season again, to check that its acts are the recorded ones.

Scripted agents are asked again, and trials and tests are run again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from goldrush.agents.askable import Askable, classify_players
from goldrush.agents.session import Query, asked_again
from goldrush.agents.worlds.competition.bench import Tests
from goldrush.agents.worlds.competition.cast import POLICIES
from goldrush.agents.worlds.competition.play import SeasonPlay, players_of, replaced_in
from goldrush.agents.worlds.competition.prompt import VERSION
from goldrush.agents.worlds.competition.repeated import Repeated
from goldrush.kernel.world import Batch, Block, Row
from goldrush.kernel.worlds.competition import arrange
from goldrush.kernel.worlds.competition.evolve import acts_in
from goldrush.kernel.worlds.competition.state import SeasonState
from goldrush.kernel.worlds.competition.terms import Status


class SeasonCheck:
    """The acts of a step again, from the state before it and the recorded acts.

    User-defined policies that are not in `trust` cannot be asked, because a journal must not run
    code by naming it. A script depends on the answers, so after a question to such an agent the
    rest of the step is taken from the record; only tests of claims are run again.

    Attributes:
        not_asked: descriptions of agents whose policy is not available here.
        unknown: descriptions of agents that this version does not know.
        unjudged: descriptions of the runs so far that cannot be compared with the record.

    """

    def __init__(
        self,
        state: SeasonState,
        tests: Tests,
        forks: Sequence[Mapping[str, Any]] = (),
        trust: Sequence[str] = (),
        on_query: Callable[[Query, Row | None], None] | None = None,
        *,
        reruns: bool = True,
    ) -> None:
        """Sort the agents by whether they can be asked.

        Args:
            state: after the START or FORK that named the cast.
            tests: of the arena.
            forks: the fields of the FORK commits so far.
            trust: names of user-defined policies that may be imported.
            on_query: as of session.asked_again.
            reruns: run trials and tests again; otherwise their recorded results are taken.

        Raises:
            ImpossiblePlayer: for an agent that no season has.

        """
        self._on_query = on_query
        self._scripts = Repeated(tests, replaced_in(forks), reruns=reruns)
        self.unjudged = self._scripts.unjudged
        self._trust = frozenset(trust)
        self._known = Askable(POLICIES, VERSION, self._trust)
        there = [agent for agent in state.agents.values() if agent.status != Status.GONE]
        players = [player for agent in there for player in players_of(agent)]
        found = classify_players(players, self._known, ", and what followed in its steps")
        self.not_asked, self.unknown = found.not_asked, found.unknown

    def __call__(
        self, state: SeasonState, recorded: Block, *, is_whole: bool = True
    ) -> Sequence[Batch]:
        """The acts of a step: see session.asked_again. Raises PolicyFailed if a policy fails."""
        self._scripts.read(acts_in(recorded.batches))
        play = SeasonPlay(state, self._scripts, self._trust, self._known)
        found = asked_again(play, recorded, is_whole=is_whole, on_query=self._on_query)
        return arrange(Block(found)).batches
