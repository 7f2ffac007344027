"""What a user names to be run as it is: `package.module:NAME`, `FILE.py:NAME`, `CartPole-v1`.

Nothing is rewritten, unlike in games (agents/game/source.py). Naming a target is the consent to run
it; a journal names none.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from types import ModuleType
from typing import Final

from goldrush.agents.trust import add_user_folder
from goldrush.kernel.errors import BadInput, format_value, nearest, unknown

Maker = Callable[..., object]  # makes an environment or a model of its parameters, given by name

EXAMPLES: Final = "package.module:NAME or FILE.py:NAME"
_ID: Final = re.compile(r"(?:[A-Za-z_][\w.]*:)?(?:[\w.-]+/)?[\w.-]+-v[0-9]+", re.ASCII)


def target_named(location: str) -> object:
    """What a location names: its file is run, or its module imported. The current folder, and that
    of a file, are searched after everything that is installed.

    Raises BadInput for what is not there; whatever its code raises.
    """
    if is_environment_id(location):
        return RegisteredEnvironment(location)
    front, _, name = location.partition(":")
    module = _file(front) if front.endswith(".py") else _module(front)
    found: object = module
    for part in name.split("."):
        if not hasattr(found, part):
            known = [one for one, value in vars(found).items() if callable(value)]
            raise unknown(f"name in {front}", name, [one for one in known if one[0] != "_"])
        found = getattr(found, part)
    return found


def _file(path: str) -> ModuleType:
    folder, name = os.path.split(os.path.abspath(path))
    if not os.path.isfile(path):
        raise BadInput(f"there is no file {path}", f"give {EXAMPLES}")
    stem = name.removesuffix(".py")
    loaded = getattr(sys.modules.get(stem), "__file__", None)
    if loaded is not None and os.path.realpath(loaded) == os.path.realpath(path):
        return sys.modules[stem]
    if stem in sys.modules or not stem.isidentifier():
        raise BadInput(f"{path} has the name of another module, or of none", "rename the file")
    add_user_folder(folder)
    importlib.invalidate_caches()  # the file may be younger than the last look at its folder
    spec = importlib.util.find_spec(stem)
    origin = "nothing" if spec is None else str(spec.origin)
    if os.path.realpath(origin) != os.path.realpath(path):
        raise BadInput(f"{origin} is imported in place of {path}", "rename one of them")
    return importlib.import_module(stem)


def _module(name: str) -> ModuleType:
    add_user_folder(os.getcwd())
    try:
        is_there = importlib.util.find_spec(name) is not None
    except ModuleNotFoundError as error:
        if not f"{name}.".startswith(f"{error.name}."):  # one that a package above it needs
            raise
        is_there = False
    if not is_there:
        raise BadInput(f"there is no module {name} that can be imported", f"give {EXAMPLES}")
    return importlib.import_module(name)


def is_environment_id(name: str) -> bool:
    """Whether a text has the form of an id of Gymnasium's registry: `CartPole-v1`, `ALE/Pong-v5`,
    `package.module:Own-v0`.
    """
    return _ID.fullmatch(name) is not None


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
    elif isinstance(value, Mapping):
        for item in value.items():
            yield from _texts_in(item)
    elif isinstance(value, list | tuple | set | frozenset):
        for each in value:
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
            _module(module)
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
