"""Games that were given in this process, by file, module or class: worlds besides those installed.

Giving one is the consent to run it. A journal names none, so it runs no code. Worker processes are
given those that have a location.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Final, TypeGuard

from goldrush.agents.trust import FILE_MODULE, is_import_name
from goldrush.kernel.errors import BadInput, format_value

if TYPE_CHECKING:
    from goldrush.kernel.game.game import Game

_GIVEN: Final[dict[str, tuple[str, type[Game]]]] = {}  # by world: (location, game)


def is_location(name: str) -> bool:
    """Whether a text names a file or a class in a module, and not a world: `fishery.py`,
    `fishery.py:Fishery`, `package.module:Fishery`.
    """
    return name.partition(":")[0].endswith(".py") or is_import_name(name)


def is_game(value: object) -> TypeGuard[type[Game]]:
    """Whether a value is the class of a game."""
    from goldrush.kernel.game.game import Game

    return isinstance(value, type) and issubclass(value, Game) and value is not Game


def give(
    game: str | type[Game], is_taken: Callable[[type[Game]], bool] = lambda game: False
) -> type[Game]:
    """Let the name of a game's world stand for it, from now on and in this process.

    Raises BadInput as `source.load_game`, and for a game whose name `is_taken` by another world.
    """
    # Loads what games are made of: a command about another world does without.
    from goldrush.agents.game.source import load_game

    cls = load_game(game) if isinstance(game, str) else game
    if not is_game(cls):
        raise BadInput(f"the world is {format_value(cls)}", "give a name, a file or a Game")
    if is_taken(cls):
        raise BadInput(
            f"{cls.__name__} would be a world called {cls.name}, which is installed",
            "give the class another name",
        )
    _GIVEN[cls.name] = game if isinstance(game, str) else _location(cls), cls
    return cls


def _location(game: type[Game]) -> str:
    """Where other processes find a class; empty for one of the main program or of a function."""
    module, name = game.__module__, game.__qualname__
    if module == "__main__" or "<" in name:
        return ""
    is_file = module.startswith(FILE_MODULE)
    return f"{sys.modules[module].__file__ if is_file else module}:{name}"


def given(world: str) -> type[Game] | None:
    """The game that was given for a world, or None."""
    return _GIVEN[world][1] if world in _GIVEN else None


def games() -> list[str]:
    """The names of the worlds of all games that were given."""
    return list(_GIVEN)


def location_of(world: str) -> str:
    """Where the game of a world was given from; empty for a class, and for other worlds."""
    return _GIVEN[world][0] if world in _GIVEN else ""


def give_same(location: str, sha256: str | None) -> None:
    """Give the game at a location in a process that shares no folder with the one that named it.
    `sha256`: of its source there.

    Raises BadInput as `give`, and for another source.
    """
    from goldrush.agents.game.source import source_of_code

    found = source_of_code(give(location)).sha256
    if found != sha256:
        raise BadInput(
            f"{location} is other code there: its SHA-256 is {found}, here it is {sha256}",
            "give all workers the same file",
        )


def location_elsewhere(world: str) -> str:
    """As `location_of`, for processes with another working folder."""
    location = location_of(world)
    is_file = location.partition(":")[0].endswith(".py")
    return os.path.abspath(location) if is_file else location


def locations() -> list[str]:
    """The locations of the games that were given, for other processes."""
    return [location for location, _ in _GIVEN.values() if location]
