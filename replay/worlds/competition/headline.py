"""What the headline of a season says: who leads, how many claims held, how well tables chose, and
how often a worker lost its seat.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from goldrush.kernel.text import escaped, format_count
from goldrush.kernel.worlds.competition.terms import Status
from goldrush.replay.worlds.competition.careers import Careers
from goldrush.replay.worlds.competition.measures import MeasuredSeason

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
    return [_leaders(run.careers), _tables(run.careers), *unsaid]


def _leaders(careers: Careers) -> str:
    if careers.leader is None:
        return "Nobody is ranked yet."
    first, recent = careers.leader
    most = max(careers.careers, key=lambda career: career.points)
    text = f"{escaped(first.name)} ranks first with {format_count(recent, 'recent point')}"
    text += _LEFT.get(first.status, "")
    points = format_count(most.points, "point")
    if most is first:
        return f"{text}, and has scored most, {points}."
    return f"{text}; {escaped(most.name)} has scored most, {points}."


def _tables(careers: Careers) -> str:
    claims = sum(career.claims for career in careers.careers)
    held = sum(career.held for career in careers.careers)
    lost = len(careers.departures)
    left = f"{format_count(lost, 'time')} a worker lost its seat" if lost else "nobody lost a seat"
    return (
        f"{held:,} of {format_count(claims, 'claim')} held when tested; {careers.chose_best:,} of "
        f"{format_count(careers.tables, 'table')} chose the best tested of them; {left}."
    )
