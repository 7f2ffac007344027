"""`goldrush replay`: any round of a journal as it was."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from goldrush.cli.options import at_option, json_option
from goldrush.cli.text import echo_json, painted
from goldrush.kernel.text import escaped

if TYPE_CHECKING:
    from goldrush.replay.rebuild import Rebuilt


@click.command()
@click.argument("journal", type=click.Path())
@at_option("The round, or the assignment of a season.", required=True)
@click.option("--table", "table_", type=int, help="Only this table, in a season.")
@click.option("--brief", is_flag=True, help="Only what was said, decided and scored, in a season.")
@json_option("Print the round as JSON.")
def replay(journal: str, at: int, table_: int | None, brief: bool, as_json: bool) -> None:
    """Rebuild a round: who owns what, who has how much, what happened.

    Of a season it is an assignment: who sat at the table, what was said, concluded and scored.
    Round 0 is the start of a mining run, -1 that of a season, whose first assignment is 0.

    \b
    Example: goldrush replay run.journal --at 12
    """
    from goldrush.replay.rebuild import rebuild
    from goldrush.replay.story import in_brief, narrator
    from goldrush.replay.toolkit import toolkit_at

    rebuilt = rebuild(journal, at)
    view, events = toolkit_at(journal).unit, rebuilt.events
    if table_ is not None:
        events = rebuilt.at_table(table_)
    if brief:
        events = in_brief(journal, events)
    if as_json:
        shown = [event.as_dict() for event in events]
        echo_json({**(view.as_dict if view else _as_dict)(rebuilt), "events": shown})
        return
    click.echo(view.format(rebuilt, painted) if view else _format(rebuilt))
    click.echo()
    for line in narrator(journal).lines(events):
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
