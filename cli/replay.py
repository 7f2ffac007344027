"""`goldrush replay`: any round of a journal as it was."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from goldrush.cli.options import json_option
from goldrush.cli.text import echo_json, painted
from goldrush.kernel.text import escaped

if TYPE_CHECKING:
    from goldrush.replay.rebuild import Rebuilt


@click.command()
@click.argument("journal", type=click.Path())
@click.option(
    "--round", "round_", type=int, required=True, help="The round, or the assignment of a season."
)
@json_option("Print the round as JSON.")
def replay(journal: str, round_: int, as_json: bool) -> None:
    """Rebuild a round: who owns what, who has how much, what happened.

    Of a season it is an assignment: who sat at the table, what was said, concluded and scored.
    Round 0 is the start of a mining run, -1 that of a season, whose first assignment is 0.

    \b
    Example: goldrush replay run.journal --round 12
    """
    from goldrush.replay.rebuild import rebuild
    from goldrush.replay.story import narrator
    from goldrush.replay.toolkit import toolkit_at

    rebuilt = rebuild(journal, round_)
    view = toolkit_at(journal).unit
    if as_json:
        events = [event.as_dict() for event in rebuilt.events]
        echo_json({**(view.as_dict if view else _as_dict)(rebuilt), "events": events})
        return
    click.echo(view.format(rebuilt, painted) if view else _format(rebuilt))
    click.echo()
    for line in narrator(journal).lines(rebuilt.events):
        click.echo(escaped(line))


def _as_dict(rebuilt: Rebuilt) -> dict[str, Any]:
    """What there is to say of a round of any world."""
    return {
        "journal": rebuilt.path,
        "world": rebuilt.header.world,
        rebuilt.vocabulary.unit: rebuilt.round,
        "digest": f"{rebuilt.digest:016x}",
    }


def _format(rebuilt: Rebuilt) -> str:
    return f"{rebuilt.vocabulary.unit} {rebuilt.round}, digest {rebuilt.digest:016x}"
