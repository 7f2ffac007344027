"""What the headline of a season says: who leads, how many claims held, how well tables chose."""

from __future__ import annotations

from typing import Final

from goldrush.kernel.text import escaped, format_count
from goldrush.kernel.worlds.competition.terms import Status
from goldrush.replay.data.measures import Remarks
from goldrush.replay.worlds.competition.measures import MeasuredSeason

# What became of a worker who still stands on the leaderboard of its last assignment.
_LEFT: Final = {
    Status.GONE: ", though it was then deleted",
    Status.BENCHED: ", though on the bench",
}


def headline(run: MeasuredSeason) -> Remarks:
    """The sentences of a measured season."""
    unsaid = [
        f"The contribution given by hand for agent {agent} in assignment {at}, table {table}, "
        f"round {round}, was not used: the agent had no turn there."
        for at, table, round, agent in run.unsaid
    ]
    return Remarks([_leader(run), *_tables(run), *unsaid], lead=True)


def _leader(run: MeasuredSeason) -> str:
    if run.leader is None:
        return "Nobody is ranked yet."
    name, status, recent = run.leader
    points = format_count(recent, "recent point")
    return f"{escaped(name)} ranks first with {points}{_LEFT.get(status, '')}."


def _tables(run: MeasuredSeason) -> list[str]:
    held, chose_best = run.of("held"), run.of("chose_best")
    if held is None or chose_best is None:
        return []
    return [
        f"On average {held:.0%} of the claims of a table held when tested; {chose_best:.0%} of "
        "tables chose the best tested claim."
    ]
