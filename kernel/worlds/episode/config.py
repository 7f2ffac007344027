"""What START says of an episode: settings, the subject and its agents."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar, Final, cast

import attrs
import msgspec

from goldrush.kernel.errors import BadInput, UnsupportedSetup, format_value
from goldrush.kernel.settings import check_value, flag, integer, setting
from goldrush.kernel.shape import Kind, optional, several, text
from goldrush.kernel.worlds.episode.events import NAME_MAX
from goldrush.kernel.worlds.episode.values import VALUE, Encoded

STEPS_MAX: Final = 10**9
SEED_MAX: Final = 2**63 - 1  # of a reset
UNENDED_MAX: Final = 100_000  # steps that nothing ends, where no number of steps is given
AGENTS_MAX: Final = 1_000_000
FORM: Final = 3  # of how runs are recorded; there are no others
_TEXT: Final = text(NAME_MAX)
_TEXTS: Final = several(_TEXT, AGENTS_MAX)
_VERSIONS: Final = Kind(
    "texts by name",
    lambda value: type(value) is dict and _TEXTS.holds((*value, *value.values())),
)

ENVIRONMENT, VECTOR, PARALLEL, AEC, MODEL = KINDS = (
    "environment", "vector environment", "parallel environment", "AEC environment", "model",
)  # fmt: skip

# When the environments of a vector begin their next episodes, in the words of Gymnasium: in the
# step that ends one, in the next step, or when the caller resets them.
SAME_STEP, NEXT_STEP, DISABLED = AUTORESETS = ("SameStep", "NextStep", "Disabled")


@attrs.frozen
class EpisodeSettings:
    """The settings that all episodes have.

    Attributes:
        seed: of the seeds of resets that were made without one, and of random policies; of a
            recording whose first reset has a seed, that one.
        steps: the number of steps, resets left out; 0: until it is closed.
    """

    seed: int = setting(0, integer(0, SEED_MAX))
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

    # The greatest number that a step can have. Resets are numbered among the steps, and nobody
    # knows how many there will be.
    last_step: ClassVar[int] = STEPS_MAX

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
        ignored: arrays whose names begin with one of these are not recorded, nor what stands at
            one of these paths within a model's attributes.
        every: the number of steps between two digests of all attributes of a model; 0: there are
            none but that at the end.
        versions: of Python, and of the distributions that its code is of, by name.
        autoreset: of a vector environment, one of AUTORESETS, or empty: it does not say. None: of
            any other subject.
        seed_parameter: the name of the parameter that takes the seed; empty: the subject takes
            none; None: `seed`, or what takes one without being named. START has it unless it is
            None.
        recording: FORM.
        report: of a model, the names of what it reports; empty: all that it tells. None: of an
            environment.
    """

    name: str = setting("", _TEXT)
    kind: str = setting("", msgspec.structs.replace(_TEXT, holds=KINDS.__contains__))
    agents: Sequence[str] = setting((), _TEXTS)
    values: bool = setting(False, flag())
    ignored: Sequence[str] = setting((), _TEXTS)
    every: int = setting(0, integer(0, STEPS_MAX))
    versions: Mapping[str, str] = setting(attrs.Factory(dict), _VERSIONS)
    autoreset: str | None = setting(
        None, msgspec.structs.replace(_TEXT, holds=(None, "", *AUTORESETS).__contains__)
    )

    @property
    def known_autoreset(self) -> str:
        """When the environments of a vector begin anew. Gymnasium assumes the next step where
        they do not say.
        """
        return self.autoreset or NEXT_STEP

    seed_parameter: str | None = setting(None, optional(_TEXT))
    recording: int = setting(FORM, integer(FORM, FORM))
    report: Sequence[str] | None = setting(None, optional(_TEXTS))

    def as_dict(self) -> dict[str, object]:
        """For START."""
        facts = {**attrs.asdict(self, recurse=False), "versions": dict(self.versions)}
        return {name: value for name, value in facts.items() if value is not None}


def about_of(recorded: object) -> About:
    """What START says of a subject. Raises BadInput for anything else."""
    fields, given = attrs.fields_dict(About), recorded if isinstance(recorded, dict) else {}
    if isinstance(recorded, dict) and given.get("recording") != FORM:
        raise UnsupportedSetup("the run was recorded in another form", "record it anew")
    known = [name for name in fields if name in given]
    for name in known:
        check_value(f"the subject's {name}", given[name], fields[name].metadata["kind"])
    about = About(**{name: given[name] for name in known})
    whole = about.as_dict()
    if [*whole] != [*given]:  # one is missing, null, unknown or not in its place
        raise BadInput(f"the subject is {format_value(recorded)}", f"it has {', '.join(whole)}")
    for name, kind in {"autoreset": VECTOR, "report": MODEL}.items():
        if name in whole and about.kind != kind:
            raise BadInput(f"a {about.kind} has {name}", f"only a {kind} has it")
    agents = about.agents
    if (about.kind == MODEL) is not (not agents) or len({*agents}) < len(agents):
        raise BadInput(
            f"a {about.kind} has agents {format_value(agents)}",
            "a model has none, an environment at least one, each of another name",
        )
    return about
