"""`goldrush replay`: the state after a round, and its events."""

from __future__ import annotations

import time
from contextlib import suppress
from typing import TYPE_CHECKING, Final

import click

from goldrush.cli.command import command, option
from goldrush.cli.options import Journal, Json, NumberRange, at_option
from goldrush.cli.screen import frame_of, is_terminal, paint_of, screen
from goldrush.cli.text import echo, echo_error
from goldrush.kernel.text import escaped

if TYPE_CHECKING:
    pass

SPEED: Final = 4.0  # rounds a second
SPEED_MIN: Final = 0.1
SPEED_MAX: Final = 100.0


@command()
def replay(
    *,
    journal: Journal,
    at: int | None = at_option("Round, or assignment (default: the last; with --play the start)."),
    table_: int | None = option("--table", "N", "Seasons: only this table."),
    brief: bool = option(
        "--brief", help="Only the main events: what was said and decided, and the scores."
    ),
    plays: bool = option("--play", help="Show all rounds from --at on, in a terminal."),
    speed: float | None = option(
        "--speed", "X", f"Rounds per second for --play (default: {SPEED:g}).",
        type=NumberRange(SPEED_MIN, SPEED_MAX),
    ),
    as_json: Json,
) -> None:  # fmt: skip
    """Show a round: map, agents, events.

    Of a season it shows an assignment: tables, contributions, conclusions, scores. Round 0 is the
    start of a mining run, -1 the start of a season, whose first assignment is 0.

    \b
    Examples:
      goldrush replay run.journal
      goldrush replay run.journal --at 12 --json
    """
    from goldrush.replay.journal.rebuild import last_unit
    from goldrush.replay.journal.story import in_brief, narrator
    from goldrush.replay.run import Run

    if plays:
        if as_json or brief or table_ is not None:
            raise click.UsageError("--play takes no --json, --brief or --table; leave them out")
        play(journal, at, speed or SPEED)
        return
    if speed is not None:
        raise click.UsageError("--speed needs --play")
    trouble = None
    if at is None:
        at, trouble = last_unit(journal)
    run = Run(journal)
    rebuilt = run.at(at)
    if trouble is not None:
        unit = rebuilt.vocabulary.unit
        echo_error(f"goldrush: {trouble}; the last whole {unit} is shown")
    events = rebuilt.events
    if table_ is not None:
        events = rebuilt.at_table(table_)
    if brief:
        events = in_brief(journal, events)
    echo(
        as_json,
        lambda: {
            "journal": rebuilt.path,
            "world": rebuilt.header.world,
            rebuilt.vocabulary.unit: rebuilt.round,
            "digest": f"{rebuilt.digest:016x}",
            "agents": list(run.tools.labels(rebuilt.state)),
            **(run.tools.fields(rebuilt) or {}),
            "events": [event.as_dict() for event in events],
        },
        lambda: "\n".join(
            [
                rebuilt.format(paint_of(rebuilt, run.tools)),
                "",
                *map(escaped, narrator(journal)(events)),
            ]
        ),
    )


def play(journal: str, at: int | None, speed: float) -> None:
    """Show the rounds of a journal one after the other in the terminal, to the end or to Ctrl-C.
    `at`: the first round; None for the start; `speed`: rounds per second.

    Raises:
        BadInput: standard output is not a terminal, or there is no such round.
        JournalError: what reading the journal raises.
    """
    from goldrush.kernel.errors import BadInput
    from goldrush.replay.find import tools_at
    from goldrush.replay.journal.rebuild import rebuilt_from, world_at
    from goldrush.replay.journal.story import narrator

    if not is_terminal():
        raise BadInput("--play needs a terminal", "leave it out, and give the round with --at")
    tools, tells = tools_at(journal), narrator(journal)
    first = world_at(journal).vocabulary.number(0) if at is None else at
    rounds = rebuilt_from(journal, first)
    shown = next(rounds)  # a round that does not exist is refused before anything is shown
    with suppress(KeyboardInterrupt), screen() as show:
        show(frame_of(shown, tools, tells))
        for shown in rounds:
            time.sleep(1 / speed)
            show(frame_of(shown, tools, tells))
