"""`goldrush new` and `goldrush source`: a game of one's own, and the source that played a run."""

from __future__ import annotations

import click

from goldrush.cli.command import argument, command, option
from goldrush.cli.options import FILE, Json, Output
from goldrush.cli.text import echo, program
from goldrush.kernel.text import quoted_path


@command()
def new(
    *,
    name: str = argument("NAME"),
    out: str | None = option(
        "--out", "FILE", "File to write (default: NAME in lower case, with .py).", type=Output()
    ),
) -> None:
    """Write the file of a new game: a fishery that runs, to be changed.

    \b
    Examples:
      goldrush new Harbour
      goldrush record harbour.py --seed 7
    """
    from goldrush.agents.game.source import new_game
    from goldrush.kernel.files import write_whole

    path, text = new_game(name)
    path = out or path
    write_whole(path, text.encode())
    shown = quoted_path(path)
    click.echo(f"game: {shown}\nnext: {program()} record {shown} --seed 7")


@command()
def source(
    *,
    journal: str = argument(type=FILE),
    as_json: Json,
) -> None:
    """Print the source of the game that plays a run: of its last fork, or of its start.

    The text is in the journal, up to 64 KB. It is printed, never run. Pipe it into a file to play
    it: goldrush source run.journal > game.py

    \b
    Examples:
      goldrush source run.journal
      goldrush source run.journal --json
    """
    from goldrush.replay.journal.source import source_in, text_of

    found = source_in(journal)
    echo(as_json, found.as_dict, lambda: text_of(found, journal).rstrip("\n"))
