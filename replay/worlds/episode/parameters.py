"""The parameters of a model as settings."""

from __future__ import annotations

from typing import Final

import attrs

from goldrush.agents.targets import Maker
from goldrush.kernel.settings import integer, setting
from goldrush.kernel.shape import Kind
from goldrush.kernel.worlds.episode.config import OWN, STEPS_MAX, EpisodeSettings
from goldrush.replay.making import parameters_of
from goldrush.replay.worlds.episode.model import is_model

STEPS: Final = 100  # of a run of a model if no number is given

_PLAIN: Final = (bool, int, float, str, type(None))
_PARAMETER: Final = Kind("a number, a text, true or false", lambda value: type(value) in _PLAIN)
_GIVEN: Final = (*OWN, "rng", "scenario")  # what `making` gives


def settings_of_model(make: Maker | None) -> type[EpisodeSettings]:
    """The class of the settings of what makes a model: its parameters, with their defaults. Of
    anything else the settings that all episodes have.
    """
    if make is None or not is_model(make):
        return EpisodeSettings
    own = {
        parameter.name: setting(
            parameter.default if type(parameter.default) in _PLAIN else None, _PARAMETER
        )
        for parameter in parameters_of(make)
        if parameter.name not in _GIVEN
        and parameter.kind not in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD)
    }
    steps = {"steps": setting(STEPS, integer(1, STEPS_MAX))}
    made: type[EpisodeSettings] = attrs.make_class(
        make.__name__, {**steps, **own}, bases=(EpisodeSettings,), frozen=True
    )
    return made
