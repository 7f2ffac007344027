"""What was given in this process to be run: games, and what makes environments and models.

A game is a world besides those installed. A maker is anything else that can be called: it makes
what a run of the world of episodes was recorded on. Giving one is the consent to run it. A journal
names none, so it runs no code. Worker processes are given those that have a location.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stdout, suppress
from contextvars import ContextVar
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeGuard

from goldrush.agents.targets import (
    EXAMPLES,
    Maker,
    RegisteredEnvironment,
    is_environment_id,
    target_named,
)
from goldrush.agents.trust import FILE_MODULE, is_import_name
from goldrush.kernel.errors import BadInput, format_error, format_value

if TYPE_CHECKING:
    from goldrush.kernel.game.game import Game

_GIVEN: Final[dict[str, tuple[str, type[Game]]]] = {}  # by world: (location, game)
_MAKERS: Final[dict[str, tuple[str, Maker]]] = {}  # by subject: (location, maker)
_MAKING: Final[ContextVar[Maker | None]] = ContextVar("making", default=None)
_ANY: Final = ""  # the subject of a maker that was given for whatever a journal is of


def is_location(name: str) -> bool:
    """Whether a text names a file or something in a module, and not a world: `fishery.py`,
    `fishery.py:Fishery`, `package.module:Fishery`.
    """
    return name.partition(":")[0].endswith(".py") or is_import_name(name)


def is_game(value: object) -> TypeGuard[type[Game]]:
    """Whether a value is the class of a game."""
    from goldrush.kernel.game.game import Game

    return isinstance(value, type) and issubclass(value, Game) and value is not Game


def give(
    target: str | type[Game] | Maker,
    is_taken: Callable[[type[Game]], bool] = lambda game: False,
    subject: str = _ANY,
) -> type[Game] | None:
    """Let the name of a game's world stand for it, from now on and in this process; or have a maker
    make the environment or the model of this name (`subject`; empty: of any that has no other).

    Returns the game; None for a maker. Raises BadInput for what cannot be loaded, and for a game
    whose name `is_taken` by another world.
    """
    found = loaded(target) if isinstance(target, str) else target
    if is_game(found):
        if is_taken(found):
            raise BadInput(
                f"{found.__name__} would be a world called {found.name}, which is installed",
                "give the class another name",
            )
        _GIVEN[found.name] = target if isinstance(target, str) else _location(found), found
        return found
    if not callable(found):
        what = target if isinstance(target, str) else "the world"
        raise BadInput(
            f"{what} is {format_value(str(found))}",
            "give a name, a file, a Game, or a function or class that makes an environment",
        )
    location = target if isinstance(target, str) else _location(found)
    # Of several that are given, each makes what is recorded under its name; the last, all others.
    own = found.name if isinstance(found, RegisteredEnvironment) else _import_name(found)
    for name in {subject, own if subject == _ANY else subject}:
        _MAKERS[name] = location, found
    return None


def loaded(target: str) -> object:
    """What a location names: a game, whose source is rewritten (agents/game/source.py), or
    something else as it is. Raises BadInput for what cannot be read or run.
    """
    from goldrush.kernel.files import folder_kept  # loads attrs: `goldrush --help` does without

    with folder_kept():
        return _as_it_is(target) if is_environment_id(target) else _loaded_of_module(target)


def _loaded_of_module(target: str) -> object:
    # Loads what games are made of: a command about another world does without.
    from goldrush.agents.game.source import load_game, load_module

    front, _, name = target.partition(":")
    is_file = front.endswith(".py")
    if not name:
        return load_game(target)
    if is_file and not _names_goldrush(front):  # it is rewritten, and so run again, if it must be
        found = _as_it_is(target)
        return load_game(target) if is_game(found) else found
    try:
        values = vars(load_module(target, "world"))
    except BadInput:  # perhaps for a rule that holds for games alone
        with suppress(BadInput):
            if is_file and not is_game(found := _as_it_is(target)):
                return found
        raise
    if is_game(values.get(name)) or (name not in values and any(map(is_game, values.values()))):
        return load_game(target)
    return _as_it_is(target)


def _names_goldrush(path: str) -> bool:
    """Whether a file has the name of the package, as most games have; also if it cannot be read."""
    try:
        return b"goldrush" in Path(path).read_bytes()
    except OSError:
        return True


def _as_it_is(target: str) -> object:
    """What a location names. Raises BadInput for whatever its code raises."""
    try:
        with redirect_stdout(sys.stderr):  # what a file prints is no command's output
            return target_named(target)
    except (KeyboardInterrupt, MemoryError, BadInput):
        raise
    except BaseException as error:
        raise BadInput(
            f"{target} cannot be loaded: {format_error(error)}", f"give {EXAMPLES} that runs here"
        ) from error


def _import_name(code: type[Game] | Maker) -> str:
    """`module:NAME` of a class or a function; empty for one of the main program or within a
    function.
    """
    module, name = getattr(code, "__module__", None), getattr(code, "__qualname__", "<")
    return "" if module in (None, "__main__") or "<" in name else f"{module}:{name}"


def _location(code: type[Game] | Maker) -> str:
    """Where other processes find a class or a function; empty as for `_import_name`."""
    module, _, name = (found := _import_name(code)).partition(":")
    return f"{sys.modules[module].__file__}:{name}" if module.startswith(FILE_MODULE) else found


def given(world: str) -> type[Game] | None:
    """The game that was given for a world, or None."""
    return _GIVEN[world][1] if world in _GIVEN else None


def games() -> list[str]:
    """The names of the worlds of all games that were given."""
    return list(_GIVEN)


@contextmanager
def making(make: Maker | None) -> Iterator[None]:
    """Within it, this makes every environment and model; None: what was given."""
    token = _MAKING.set(make)
    try:
        yield
    finally:
        _MAKING.reset(token)


def maker_of(subject: str) -> Maker | None:
    """What was given to make the environment or the model of this name, or None."""
    if (make := _MAKING.get()) is not None:
        return make
    found = _MAKERS.get(subject) or _MAKERS.get(_ANY)
    return found and found[1]


def location_of(world: str) -> str:
    """Where the game of a world was given from; empty for a class, and for other worlds."""
    return _GIVEN[world][0] if world in _GIVEN else ""


def location_of_maker(subject: str = _ANY) -> str:
    """Where what makes an environment or a model was given from; empty for what has no location,
    and where nothing was given.
    """
    location, _ = _MAKERS.get(subject) or _MAKERS.get(_ANY) or ("", None)
    return location


def give_same(location: str, sha256: str | None) -> None:
    """Give the game at a location in a process that shares no folder with the one that named it.
    `sha256`: of its source there.

    Raises BadInput as `give`, and for another source.
    """
    from goldrush.agents.game.source import source_of_code

    game = give(location)
    found = None if game is None else source_of_code(game).sha256
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
    """The locations of the games and makers that were given."""
    return [location for location, _ in given_elsewhere()]


def given_elsewhere() -> list[tuple[str, str]]:
    """The locations of what was given, for other processes, each with the subject it is for."""
    games = [(location, _ANY) for location, _ in _GIVEN.values()]
    makers = [(location, subject) for subject, (location, _) in _MAKERS.items()]
    return [given for given in (*games, *makers) if given[0]]


def options() -> list[tuple[str, str]]:
    """What a command is typed with so that it has the same games and makers: --world FILE.py,
    --env module:make.
    """
    games = [("--world", location) for location, _ in _GIVEN.values()]
    makers = [("--env", location) for location, _ in _MAKERS.values()]
    return list(dict.fromkeys(given for given in (*games, *makers) if given[1]))
