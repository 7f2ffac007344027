"""`goldrush log`: the event stream of a journal, in words or as JSON."""

from __future__ import annotations

import json
import sys

import click

from goldrush.cli.options import json_option, range_of
from goldrush.kernel.text import escaped

_AT = ("--at", "--rounds", "--assignments")


@click.command()
@click.argument("journal", type=click.Path())
@click.option(
    *_AT, "at", metavar="A-B",
    help="Only these rounds (or assignments): 12, 12-20, 12- or -20.",
)  # fmt: skip
@click.option("--agent", "agents", multiple=True, help="Only what names this agent.")
@click.option("--plot", "plots", multiple=True, help="Only what is on this plot: 34, or 3,4.")
@click.option("--event", "names", multiple=True, help="Only events of these names: a,b.")
@json_option("Print one JSON object a line.")
def log(
    journal: str,
    at: str | None,
    agents: tuple[str, ...],
    plots: tuple[str, ...],
    names: tuple[str, ...],
    as_json: bool,
) -> None:
    """Tell what happened, narrowed down by round, agent, plot and event.

    Options of one name widen the filter, different ones narrow it. Submissions are on no plot; with
    --event submitted those that name it are told. What stands before the first round, the start, is
    told where no round to begin with is given.

    \b
    Example: goldrush log run.journal --plot 3,4 --at 1-50
    """
    from goldrush.replay.log import Query, log
    from goldrush.replay.story import agent_of, narrator
    from goldrush.replay.toolkit import needed, toolkit_at

    first, last = range_of(at, _AT)
    ids = [needed(toolkit_at(journal).place_of, journal, "plots")(journal, text) for text in plots]
    who = [agent_of(journal, text) for text in agents]
    events = log(journal, Query(first, last, who, ids, _listed(names)))
    if as_json:
        for event in events:
            sys.stdout.write(json.dumps(event.as_dict()) + "\n")
        return
    for since, until, line in narrator(journal).chronicle(events):
        when = str(since) if since == until else f"{since}-{until}"
        sys.stdout.write(f"{when:>9}  {escaped(line)}\n")


def _listed(texts: tuple[str, ...]) -> list[str]:
    return [name.strip() for text in texts for name in text.split(",")]
