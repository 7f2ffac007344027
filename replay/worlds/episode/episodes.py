"""The episodes of a run: where each begins and ends, and what it returned.

In a vector environment each environment has its own episodes, with its number as their agent. Where
it begins the next one by itself (`About.autoreset`), that begins in the step that ends the one
before, or in the step after it, of which the reward is no part of a step.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import attrs

from goldrush.kernel.journal import Commit
from goldrush.kernel.measures import Value
from goldrush.kernel.world import Row
from goldrush.kernel.worlds.episode.config import DISABLED, SAME_STEP
from goldrush.kernel.worlds.episode.events import GAVE, RESET
from goldrush.kernel.worlds.episode.state import EpisodeState, agents_of_reset
from goldrush.replay.data.course import ByAgent


@attrs.define
class Episode:
    """An episode, as far as it was recorded.

    Attributes:
        number: from 1 on.
        agent: of whom alone it is, in a vector environment; None: of all.
        first, last: the public numbers of its first step (the reset) and of its last one.
        names: of the agents of the run.
        seed: of its reset; None: without one.
        returns: by agent, the sum of its rewards; of one agent, that alone.
        terminated, truncated: the agents that came to their end, and that were cut off.
        length: the number of its steps, resets left out, also of other environments.
        is_finished: it is over; otherwise a reset, or the end of the recording, broke it off.
    """

    number: int
    agent: int | None
    first: int
    last: int
    names: Sequence[str]
    seed: int | None
    returns: list[float]
    terminated: set[int] = attrs.field(factory=set)
    truncated: set[int] = attrs.field(factory=set)
    length: int = 0
    is_finished: bool = False

    @property
    def total(self) -> Value:
        """The sum of its rewards, over its agents; None if it is no number."""
        return finite(sum(self.returns))

    @property
    def whose(self) -> str | None:
        """The name of the environment whose alone it is, in a vector environment; None: of all."""
        return None if self.agent is None else self.names[self.agent]

    @property
    def by_name(self) -> dict[str, Value]:
        """Its returns, by the name of the agent."""
        names = self.names if self.whose is None else [self.whose]
        return {name: finite(value) for name, value in zip(names, self.returns, strict=True)}


def finite(value: float) -> Value:
    """A number as a measure has it: None for an infinite one and for NaN."""
    return value if math.isfinite(value) else None


class Episodes:
    """The episodes of a run, unit by unit.

    Attributes:
        all: the episodes, in the order in which they began.
    """

    def __init__(self) -> None:
        self.all: list[Episode] = []
        self._returns: Sequence[float] = ()  # by agent, in the last episode that has steps
        self._sums: Sequence[float] = ()  # and of the whole run
        self._open: dict[int | None, Episode] = {}  # by agent

    def add(self, commit: Commit, state: EpisodeState) -> None:
        """Add a closed unit, with the state after it."""
        pairs = zip(self._sums or (0.0,) * len(state.rewards), state.rewards, strict=True)
        self._sums = [a + b for a, b in pairs]
        if state.step > 0 or not self._returns:
            self._returns = state.returns
        if state.is_closed or state.is_model:
            return
        unit = commit.unit - 1
        rows: list[Row] = []
        for block in commit.blocks:
            for seed, _, options in block.rows(RESET):
                begun = (None,) if state.has_one_episode else agents_of_reset(state, options)
                for agent in begun:
                    self._begin(state, agent, unit, unit, seed)
            rows += block.rows(GAVE)
        if state.has_one_episode:
            self._step(None, unit, rows, is_over=state.is_over)
            return
        for row in rows:
            before = self._open[row[0]]
            if before.is_finished:  # the next one has begun by itself
                if state.about.known_autoreset == DISABLED:
                    continue
                is_same = state.about.known_autoreset == SAME_STEP
                self._begin(state, row[0], before.last if is_same else unit, unit)
            self._step(row[0], unit, [row], is_over=row[0] in state.finished)

    @property
    def by_agent(self) -> ByAgent:
        """The measures of agents so far; none in a model."""
        found = {"return": self._returns, "rewards": self._sums} if self._returns else {}
        return {name: [finite(value) for value in values] for name, values in found.items()}

    def _begin(
        self, state: EpisodeState, agent: int | None, first: int, unit: int,
        seed: int | None = None,
    ) -> None:  # fmt: skip
        """Begin an episode of all agents (None), or of an environment of a vector."""
        returns = [0.0] * (len(state.roster) if agent is None else 1)
        names, number = state.about.agents, len(self.all) + 1
        episode = Episode(number, agent, first, unit, names, seed, returns)
        self._open[agent] = episode
        self.all.append(episode)

    def _step(self, agent: int | None, unit: int, rows: Sequence[Row], *, is_over: bool) -> None:
        """A step of the open episode, or its reset."""
        episode = self._open.get(agent)
        if episode is not None:
            episode.last = unit
            episode.length += episode.first < unit
            episode.is_finished = is_over
            for agent, reward, terminated, truncated in rows:
                episode.returns[0 if episode.agent is not None else agent] += reward
                episode.terminated |= {agent} if terminated else set()
                episode.truncated |= {agent} if truncated else set()
