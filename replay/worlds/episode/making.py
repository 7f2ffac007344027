"""What makes the environment or the model of a run: for a recording, and again for its journal."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from typing import Any, Final

import attrs

from goldrush.agents.targets import Maker, RegisteredEnvironment, check_imports, target_of
from goldrush.kernel.errors import BadInput, format_value
from goldrush.kernel.files import folder_kept
from goldrush.kernel.worlds.episode.config import AUTORESETS, ENVIRONMENT, MODEL, VECTOR, About
from goldrush.kernel.worlds.episode.state import EpisodeState
from goldrush.kernel.worlds.episode.values import Encoded
from goldrush.kernel.worlds.episode.world import Outcome
from goldrush.replay.making import (
    UNNAMED,
    check_kinds,
    is_taken,
    seed_parameter_of,
    seed_parameter_of_reset,
    takes_seed,
)
from goldrush.replay.repeats.content import attributes
from goldrush.replay.worlds.episode.coding import decoded, encoded
from goldrush.replay.worlds.episode.environments import (
    Environment,
    is_environment,
    makes_environments,
    subject_of_environment,
)
from goldrush.replay.worlds.episode.model import MakeModel, ModelSubject, check_steps, is_model
from goldrush.replay.worlds.episode.versions import versions_of


@attrs.frozen
class SubjectMaker:
    """Makes the subject of a run again, as it was before its first reset.

    Attributes:
        make: what made it; it is given the parameters that the run has recorded.
    """

    make: Maker

    def __call__(self, state: EpisodeState) -> ModelSubject | Environment:
        """The subject of the run of a state. Raises BadInput for another kind of subject, or other
        agents, and for a parameter that names a module (`check_imports`); whatever `make` raises.
        """
        about, make = state.about, self.make
        given = {name: decoded(value) for name, value in state.config.parameters.items()}
        check_imports(given)
        is_registered = isinstance(make, RegisteredEnvironment)
        makes_one = is_registered or (isinstance(make, type) and makes_environments(make))
        if makes_one if about.kind == MODEL else is_model(make):  # nothing is made of a journal's
            raise other_kind(about, ENVIRONMENT if makes_one else MODEL)
        if about.kind == MODEL:
            return _JournalModel(make, about)
        if is_registered:  # which makes several of a number; that of a journal may be forged
            count = {"num_envs": len(about.agents)} if about.kind == VECTOR else {}
            given = {name: value for name, value in given.items() if name != "num_envs"} | count
        subject = subject_of_environment(make(**given), about)
        if about.kind != subject.kind:
            raise other_kind(about, subject.kind)
        if tuple(about.agents) != subject.agents:
            raise BadInput(
                f"the agents of {about.name} were {format_value(tuple(about.agents))}, and are "
                f"{format_value(subject.agents)} here",
                _OTHER,
            )
        return subject


class _JournalModel(ModelSubject):
    """A model whose parameters are those of a journal."""

    def reset(self, seed: int | None, options: Encoded) -> Outcome:
        """As of any model. Raises BadInput for a parameter that names a module, too."""
        check_imports({"parameters": decoded(options)})
        return super().reset(seed, options)


_OTHER: Final = "give the callable that made the recorded environment"


def other_kind(about: About, here: str) -> BadInput:
    """The error for what makes subjects of another kind than a run has."""
    return BadInput(f"the kind of {about.name} was {about.kind!r}, and is {here!r} here", _OTHER)


def subject_of_model(
    make: MakeModel, seed: int, parameters: Mapping[str, object], about: About
) -> ModelSubject | None:
    """The subject of the runs of a model's class, or of a function that makes a model; None for
    what makes an environment, and anything else. The model is made: the first reset takes it.

    Raises BadInput for a model whose seed would reach nothing; whatever its code raises.
    """
    named = about.seed_parameter
    if isinstance(make, type):
        may_be = is_model(make)
    elif named is None:
        may_be = takes_seed(make, parameters)
    else:
        may_be = named == "" or is_taken(make, named)
    if not may_be:
        return None
    if named is None:
        about = attrs.evolve(about, seed_parameter=seed_parameter_of(make, parameters))
    subject = ModelSubject(make, attrs.evolve(about, name=name_of(make)))
    made: Any = subject.prepare(
        None if named == "" else seed, encoded(dict(parameters), "the parameters")
    )
    if is_environment(made) and not isinstance(make, type):
        with suppress(Exception):  # it is made again, without a seed, as journals have it
            made.close()
        return None
    subject.seed_of(seed)
    check_steps(made, subject.name)
    return subject


@folder_kept()
def subject_made(
    make: Callable[..., object] | None, env: object, seed: int, parameters: Mapping[str, object],
    asked: About,
) -> ModelSubject | Environment:  # fmt: skip
    """The subject that is made with these parameters, or that an environment (`env`, not None) is
    already, with all that START says of it. Raises BadInput for none of both, and for what models
    alone have.

    Args:
        asked: how it is to be recorded and seeded.
    """
    if env is None and make is not None:
        check_kinds(make, parameters)
        model = subject_of_model(make, seed, parameters, asked)
        if model is not None:
            model.about = attrs.evolve(model.about, kind=MODEL, versions=versions_of(make))
            return model
    for name in ("every", "report"):
        if getattr(asked, name):
            raise BadInput(f"{name} is given for an environment", "leave it out: models have it")
    if env is None and make is not None:
        env = make(**parameters)
    subject = subject_of_environment(env, asked)
    seed_parameter = asked.seed_parameter
    if seed_parameter is None:
        found = seed_parameter_of_reset(env)
        seed_parameter = None if found == UNNAMED[0] else found
    subject.about = attrs.evolve(
        asked, name=environment_name(env, make), kind=subject.kind, agents=subject.agents,
        versions=versions_of(make, *_kinds(env)),
        autoreset=_autoreset_of(env) if subject.kind == VECTOR else None,
        seed_parameter=seed_parameter, report=None,
    )  # fmt: skip
    return subject


def environment_name(env: object, make: Callable[..., object] | None = None) -> str:
    """The name that runs of an environment record: its id, or that of the callable that made it."""
    name = getattr(getattr(env, "spec", None), "id", None) or target_of(make).name
    return name or name_of(type(getattr(env, "unwrapped", env)))


def name_of(make: MakeModel) -> str:
    """The name that runs of what a class or a function makes record."""
    return target_of(make).name or getattr(make, "__qualname__", type(make).__qualname__)


def _kinds(env: Any) -> Iterator[type]:
    """The classes of an environment, of those that it wraps, and of those of a vector."""
    while env is not None:
        yield type(env)
        for each in getattr(env, "envs", None) or ():
            yield from _kinds(each)
        env = attributes(env).get("env")


def _autoreset_of(env: Any) -> str:
    """The `autoreset_mode` of a vector environment; empty: it does not say."""
    mode = (getattr(env, "metadata", None) or {}).get("autoreset_mode")
    value = getattr(mode, "value", mode)
    return value if value in AUTORESETS else ""
