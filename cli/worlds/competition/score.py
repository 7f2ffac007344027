"""`goldrush score`: the scores of a worker of a season, computed again."""

from __future__ import annotations

from goldrush.cli.codes import DIFFERS, DONE
from goldrush.cli.command import command, option
from goldrush.cli.options import Journal, Json
from goldrush.cli.text import as_dicts, echo


@command()
def score(
    *,
    journal: Journal,
    at: int = option("--at --assignment", "N", "Assignment.", required=True),
    agent: str = option("--agent", "AGENT", "Worker, by number or name.", required=True),
    place: str | None = option("--place --table", "TABLE", "Table (default: all)."),
    as_json: Json,
) -> int:
    """Recompute the scores of a worker of a season.

    Of one assignment, with all that they rest on. Exit code: 0 if the recorded scores hold, 1 if
    not, 2 if they could not be checked.

    \b
    Examples:
      goldrush score s.journal --at 5 --agent ada
      goldrush score s.journal --at 5 --agent ada --json
    """
    from goldrush.replay.find import tools_at
    from goldrush.replay.journal.story import agent_of
    from goldrush.replay.worlds.competition.score import scores

    table = None if place is None else tools_at(journal).location_of(journal, place)
    derived = scores(journal, at, agent_of(journal, agent), table)
    echo(as_json, as_dicts(derived), lambda: "\n\n".join(map(str, derived)))
    return DONE if all(score.holds for score in derived) else DIFFERS
