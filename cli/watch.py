"""`goldrush watch`: a run followed while it is recorded."""

from __future__ import annotations

import json
from collections import Counter
from typing import Final

import click

from goldrush.cli.command import command, option
from goldrush.cli.options import Journal, NumberRange, json_option
from goldrush.cli.text import echo_text

EVERY_MIN: Final = 0.1
EVERY_MAX: Final = 3600.0


@command()
def watch(
    *,
    journal: Journal,
    every: float = option(
        "--every", "SECONDS", "Seconds between two reads of the file (default: 1).",
        type=NumberRange(EVERY_MIN, EVERY_MAX), default=1.0,
    ),
    as_json: bool = json_option("Print one JSON object per round."),
) -> None:  # fmt: skip
    """Follow a run while it is recorded.

    Prints one line per round, from the first, as it closes. Ends with the run. The file is read,
    never locked.

    \b
    Examples:
      goldrush watch run.journal
      goldrush watch run.journal --every 0.2 --json
    """
    from goldrush.replay.run import Run
    from goldrush.replay.unit import format_line, length_of

    run = Run(journal)
    for unit in run.follow(every):
        of, noun = length_of(run.tools, unit.state), unit.vocabulary.unit
        if unit.round < unit.vocabulary.first:
            continue
        if as_json:
            events = Counter(event.name for event in unit.events)
            click.echo(json.dumps({**unit.as_dict(), "of": of, "events": dict(events)}))
        else:
            place = f"{noun} {unit.round}{'' if of is None else f' of {of}'}"
            echo_text(f"{place}: {format_line(unit, run.tools)}")
