"""Worlds found by name: the toolkit of a world or of a journal, and its parts that a tool needs."""

from __future__ import annotations

import os
import sys
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar

from goldrush.agents.plugins import (
    VARIABLE,
    WORLDS,
    BuiltIn,
    Plugin,
    PluginFailed,
    PluginKind,
    load_plugin,
    plugin,
    plugins,
)
from goldrush.kernel.errors import BadInput, JournalError, UnsupportedJournal, format_value, unknown
from goldrush.kernel.journal import JournalReader
from goldrush.kernel.text import quoted_path
from goldrush.kernel.world import World
from goldrush.replay.toolkit import TieBreaks, Toolkit

if TYPE_CHECKING:
    from goldrush.agents.players import Players

T = TypeVar("T")

# Resolved before anything installed: a checkout without installation has no entry points, and to
# read those of all distributions takes longer than to read a short journal.
BUILT_IN: Final = tuple(
    BuiltIn(name, f"goldrush.replay.worlds.{name}.toolkit:TOOLKIT")
    for name in ("mining", "competition")
)
NAMES: Final = tuple(point.name for point in BUILT_IN)
WORLD_DEFAULT: Final = NAMES[0]  # for commands without --world


def toolkit_named(name: str) -> Toolkit | None:
    """The toolkit of a world; None for an unknown world.

    Raises PluginFailed for an installed world that cannot be used.
    """
    return _found(name, os.environ.get(VARIABLE), tuple(sys.path))


@cache
def _found(name: str, allowed: str | None, path: tuple[str, ...]) -> Toolkit | None:
    """The toolkit of a world; cached until the installed distributions change."""
    found: Toolkit | None = load_plugin(WORLDS, name, is_toolkit, BUILT_IN)
    if found is None:
        return None
    world = found.world({}).name
    if world != name:
        raise PluginFailed(name, f"its toolkit is of a world named {format_value(world)}")
    return found


def is_built_in(world: str) -> bool:
    """Whether goldrush itself has a world of this name."""
    return world in NAMES


def distribution_of(world: str) -> str | None:
    """The distribution that provides a world, with its version; None for a built-in world and for
    an unknown one.
    """
    found = None if is_built_in(world) else plugin(WORLDS, world, NAMES)
    return None if found is None else f"{found.distribution} {found.version}"


def worlds() -> list[str]:
    """The names of all known worlds."""
    return [*NAMES, *(one.name for one in installed())]


def installed() -> list[Plugin]:
    """The worlds of other distributions, by name; none is imported."""
    return plugins(WORLDS, NAMES)


def built_in_policies() -> list[str]:
    """The policies of the built-in worlds as WORLD/NAME, with the reserved names of rosters, which
    no plugin can take.
    """
    from goldrush.agents.seats import FAMILIES

    names: list[str] = []
    for world in NAMES:
        own = players_of(toolkit_for(world), world).policies
        names += [f"{world}/{name}" for name in (*own, *FAMILIES)]
    return names


def built_in_kinds() -> list[PluginKind]:
    """What other distributions can add to the built-in worlds, besides policies."""
    return [kind for world in NAMES for kind in toolkit_for(world).kinds]


def is_toolkit(loaded: object) -> bool:
    """Whether an entry point gave a `Toolkit`."""
    return isinstance(loaded, Toolkit)


def toolkit_for(name: str) -> Toolkit:
    """The toolkit of a world by its name. Raises BadInput for an unknown one."""
    found = toolkit_named(name)
    if found is None:
        raise unknown("world", name, worlds())
    return found


def players_of(toolkit: Toolkit, world: str) -> Players[Any]:
    """The players of a world. Raises BadInput for a world without players."""
    if toolkit.players is None:
        raise BadInput(f"the {world} world has no players", "record runs with its own program")
    return toolkit.players


def toolkit_of(reader: JournalReader) -> Toolkit:
    """The toolkit of a journal's world.

    Raises UnsupportedJournal for an unknown world, PluginFailed for an installed one that cannot be
    used.
    """
    try:
        found = toolkit_named(reader.header.world)
    except PluginFailed as error:
        raise PluginFailed(error.name, error.reason, str(reader.path)) from error
    if found is None:
        known = ", ".join(worlds())
        world = format_value(reader.header.world)
        raise UnsupportedJournal(
            reader.path,
            f"world {world}; this goldrush plays {known}; install its package",
        )
    return found


def toolkit_at(path: str | Path) -> Toolkit:
    """The toolkit of the journal at a path.

    Raises BadInput, NotAJournal, UnsupportedJournal or DamagedJournal for its header.
    """
    with JournalReader(path) as reader:
        return toolkit_of(reader)


def open_world(reader: JournalReader, toolkit: Toolkit | None = None) -> World[Any]:
    """The world of a journal, from its header (name and rules) and the setup in START.

    Args:
        toolkit: the world's toolkit; None: found by the world's name.

    Raises UnsupportedJournal for an unknown world.
    """
    toolkit = toolkit or toolkit_of(reader)
    try:
        with reader.again() as again:
            start = next(iter(again), None)
    except JournalError:  # reading on raises it again
        start = None
    return toolkit.world((start.setup if start else None) or {}).under(reader.header.rules)


def needed(
    part: T | None,
    path: str | Path,
    what: str,
    instead: str = "`goldrush log {path}` lists its events",
) -> T:
    """A part of the toolkit for the journal at a path.

    Args:
        part: the part, or None if the world has none.
        what: the noun for the part, for the message.
        instead: what to do without it, for the message; {path} is the journal.

    Raises BadInput if the world has no such part.
    """
    if part is None:
        with JournalReader(path) as reader:
            world = reader.header.world
        raise BadInput(
            f"{path} is a run of the {world} world, which has no {what}",
            instead.format(path=quoted_path(str(path))),
        )
    return part


def players_at(path: str | Path) -> Players[Any]:
    """The players of the journal at a path. Raises as `toolkit_at`, and as `needed`."""
    instead = "continue it with the program that recorded it"
    return needed(toolkit_at(path).players, path, "players", instead)


def tie_breaks_at(path: str | Path) -> TieBreaks:
    """The draws of the journal at a path. Raises as `toolkit_at`, and as `needed`."""
    instead = "`goldrush verify {path}` derives every event again"
    return needed(toolkit_at(path).tie_breaks, path, "draws to audit", instead)
