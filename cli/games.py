"""`goldrush new` and `goldrush source`: a game of one's own, and the source that played a run."""

from __future__ import annotations

from goldrush.cli.command import argument, command, option
from goldrush.cli.options import FILE, Json, Output
from goldrush.cli.text import echo, echo_exact, echo_json, program
from goldrush.kernel.text import quoted_path


@command()
def new(
    *,
    name: str = argument("NAME"),
    out: str | None = option(
        "--out", "FILE", "File to write (default: NAME in lower case, with .py).", type=Output()
    ),
    as_json: Json,
) -> None:
    """Write the file of a new game, to be changed.

    It is a fishery, which runs as it is. NAME becomes that of its class: market is Market,
    my-market is MyMarket.

    \b
    Examples:
      goldrush new Harbour
      goldrush record harbour.py --seed 7
    """
    from goldrush.agents.game.new import new_game
    from goldrush.kernel.files import write_whole

    path, source = new_game(name, out)
    write_whole(path, source.encode())
    file = quoted_path(path)
    text = f"game: {file}\nnext: {program()} record {file} --seed 7"
    echo(as_json, lambda: {"game": path}, lambda: text)


@command()
def source(*, journal: str = argument(type=FILE), as_json: Json) -> None:
    """Print the source of the game that plays a run.

    Of a run that was forked under other rules, that of the last fork. The journal has the text, up
    to 64 KB; it is printed, never run. To play it, write it to a file: goldrush source run.journal
    > game.py

    \b
    Examples:
      goldrush new Port
      goldrush record port.py --out port.journal
      goldrush source port.journal
    """
    from goldrush.replay.journal.source import source_in, text_of

    found = source_in(journal)
    if as_json:
        echo_json(found.as_dict())
    else:
        echo_exact([text_of(found, journal)])
