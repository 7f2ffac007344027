"""`goldrush arenas`: the subjects of seasons."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from goldrush.cli.codes import DIFFERS, DONE
from goldrush.cli.command import command
from goldrush.cli.options import Json
from goldrush.cli.text import echo, echo_error
from goldrush.kernel.text import escaped
from goldrush.replay.text import format_table

if TYPE_CHECKING:
    from goldrush.agents.worlds.competition.arenas import ArenaEntry


@command()
def arenas(as_json: Json) -> int:
    """List the arenas of seasons, with their options.

    An arena is the subject of a season's claims. Exit code: 1 if an arena of another distribution
    cannot be used.

    \b
    Examples:
      goldrush arenas
      goldrush arenas --json
    """
    from goldrush.agents.worlds.competition.arenas import UnknownArena, arena_entry
    from goldrush.agents.worlds.competition.arenas import arenas as arena_names

    entries, code = [], DONE
    for name in arena_names():
        try:
            entries.append(arena_entry(name))
        except UnknownArena as error:
            echo_error(f"goldrush: {error}")
            code = DIFFERS
    rows = []
    for entry in entries:
        rows.append((escaped(entry.name), escaped(entry.text)))
        for option, default, range_ in entry.options:
            shown = "the season's seed" if option == entry.seeded else json.dumps(default)
            rows.append((f"  {escaped(option)}", f"{shown}; {escaped(range_)}"))
    echo(as_json, lambda: [_as_dict(entry) for entry in entries], lambda: format_table(rows))
    return code


def _as_dict(entry: ArenaEntry) -> dict[str, object]:
    names = ("option", "default", "range")
    options = [
        dict(zip(names, option, strict=True))
        | ({"default_from": "seed"} if option[0] == entry.seeded else {})
        for option in entry.options
    ]
    return {
        "arena": entry.name,
        "version": entry.version,
        "takes_program": entry.takes_program,
        "says": entry.text,
        "options": options,
    }
