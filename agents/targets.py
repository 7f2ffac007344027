"""From what a user names to the object: `FILE.py`, `FILE.py:NAME`, `package.module:NAME`,
`CartPole-v1`.

Naming a target is the consent to run it. Names of policies that come from elsewhere, as those in a
journal, are imported if they are trusted (see agents/trust.py).
"""

from __future__ import annotations

import importlib.util
import os
import re
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from types import ModuleType
from typing import TYPE_CHECKING, Any, Final, Generic, NamedTuple, TypeGuard, TypeVar

from goldrush.agents.modules import EXAMPLES, LOADED, load_module, reported, running
from goldrush.agents.trust import check_trust, import_names, is_import_name
from goldrush.kernel.errors import BadInput, format_value, nearest, unknown

if TYPE_CHECKING:
    from goldrush.kernel.game.game import Game

Maker = Callable[..., object]  # makes an environment or a model of its parameters, given by name
V = TypeVar("V")

_ID: Final = r"(?a)(?:[A-Za-z_][\w.]*:)?(?:[\w.-]+/)?[\w.-]+-v[0-9]+"


class Target(NamedTuple, Generic[V]):
    """An object of a user's.

    Attributes:
        value: a game, a policy, a function, what makes an environment or a model.
        location: where other processes find it, as it was typed; empty: they cannot.
        name: of a game, that of its world; else the id of an environment, or `module:NAME`.
    """

    value: V
    location: str
    name: str

    @property
    def elsewhere(self) -> str:
        """The location for processes with another working folder."""
        is_file = self.location.partition(":")[0].endswith(".py")
        return os.path.abspath(self.location) if is_file else self.location


def resolve(location: str) -> Target[object]:
    """What a location names; of a file without a name, the only game in it.

    Raises BadInput for what is not there, with what is, and for whatever its code raises.
    """
    if is_environment_id(location):
        with running(location):
            return Target(RegisteredEnvironment(location), location, location)
    front, _, name = location.partition(":")
    module = load_module(front)
    value = _named(module, front, name) if name else _only_game(module, front)
    return Target(value, location, target_of(value).name)


def target_of(value: V) -> Target[V]:
    """A class, a function or another object that is here already, with where it was found."""
    module, name = getattr(value, "__module__", None), getattr(value, "__qualname__", "<")
    location = "" if module in (None, "__main__") or "<" in name else f"{module}:{name}"
    text = value.name if is_game(value) or isinstance(value, RegisteredEnvironment) else location
    made = sys.modules.get(str(module))
    if made is not None and LOADED in vars(made):  # of a file, which may have been run anew since
        named = _at(made, name)
        is_there = value is named or value is getattr(named, "of", None)
        location = f"{made.__file__}:{name}" if is_there else ""
    return Target(value, location, text)


def is_game(value: object) -> TypeGuard[type[Game]]:
    """Whether a value is the class of a game."""
    from goldrush.kernel.game.game import Game

    return isinstance(value, type) and issubclass(value, Game) and value is not Game


def is_location(name: str) -> bool:
    """Whether a text names a file or something in a module, and not a world: `fishery.py`,
    `fishery.py:Fishery`, `package.module:Fishery`.
    """
    return name.partition(":")[0].endswith(".py") or is_import_name(name)


def names_code(name: str) -> bool:
    """Whether to look a world up by this name would run a file or import a module that it names, so
    that no file may have it: a location, or an id of Gymnasium with a module.
    """
    return is_location(name) or (":" in name and is_environment_id(name))


def names_in(module: ModuleType, fits: Callable[[object], bool]) -> list[str]:
    """The names of a module for what was made in it; what it imports has others."""
    return [
        name
        for name, value in vars(module).items()
        if name[0] != "_" and fits(value)
        # `of`: what a decorator made this of.
        if getattr(getattr(value, "of", value), "__module__", None) == module.__name__
    ]


_MISSING: Final = object()


def _at(value: object, name: str) -> object:
    for part in name.split("."):
        value = getattr(value, part, _MISSING)
    return value


def _named(module: ModuleType, front: str, name: str) -> object:
    value = _at(module, name)
    if value is _MISSING:
        known = [*names_in(module, is_game), *names_in(module, callable)]
        raise unknown(f"name in {front}", name, dict.fromkeys(known))
    return value


def _only_game(module: ModuleType, front: str) -> object:
    games = names_in(module, is_game)
    if len(games) == 1:
        return vars(module)[games[0]]
    makers = [f"{front}:{name}" for name in names_in(module, callable) if name not in games]
    other = "".join(f", name what makes an environment or a model: {each}" for each in makers[-1:])
    ways = f"write class NAME(goldrush.Game){other}, or record a program: -- python {front}"
    raise BadInput(
        f"{front} has {', '.join(games) or 'no game'}",
        f"name one: {front}:{games[0]}" if games else ways,
    )


# User-defined policies.


