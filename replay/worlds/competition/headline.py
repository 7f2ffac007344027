"""What the headline of a season says: who leads, how many claims held, how well tables chose, and
how often a worker lost its seat.
"""

from __future__ import annotations

from collections.abc import Sequence

from goldrush.kernel.text import escaped, format_count
from goldrush.kernel.worlds.competition.config import SeasonConfig
from goldrush.replay.data.measures import Measured
from goldrush.replay.worlds.competition.careers import Careers, careers_of
from goldrush.replay.worlds.competition.story import names_in


def headline(run: Measured[SeasonConfig]) -> Sequence[str]:
    """The sentences of a measured season, which is read again. Raises as careers_of."""
    names = names_in(run.path)
    careers = careers_of(run.path)
    return [_leaders(careers, names), _tables(careers)]


def _leaders(careers: Careers, names: dict[int, str]) -> str:
    if not careers.leaderboard:
        return "Nobody is ranked yet."
    _, first, recent, _ = careers.leaderboard[0]
    most = max(careers.careers, key=lambda career: career.points)
    text = f"{escaped(names[first])} ranks first with {format_count(recent, 'recent point')}"
    points = format_count(most.points, "point")
    if most.agent == first:
        return f"{text}, and has scored most, {points}."
    return f"{text}; {escaped(names[most.agent])} has scored most, {points}."


def _tables(careers: Careers) -> str:
    claims = sum(career.claims for career in careers.careers)
    held = sum(career.held for career in careers.careers)
    lost = len(careers.departures)
    left = f"{format_count(lost, 'time')} a worker lost its seat" if lost else "nobody lost a seat"
    return (
        f"{held:,} of {format_count(claims, 'claim')} held when tested; {careers.chose_best:,} of "
        f"{format_count(careers.tables, 'table')} chose the best tested of them; {left}."
    )
