"""The season of a worker as sentences, and why it lost its seat."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from goldrush.agents.worlds.competition.formats import format_number
from goldrush.kernel.measures import mean
from goldrush.kernel.text import format_count
from goldrush.kernel.worlds.competition.terms import EliminationCause, Status
from goldrush.replay.text import format_list
from goldrush.replay.worlds.competition.careers import Career, Careers, Departure
from goldrush.replay.worlds.competition.right import Naming

MOVES_MAX: Final = 6  # losses of a seat that a career tells one by one: the first of them


def format_departure(departure: Departure, name: Naming) -> str:
    """Why a worker lost its seat, by the rule and its numbers, and who has the seat now."""
    who = name(departure.agent)
    settled = departure.settled
    if departure.cause == EliminationCause.BOTTOMS:
        lasts = ", ".join(map(str, departure.lasts))
        why = (
            f"it was last at {format_count(len(departure.lasts), 'table')} in a row (assignments "
            f"{lasts}), and {departure.limit} cost the seat"
        )
    else:
        seats = f" at {settled.tables} tables" if settled.tables > 1 else ""
        why = (
            f"it had no sparks left: {settled.before} before, {settled.points} earned, "
            f"{settled.fees} paid for its seat{seats}"
        )
    fate = "is deleted" if departure.is_deleted else "goes to the bench"
    text = f"{who} {fate}, because {why}."
    if departure.heir is None:
        return text
    heir = name(departure.heir)
    if not departure.is_new:
        return f"{text} {heir} comes back from the bench."
    return f"{text} {heir} joins in its place{' with its memory' if departure.is_deleted else ''}."


def format_career(career: Career, careers: Careers, name: Naming) -> Sequence[str]:
    """The season of a worker as sentences, which make a paragraph."""
    who = name(career.agent)
    if career.joined is None:
        came = f"{who} was there from the start"
    else:
        memory = "" if career.inherits is None else f", with the memory of {name(career.inherits)}"
        came = f"{who} joined after assignment {career.joined}{memory}"
    tables = format_count(careers.tables, "table")
    parts = [f"{came} and sat at {career.tables:,} of the season's {tables}."]
    if career.tables:
        parts += _claims(career)
        parts.append(_points(career, careers))
    parts.append(_sparks(career))
    parts += [
        f"In assignment {each.assignment} {format_departure(each, name)}"
        for each in career.departures[:MOVES_MAX]
    ]
    if career.back:
        after = format_list([f"{assignment:,}" for assignment in career.back])
        parts.append(f"It came back from the bench after assignment {after}.")
    more = len(career.departures) - MOVES_MAX
    if more > 0:
        parts.append(f"It lost its seat {more} times more.")
    parts.append(_ENDS[career.status].format(class_=career.class_))
    return parts


_ENDS: Final = {
    Status.ACTIVE: "At the end it has a {class_} seat.",
    Status.BENCHED: "At the end it is on the bench.",
    Status.GONE: "At the end it is deleted.",
}


def _claims(career: Career) -> list[str]:
    if not career.claims:
        parts = ["It never proposed anything."]
    else:
        text = (
            f"It made {format_count(career.claims, 'claim')}, of which {career.held:,} held when "
            f"tested ({100 * career.held / career.claims:.0f}%)"
        )
        off = mean(career.off)
        if off is not None and len(career.objectives) == 1:
            better = "better" if off >= 0 else "worse"
            text += f"; on average the test was {better} than claimed by {format_number(abs(off))}"
        parts = [f"{text}."]
        parts.append(
            f"Its proposal was the conclusion of {format_count(career.chosen, 'table')}."
            if career.chosen
            else "No table chose a proposal of its own."
        )
    if career.challenges:
        rightly = f"{career.sustained:,} of them" if career.sustained else "none of them"
        parts.append(
            f"It challenged {format_count(career.challenges, 'claim')} of others, {rightly} "
            "rightly."
        )
    return parts


def _points(career: Career, careers: Careers) -> str:
    rank = 1 + sum(other.points > career.points for other in careers.careers)
    assert career.best is not None  # it sat at a table
    points, assignment = career.best
    each = ""
    if career.tables > 1:
        average = format_number(career.points / career.tables, 1)
        each = f", {average} a table and at most {points} (assignment {assignment})"
    last = ""
    if career.lasts:
        last = f" It was last at {format_count(len(career.lasts), 'table')}."
    return (
        f"It scored {format_count(career.points, 'point')}{each}: number {rank} of "
        f"{len(careers.careers)} workers.{last}"
    )


def _sparks(career: Career) -> str:
    low, since = career.low
    fewest = (
        ""
        if since is None or low == career.sparks
        else (f"; the fewest were {low} (after assignment {since})")
    )
    began = format_count(career.sparks_start, "spark")
    return f"It began with {began} and ended with {career.sparks:,}{fewest}."
