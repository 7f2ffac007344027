"""The tools of episodes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from goldrush.agents.worlds.episode.players import EpisodePlayers
from goldrush.kernel.world import World
from goldrush.kernel.worlds.episode.config import EpisodeSettings
from goldrush.kernel.worlds.episode.state import EpisodeState
from goldrush.kernel.worlds.episode.world import episode_world
from goldrush.replay.tools import Tools


class EpisodeTools(Tools):
    """What can be done with recorded environments and models."""

    config = EpisodeSettings
    players = EpisodePlayers()

    def world(self, setup: Mapping[str, object]) -> World[EpisodeState]:
        return episode_world(None, _missing(setup))

    def length(self, state: EpisodeState) -> int | None:
        return state.config.steps or None

    def agents(self, state: EpisodeState) -> int:
        return len(state.roster)


def _missing(setup: Mapping[str, object]) -> str:
    """Why the events of a run cannot be derived here."""
    subject = setup.get("subject")
    name = subject.get("name") if isinstance(subject, dict) else None
    what = name if isinstance(name, str) else "the environment"
    return f"{what} is not here; give what makes it: --env module:make"


TOOLS: Final = EpisodeTools()
