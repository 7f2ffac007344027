"""What players of episodes need of a live environment: the room that runs them provides it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

import attrs

from goldrush.kernel.worlds.episode.config import About, EpisodeConfig
from goldrush.kernel.worlds.episode.state import EpisodeState
from goldrush.kernel.worlds.episode.values import Encoded


class Space(Protocol):
    """A space of actions, as Gymnasium has them."""

    def seed(self, seed: int) -> object:
        """Begin its sequence of samples anew."""

    def sample(self, mask: object = None) -> object:
        """A random action, one that the mask allows."""

    def contains(self, x: object) -> bool:
        """Whether an action is in the space."""


@attrs.frozen
class Seen:
    """What an agent is shown before it acts.

    Attributes:
        agent: its name.
        observation, info: as the environment gave them last.
        space: that of its actions.
        is_out: the episode is over for it, and its turn is only to leave: its action is None.
    """

    agent: str
    observation: object
    info: Mapping[object, object]
    space: Space
    is_out: bool = False


class Subjects(Protocol):
    """The live environments of this process."""

    def prepared(self, settings: Mapping[str, object]) -> tuple[EpisodeConfig, About]:
        """The configuration with these settings, and what the subject is that they make.

        Raises BadInput if nothing was given that makes one, and if it fails.
        """

    def seen(self, state: EpisodeState, agent: int) -> Seen:
        """What an agent is shown at a state. Raises BadInput if no subject can come there."""

    def check_changes(self, state: EpisodeState, changes: Mapping[str, object]) -> None:
        """Raises BadInput for an attribute that the model of a state's run does not have there, and
        for a text in place of a number.
        """

    def encoded(self, value: object, what: str) -> Encoded:
        """The encoding of a value. Raises BadInput for one that has none."""

    def together(self, state: EpisodeState, actions: Sequence[Encoded]) -> Encoded:
        """The actions of all environments of a vector environment, as its `step` takes them."""

    def action_of(
        self, given: object, state: EpisodeState, agent: int | None, recorded: Encoded
    ) -> Encoded:
        """The action that is given as JSON, with the types of the recorded one, or else of the
        agent's space (None: that of all together). Raises BadInput for one that is not in it.
        """
