"""What the headline of a season says: who leads, how many claims held, how well tables chose, and
how often a worker lost its seat.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from goldrush.kernel.text import escaped, format_count
from goldrush.kernel.worlds.competition.terms import Status
from goldrush.replay.worlds.competition.measures import MeasuredSeason, Standing

# What became of a worker who still stands on the leaderboard of its last assignment.
_LEFT: Final = {
    Status.GONE: ", though it was then deleted",
    Status.BENCHED: ", though on the bench",
}


def headline(run: MeasuredSeason) -> Sequence[str]:
    """The sentences of a measured season."""
    unsaid = [
        f"The contribution given by hand for agent {agent} in assignment {at}, table {table}, "
        f"round {round}, was not used: the agent had no turn there."
        for at, table, round, agent in run.unsaid
    ]
    return [_leaders(run.standing), _tables(run.standing), *unsaid]


def _leaders(standing: Standing) -> str:
    if standing.leader is None:
        return "Nobody is ranked yet."
    first, status, recent = standing.leader
    most, total = standing.most
    text = f"{escaped(first)} ranks first with {format_count(recent, 'recent point')}"
    text += _LEFT.get(status, "")
    points = format_count(total, "point")
    if most == first:
        return f"{text}, and has scored most, {points}."
    return f"{text}; {escaped(most)} has scored most, {points}."


def _tables(standing: Standing) -> str:
    lost = standing.lost
    left = f"{format_count(lost, 'time')} a worker lost its seat" if lost else "nobody lost a seat"
    return (
        f"{standing.held:,} of {format_count(standing.claims, 'claim')} held when tested; "
        f"{standing.chose_best:,} of {format_count(standing.tables, 'table')} chose the best "
        f"tested of them; {left}."
    )
