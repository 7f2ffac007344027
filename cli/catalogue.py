"""`goldrush policies`, `treatments`, `settings`, `columns`, `plugins`: what has a name."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from operator import methodcaller
from typing import TYPE_CHECKING

import click

from goldrush.cli.codes import DIFFERS, DONE
from goldrush.cli.command import command, is_command
from goldrush.cli.options import ChosenWorld, Json
from goldrush.cli.text import echo, echo_error
from goldrush.kernel.text import escaped
from goldrush.replay.text import format_table

if TYPE_CHECKING:
    from goldrush.agents.plugins import Plugin
    from goldrush.kernel.settings import Setting


@command()
def policies(world: ChosenWorld, as_json: Json) -> int:
    """List the policies for rosters, with their settings.

    WORLD is mining by default: the name of a world, or what --world takes. Exit code: 1 if
    a policy of another distribution cannot be used.

    \b
    Examples:
      goldrush policies
      goldrush policies competition
    """
    from goldrush.replay.catalogue import policies_of

    entries, unusable = policies_of(world.name)
    for error in unusable:
        echo_error(f"goldrush: {error}")
    rows = []
    for name, one in entries.items():
        rows.append((name, one.text))
        rows += [
            (f"  {setting}", f"{json.dumps(default)}; {range_}")
            for setting, (default, range_) in one.settings.items()
        ]
    echo(
        as_json,
        lambda: [
            {"policy": name, "says": one.text, "settings": _settings(one.settings)}
            for name, one in entries.items()
        ],
        lambda: _table(rows),
    )
    return DIFFERS if unusable else DONE


def _settings(found: Mapping[str, Setting]) -> list[dict[str, object]]:
    """Settings for JSON."""
    return [{"setting": name, **setting._asdict()} for name, setting in found.items()]


@command()
def treatments(world: ChosenWorld, as_json: Json) -> None:
    """List treatments: named variations of the settings.

    WORLD is mining by default: the name of a world, or what --world takes. `goldrush
    settings` lists the defaults and ranges of the settings.

    \b
    Examples:
      goldrush treatments
      goldrush treatments competition
    """
    from goldrush.replay import catalogue

    found = catalogue.treatments(world.name).values()
    rows = [(one.name, one.description, dict(one.settings)) for one in found]
    cells = [
        (name, says, " ".join(f"{key}={json.dumps(value)}" for key, value in changes.items()))
        for name, says, changes in rows
    ]
    echo(as_json, _records(("treatment", "says", "settings"), rows), lambda: _table(cells))


def _table(rows: Iterable[Sequence[str]]) -> str:
    return format_table([tuple(map(escaped, row)) for row in rows])


def _records(keys: Sequence[str], rows: Iterable[Sequence[object]]) -> Callable[[], object]:
    """The value of rows, for `echo`: a record of each, with these keys."""
    return lambda: [dict(zip(keys, row, strict=True)) for row in rows]


@command()
def settings(world: ChosenWorld, as_json: Json) -> None:
    """List the settings of a world: name, default, range.

    WORLD is mining by default: the name of a world, or what --world takes.

    \b
    Examples:
      goldrush settings
      goldrush settings competition
    """
    from goldrush.replay import catalogue

    found = catalogue.settings(world.name)
    cells = [(name, json.dumps(default), range_) for name, (default, range_) in found.items()]
    echo(as_json, lambda: _settings(found), lambda: _table(cells))


@command()
def columns(world: ChosenWorld, as_json: Json) -> None:
    """List the columns of tables: name, type, unit, meaning.

    They are the tables that `goldrush export` writes. WORLD is mining by default: the name of a
    world, or what --world takes.

    \b
    Examples:
      goldrush columns
      goldrush columns competition --json
    """
    from goldrush.replay import catalogue

    rows: list[tuple[str, ...]] = []
    lines = []
    for table in catalogue.tables(world.name):
        own = [(c.name, c.type.name, c.unit, c.description) for c in table.own]
        rows += [(table.name, *row) for row in own]
        lines += [f"{table.name}: a row is {table.description}", _table(own), ""]
    keys = ("table", "column", "type", "unit", "meaning")
    echo(as_json, _records(keys, rows), lambda: "\n".join(lines[:-1]))


@command()
def plugins(as_json: Json) -> int:
    """List worlds, policies and commands of other packages.

    Lists name, kind, distribution and version of each entry point, or why it cannot be used. The
    environment variable GOLDRUSH_PLUGINS restricts the names that may be used: unset allows all,
    empty none. Exit code: 1 if one of them cannot be used.

    \b
    Examples:
      goldrush plugins
      goldrush plugins --json
    """
    from goldrush.agents.plugins import installed, is_allowed, load_fault

    rows = [
        (one.name, kind, f"{one.distribution} {one.version}", load_fault(one, load, built_in))
        for group, kind, load, built_in in _kinds()
        for one in installed(group)
        if is_allowed(one)
    ]
    cells = [(*row[:3], row[3] or "") for row in rows]
    nothing = "no plugins are installed, or GOLDRUSH_PLUGINS allows none"
    keys = ("name", "kind", "distribution", "trouble")
    echo(as_json, _records(keys, rows), lambda: _table(cells) if cells else nothing)
    return DIFFERS if any(row[3] for row in rows) else DONE


def _kinds() -> list[tuple[str, str, Callable[[Plugin], object], Collection[str]]]:
    """The groups of plugins: entry point group, kind, loader, and names that are taken."""
    from goldrush.agents.plugins import COMMANDS, POLICIES, WORLDS
    from goldrush.replay.find import NAMES, built_in_kinds, built_in_policies, tools_named

    root = click.get_current_context().find_root()
    commands = root.command.list_commands(root) if isinstance(root.command, click.Group) else ()
    kinds: list[tuple[str, str, Callable[[Plugin], object], Collection[str]]] = [
        (WORLDS, "world", lambda one: tools_named(one.name), NAMES),
        (POLICIES, "policy", lambda one: one.load(callable), built_in_policies()),
        (COMMANDS, "command", lambda one: one.load(is_command), commands),
    ]
    for kind in built_in_kinds():
        kinds.append((kind.group, kind.title, methodcaller("load", kind.accepts), kind.built_in))
    return kinds
