"""`goldrush leaderboard`: ranks and scores of the workers of a season."""

from __future__ import annotations

from goldrush.cli.command import command, option
from goldrush.cli.options import Journal, Json, Output
from goldrush.cli.text import echo
from goldrush.kernel.text import escaped, format_count
from goldrush.replay.text import format_table


@command()
def leaderboard(
    *,
    journal: Journal,
    at: int | None = option(
        "--at --assignment", "N", "After this assignment (default: the last)."
    ),
    to: str | None = option(
        "--to", "DIR", "Write it and the metrics of each agent to a new folder.",
        type=Output("folder"),
    ),
    as_json: Json,
) -> None:  # fmt: skip
    """Show the leaderboard of a season.

    Ranks are by recent points, which are those of the last days, then by all points, then by the
    time of joining. With --to it is written to benchmarks/leaderboard.json, and all about an agent
    to agents/NAME/metrics.json.

    \b
    Examples:
      goldrush leaderboard s.journal
      goldrush leaderboard s.journal --at 5 --to after-5
    """
    from goldrush.kernel.worlds.competition.terms import Status
    from goldrush.replay.worlds.competition.leaderboard import export, season_at

    if to is not None:
        season = export(journal, to, at)
        agents = format_count(len(season.state.agents), "agent")
        text = f"{to}: {agents}, as after assignment {season.assignment}"
        echo(as_json, lambda: list(season.ranks), lambda: text)
        return
    ranks = season_at(journal, at).ranks
    titles = ("rank", "worker", "", "class", "status", "recent points", "points", "sparks")
    rows = [
        (
            str(row["rank"]), str(row["agent"]), escaped(str(row["name"])), str(row["class"]),
            "deleted" if row["status"] == Status.GONE else str(row["status"]),
            str(row["rolling"]), str(row["all_time"]), str(row["sparks"]),
        )
        for row in ranks
    ]  # fmt: skip
    head = "".join(f"after assignment {row['assignment']}, day {row['day']}" for row in ranks[:1])
    table = format_table([titles, *rows], numbers=(0, 1, 5, 6, 7))
    echo(as_json, lambda: list(ranks), lambda: f"{head}\n\n{table}")
