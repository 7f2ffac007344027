"""Models as subjects: a reset makes the model of its seed and parameters, a step is its own `step`.

Models of Mesa are told by what they have (`datacollector`, `running`); nothing is imported. A class
of one's own needs a method `step` and no more.
"""

from __future__ import annotations

import random
import re
import sys
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from functools import cache
from itertools import islice
from operator import is_
from types import FunctionType, MethodType, ModuleType
from typing import Any, Final, cast

import attrs

from goldrush.agents.targets import Maker, RegisteredEnvironment, check_imports
from goldrush.kernel.codec import TooLarge
from goldrush.kernel.errors import BadInput, format_value, unknown
from goldrush.kernel.files import folder_kept
from goldrush.kernel.world import Row
from goldrush.kernel.worlds.episode.config import NEWEST, About
from goldrush.kernel.worlds.episode.state import EpisodeState
from goldrush.kernel.worlds.episode.subject import ENVIRONMENT, MODEL, VECTOR, Outcome
from goldrush.kernel.worlds.episode.values import Encoded, digest_of
from goldrush.replay.making import (
    UNNAMED,
    check_kind,
    check_kinds,
    is_taken,
    made_of,
    parameters_of,
    seed_parameter_of,
    takes_seed,
)
from goldrush.replay.repeats.content import (
    PLAIN,
    SETS,
    Child,
    attributes,
    bases_of,
    parts,
    plain_text,
)
from goldrush.replay.repeats.observe import Seen, observed
from goldrush.replay.worlds.episode.coding import decoded, encoded
from goldrush.replay.worlds.episode.environments import (
    Environment,
    Recorded,
    about_of,
    find_seed_parameter,
    is_environment,
    location_of,
    makes_environments,
    subject_of_environment,
)
from goldrush.replay.worlds.episode.versions import is_installed, versions_of

MakeModel = Callable[..., object]

REPORTS: Final = ("report", "metrics")  # methods that tell values by name

CLOCK_DEPTH_MAX: Final = 4  # from an attribute on, of objects that are looked into for times
CLOCK_ITEMS_MAX: Final = 64  # of an object that has more, none is looked into
CLOCK_TEXT_MAX: Final = 100  # characters of a time
RECENT: Final = 8  # rows of a collector whose objects tell whether it has collected

_SHARED: Final = (type, ModuleType, FunctionType, MethodType)  # by all models of a process
_NUMPY: Final = ("numpy.Generator", "numpy.BitGenerator", "numpy.RandomState")


