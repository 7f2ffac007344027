"""The leaderboard as it was posted in an assignment.

Ranks and sums are as posted; status, class and sparks of an agent as when the assignment closed. So
an agent that was deleted in that assignment is still listed, with its status `gone`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from operator import attrgetter
from pathlib import Path
from typing import Final

import attrs

from goldrush.kernel.worlds.competition.state import SeasonState
from goldrush.kernel.worlds.competition.terms import VOCABULARY, Class, Status, names_of
from goldrush.replay.data.columns import TEXT, WHOLE, Column, Row, Table
from goldrush.replay.data.tables import unit_column
from goldrush.replay.journal.forged import reader_of
from goldrush.replay.journal.outline import outline_of
from goldrush.replay.worlds.competition.ended import assignments_of, ended_at

ASSIGNMENT: Final = attrs.evolve(unit_column(VOCABULARY), value=attrgetter("state.assignment"))


def _ranks_in(state: SeasonState) -> Iterator[Row]:
    """The rows of RANKS in the state before an assignment closes."""
    for rank, ordinal, rolling, all_time in state.leaderboard:
        agent = state.agents[ordinal]
        yield (
            state.assignment, state.day, rank, rolling, all_time, ordinal, agent.name,
            agent.class_, agent.status, agent.sparks,
        )  # fmt: skip


RANKS: Final = Table(
    "ranks",
    "a line of the leaderboard that was posted in an assignment",
    (
        ASSIGNMENT,
        Column("day", WHOLE, "its day, from 0", unit="days"),
        Column("rank", WHOLE, "by the rolling sum, from 1"),
        Column("rolling", WHOLE, "the sum of totals in the leaderboard's window", unit="points"),
        Column("all_time", WHOLE, "the sum of all totals", unit="points"),
        Column("agent", WHOLE, "who, by ordinal"),
        Column("name", TEXT, "the agent's name"),
        Column("class", TEXT, "what it runs as: " + ", ".join(names_of(Class))),
        Column("status", TEXT, "when the assignment closes: " + ", ".join(names_of(Status))),
        Column("sparks", WHOLE, "what it has when the assignment closes", unit="sparks"),
    ),
    lambda run: (row for each in assignments_of(run) for row in _ranks_in(each.state)),
)


@reader_of
def ranks_at(path: str | Path, assignment: int | None = None) -> list[Mapping[str, object]]:
    """The rows of RANKS of an assignment, by the names of its columns. `assignment`: from 0; None:
    the last closed one.

    Raises BadInput if there is no such closed assignment; JournalError if the journal cannot be
    read.
    """
    if assignment is None:
        outline = outline_of(path)
        if outline.trouble is not None:
            raise outline.trouble
        assignment = max(0, VOCABULARY.number(outline.closed))
    names = [column.name for column in RANKS.own]
    rows = _ranks_in(ended_at(path, assignment).state)
    return [dict(zip(names, row, strict=True)) for row in rows]
