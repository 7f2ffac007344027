"""`goldrush log`: the events of a journal, as text or JSON."""

from __future__ import annotations

import json
import sys
from itertools import chain

import click

from goldrush.cli.help import command
from goldrush.cli.options import json_option, range_of
from goldrush.cli.text import echo_error
from goldrush.kernel.text import escaped

_AT = ("--at", "--rounds", "--assignments")


@command()
@click.argument("journal", type=click.Path())
@click.option(
    *_AT, "at", metavar="A-B",
    help="Rounds, or assignments: 12, 12-20, 12- or -20.",
)  # fmt: skip
@click.option(
    "--agent",
    "agents",
    multiple=True,
    metavar="AGENT",
    help="Agent, by number or name; repeatable.",
)
@click.option(
    "--plot",
    "plots",
    multiple=True,
    metavar="PLOT",
    help="Plot, by number (34) or row,column (3,4); repeatable.",
)
@click.option(
    "--event", "names", multiple=True, metavar="NAME,...", help="Names of events; repeatable."
)  # fmt: skip
@json_option("Print one JSON object per line.")
def log(
    journal: str,
    at: str | None,
    agents: tuple[str, ...],
    plots: tuple[str, ...],
    names: tuple[str, ...],
    as_json: bool,
) -> None:
    """List events, filtered by round, agent, plot or name.

    Several values of one option are joined by "or", different options by "and". Submissions have no
    plot of their own: with --event submitted, --plot selects those that name the plot. The start of
    the run is listed unless --at has a first round.

    \b
    Examples:
      goldrush log run.journal --plot 3,4 --at 1-50
      goldrush log run.journal --event raid_resolved --agent 3 --json
    """
    from goldrush.replay.find import tools_at
    from goldrush.replay.journal.log import Query, log
    from goldrush.replay.journal.story import agent_of, narrator

    first, last = range_of(at, _AT)
    tools = tools_at(journal)
    ids = [tools.plot_of(journal, text) for text in plots]
    who = [agent_of(journal, text) for text in agents]
    events = iter(log(journal, Query(first, last, who, ids, _listed(names))))
    found = next(events, None)
    if found is None:
        echo_error("goldrush: no event matches")
        return
    events = chain([found], events)
    if as_json:
        for event in events:
            sys.stdout.write(json.dumps(event.as_dict()) + "\n")
        return
    for since, until, line in narrator(journal).chronicle(events):
        when = str(since) if since == until else f"{since}-{until}"
        sys.stdout.write(f"{when:>9}  {escaped(line)}\n")


def _listed(texts: tuple[str, ...]) -> list[str]:
    return [name.strip() for text in texts for name in text.split(",")]
