"""Plugins: worlds, policies, commands, arenas and benches of other distributions, by entry points.

Goldrush's own are constants (locations by name) and are searched first, because reading the entry
points of all installed distributions takes longer than reading a short journal, and to import what
reads them takes as long as recording a short run. A plugin is imported only when its name is used.
The environment variable GOLDRUSH_PLUGINS lists the names that may be used (not set: all; empty:
none).
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from functools import lru_cache
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import msgspec

from goldrush.agents.trust import UserFolder
from goldrush.kernel.errors import BadInput, format_error, format_value
from goldrush.kernel.records import Record

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

VARIABLE: Final = "GOLDRUSH_PLUGINS"
# The groups of entry points. The name of a policy is WORLD/NAME.
WORLDS: Final = "goldrush.worlds"
POLICIES: Final = "goldrush.policies"
COMMANDS: Final = "goldrush.commands"
ARENAS: Final = "goldrush.arenas"  # the rules of arenas of the competition
BENCHES: Final = "goldrush.benches"  # the tests of arenas

# The top-level packages of loaded plugins, to name the plugin in an unexpected error.
LOADED: Final[set[str]] = set()

_NAME = "[a-z][a-z0-9-]{0,31}"
_WITH_WORLD = f"{_NAME}/{_NAME}"


class PluginFailed(BadInput):
    """An installed plugin cannot be used."""

    def __init__(self, name: str, reason: str, journal: str = "") -> None:
        where = f"{journal}: " if journal else ""
        super().__init__(
            f"{where}plugin {name} cannot be used: {reason}",
            f"fix or uninstall it, or list the others in {VARIABLE}",
        )
        self.name = name
        self.reason = reason


class Plugin(Record, frozen=True):
    """An entry point of a distribution: `value` is the location of its object, as
    module:attribute.
    """

    group: str
    name: str
    value: str
    distribution: str
    version: str
    point: EntryPoint

    def load(self, check: Callable[[Any], bool]) -> Any:
        """Import the object.

        Raises PluginFailed if that fails, if `check` is False for it, and if two distributions
        provide a plugin of this name.
        """
        plugin(self.group, self.name)
        LOADED.add(self.value.partition(":")[0].partition(".")[0])
        try:
            loaded = self.point.load()
        except (KeyboardInterrupt, MemoryError):
            raise
        except BaseException as error:  # a plugin's module may raise anything
            raise PluginFailed(self.name, format_error(error)) from error
        if not check(loaded):
            raise PluginFailed(self.name, f"{self.value} is of type {type(loaded).__name__}")
        return loaded


def imported(location: str) -> object:
    """The object at `module:attribute`."""
    module, _, attribute = location.partition(":")
    return getattr(import_module(module), attribute)


class PluginKind(msgspec.Struct, frozen=True):
    """A kind of plugin.

    Attributes:
        title: for people.
        accepts: whether a loaded object is of this kind.
        built_in: the locations of goldrush's own, whose names no plugin can take.
    """

    group: str
    title: str
    accepts: Callable[[object], bool]
    built_in: Mapping[str, str] = {}


def plugins(group: str, built_in: Collection[str] = ()) -> list[Plugin]:
    """The plugins of a group with valid, allowed names, sorted by name; none is imported.

    `built_in`: names of goldrush's own, which no plugin can take.
    """
    if _allowed() == frozenset():
        return []
    valid = (plugin for plugin in installed(group) if name_fault(plugin, built_in) is None)
    return list(filter(is_allowed, valid))


def installed(group: str) -> list[Plugin]:
    """All installed plugins of a group, sorted by name, including those with invalid names."""
    return list(_installed(group, tuple((folder, *_stamp(folder)) for folder in sys.path)))


@lru_cache(maxsize=32)  # a roster may name one policy for each of thousands of agents
def _installed(group: str, searched: tuple[tuple[object, ...], ...]) -> Sequence[Plugin]:
    """As `installed`, cached for the same `searched` folders."""
    each = [_plugin(point) for point in _points(group) if not _is_by_chance(point)]
    return sorted(each, key=lambda plugin: (plugin.name, plugin.distribution))


def _stamp(folder: str) -> tuple[object, ...]:
    """A value that changes when something is installed in a folder."""
    try:
        changed = os.stat(folder).st_mtime_ns
    except OSError:
        changed = 0
    return changed, isinstance(folder, UserFolder)


def name_fault(candidate: Plugin, built_in: Collection[str] = ()) -> str | None:
    """The reason why a plugin's name is invalid or taken; None: it is valid."""
    if candidate.name in built_in:
        return "the name is one of goldrush's own"
    named, form = (
        (_WITH_WORLD, "is WORLD/NAME, each of") if candidate.group == POLICIES else (_NAME, "has")
    )
    if re.fullmatch(named, candidate.name) is None:
        return f"a name {form} 1 to 32 characters of a-z, 0-9 and -, the first a letter"
    return None


def _points(group: str) -> Iterable[EntryPoint]:
    """The entry points of a group, without those of distributions that cannot be read."""
    from importlib.metadata import distributions, entry_points

    try:
        return entry_points(group=group)
    except Exception:  # a distribution's file may be malformed in any way
        found: list[EntryPoint] = []
        for distribution in distributions():
            with suppress(Exception):
                found += distribution.entry_points.select(group=group)
        return found


def _is_by_chance(point: EntryPoint) -> bool:
    """Whether its distribution is in a folder for user-defined policies, so not installed."""
    folders = [Path(folder) for folder in sys.path if isinstance(folder, UserFolder)]
    return point.dist is not None and Path(str(point.dist.locate_file(""))) in folders


def plugin(group: str, name: str, built_in: Collection[str] = ()) -> Plugin | None:
    """The plugin of this name, or None. Raises PluginFailed if two distributions have one."""
    same_name = [plugin for plugin in plugins(group, built_in) if plugin.name == name]
    if len(same_name) > 1:
        both = " and ".join(sorted(plugin.distribution for plugin in same_name))
        raise PluginFailed(format_value(name), f"both {both} provide it")
    return same_name[0] if same_name else None


def load_plugin(
    group: str, name: str, check: Callable[[Any], bool], built_in: Mapping[str, str] = {}
) -> Any:
    """Import the object of this name: goldrush's own, else a plugin's; None: there is none.

    Raises PluginFailed if a plugin cannot be imported or `check` is False for its object.
    """
    if name in built_in:
        return imported(built_in[name])
    installed = plugin(group, name, built_in)
    return None if installed is None else installed.load(check)


def is_allowed(candidate: Plugin) -> bool:
    """Whether GOLDRUSH_PLUGINS allows a plugin."""
    allowed = _allowed()
    return allowed is None or candidate.name in allowed


def load_fault(
    candidate: Plugin, load: Callable[[Plugin], object], built_in: Collection[str] = ()
) -> str | None:
    """The reason why a plugin cannot be used; None: it can. `load` raises PluginFailed."""
    reason = name_fault(candidate, built_in)
    if reason is not None:
        return reason
    try:
        load(candidate)
    except PluginFailed as error:
        return error.reason
    return None


def _allowed() -> frozenset[str] | None:
    """The names in GOLDRUSH_PLUGINS; None: it is not set, so all are allowed."""
    listed = os.environ.get(VARIABLE)
    if listed is None:
        return None
    return frozenset(name.strip() for name in listed.split(",") if name.strip())


def _plugin(point: EntryPoint) -> Plugin:
    distribution = point.dist
    name, version = (distribution.name, distribution.version) if distribution else ("", "")
    return Plugin(point.group, point.name, point.value, name, version, point)
