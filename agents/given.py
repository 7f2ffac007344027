"""What was given in this process to be run: games, and what makes environments and models.

A game is a world besides those installed. A maker is anything else that can be called: it makes
what a run of the world of episodes was recorded on. Giving one is the consent to run it. A journal
names none, so it runs no code. Worker processes are given those that have a location.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Final

from goldrush.agents.targets import Maker, Target, is_game, resolve, target_of
from goldrush.kernel.errors import BadInput, format_value

if TYPE_CHECKING:
    from goldrush.kernel.game.game import Game

_GIVEN: Final[dict[str, Target[type[Game]]]] = {}  # games, by world
_MAKERS: Final[dict[str, Target[Maker]]] = {}  # by name, the last one last
_MAKING: Final[ContextVar[Maker | None]] = ContextVar("making", default=None)
_NOTHING: Final[Target[None]] = Target(None, "", "")


def give(
    target: str | type[Game] | Maker,
    is_taken: Callable[[type[Game]], bool] = lambda game: False,
) -> type[Game] | None:
    """Let the name of a game's world stand for it, from now on and in this process; or have a maker
    make environments or models: of several each what is recorded under its name, the last all
    others.

    Returns the game; None for a maker. Raises BadInput for what cannot be loaded, and for a game
    whose name `is_taken` by another world.
    """
    value, location, name = resolve(target) if isinstance(target, str) else target_of(target)
    if is_game(value):
        if is_taken(value):
            raise BadInput(
                f"{value.__name__} would be a world called {name}, which is installed",
                "give the class another name",
            )
        _GIVEN[name] = Target(value, location, name)
        return value
    if not callable(value):
        what = target if isinstance(target, str) else "the world"
        raise BadInput(
            f"{what} is {format_value(str(value))}",
            "give a name, a file, a Game, or a function or class that makes an environment",
        )
    _MAKERS.pop(name, None)
    _MAKERS[name] = Target(value, location, name)
    return None


def given(world: str) -> Target[type[Game]] | Target[None]:
    """The game that was given for a world; a target without a value, if none was."""
    return _GIVEN.get(world, _NOTHING)


def games() -> Mapping[str, Target[type[Game]]]:
    """All games that were given, by the names of their worlds."""
    return _GIVEN


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
    made = _MAKING.get()
    return given_maker(subject).value if made is None else made


def given_maker(subject: str = "") -> Target[Maker] | Target[None]:
    """As `given`, of what makes the environment or the model of this name; empty: the last one."""
    last = next(reversed(_MAKERS.values()), _NOTHING)
    return _MAKERS.get(subject, last) if subject else last


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


def options() -> list[tuple[str, str]]:
    """What a command is typed with, or another process told, so that it has the same games and
    makers: --world FILE.py, --env module:make.
    """
    games = [("--world", target.location) for target in _GIVEN.values()]
    makers = [("--env", target.location) for target in _MAKERS.values()]
    return [each for each in (*games, *makers) if each[1]]
