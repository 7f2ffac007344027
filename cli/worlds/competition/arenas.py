"""`goldrush arenas`: the subjects of seasons."""

from __future__ import annotations

import json

from goldrush.cli.codes import DIFFERS, DONE
from goldrush.cli.command import command
from goldrush.cli.options import Json
from goldrush.cli.text import echo, echo_error
from goldrush.kernel.text import escaped
from goldrush.replay.text import format_table


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
        rows.append((escaped(entry["arena"]), escaped(entry["says"])))
        for option in entry["options"]:
            is_seeded = "default_from" in option
            shown = "the season's seed" if is_seeded else json.dumps(option["default"])
            rows.append((f"  {escaped(option['option'])}", f"{shown}; {escaped(option['range'])}"))
    echo(as_json, lambda: entries, lambda: format_table(rows))
    return code