class ModelSubject:
    """A model, which a reset makes.

    Attributes:
        kind: that of models.
        agents: none: nobody acts in a model.
        returned: what its own `step` returned last.
        recorded: how it is recorded.
    """

    kind: str = MODEL
    agents: tuple[str, ...] = ()
    returned: object = None

    def __init__(self, make: MakeModel, name: str, recorded: Recorded) -> None:
        """No model is made yet. `name`: of what makes it, for errors."""
        self.make, self.name, self.recorded = make, name, recorded
        self._model: Any = None
        self._made: object = None  # which the next reset takes
        self._collected: dict[
            str, tuple[object, tuple[object, ...]]
        ] = {}  # of a collector: see `_is_new`

    @property
    def model(self) -> object:
        """The live model. Raises BadInput before the first reset."""
        if self._model is None:
            raise BadInput(f"{self.name} has not been made yet", "reset it")
        return self._model

    def reset(self, seed: int | None, options: Encoded) -> Outcome:
        """Make the model. `options`: its parameters, an encoded dict.

        Raises BadInput for parameters that it does not take; whatever its code raises.
        """
        made = self.prepare(seed, options)
        check_steps(made, self.name)
        self._model, self._made, self.returned, self._collected = made, None, None, {}
        return self._outcome()

    def seed_of(self, seed: int) -> int | None:
        """The seed that its reset gets, of that of the settings; None: it takes none.

        Raises BadInput for another than 0 that would do nothing.
        """
        if self.recorded.seed_parameter != "":
            return seed
        if seed:
            raise BadInput(
                f"the seed is {seed}, and {self.name} takes none: all runs would be the same",
                "leave the seed out; of a study: --seeds 1",
            )
        return None

    def prepare(self, seed: int | None, options: Encoded) -> object:
        """Make what the next reset takes, unless it is there; return it. Raises as `reset`."""
        if self._made is None:
            parameters = cast("dict[str, object]", {} if options is None else decoded(options))
            named = self.recorded.seed_parameter
            names = UNNAMED if named is None else (named,)
            self._made, _ = made_of(self.make, seed, parameters, self.name, names)
        return self._made

    def step(self, actions: Mapping[int | None, Encoded]) -> Outcome:
        """Go on by a step."""
        self.returned = self._model.step()
        return self._outcome()

    def change(self, name: str, value: Encoded) -> None:
        """Set an attribute (`density`), or one of an attribute's (`scenario.density`). Raises
        BadInput for one that the model does not have.
        """
        holder, attribute = self._holder(name)
        setattr(holder, attribute, decoded(value))

    def check_changes(self, changes: Mapping[str, object]) -> None:
        """Raises BadInput for an attribute that the model does not have, and a text in place of a
        number.
        """
        for name, value in changes.items():
            holder, attribute = self._holder(name)
            check_kind(name, value, getattr(holder, attribute), what="its value")

    def close(self) -> None:
        """Nothing to release."""

    def whole(self) -> list[Row]:
        """The rows of all attributes with all that is reached from them, a digest each."""
        seen = _observed(self._model, self.recorded.ignored)
        return [
            row
            for name, digest in seen.digests.items()
            for row in self._digest(f"attributes[{name}]", (digest, seen.states.get(name)))
        ]

    def _holder(self, name: str) -> tuple[object, str]:
        *path, attribute = name.split(".")
        holder = self.model
        for part in path:
            _check_attribute(holder, part, name)
            if part not in (held := attributes(holder)):  # but of its class
                raise _out_of_reach(name)
            holder = held[part]
        _check_attribute(holder, attribute, name)
        return holder, attribute

    def _outcome(self) -> Outcome:
        model = self._model
        held = attributes(model)
        for name in {*self.recorded.ignored} & {*held}:
            del held[name]
        rows = [*self._variables(held)]
        for name, value in held.items():
            if (state := _state_of(value)) is not None:
                rows += self._digest(f"generator[{name}]", state)
        return Outcome((), is_over(model), (), rows)

    def _variables(self, held: Mapping[str, object]) -> Iterator[Row]:
        """What the model tells, `report[NAME]`: by the row that its collector has since the last
        step, if any, by methods and properties; without a collector also its public attributes,
        `variable[NAME]`.
        """
        wanted = self.recorded.report
        collector: Any = next(filter(_is_collector, held.values()), None)
        collected = {} if collector is None else collector.model_vars
        told = told_by(self._model, held)
        if wanted:
            told = {
                name: told[name] if name in told else _asked(self._model, name, held)
                for name in wanted
                if name not in collected
            }
        for name, value in told.items():
            if name not in collected:
                yield from self.recorded.rows(None, f"report[{name}]", value)
        if collector is not None:
            yield from self._collected_since(collector, wanted or collected)
        elif not wanted:
            for name, value in held.items():
                if name[0] != "_" and _is_plain(value) and name not in told:
                    yield from self.recorded.rows(None, f"variable[{name}]", value)

    def _collected_since(self, collector: Any, names: Collection[str]) -> Iterator[Row]:
        """The row of these names that a collector has since the last step, if any."""
        for name, values in collector.model_vars.items():
            if name not in names:
                continue
            if not isinstance(values, Sequence):
                raise BadInput(
                    f"{name} in the model_vars of {self.name} is {format_value(values)}",
                    "give a list of what was collected",
                )
            if values:
                rows = self.recorded.rows(None, f"report[{name}]", values[-1])
                # A window, and a list that begins anew, can have the length of before: what it has
                # last tells. One that has had the same object RECENT times has no more to tell.
                reached = len(values), [digest for _, _, digest, _ in rows]
                recent = values, *islice(reversed(values), RECENT)
                yield from rows if self._is_new(f"report[{name}]", reached, recent) else ()
        for name, records in (
            ("agents", getattr(collector, "_agent_records", None)),
            ("agents by type", getattr(collector, "_agenttype_records", None)),
        ):
            if not records:
                continue
            last = next(reversed(records))
            if self._is_new(name, last, (records[last],)):
                yield from self._digest(name, records[last])

    def _is_new(self, name: str, reached: object, held: tuple[object, ...]) -> bool:
        """Whether a collector has come further since the last step, or has other lists.

        Args:
            reached: how far it has come.
            held: the objects that have what it collected, kept so that no others get their ids.
        """
        before, self._collected[name] = self._collected.get(name), (reached, held)
        is_same = before is not None and before[0] == reached and all(map(is_, before[1], held))
        return not is_same

    def _digest(self, name: str, value: object) -> list[Row]:
        """The row of something of which the digest alone is recorded."""
        names = [row[1] for row in self.recorded.rows(None, name, None)]  # none: it is ignored
        return [(None, name, _digest_of(value), None) for name in names]


