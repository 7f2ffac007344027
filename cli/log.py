"""`goldrush log`: the events of a journal, as text or JSON."""

from __future__ import annotations

import sys
from itertools import chain, tee

from goldrush.cli.command import command, option
from goldrush.cli.options import Ends, Journal, json_option, range_of
from goldrush.cli.text import echo_error, echo_json_line
from goldrush.kernel.text import escaped


@command()
def log(
    *,
    journal: Journal,
    at: Ends | None = option(
        "--at --rounds", "A-B", "Rounds, or other units: 12, 12-20, 12- or -20.", callback=range_of
    ),
    agents: tuple[str, ...] = option("--agent", "AGENT", "Agent, by number or name; repeatable."),
    plots: tuple[str, ...] = option(
        "--plot", "PLOT", "Plot, by number (34) or row,column (3,4); repeatable."
    ),
    names: tuple[str, ...] = option("--event", "NAME,...", "Names of events; repeatable."),
    as_json: bool = json_option("Print one JSON object per line."),
) -> None:
    """List events, filtered by round, agent, plot or name.

    An event is listed if it fits every option that is given, and one of the values of an option
    that is repeated. With --plot, submissions are listed only with --event submitted, too: those
    that name the plot. The start of the run is listed unless --at has a first round.

    \b
    Examples:
      goldrush log run.journal --plot 3,4 --at 1-50
      goldrush log run.journal --event raid_resolved --agent 3 --json
    """
    from goldrush.replay.journal.story import narrated
    from goldrush.replay.run import Run

    first, last = at or (None, None)
    events = Run(journal).events(
        *(name.strip() for text in names for name in text.split(",")),
        first=first, last=last, agent=agents or None, plot=[*plots] or None,
    )  # fmt: skip
    head = next(events, None)
    if head is None:
        echo_error("goldrush: no event matches")
        return
    events = chain([head], events)
    if as_json:
        for event in events:
            echo_json_line(event.as_dict())
        return
    events, told = tee(events)
    for event, line in zip(events, narrated(journal, told), strict=True):
        sys.stdout.write(f"{event.unit:>9}  {escaped(line)}\n")
