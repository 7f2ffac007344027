"""The parameters of a model as settings, and settings of how a subject is recorded."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Final

import attrs

from goldrush.agents.targets import Maker
from goldrush.kernel.errors import BadInput
from goldrush.kernel.settings import configured, integer, setting
from goldrush.kernel.shape import Kind
from goldrush.kernel.worlds.episode.config import OWN, STEPS_MAX, About, EpisodeSettings
from goldrush.replay.making import parameters_of, seed_parameter_of
from goldrush.replay.worlds.episode.making import name_of
from goldrush.replay.worlds.episode.model import is_model

STEPS: Final = 100  # of a run of a model if no number is given

_PLAIN: Final = (bool, int, float, str, type(None))
_PARAMETER: Final = Kind("a number, a text, true or false", lambda value: type(value) in _PLAIN)
_NAMES: Final = Kind(
    "a name, or a list of names",
    lambda value: (
        type(value) is str
        or (isinstance(value, list | tuple) and all(type(name) is str for name in value))
    ),
)
_NAME: Final = Kind("a name, or empty", lambda value: value is None or type(value) is str)


@attrs.frozen
class AskedSettings(EpisodeSettings):
    """The settings that all episodes have, and those of how the subject is recorded, which START
    does not have among the settings.

    Attributes:
        ignore: see `goldrush.wrap`.
        report: see `goldrush.wrap`.
        seed_parameter: see `goldrush.wrap`.
    """

    ignore: str | Sequence[str] = setting((), _NAMES)
    report: str | Sequence[str] = setting((), _NAMES)
    seed_parameter: str | None = setting(None, _NAME)


@attrs.frozen
class ModelSettings(AskedSettings):
    """The settings that all models have: nothing ends a model but its number of steps."""

    steps: int = setting(STEPS, integer(1, STEPS_MAX))


_ASKED: Final = ("ignore", "report", "seed_parameter")
_GIVEN: Final = (*OWN, *_ASKED, "rng", "scenario")  # what `making` gives


def asked_in(settings: Mapping[str, object], make: Maker | None) -> tuple[About, dict[str, object]]:
    """How a subject is to be recorded, from settings by name, and the other settings. Raises
    BadInput, also for one that what makes the subject has as a parameter.
    """
    asked = {name: value for name, value in settings.items() if name in _ASKED}
    own = [] if make is None else [parameter.name for parameter in parameters_of(make)]
    for name, value in asked.items():
        if make is not None and name in own and value is not None:
            raise BadInput(
                f"{name} says how a run is recorded, and is a parameter of {name_of(make)}, too",
                "give a function that calls the parameter otherwise",
            )
    found = configured(AskedSettings, asked)
    ignored, report = (
        (names,) if isinstance(names, str) else tuple(names)
        for names in (found.ignore, found.report)
    )
    others = {name: value for name, value in settings.items() if name not in _ASKED}
    about = About(ignored=ignored, seed_parameter=found.seed_parameter, report=report)
    return about, others


def settings_of_model(make: Maker | None) -> type[AskedSettings]:
    """The class of the settings of what makes a model: its parameters, with their defaults. Of
    anything else the settings that all episodes have.
    """
    if make is None or not is_model(make):
        return AskedSettings
    taken: list[str | None] = [*_GIVEN]
    with suppress(BadInput):  # the parameter that takes the seed is not known
        taken.append(seed_parameter_of(make, {}))
    own = {
        parameter.name: setting(
            parameter.default if type(parameter.default) in _PLAIN else None, _PARAMETER
        )
        for parameter in parameters_of(make)
        if parameter.name not in taken
        and parameter.kind not in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD)
    }
    made: type[ModelSettings] = attrs.make_class(
        make.__name__, own, bases=(ModelSettings,), frozen=True
    )
    return made
