"""`goldrush log`: the event stream of a journal, in words or as JSON."""

from __future__ import annotations

import json
import re
import sys

import click

from goldrush.cli.options import json_option
from goldrush.kernel.text import escaped

_AT = ("--at", "--rounds", "--assignments")
_RANGE = re.compile(r"(\d{1,9})?(?:(-)(\d{1,9})?)?", re.ASCII)


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

    first, last = _rounds(at)
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


def _rounds(text: str | None) -> tuple[int | None, int | None]:
    """The first and the last round of a range; None: from the start, to the end."""
    from goldrush.kernel.errors import BadInput

    if text is None:
        return None, None
    match = _RANGE.fullmatch(text.strip())
    if match is None or not (match[1] or match[3]):
        typed = [word.partition("=")[0] for word in sys.argv]
        option = next((word for word in reversed(typed) if word in _AT), _AT[0])
        raise BadInput(f"{option} {text} is no range", "write 12, 12-20, 12- or -20")
    first = int(match[1]) if match[1] else None
    if match[2] is None:
        return first, first
    return first, int(match[3]) if match[3] else None