def _observed(model: object, ignored: Sequence[str]) -> Seen:
    """What the attributes of a model hold, but for ignored paths and a collector: what it has
    collected in earlier steps is recorded, and grows.
    """
    held = attributes(model).items()
    seen = {name: value for name, value in held if not _is_collector(value)}
    return observed(seen, model, ignored=ignored)


def told_by(model: object, held: Mapping[str, object]) -> dict[str, object]:
    """What a model tells by its methods `report` and `metrics`, which return values by name, and by
    those of its properties that are numbers, texts or truth values. A property that raises tells
    nothing. To look changes nothing: see `_left_as_it_is`. Raises what the methods raise.
    """
    told: dict[str, object] = {}
    methods, properties = _telling(cast(Any, type(model)))
    if not methods and not properties:
        return told
    with _left_as_it_is(model, held):
        for method in methods:
            values = method(model)
            if isinstance(values, Mapping):
                told |= {str(key): value for key, value in values.items()}
        for name in properties:
            with suppress(Exception):
                if name not in told and _is_plain(value := getattr(model, name)):
                    told[name] = value
    return told


def _asked(model: object, name: str, held: Mapping[str, object]) -> object:
    """An attribute of a model, or what a method of it returns. Raises BadInput for no such name."""
    if not hasattr(model, name):
        known = [*told_by(model, held), *(name for name in held if name[0] != "_")]
        raise unknown(f"report of {type(model).__name__}", name, known)
    with _left_as_it_is(model, held):
        value = getattr(model, name)
        return value() if callable(value) else value


@cache
def _telling(kind: type) -> tuple[list[Callable[..., object]], list[str]]:
    """The methods of a class that tell values, and its public properties, but those of a library
    that it is derived from.
    """
    methods = [getattr(kind, name, None) for name in REPORTS]
    own = kind.__module__.partition(".")[0]
    properties = [
        name
        for each in kind.__mro__
        if each.__module__.partition(".")[0] == own or not is_installed(each)
        for name, value in vars(each).items()
        if isinstance(value, property) and name[0] != "_"
    ]
    return [
        method for method in methods if isinstance(method, FunctionType) and _takes_nothing(method)
    ], properties


@contextmanager
def _left_as_it_is(model: object, held: Mapping[str, object]) -> Iterator[None]:
    """What is looked at inside draws and sets as it likes: behind it the attributes of the model
    are the objects that they were, and the generators among them, and those that all share, stand
    where they stood. So a recorded model does as one that nobody looks at.
    """
    numpy: Any = sys.modules.get("numpy.random")
    shared = [random._inst, *([numpy.mtrand._rand] if numpy else [])]
    states = [(each, _state_of(each)) for each in (*held.values(), *shared)]
    own = getattr(model, "__dict__", {})
    before = dict(own)
    try:
        yield
    finally:
        own.clear()
        own.update(before)
        for generator, state in states:
            if state is not None:
                _set_state(generator, state)


