"""`goldrush replay`: the state after a round, and its events."""

from __future__ import annotations

from goldrush.cli.command import command
from goldrush.cli.options import Journal, Json, at_option
from goldrush.cli.text import echo, echo_error, program
from goldrush.kernel.text import escaped


@command()
def replay(
    *,
    journal: Journal,
    at: int | None = at_option("Round, or other unit (default: the last)."),
    as_json: Json,
) -> None:
    """Show a round: map, agents, events.

    The unit before the first one is the start of the run: round 0 where rounds count from 1.

    \b
    Examples:
      goldrush replay run.journal
      goldrush replay run.journal --at 12 --json
    """
    from goldrush.replay.journal.story import narrator
    from goldrush.replay.journal.verify import way_out_of
    from goldrush.replay.run import Run

    run = Run(journal)
    rebuilt = run.last() if at is None else run.at(at)
    trouble = run.info().trouble if at is None else None
    if trouble is not None:
        unit = rebuilt.vocabulary.unit
        more = way_out_of(journal, program())
        echo_error(f"goldrush: {trouble}{more}; the last whole {unit} is shown")
    echo(
        as_json,
        lambda: {
            **rebuilt.as_dict(),
            "agents": list(run.tools.labels(rebuilt.state)),
            **(run.tools.fields(rebuilt) or {}),
            "events": [event.as_dict() for event in rebuilt.events],
        },
        lambda: "\n".join([str(rebuilt), "", *map(escaped, narrator(journal)(rebuilt.events))]),
    )
