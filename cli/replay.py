"""`goldrush replay`: any round of a journal as it was."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any, Final

import click

from cli.text import echo_json, printable

# How a round is shown, by the name of the world: modules with `as_dict(rebuilt)`, for JSON, and
# `told(rebuilt)`, which stands above the events. Of other worlds the events alone are shown.
SHOWN_BY: Final[Mapping[str, str]] = {
    "mining": "cli.replay_mining",
    "competition": "cli.replay_season",
}


@click.command()
@click.argument("journal", type=click.Path())
@click.option(
    "--round", "round_", type=int, required=True, help="The round, or the assignment of a season."
)
@click.option("--json", "as_json", is_flag=True, help="Print the round as JSON.")
def replay(journal: str, round_: int, as_json: bool) -> None:
    """Rebuild a round: who owns what, who has how much, what happened.

    Of a season it is an assignment: who sat at the table, what was said, concluded and scored.
    Round 0 is the start of a mining run, -1 that of a season, whose first assignment is 0.

    \b
    Example: goldrush replay run.journal --round 12
    """
    from replay.rebuild import rebuild
    from replay.words import words_for

    rebuilt = rebuild(journal, round_)
    world = rebuilt.header.world
    shown_by = import_module(SHOWN_BY[world]) if world in SHOWN_BY else None
    if as_json:
        events = [event.as_dict() for event in rebuilt.events]
        shown = shown_by.as_dict(rebuilt) if shown_by else _as_dict(rebuilt)
        echo_json({**shown, "events": events})
        return
    click.echo(shown_by.told(rebuilt) if shown_by else _told(rebuilt))
    click.echo()
    for line in words_for(journal).story(rebuilt.events):
        click.echo(printable(line))


def _as_dict(rebuilt: Any) -> dict[str, Any]:
    """What there is to say of a round of any world."""
    return {
        "journal": rebuilt.path,
        "world": rebuilt.header.world,
        rebuilt.words.unit: rebuilt.round,
        "digest": f"{rebuilt.digest:016x}",
    }


def _told(rebuilt: Any) -> str:
    return f"{rebuilt.words.unit} {rebuilt.round}, digest {rebuilt.digest:016x}"
