"""Making a model: how a class or a function is given its seed and its parameters.

Mesa's models are told by what they have; nothing is imported.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from goldrush.kernel.errors import BadInput, format_value, unknown
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


def takes_none(
    make: Callable[..., object], settings: Mapping[str, object] = {}, of: str = ""
) -> BadInput:
    """The error for a seed that gets nowhere. `of`: what would take it, if not what is given."""
    for name in SEED_NAMES:
        if name in settings and is_taken(make, name):
            return BadInput(
                f"{name} is given, which takes the seed",
                f"give {format_value(settings[name])} as the seed",
            )
    known = [] if of else [each.name for each in parameters_of(make)]
    named = [name for name in known if "seed" in name.lower()]
    return BadInput(
        f"{of or getattr(make, '__qualname__', type(make).__qualname__)} takes no parameter "
        f"{' or '.join(UNNAMED)}",
        f"name the one that takes the seed: --seed-parameter {named[0] if named else 'NAME'} "
        "(seed_parameter=), or say that none does: --no-seed (seed_parameter='')",
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
    named "".
    """
    if len(seed_names) == 1:
        return {seed_names[0]: seed}
    if isinstance(make, type):
        makers = [vars(one)["__init__"] for one in make.__mro__ if "__init__" in vars(one)]
    else:
        makers = [make]
    if seed_names is UNNAMED:  # as ever; such a journal may have the name among its settings
        name = next((name for name in seed_names if _takes(makers, name)), None)
    else:
        name = _named(makers, [name for name in seed_names if name not in settings])
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


def _takes(makers: list[Any], name: str) -> bool:
    """Whether a parameter reaches one of the functions, each of which may pass others on."""
    return _named(makers, [name]) is not None


def _named(makers: list[Any], names: Sequence[str]) -> str | None:
    """The first of these names that a function has, or the next to which it passes others on."""
    for make in makers:
        parameters = parameters_of(make)
        known = [parameter.name for parameter in parameters]
        if found := next((name for name in names if name in known), None):
            return found
        if not any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters):
            return None
    return None


def parameters_of(make: Callable[..., object]) -> list[inspect.Parameter]:
    """The parameters of a class or a function; none of one of C that does not tell them."""
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
        raise BadInput(f"{name} cannot be made: {error}", "give its parameters: --set") from None
    except ValueError:  # of C
        pass
    return make(*first, **named)
