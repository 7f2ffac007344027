"""Making a model: how a class or a function is given its seed and its parameters.

Mesa's models are told by what they have; nothing is imported.
"""

from __future__ import annotations

import inspect
import json
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from numbers import Integral, Real
from types import NoneType
from typing import Any, Final, Union

from goldrush.agents.targets import RegisteredEnvironment
from goldrush.kernel.errors import BadInput, format_value, unknown
from goldrush.kernel.hints import hint_parts
from goldrush.replay.repeats.content import bases_of

UNNAMED: Final = ("seed", "rng")  # a journal names any other parameter that took the seed
SEED_NAMES: Final = (
    *UNNAMED, "rng_seed", "random_seed", "random_state", "rand_seed", "seed_value", "rngseed",
    "randomseed",
)  # fmt: skip


def made_of(
    make: Callable[..., object],
    seed: int | None,
    settings: Mapping[str, object],
    name: str,
    seed_names: Sequence[str] = SEED_NAMES,
) -> tuple[object, bool]:
    """What a class or a function makes of a seed and settings, and whether it takes a seed.

    Args:
        seed: None: it is given none.
        name: of what makes it, for errors.
        seed_names: of parameters, the first of which that there is takes the seed; a single one is
            not looked for.

    Raises BadInput for settings that it does not take; whatever its code raises.
    """
    given = dict(settings)
    if seed is None:
        return _called(name, make, None, given), False
    seeding = _seeding(make, given, seed, seed_names)
    if seeding is None and (scenario := _scenario_of(make)) is not None:
        known = {parameter.name for parameter in parameters_of(make)}
        others = {name: given.pop(name) for name in {*given} - known}
        seeding = {"scenario": _scenario(scenario, others, seed)}
    return _called(name, make, seeding, given), seeding is not None


def takes_seed(make: Callable[..., object], settings: Mapping[str, object]) -> bool:
    """Whether a class or a function that is given these settings takes a seed, too."""
    return _seeding(make, settings, 0) is not None or _scenario_of(make) is not None


def seed_parameter_of(make: Callable[..., object], settings: Mapping[str, object]) -> str | None:
    """The name of the parameter that takes the seed; None: the seed gets there if journals have no
    name. Raises BadInput if it gets nowhere.
    """
    if not takes_seed(make, settings):
        raise takes_none(make, settings)
    seeding = _seeding(make, settings, 0)
    if seeding is None or seeding == _seeding(make, settings, 0, UNNAMED):
        return None
    return next(iter(seeding))


def seed_parameter_of_reset(env: object) -> str:
    """The name of the parameter of an environment's `reset` that takes the seed. Raises BadInput if
    none does.
    """
    outer: Any = env
    inner: Any = getattr(env, "unwrapped", env)
    for name in SEED_NAMES:
        if is_taken(outer.reset, name) and is_taken(inner.reset, name):
            return name
    raise takes_none(inner.reset)


def check_kinds(make: Callable[..., object], settings: Mapping[str, object]) -> None:
    """Check settings before anything is made of them. Raises BadInput as `check_kind`, for what the
    default of a parameter says, and for what does not fit the annotation of one without.
    """
    makers = _makers(make.entry_point if isinstance(make, RegisteredEnvironment) else make)
    scenario = _scenario_of(make)
    for name, value in settings.items():
        taken = next((known[name] for known in _reached(makers) if name in known), None)
        if taken is None:
            check_kind(name, value, getattr(scenario, name, None))
        elif taken.default is taken.empty or (
            taken.annotation is str and isinstance(taken.default, str)
        ):
            _check_annotation(name, value, taken.annotation)
        elif all(kind in (taken.empty, NoneType, *_KINDS) for kind in _kinds_in(taken.annotation)):
            check_kind(name, value, taken.default)


def _kinds_in(annotation: object) -> list[object]:
    """The types that an annotation names, without what they hold."""
    kind, parts = hint_parts(annotation)
    return [hint_parts(part)[0] for part in parts] if kind is Union else [kind]


def _check_annotation(name: str, value: object, kind: object) -> None:
    """Raises BadInput for what is no number, no text or neither true nor false where an annotation
    says so.
    """
    value = _of_python(value)
    if value is None or not isinstance(kind, type) or kind not in _OF_ANNOTATION:
        return
    if not isinstance(value, _OF_ANNOTATION[kind]) or (kind is bool and value not in (0, 1)):
        text = f"'{json.dumps(str(value))}'" if kind is str else "..."
        raise BadInput(
            f"{name} is {format_value(value)}, which does not fit its annotation, {kind.__name__}",
            f"write --set {name}={text}",
        )


_OF_ANNOTATION: Final[Mapping[object, type]] = {bool: Real, int: Integral, float: Real, str: str}
_KINDS: Final = (bool, int, float, list, tuple)  # in whose place a text is refused


def check_kind(name: str, value: object, known: object, what: str = "its default") -> None:
    """Raises BadInput for a text in place of a number, of true or false, or of a list, and for a
    number that is neither 0 nor 1 in place of true or false: code takes any text for true. `known`:
    the present value, or the default, which is `what`.
    """
    value = _of_python(value)
    if value is None or type(known) not in _KINDS:
        return
    if value not in (0, 1) if type(known) is bool else isinstance(value, str):
        raise BadInput(
            f"{name} is {format_value(value)}, which does not fit {what}, {format_value(known)}",
            f"write --set {name}='{json.dumps(known)}'",
        )