def is_over(model: object) -> bool:
    """Whether a model has stopped: its `running` is False."""
    running = getattr(model, "running", True)
    return type(running).__name__ in ("bool", "bool_") and not running


def check_steps(model: object, name: str) -> None:
    """Raises BadInput for what cannot be stepped, and an environment. `name`: of what made it."""
    if is_environment(model):
        raise BadInput(f"{name} makes an environment", "give a function that makes it, of no seed")
    if not callable(getattr(model, "step", None)):
        raise BadInput(
            f"{name} makes {type(model).__name__}, without a method step", "give a model"
        )


def _check_attribute(holder: object, part: str, name: str) -> None:
    """Raises BadInput for what is no public attribute of an object, or shared by other runs.
    `name`: the whole name that it is a part of.
    """
    if part.startswith("_") or isinstance(holder, _SHARED):
        raise _out_of_reach(name)
    if not hasattr(holder, part):
        known = sorted(known for known in attributes(holder) if known[0] != "_")
        raise unknown(f"attribute of {type(holder).__name__}", part, known)


def _out_of_reach(name: str) -> BadInput:
    return BadInput(
        f"{format_value(name)} cannot be changed",
        "name a public attribute of the model, or of an object that it holds",
    )


def _is_collector(value: object) -> bool:
    return isinstance(getattr(value, "model_vars", None), dict)


def _is_plain(value: object) -> bool:
    return isinstance(value, int | float | str) or "numpy.generic" in bases_of(
        cast(type, type(value))
    )


def _state_of(value: object) -> object:
    """The state of a generator of random numbers; None for anything else."""
    if isinstance(value, random.Random):
        return None if isinstance(value, random.SystemRandom) else value.getstate()
    bases = bases_of(cast(type, type(value)))
    if not any(name in bases for name in _NUMPY):
        return None
    source: Any = value
    if hasattr(source, "get_state"):
        return source.get_state(legacy=False)
    return getattr(source, "bit_generator", source).state


def _digest_of(value: object) -> int:
    """64 bits of plain values, which can hold others."""
    with suppress(TypeError, ValueError, TooLarge):
        return digest_of(value)
    with suppress(BadInput):
        return digest_of(encoded(value))
    return observed({"": value}).digests[""]


def _set_state(generator: Any, state: Any) -> None:
    if isinstance(generator, random.Random):
        generator.setstate(state)
    elif hasattr(generator, "set_state"):
        generator.set_state(state)
    else:
        getattr(generator, "bit_generator", generator).state = state


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
            return _JournalModel(make, about.name, Recorded.of(about))
        if is_registered:  # which makes several of a number; that of a journal may be forged
            count = {"num_envs": len(about.agents)} if about.kind == VECTOR else {}
            given = {name: value for name, value in given.items() if name != "num_envs"} | count
        subject = subject_of_environment(make(**given), Recorded.of(about))
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


def is_model(make: object) -> bool:
    """Whether the objects of a class are models: their `step` needs no argument, and they are no
    environments.
    """
    if not isinstance(make, type) or makes_environments(make):
        return False
    step = getattr(make, "step", None)
    return callable(step) and _takes_nothing(step)


def _takes_nothing(method: Callable[..., object]) -> bool:
    """Whether a method of a class needs no argument besides its object."""
    return not any(
        parameter.default is parameter.empty
        and parameter.kind not in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD)
        for parameter in parameters_of(method)[1:]
    )


