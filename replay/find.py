"""Worlds found by name: the tools of a world or of a journal, its world and its players."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from goldrush.agents.given import games, give, given
from goldrush.agents.modules import EXAMPLES
from goldrush.agents.players import NOBODY, Players
from goldrush.agents.plugins import (
    VARIABLE,
    WORLDS,
    PluginFailed,
    PluginKind,
    imported,
    load_plugin,
    plugin,
    plugins,
)
from goldrush.agents.targets import (
    Maker,
    is_environment_id,
    is_game,
    is_location,
    nearest_id,
)
from goldrush.agents.trust import EXTERNAL
from goldrush.kernel.errors import (
    BadInput,
    GoldrushError,
    JournalError,
    UnsupportedJournal,
    format_value,
    nearest,
)
from goldrush.kernel.journal import JournalReader
from goldrush.kernel.text import quoted_path
from goldrush.kernel.world import World
from goldrush.replay.tools import RERUN, Tools

if TYPE_CHECKING:
    from goldrush.kernel.game.game import Game

WorldOf = Callable[[Mapping[str, Any]], World[Any]]  # of the setup in START

# Resolved before anything installed: a checkout without installation has no entry points, and to
# read those of all distributions takes longer than to read a short journal.
_TOOLS: Final = "goldrush.replay.{}.tools:{}"  # tools are reached by name only
NAMES: Final = ("mining", "competition", "episode", "program")
BUILT_IN: Final = {name: _TOOLS.format(f"worlds.{name}", "TOOLS") for name in NAMES}
WORLD_DEFAULT: Final = NAMES[0]  # for commands without --world
OF_MAKERS: Final = NAMES[2]  # of environments and models


def tools_named(name: str) -> Tools | None:
    """The tools of a world; None for an unknown world.

    Raises PluginFailed for an installed world that cannot be used.
    """
    game = given(name).value
    return _installed_tools(name) if game is None else _tools_of_game(game)


def _tools_of_game(game: type[Game]) -> Tools:
    make: Any = imported(_TOOLS.format("game", "tools_of_game"))
    tools: Tools = make(game)
    return tools


def _installed_tools(name: str) -> Tools | None:
    return _found(name, os.environ.get(VARIABLE), tuple(sys.path))


def world_named(world: str | type[Game] | Maker) -> str:
    """The name of a world that is given by name; or that stands for what is given otherwise, from
    now on and in this process: the class of a game, its file (`fishery.py`, `fishery.py:Fishery`)
    or its module (`package.module:Fishery`); or what makes an environment or a model, as such, in a
    file or a module, or by an id of Gymnasium.

    Raises BadInput for what cannot be loaded, and for a game with the name of an installed world,
    unless it is that world.
    """
    if isinstance(world, str) and not (
        is_location(world) or (is_environment_id(world) and world not in worlds())
    ):
        return world
    game = give(world, _is_taken)
    return OF_MAKERS if game is None else game.name


def _is_taken(game: type[Game]) -> bool:
    """Whether the name of a game is that of another installed world."""
    return game.name in worlds() and _installed_tools(game.name) is not _tools_of_game(game)


@cache
def _found(name: str, allowed: str | None, path: tuple[str, ...]) -> Tools | None:
    """The tools of a world; cached until the installed distributions change."""
    found: Tools | type[Game] | None = load_plugin(WORLDS, name, is_world, BUILT_IN)
    if found is None:
        return None
    try:
        tools = found if isinstance(found, Tools) else _tools_of_game(found)
    except BadInput as error:
        raise PluginFailed(name, str(error)) from error
    world = tools.world({}).name
    if world != name:
        raise PluginFailed(name, f"its world is named {format_value(world)}")
    return tools


def is_built_in(world: str) -> bool:
    """Whether goldrush itself has a world of this name."""
    return world in NAMES


def is_shipped(world: str, policies: Iterable[object]) -> bool:
    """Whether goldrush itself has a world and these policies, as rosters and journals name them.
    Only then it is known that a run leaves nothing in memory that another finds there.
    """
    from goldrush.agents.seats import FAMILIES

    if not is_built_in(world) or world == OF_MAKERS:
        return False
    own, families = tools_for(world).players.policies, {*FAMILIES} - {EXTERNAL}
    return all(
        isinstance(name, str) and (name in own or name.partition(":")[0] in families)
        for name in policies
    )


def is_shipped_at(path: str | Path) -> bool:
    """`is_shipped` for the run of a journal, from its start and forks, as far as they can be read.
    True for a file that is no journal. What takes more memory than there is, is not read: the
    run cannot be judged.
    """
    policies: list[object] = []
    world = WORLD_DEFAULT
    with suppress(GoldrushError, MemoryError), JournalReader(path) as reader:
        world = reader.header.world
        for commit in reader.outline() if is_built_in(world) else ():
            roster = (commit.setup or {}).get(tools_for(world).vocabulary.players)
            entries = roster if isinstance(roster, tuple) else ()
            policies += [each.get("policy") for each in entries if isinstance(each, dict)]
    return is_shipped(world, policies)


def distribution_of(world: str) -> str | None:
    """The distribution that provides a world, with its version; None for a built-in world and for
    an unknown one.
    """
    found = None if is_built_in(world) else plugin(WORLDS, world, NAMES)
    return None if found is None else f"{found.distribution} {found.version}"


def worlds() -> list[str]:
    """The names of all known worlds."""
    return [*NAMES, *(one.name for one in plugins(WORLDS, NAMES))]  # none is imported


def built_in_policies() -> list[str]:
    """The policies of the built-in worlds as WORLD/NAME, with the reserved names of rosters, which
    no plugin can take.
    """
    from goldrush.agents.seats import FAMILIES

    names: list[str] = []
    for world in NAMES:
        own = tools_for(world).players.policies
        names += [f"{world}/{name}" for name in (*own, *FAMILIES)]
    return names


def built_in_kinds() -> list[PluginKind]:
    """What other distributions can add to the built-in worlds, besides policies."""
    return [kind for world in NAMES for kind in tools_for(world).players.kinds]


def is_world(loaded: object) -> bool:
    """Whether an entry point gave `Tools` or a game."""
    return isinstance(loaded, Tools) or is_game(loaded)


def tools_for(world: str | type[Game] | Maker) -> Tools:
    """The tools of a world that is given by name, or otherwise (see `world_named`). Raises BadInput
    for an unknown one.
    """
    name = world_named(world)
    tools = tools_named(name)
    if tools is None:
        like = nearest(name, worlds()) or nearest_id(name)
        listed = f"take one of {', '.join(worlds())}, an id of Gymnasium, or {EXAMPLES}"
        raise BadInput(f"there is no world {format_value(name)}", like + listed)
    return tools


def players_of(tools: Tools, path: str | Path | None = None) -> Players[Any]:
    """The players of a world, of the run at a path. Raises BadInput for a world without players."""
    if tools.players is NOBODY:
        way_out = tools.recorded_by + ("" if path is None else f"; this run: {typed(path)}")
        raise BadInput(f"the {tools.name} world has no players", way_out)
    return tools.players


def tools_of(reader: JournalReader) -> Tools:
    """The tools of a journal's world.

    Raises UnsupportedJournal for an unknown world, PluginFailed for an installed one that cannot be
    used.
    """
    try:
        found = tools_named(reader.header.world)
    except PluginFailed as error:
        raise PluginFailed(error.name, error.reason, str(reader.path)) from error
    if found is None:
        raise UnsupportedJournal(
            reader.path,
            f"world {format_value(reader.header.world)}; this goldrush plays "
            f"{', '.join([*worlds(), *games()])}; install its package, or give the file of its "
            "game (--world FILE.py)",
        )
    return found


def tools_at(path: str | Path) -> Tools:
    """The tools of the journal at a path.

    Raises BadInput, NotAJournal, UnsupportedJournal or DamagedJournal for its header.
    """
    with JournalReader(path) as reader:
        return tools_of(reader)


def typed(path: str | Path, options: str = "") -> str:
    """A journal as it is typed behind a command that runs its code, with other options of that, and
    the file of its game, or the program behind it.
    """
    with suppress(GoldrushError), JournalReader(path) as reader:
        options += tools_of(reader).code_of(_setup_of(reader))
    return quoted_path(str(path)) + options


def open_world(reader: JournalReader, world_of: WorldOf | None = None) -> World[Any]:
    """The world of a journal, from its header (name and rules) and the setup in START. `world_of`:
    as `Tools.world` of its world; None: found by the world's name.

    Raises UnsupportedJournal for an unknown world.
    """
    if (rerun := RERUN.get()) is not None:
        return rerun.world(reader)
    world_of = world_of or tools_of(reader).world
    return world_of(_setup_of(reader)).under(reader.header.rules)


def _setup_of(reader: JournalReader) -> Mapping[str, object]:
    """What START of a journal records; empty if it cannot be read."""
    with suppress(JournalError), reader.again() as again:  # reading on raises it again
        start = next(iter(again), None)
        return (start.setup if start else None) or {}
    return {}
