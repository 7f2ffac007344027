"""What other distributions add to goldrush: worlds, policies and commands, by entry points.

What goldrush brings itself is a constant of `EntryPoint` records, which goes first: reading the
entry points of everything installed takes longer than reading a short journal. A plugin is imported
only when its name is asked for. The environment variable GOLDRUSH_PLUGINS lists the names that may
be used (all where it is not set, none where it is empty).
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Collection, Iterable, Sequence
from functools import lru_cache
from importlib.metadata import (
    Distribution,
    EntryPoint,
    EntryPoints,
    distributions,
    entry_points,
)
from pathlib import Path
from typing import Any, Final

import attrs

from goldrush.agents.trust import UserFolder
from goldrush.kernel.errors import BadInput, format_error, format_value

VARIABLE: Final = "GOLDRUSH_PLUGINS"
# The groups of entry points. A policy is called WORLD/NAME.
WORLDS: Final = "goldrush.worlds"
POLICIES: Final = "goldrush.policies"
COMMANDS: Final = "goldrush.commands"
ARENAS: Final = "goldrush.arenas"  # what the seasons of the competition are about
BENCHES: Final = "goldrush.benches"  # how it is tested there

# The packages of plugins that were loaded, by which whoever tells an error knows whose it is.
LOADED: Final[set[str]] = set()

_NAME = re.compile(r"[a-z][a-z0-9-]{0,31}")
_WITH_WORLD = re.compile(rf"{_NAME.pattern}/{_NAME.pattern}")


class PluginFailed(BadInput):
    """A plugin that is installed and cannot be used. `name`: which."""

    def __init__(self, name: str, reason: str) -> None:
        super().__init__(
            f"plugin {name} cannot be used: {reason}",
            f"mend or uninstall it, or list the others in {VARIABLE}",
        )
        self.name = name
        self.reason = reason


@attrs.frozen
class Plugin:
    """An entry point of a distribution: its `group` (the kind of plugin), its `name`, where its
    object is (`value`, module:attribute), the `distribution` and its `version`.
    """

    group: str
    name: str
    value: str
    distribution: str
    version: str
    point: EntryPoint = attrs.field(repr=False, eq=False)

    def load(self, check: Callable[[Any], bool]) -> Any:
        """The object, imported. Raises PluginFailed where that fails, or `check` refuses it."""
        LOADED.add(self.value.partition(":")[0].partition(".")[0])
        try:
            found = self.point.load()
        except (KeyboardInterrupt, MemoryError):
            raise
        except BaseException as error:  # whatever somebody's module raises
            raise PluginFailed(self.name, format_error(error)) from error
        if not check(found):
            raise PluginFailed(self.name, f"{self.value} is of type {type(found).__name__}")
        return found


@attrs.frozen
class Kind:
    """A kind of plugin.

    Attributes:
        group: of its entry points.
        title: of the kind, for people.
        accepts: whether a loaded object is of this kind.
        built_in: goldrush's own, whose names no plugin can take.

    """

    group: str
    title: str
    accepts: Callable[[Any], bool]
    built_in: Sequence[EntryPoint] = ()


def plugins(group: str, built_in: Collection[str] = ()) -> list[Plugin]:
    """The plugins of a group that can be used, as far as their names tell, by name; none is
    imported. `built_in`: names that no plugin can take.
    """
    if _allowed() == frozenset():
        return []
    found = installed(group)
    return [one for one in found if is_allowed(one) and name_fault(one, built_in) is None]


def installed(group: str) -> list[Plugin]:
    """All plugins of a group that are installed, by name, whatever they are called."""
    return list(_installed(group, tuple((folder, *_stamp(folder)) for folder in sys.path)))


@lru_cache(maxsize=32)  # a roster may name one policy for each of thousands of agents
def _installed(group: str, searched: tuple[tuple[object, ...], ...]) -> Sequence[Plugin]:
    """As `installed`; `searched` tells when it has to be looked for again."""
    found = [_plugin(point) for point in _points(group) if not _is_by_chance(point)]
    return sorted(found, key=lambda one: (one.name, one.distribution))


def _stamp(folder: str) -> tuple[object, ...]:
    """What changes where something is installed in a folder, and what it is searched for."""
    try:
        changed = os.stat(folder).st_mtime_ns
    except OSError:
        changed = 0
    return changed, isinstance(folder, UserFolder)


def name_fault(found: Plugin, built_in: Collection[str] = ()) -> str | None:
    """Why a plugin cannot have the name that it has; None where it can."""
    if found.name in built_in:
        return "goldrush has this name itself"
    named, form = (_WITH_WORLD, "WORLD/NAME, each") if found.group == POLICIES else (_NAME, "")
    if named.fullmatch(found.name) is None:
        return f"a name is {form} of 1 to 32 of a-z, 0-9 and -, a letter first".replace("  ", " ")
    return None


def _points(group: str) -> Iterable[EntryPoint]:
    """The entry points of a group. A distribution whose own cannot be read hides no others."""
    try:
        return entry_points(group=group)
    except Exception:  # whatever stands in somebody's file
        found = (_points_of(distribution) for distribution in distributions())
        return [point for points in found for point in points.select(group=group)]


def _points_of(distribution: Distribution) -> EntryPoints:
    try:
        return distribution.entry_points
    except Exception:
        return EntryPoints()


def unreadable() -> list[tuple[str, str]]:
    """The distributions whose entry points cannot be read: each by its name, and why."""
    found = []
    for distribution in distributions():
        try:
            len(distribution.entry_points)
        except Exception as error:
            found.append((str(distribution.name), f"its entry points: {format_error(error)}"))
    return found


def _is_by_chance(point: EntryPoint) -> bool:
    """Whether its distribution is not installed: it lies in a folder that is searched for policies
    of somebody's own alone.
    """
    folders = [Path(folder) for folder in sys.path if isinstance(folder, UserFolder)]
    return point.dist is not None and Path(str(point.dist.locate_file(""))) in folders


def plugin(group: str, name: str, built_in: Collection[str] = ()) -> Plugin | None:
    """The plugin of this name, or None. Raises PluginFailed for a name that two of them have."""
    found = [one for one in plugins(group, built_in) if one.name == name]
    if len(found) > 1:
        both = " and ".join(sorted(one.distribution for one in found))
        raise PluginFailed(format_value(name), f"both {both} bring it")
    return found[0] if found else None


def loaded(
    group: str, name: str, check: Callable[[Any], bool], built_in: Sequence[EntryPoint] = ()
) -> Any:
    """The object of this name, imported: goldrush's own, else a plugin's; None if there is none.

    Raises PluginFailed for one that is installed and cannot be used, or is refused by `check`.
    """
    for point in built_in:
        if point.name == name:
            return point.load()
    found = plugin(group, name, [point.name for point in built_in])
    return None if found is None else found.load(check)


def policies_for(world: str, built_in: Collection[str] = ()) -> dict[str, Plugin]:
    """The policies that other distributions bring for a world, by name; none is imported.

    `built_in`: the world's own, whose names cannot be taken.
    """
    front = f"{world}/"
    found = {
        one.name.removeprefix(front): one for one in plugins(POLICIES) if one.name.startswith(front)
    }
    return {name: one for name, one in found.items() if name not in built_in}


def is_allowed(found: Plugin) -> bool:
    """Whether GOLDRUSH_PLUGINS lets a plugin be used."""
    allowed = _allowed()
    return allowed is None or found.name in allowed


def load_fault(
    found: Plugin, load: Callable[[Plugin], object], built_in: Collection[str] = ()
) -> str | None:
    """Why a plugin cannot be used; None where it can. It is imported by `load`."""
    reason = name_fault(found, built_in)
    if reason is not None:
        return reason
    try:
        load(plugin(found.group, found.name) or found)
    except PluginFailed as error:
        return error.reason
    return None


def _allowed() -> frozenset[str] | None:
    """The names that may be used; None: all."""
    listed = os.environ.get(VARIABLE)
    if listed is None:
        return None
    return frozenset(name.strip() for name in listed.split(",") if name.strip())


def _plugin(point: EntryPoint) -> Plugin:
    distribution = point.dist
    name, version = (distribution.name, distribution.version) if distribution else ("", "")
    return Plugin(point.group, point.name, point.value, name, version, point)
