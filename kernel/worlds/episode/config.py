"""What START says of an episode: settings, the subject and its agents."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, cast

import attrs

from goldrush.kernel.errors import BadInput, format_value
from goldrush.kernel.settings import INTEGER_MAX, check_value, flag, integer, setting
from goldrush.kernel.shape import several, text
from goldrush.kernel.worlds.episode.events import NAME_MAX
from goldrush.kernel.worlds.episode.subject import KINDS, MODEL
from goldrush.kernel.worlds.episode.values import VALUE, Encoded

STEPS_MAX: Final = 10**9
AGENTS_MAX: Final = 1_000_000
_TEXT: Final = text(NAME_MAX)
_TEXTS: Final = several(_TEXT, AGENTS_MAX)


@attrs.frozen
class EpisodeSettings:
    """The settings that all episodes have.

    Attributes:
        seed: of the seeds of resets that were made without one, and of random policies.
        steps: the number of steps, further resets included; 0: until it is closed.
    """

    seed: int = setting(0, integer(0, INTEGER_MAX))
    steps: int = setting(0, integer(0, STEPS_MAX))


@attrs.frozen
class EpisodeConfig(EpisodeSettings):
    """The settings of an episode.

    Attributes:
        parameters: what the environment or the model was made with, by name, as encoded values.
        agents: the number of agents, which the subject tells.
    """

    parameters: Mapping[str, Encoded] = attrs.field(factory=dict)
    agents: int = 0

    @property
    def last_step(self) -> int:
        """The greatest number that a step can have."""
        return self.steps or STEPS_MAX

    def as_dict(self) -> dict[str, Encoded]:
        """The recorded settings."""
        return {"seed": self.seed, "steps": self.steps, **self.parameters}


OWN: Final = ("seed", "steps")  # names that no parameter can have


def config_of(settings: Mapping[str, object], agents: int = 0) -> EpisodeConfig:
    """The configuration with these settings: its own, and the subject's parameters as encoded
    values. Raises BadInput.
    """
    parameters: dict[str, Encoded] = {}
    for name, value in settings.items():
        if name in OWN:
            check_value(name, value, attrs.fields_dict(EpisodeConfig)[name].metadata["kind"])
        elif not _TEXT.holds(name):
            raise BadInput(f"a parameter is called {format_value(name)}", "give its name")
        else:
            check_value(name, value, VALUE)
            parameters[name] = cast(Encoded, value)
    own = {name: cast(int, settings[name]) for name in OWN if name in settings}
    return EpisodeConfig(parameters=parameters, agents=agents, **own)


@attrs.frozen
class About:
    """What a subject is.

    Attributes:
        name: its class, as `module:Class`, or its id in Gymnasium.
        kind: one of KINDS.
        agents: the names of its agents; none in a model.
        values: arrays are recorded with their values.
        ignored: arrays whose names begin with one of these are not recorded.
        every: the number of steps between two digests of all attributes of a model; 0: there are
            none but that at the end.
        versions: of Python, and of the distributions that its code is of, by name.
    """

    name: str = setting("", _TEXT)
    kind: str = setting("", attrs.evolve(_TEXT, holds=KINDS.__contains__))
    agents: Sequence[str] = setting((), _TEXTS)
    values: bool = setting(False, flag())
    ignored: Sequence[str] = setting((), _TEXTS)
    every: int = setting(0, integer(0, STEPS_MAX))
    versions: Mapping[str, str] = attrs.field(factory=dict)

    def as_dict(self) -> dict[str, object]:
        """For START."""
        return {**attrs.asdict(self, recurse=False), "versions": dict(self.versions)}


def about_of(recorded: object) -> About:
    """What START says of a subject. Raises BadInput for anything else."""
    names = [field.name for field in attrs.fields(About)]
    if type(recorded) is not dict or list(recorded) != names:
        raise BadInput(f"the subject is {format_value(recorded)}", f"it has {', '.join(names)}")
    for field in attrs.fields(About):
        if "kind" in field.metadata:
            check_value(f"the subject's {field.name}", recorded[field.name], field.metadata["kind"])
    versions = recorded["versions"]
    if type(versions) is not dict or not _TEXTS.holds((*versions, *versions.values())):
        raise BadInput(f"versions are {format_value(versions)}", "give texts by name")
    agents = recorded["agents"]
    if (recorded["kind"] == MODEL) is not (not agents) or len({*agents}) < len(agents):
        raise BadInput(
            f"a {recorded['kind']} has agents {format_value(agents)}",
            "a model has none, an environment at least one, each of another name",
        )
    return About(**recorded)