def subject_of_model(
    make: object, seed: int, parameters: Mapping[str, object], recorded: Recorded
) -> ModelSubject | None:
    """The subject of the runs of a model's class, or of a function that makes a model; None for
    what makes an environment, and anything else. The model is made: the first reset takes it. What
    it holds of the time at which it was made is left out.

    Raises BadInput for a model whose seed would reach nothing; whatever its code raises.
    """
    if not callable(make):
        return None
    named = recorded.seed_parameter
    if isinstance(make, type):
        may_be = is_model(make)
    elif named is None:
        may_be = takes_seed(make, parameters)
    else:
        may_be = named == "" or is_taken(make, named)
    if not may_be:
        return None
    if named is None:
        recorded = attrs.evolve(recorded, seed_parameter=seed_parameter_of(make, parameters))
    subject, since = ModelSubject(make, name_of(make), recorded), time.time()
    made: Any = subject.prepare(
        None if named == "" else seed, encoded(dict(parameters), "the parameters")
    )
    if is_environment(made) and not isinstance(make, type):
        with suppress(Exception):  # it is made again, without a seed, as journals have it
            made.close()
        return None
    subject.seed_of(seed)
    check_steps(made, subject.name)
    ignored = (*recorded.ignored, *clock_paths(attributes(made), since))
    subject.recorded = attrs.evolve(recorded, ignored=ignored)
    return subject


def clock_paths(held: Mapping[str, object], since: float) -> tuple[str, ...]:
    """The paths within attributes, as `goldrush repeats` prints them, of what tells a time from
    `since` until now (seconds since 1970): a number, a text, a `datetime`. It differs from run to
    run and says nothing of what a model does.
    """
    until = time.time()
    level: list[Child] = list(held.items())
    paths: list[str] = []
    for _ in range(CLOCK_DEPTH_MAX):
        inner: list[Child] = []
        for path, value in level:
            text, children = _parts(value)
            if any(since - 1 <= moment <= until for moment in _moments(text)):
                paths.append(path)
            elif len(children) <= CLOCK_ITEMS_MAX:
                inner += [(path + label, child) for label, child in children]
        level = inner
    return tuple(paths)


def _parts(value: object) -> tuple[str, list[Child]]:
    if type(value) in PLAIN:
        return plain_text(value), []
    with suppress(Exception):  # of what cannot be read
        if not isinstance(value, SETS):
            return parts(value)
    return "", []


def _moments(text: str) -> list[float]:
    """The times that a text may tell, in seconds since 1970; of a date and time without a zone that
    here and that of UTC.
    """
    moments: list[float] = []
    if len(text) <= CLOCK_TEXT_MAX:
        numbers = [int(digits) for digits in re.findall(r"\d+", text)[:6]]
        with suppress(ValueError):
            moments.append(float(text))
        with suppress(ValueError, TypeError, OverflowError):
            moments += [datetime(*numbers, tzinfo=zone).timestamp() for zone in (None, UTC)]  # type: ignore[arg-type,misc]
    return moments


@folder_kept()
def subject_made(
    make: Callable[..., object] | None, env: object, seed: int, parameters: Mapping[str, object],
    recorded: Recorded, every: int = 0,
) -> tuple[ModelSubject | Environment, About]:  # fmt: skip
    """The subject that is made with these parameters, or that an environment (`env`, not None) is
    already, and what START says of it. Raises BadInput for none of both, and for what models alone
    have.
    """
    if env is None and make is not None:
        check_kinds(make, parameters)
        model = subject_of_model(make, seed, parameters, recorded)
        if model is not None:
            return model, about_of_model(model, every)
    for name, given in {"every": every, "report": recorded.report}.items():
        if given:
            raise BadInput(f"{name} is given for an environment", "leave it out: models have it")
    if env is None and make is not None:
        env = make(**parameters)
    subject = subject_of_environment(env, recorded)
    find_seed_parameter(subject)
    return subject, about_of(subject, make)


def name_of(make: MakeModel) -> str:
    """The name that runs of what a class or a function makes record."""
    return location_of(make) or getattr(make, "__qualname__", type(make).__qualname__)


def about_of_model(subject: ModelSubject, every: int = 0) -> About:
    """What START says of a model."""
    make, recorded = subject.make, subject.recorded
    return About(
        name=subject.name, kind=MODEL, values=recorded.values, ignored=recorded.ignored,
        every=every, versions=versions_of(make), seed_parameter=recorded.seed_parameter,
        recording=NEWEST, report=recorded.report,
    )  # fmt: skip
