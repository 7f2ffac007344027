"""Making a model: how a class or a function is given its seed and its parameters.

Mesa's models are told by what they have; nothing is imported.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Mapping
from typing import Any

from goldrush.kernel.errors import BadInput, unknown
from goldrush.replay.repeats.content import bases_of


def made_of(
    make: Callable[..., object], seed: int, settings: Mapping[str, object], name: str
) -> tuple[object, bool]:
    """What a class or a function makes of a seed and settings, and whether it takes a seed. `name`:
    of it, for errors.

    Raises BadInput for settings that it does not take; whatever its code raises.
    """
    given = dict(settings)
    seeding = _seeding(make, given, seed)
    if seeding is None and (scenario := _scenario_of(make)) is not None:
        known = {parameter.name for parameter in parameters_of(make)}
        others = {name: given.pop(name) for name in {*given} - known}
        seeding = {"scenario": _scenario(scenario, others, seed)}
    return _called(name, make, seeding, given), seeding is not None


def takes_seed(make: Callable[..., object], settings: Mapping[str, object]) -> bool:
    """Whether a class or a function that is given these settings takes a seed, too."""
    return _seeding(make, settings, 0) is not None or _scenario_of(make) is not None


def _seeding(make: Any, settings: Mapping[str, object], seed: int) -> dict[str, object] | None:
    """The arguments that give a class or a function its seed; None if it takes none. A position is
    named "".
    """
    if isinstance(make, type):
        makers = [vars(one)["__init__"] for one in make.__mro__ if "__init__" in vars(one)]
    else:
        makers = [make]
    for name in ("seed", "rng"):
        if _takes(makers, name):
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
    for make in makers:
        parameters = parameters_of(make)
        if name in [parameter.name for parameter in parameters]:
            return True
        if not any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters):
            return False
    return False


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