def trusted_class(name: str, trust: Collection[str]) -> Callable[..., object]:
    """The class or function that makes a user-defined policy, imported only if trusted.

    Raises BadInput as `check_trust`, and as `resolve`.
    """
    check_trust(name, trust)
    try:
        return resolve(name).value  # type: ignore[return-value]  # see build_policy
    except BadInput as error:
        raise BadInput(f"policy {name} cannot be made: {error.what}", error.instead) from error


def import_early(names: Iterable[str], trust: Collection[str]) -> None:
    """Import user-defined policies that are trusted, so that processes forked from this one need
    not. Whoever needs one that cannot be imported is told there.
    """
    for name in import_names(names):
        with suppress(BadInput):
            trusted_class(name, trust)


def import_policy(name: str, trust: Collection[str], methods: Iterable[str] = ()) -> object:
    """A new user-defined policy (`module:Class`) with these methods.

    Raises BadInput as `trusted_class` and `build_policy`.
    """
    return build_policy(trusted_class(name, trust), name, methods)


def build_policy(
    make: Callable[..., Any],
    name: str,
    methods: Iterable[str],
    settings: Mapping[str, Any] = {},
) -> Any:
    """A new policy of a user-defined or installed class, or of a function that returns one.

    Raises BadInput, which has the name, if `make` fails or a method is missing.
    """
    instead = "give a class that can be imported from here and made without arguments"
    with reported(f"policy {name}", "cannot be made", instead):
        policy = make(**settings)
        missing = [method for method in methods if not callable(getattr(policy, method, None))]
    if missing:
        raise BadInput(f"policy {name} has no method {missing[0]}", "give it one")
    return policy


# Environments of Gymnasium's registry.


def is_environment_id(name: str) -> bool:
    """Whether a text has the form of an id of Gymnasium's registry: `CartPole-v1`, `ALE/Pong-v5`,
    `package.module:Own-v0`.
    """
    return re.fullmatch(_ID, name) is not None


def check_imports(parameters: Mapping[str, object]) -> None:
    """Raises BadInput if the parameters that a journal has for a maker name a module that can be
    imported and is not yet: makers such as `gymnasium.make` would import it.
    """
    for name, value in parameters.items():
        for text in _texts_in(value):
            module, colon, _ = text.partition(":")
            if (
                colon
                and module not in sys.modules
                and (is_environment_id(text) or _is_there(module))
            ):
                raise BadInput(
                    f"the journal has the {name} {format_value(text)}, whose module would be "
                    "imported",
                    f"if you trust it, import {format_value(module)} where the maker is, or give "
                    "the id itself (--env)",
                )


def _texts_in(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping | list | tuple | set | frozenset):
        for each in value.items() if isinstance(value, Mapping) else value:
            yield from _texts_in(each)


def _is_there(module: str) -> bool:
    """Whether the outermost package of a module can be imported. Nothing is."""
    top = module.partition(".")[0]
    return top in sys.modules or (top != "" and importlib.util.find_spec(top) is not None)


def nearest_id(name: str) -> str:
    """As `nearest`, of the ids in Gymnasium's registry, each with the module of `name` if it has
    one; empty without Gymnasium.
    """
    try:
        from gymnasium import registry
    except ImportError:
        return ""
    module, colon, _ = name.rpartition(":")
    return nearest(name, [f"{module}{colon}{known}" for known in registry])


class RegisteredEnvironment:
    """Makes the environment of an id in Gymnasium's registry."""

    def __init__(self, name: str) -> None:
        """Look an id up. The module before its colon is imported.

        Raises BadInput for an unknown id or module, and without Gymnasium; whatever the module's
        code raises.
        """
        try:
            import gymnasium
        except ImportError:
            raise BadInput(
                f"{name} is an environment of Gymnasium, which is not installed",
                "pip install gymnasium",
            ) from None
        module, _, own = name.rpartition(":")
        if module:
            load_module(module)
        try:
            gymnasium.spec(own)
        except gymnasium.error.Error as error:
            why = "" if isinstance(error, gymnasium.error.NameNotFound) else f": {error}"
            raise BadInput(
                f"there is no environment {name}{why}",
                f"{nearest_id(name)}give an id that Gymnasium has registered, or {EXAMPLES}",
            ) from None
        self.name = name

    @property
    def entry_point(self) -> Maker:
        """What the registry has for the id. Raises what importing it raises."""
        import gymnasium
        from gymnasium.envs.registration import load_env_creator

        found: str | Maker | None = gymnasium.spec(self.name.rpartition(":")[2]).entry_point
        return load_env_creator(found) if isinstance(found, str) else found or self

    def __call__(self, **parameters: object) -> object:
        """The environment; several at once if there is a number of them, `num_envs`. `id`: of a run
        that was recorded with `gymnasium.make` itself.

        Raises BadInput for another id; what making it raises.
        """
        import gymnasium

        recorded = parameters.pop("id", self.name)
        if recorded != self.name:
            raise BadInput(
                f"the run is of {format_value(recorded)}, and {self.name} is given",
                f"give --env {recorded}",
            )
        make: Maker = gymnasium.make_vec if "num_envs" in parameters else gymnasium.make
        return make(self.name, **parameters)
