"""Policies of episodes: `random`, and those of the user, which know nothing of goldrush."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Protocol

from goldrush.agents.worlds.episode.subjects import Seen
from goldrush.kernel.draws import Draws

CALLER: Final = "caller"  # the name of the external policy that is the program around a wrapper
SEEDS: Final = 1 << 31  # seeds that are drawn lie below: all libraries take them
MASK: Final = "action_mask"  # in an observation or an info: which actions are allowed


class EpisodePolicy(Protocol):
    """A policy of the user's."""

    def act(self, observation: object, agent: str) -> object:
        """The action of an agent, by name."""


class ActionSampler:
    """Samples actions from the agent's space, those that its action mask allows."""

    def sample(self, seen: Seen, seed: int, step: int, number: int) -> object:
        """An action of an agent. It follows from the run's seed, the step and the agent's number,
        and from the version of numpy.
        """
        seen.space.seed(Draws(seed, step, number, "random").below(SEEDS))
        masked = seen.observation if isinstance(seen.observation, Mapping) else {}
        mask = masked.get(MASK, seen.info.get(MASK))
        return seen.space.sample() if mask is None else seen.space.sample(mask)
