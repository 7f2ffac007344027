"""Models as subjects: a reset makes the model of its seed and parameters, a step is its own `step`.

Models of Mesa are told by what they have (`datacollector`, `running`); nothing is imported. A class
of one's own needs a method `step` and no more.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import cache
from itertools import islice
from operator import is_
from types import FunctionType, MethodType, ModuleType
from typing import Any, Final, cast

from goldrush.kernel.codec import TooLarge
from goldrush.kernel.errors import BadInput, format_value, unknown
from goldrush.kernel.world import Row
from goldrush.kernel.worlds.episode.config import MODEL, About
from goldrush.kernel.worlds.episode.values import Encoded, digest_of
from goldrush.kernel.worlds.episode.world import Outcome
from goldrush.replay.making import (
    UNNAMED,
    check_kind,
    made_of,
    parameters_of,
)
from goldrush.replay.repeats.content import (
    attributes,
    bases_of,
)
from goldrush.replay.repeats.observe import StepDigests, observed
from goldrush.replay.worlds.episode.coding import decoded, encoded
from goldrush.replay.worlds.episode.environments import (
    EpisodeSubject,
    is_environment,
    makes_environments,
)
from goldrush.replay.worlds.episode.versions import is_installed

MakeModel = Callable[..., object]

REPORTS: Final = ("report", "metrics")  # methods that tell values by name
RECENT: Final = 8  # rows of a collector whose objects tell whether it has collected

_SHARED: Final = (type, ModuleType, FunctionType, MethodType)  # by all models of a process
_NUMPY: Final = ("numpy.Generator", "numpy.BitGenerator", "numpy.RandomState")


class ModelSubject(EpisodeSubject):
    """A model, which a reset makes."""

    kind = MODEL

    def __init__(self, make: MakeModel, about: About) -> None:
        """No model is made yet. `about`: has the name of what makes it."""
        super().__init__(about)
        self.make, self.name = make, about.name
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
        if self.about.seed_parameter != "":
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
            named = self.about.seed_parameter
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

    def whole(self) -> list[Row]:
        """The rows of all attributes with all that is reached from them, a digest each."""
        seen = _observed(self._model, self.about.ignored)
        return [
            row
            for name, digest in seen.digests.items()
            for row in self._digest(f"attributes[{name}]", (digest, seen.states.get(name)))
        ]

    def _holder(self, name: str) -> tuple[object, str]:
        """The object that has an attribute, and its name there. Raises BadInput for what is no
        public attribute of an object, or shared by other runs.
        """
        holder, parts = self.model, name.split(".")
        for index, part in enumerate(parts, 1):
            held = attributes(holder)
            is_private = part.startswith("_") or isinstance(holder, _SHARED)
            if not is_private and not hasattr(holder, part):
                known = sorted(known for known in held if known[0] != "_")
                raise unknown(f"attribute of {type(holder).__name__}", part, known)
            if is_private or (index < len(parts) and part not in held):  # but of its class
                raise BadInput(
                    f"{format_value(name)} cannot be changed",
                    "name a public attribute of the model, or of an object that it holds",
                )
            holder, before = held.get(part), holder
        return before, parts[-1]

    def _outcome(self) -> Outcome:
        model = self._model
        held = attributes(model)
        for name in {*self.about.ignored} & {*held}:
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
        wanted = self.about.report
        collector: Any = next(filter(_is_collector, held.values()), None)
        collected = {} if collector is None else collector.model_vars
        values = reported_by(self._model, held)
        if wanted:
            values = {
                name: values[name] if name in values else _asked(self._model, name, held)
                for name in wanted
                if name not in collected
            }
        for name, value in values.items():
            if name not in collected:
                yield from self.rows(None, f"report[{name}]", value)
        if collector is not None:
            yield from self._collected_since(collector, wanted or collected)
        elif not wanted:
            for name, value in held.items():
                if name[0] != "_" and _is_plain(value) and name not in values:
                    yield from self.rows(None, f"variable[{name}]", value)

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
                # A window, and a list that begins anew, can have the length of before: what it has
                # last tells. One that has had the same object RECENT times has no more to tell.
                rows = self.rows(None, f"report[{name}]", values[-1])
                reached = len(values), [digest for _, _, digest, _ in rows]
                recent = values, *islice(reversed(values), RECENT)
                if self._is_new(f"report[{name}]", reached, recent):
                    yield from rows
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
        names = [row[1] for row in self.rows(None, name, None)]  # none: it is ignored
        return [(None, name, _digest_of(value), None) for name in names]


def _observed(model: object, ignored: Sequence[str]) -> StepDigests:
    """What the attributes of a model hold, but for ignored paths and a collector: what it has
    collected in earlier steps is recorded, and grows.
    """
    held = attributes(model).items()
    seen = {name: value for name, value in held if not _is_collector(value)}
    return observed(seen, model, ignored=ignored)


def reported_by(model: object, held: Mapping[str, object]) -> dict[str, object]:
    """What a model tells by its methods `report` and `metrics`, which return values by name, and by
    those of its properties that are numbers, texts or truth values. A property that raises tells
    nothing. To look changes nothing: see `_left_as_it_is`. Raises what the methods raise.
    """
    reported: dict[str, object] = {}
    methods, properties = _telling(cast(Any, type(model)))
    if not methods and not properties:
        return reported
    with _left_as_it_is(model, held):
        for method in methods:
            values = method(model)
            if isinstance(values, Mapping):
                reported |= {str(key): value for key, value in values.items()}
        for name in properties:
            with suppress(Exception):
                if name not in reported and _is_plain(value := getattr(model, name)):
                    reported[name] = value
    return reported


def _asked(model: object, name: str, held: Mapping[str, object]) -> object:
    """An attribute of a model, or what a method of it returns. Raises BadInput for no such name."""
    if not hasattr(model, name):
        known = [*reported_by(model, held), *(name for name in held if name[0] != "_")]
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
        method for method in methods if isinstance(method, FunctionType) and takes_nothing(method)
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


def is_model(make: object) -> bool:
    """Whether the objects of a class are models: their `step` needs no argument, and they are no
    environments.
    """
    if not isinstance(make, type) or makes_environments(make):
        return False
    step = getattr(make, "step", None)
    return callable(step) and takes_nothing(step)


def takes_nothing(method: Callable[..., object]) -> bool:
    """Whether a method of a class needs no argument besides its object."""
    return not any(
        parameter.default is parameter.empty
        and parameter.kind not in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD)
        for parameter in parameters_of(method)[1:]
    )