def _of_python(value: object) -> object:
    """A scalar of numpy as one of Python, anything else as it is."""
    numpy = sys.modules.get("numpy")
    return value.item() if numpy and isinstance(value, numpy.generic) else value


def takes_none(
    make: Callable[..., object], settings: Mapping[str, object] = {}, of: str = ""
) -> BadInput:
    """The error for a seed that gets nowhere. `of`: what would take it, if not what is given."""
    if given := [name for name in SEED_NAMES if name in settings and is_taken(make, name)]:
        return _is_given(given[0], settings[given[0]])
    known = [] if of else [each.name for each in parameters_of(make)]
    named = [name for name in known if "seed" in name.lower()]
    return BadInput(
        f"{of or getattr(make, '__qualname__', type(make).__qualname__)} takes no parameter "
        f"{' or '.join(UNNAMED)}",
        f"name the one that takes the seed: --seed-parameter {named[0] if named else 'NAME'} "
        "(seed_parameter=), or say that none does: --seed-parameter none (seed_parameter='')",
    )


def _is_given(name: str, value: object) -> BadInput:
    return BadInput(
        f"{name} is given, which takes the seed", f"give {format_value(value)} as the seed"
    )


def is_taken(make: Callable[..., object], name: str) -> bool:
    """Whether a function takes an argument of this name, as far as it tells."""
    try:
        parameters = inspect.signature(make).parameters.values()
    except (TypeError, ValueError):  # of C
        return True
    return any(each.name == name or each.kind is each.VAR_KEYWORD for each in parameters)


def _seeding(
    make: Any, settings: Mapping[str, object], seed: int, seed_names: Sequence[str] = SEED_NAMES
) -> dict[str, object] | None:
    """The arguments that give a class or a function its seed; None if it takes none. A position is
    named "". Raises BadInput for a single name that the settings have, too.
    """
    if len(seed_names) == 1:
        if (only := seed_names[0]) in settings:
            raise _is_given(only, settings[only])
        return {only: seed}
    makers = _makers(make)
    if seed_names is UNNAMED:  # as ever; such a journal may have the name among its settings
        reached = set().union(*_reached(makers))
        name: str | None = next((name for name in seed_names if name in reached), None)
    else:
        name = _seed_name(makers, [name for name in seed_names if name not in settings])
    if name is not None:
        return {name: seed}
    needed = [
        parameter
        for parameter in parameters_of(make)
        if parameter.default is parameter.empty
        and parameter.kind in (parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD)
        and parameter.name not in settings
    ]
    return {"": seed} if len(needed) == 1 and not isinstance(make, type) else None


def _scenario_of(make: Any) -> Any:
    """The kind of Mesa's scenarios that a model takes, by its module; None if it has none, or not
    one only.
    """
    if "scenario" not in [parameter.name for parameter in parameters_of(make)]:
        return None
    known = {
        value
        for value in vars(sys.modules[make.__module__]).values()
        if isinstance(value, type) and "mesa.Scenario" in bases_of(value)
    }
    derived = [one for one in known if one.__name__ != "Scenario"] or list(known)
    return derived[0] if len(derived) == 1 else None


def _scenario(make: Any, settings: Mapping[str, object], seed: int) -> Any:
    scenario = make(rng=seed)
    known = vars(scenario).keys() - {"model", "rng"}
    for name in settings.keys() - known:
        raise unknown(f"setting of {make.__name__}", name, sorted(known))
    return make(rng=seed, **settings)


def _seed_name(makers: list[Any], names: Sequence[str]) -> str | None:
    """The first of these names that a function has, or the next to which it passes others on.
    Raises BadInput for one that has several, but for `seed` and `rng`: Mesa's models have both.
    """
    for known in _reached(makers):
        found = [name for name in names if name in known]
        if len(found) > 1 and not {*found} <= {*UNNAMED}:
            raise BadInput(
                f"{' and '.join(found)} may each take the seed",
                f"name the one that does: --seed-parameter {found[-1]} (seed_parameter=)",
            )
        if found:
            return found[0]
    return None


def _makers(make: Any) -> list[Any]:
    """The functions that take the parameters of a class or a function; each may pass others on."""
    if isinstance(make, type):
        return [vars(one)["__init__"] for one in make.__mro__ if "__init__" in vars(one)]
    return [make]


def _reached(makers: list[Any]) -> Iterator[dict[str, inspect.Parameter]]:
    """The parameters, by name, of each function that a named argument gets to."""
    for make in makers:
        known = {parameter.name: parameter for parameter in parameters_of(make)}
        yield known
        if not any(parameter.kind is parameter.VAR_KEYWORD for parameter in known.values()):
            return


def parameters_of(make: Callable[..., object]) -> list[inspect.Parameter]:
    """The parameters of a class or a function; none of one of C that does not tell them."""
    with suppress(Exception):  # an annotation may be a text that names nothing here
        return list(inspect.signature(make, eval_str=True).parameters.values())
    try:
        return list(inspect.signature(make).parameters.values())
    except (TypeError, ValueError):  # of C
        return []


def _called(
    name: str, make: Any, seeding: Mapping[str, object] | None, settings: Mapping[str, object]
) -> Any:
    named = {**settings, **(seeding or {})}
    first = [named.pop("")] if "" in named else []
    try:
        inspect.signature(make).bind(*first, **named)
    except TypeError as error:
        are_steps = "steps" in named and "'steps'" in str(error)
        how = "give the steps by --steps" if are_steps else "give its parameters: --set"
        raise BadInput(f"{name} cannot be made: {error}", how) from None
    except ValueError:  # of C
        pass
    return make(*first, **named)
