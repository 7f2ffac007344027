"""Policies of episodes: `random`, and those of the user, which know nothing of goldrush."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Mapping
from types import SimpleNamespace
from typing import Final, Protocol

from goldrush.agents.roster import Entry
from goldrush.agents.seats import PolicySet
from goldrush.agents.targets import trusted_class
from goldrush.agents.trust import is_import_name
from goldrush.agents.worlds.episode.subjects import Seen
from goldrush.kernel.draws import Draws
from goldrush.kernel.errors import BadInput

METHOD: Final = "act"
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


class EpisodePolicies(PolicySet, frozen=True):
    """The policies that rosters of episodes can name."""

    def maker(self, entry: Entry, trust: Collection[str]) -> Callable[[], object]:
        """As of any set; a function with parameters that must be given is a policy itself."""
        if is_import_name(entry.policy) and not entry.settings:
            try:
                make = trusted_class(entry.policy, trust)
            except BadInput as error:
                raise BadInput(
                    error.what,
                    f"give a class with `{METHOD}(observation, agent)`, or a function of the "
                    "observation, that can be imported from here",
                ) from error
            needed = 0 if isinstance(make, type) else _needed(make)
            if needed:
                # Of the observation, and of the agent's name if it takes two.
                act = make if needed > 1 else lambda observation, agent: make(observation)
                return lambda: SimpleNamespace(act=act)
        return super().maker(entry, trust)


def _needed(function: Callable[..., object]) -> int:
    """The number of parameters that must be given by position."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):  # of C
        return 0
    kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return sum(p.kind in kinds and p.default is p.empty for p in parameters)
