"""Studies of models: treatments are values of their parameters, outcomes their variables."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from goldrush.agents.given import maker_of
from goldrush.kernel.errors import BadInput
from goldrush.kernel.worlds.episode.config import EpisodeConfig, config_of
from goldrush.replay.studies import Studies
from goldrush.replay.worlds.episode.model import is_model
from goldrush.replay.worlds.episode.parameters import asked_in


def _seats(roster: str | None, agents: int | None) -> list[str]:
    """Nobody acts in a model. Raises BadInput for a roster, and for what is given and is none."""
    make = maker_of("")
    if make is not None and not is_model(make):
        raise BadInput("no class of a model is given", "study a model: --env module:Model")
    if roster is not None:
        raise BadInput("nobody acts in a model", "leave the roster out")
    return []


def _config_of(settings: Mapping[str, object]) -> EpisodeConfig:
    """The configuration of a run. Raises BadInput for a seed that its model does not take."""
    about, others = asked_in(settings, maker_of(""))
    config = config_of(others)
    if about.seed_parameter == "" and config.seed:
        raise BadInput("the model takes no seed: all runs would be the same", "give --seeds 1")
    return config


STUDIES: Final = Studies(
    title="What do the parameters change?",
    config=_config_of,
    seats=_seats,
    size="",
)
