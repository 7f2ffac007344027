"""Who acts in episodes."""

from __future__ import annotations

from typing import Final

from goldrush.agents.players import Players
from goldrush.kernel.worlds.episode.state import EpisodeState

HORIZON: Final = "steps"


class EpisodePlayers(Players[EpisodeState]):
    """The agents of environments. Nobody acts in a model."""

    horizon = HORIZON
