"""The leaderboard as it was posted in an assignment, and all scores up to it; with the metrics of
each agent as a folder, too.

    agents/{name}/metrics.json    benchmarks/leaderboard.json

Ranks and sums are as posted; status, class and sparks of an agent as when the assignment closed. So
an agent that was deleted in that assignment is still listed, with its status `gone`.

The folder is written under a temporary name in the same parent and then moved to its path, whole or
not at all. Agents' names come from the journal, which is untrusted: a name that could lead out of
the folder is refused before anything is written.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from operator import attrgetter
from pathlib import Path
from typing import Any, Final

import attrs

from goldrush.kernel.errors import BadInput, format_value
from goldrush.kernel.measures import mean
from goldrush.kernel.walk import ROWS, Walk
from goldrush.kernel.worlds.competition.events import Scored
from goldrush.kernel.worlds.competition.state import AgentState, SeasonState
from goldrush.kernel.worlds.competition.terms import VOCABULARY, Class, Status, names_of
from goldrush.replay.data.columns import TEXT, WHOLE, Column, Row, Table
from goldrush.replay.data.tables import unit_column
from goldrush.replay.folders import NewFolder
from goldrush.replay.journal.forged import reader_of, reading
from goldrush.replay.journal.outline import outline_of
from goldrush.replay.worlds.competition.ended import assignments_of, ended
from goldrush.replay.worlds.competition.steps import season_world

_NAME: Final = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*", re.ASCII)  # of an agent, as worlds give them


ASSIGNMENT: Final = attrs.evolve(unit_column(VOCABULARY), value=attrgetter("state.assignment"))


def _ranks_in(state: SeasonState) -> Iterator[Row]:
    """The rows of RANKS in the state before an assignment closes."""
    front = state.assignment, state.day
    for rank, ordinal, *sums in state.leaderboard:
        agent = state.agents[ordinal]
        who = ordinal, agent.name, agent.class_, agent.status, agent.sparks
        yield *front, rank, *sums, *who


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


@attrs.frozen
class SeasonAt:
    """A season after an assignment: its state, its rows of the table `ranks`, and by agent all
    scores so far, each with the number of its assignment.
    """

    assignment: int
    state: SeasonState
    ranks: Sequence[Mapping[str, object]]
    scores: Mapping[int, Sequence[tuple[int, Scored]]]


def season_at(path: str | Path, assignment: int | None = None) -> SeasonAt:
    """A season after an assignment, by default the last closed one.

    Raises BadInput for an unknown assignment, and what reading a journal, up to that assignment,
    raises.
    """
    scores: dict[int, list[tuple[int, Scored]]] = {}
    with reading(path) as reader:
        world = season_world(reader)
        outline = outline_of(path)
        closed, damage = VOCABULARY.number(outline.closed), outline.trouble
        last = closed if assignment is None else assignment
        if damage is not None and (assignment is None or assignment > closed):
            raise damage
        if not 0 <= last <= closed:
            which = "" if assignment is None else f" {assignment}"
            instead = f"give one from 0 to {closed}" if closed >= 0 else "play on with `resume`"
            raise BadInput(f"{path} has no closed assignment{which}", instead)
        for each in ended(world, Walk(world, reader, ROWS)):
            for score in each.of(Scored):
                scores.setdefault(score.agent, []).append((each.state.assignment, score))
            if each.state.assignment == last:
                break
        names = [column.name for column in RANKS.own]
        ranks = [dict(zip(names, row, strict=True)) for row in _ranks_in(each.state)]
        return SeasonAt(last, world.close(each.state), ranks, scores)


@reader_of
def export(path: str | Path, folder: str | Path, assignment: int | None = None) -> SeasonAt:
    """Write a season, as of the end of an assignment, into a new or empty folder. Returns the
    season that was written. `assignment`: from 0; None: the last closed one.

    Raises BadInput if there is no such closed assignment, the folder holds something, or the name
    of an agent cannot be the name of a folder; JournalError if the journal cannot be read;
    WriteFailed if the system refuses to write.
    """
    season = season_at(path, assignment)
    files = as_files(season)
    if os.path.islink(folder) or (os.path.isdir(folder) and os.listdir(folder)):
        raise BadInput(f"{folder} is not an empty folder", "give a new one")
    with NewFolder(str(folder)) as new:
        for name, text in files.items():
            new.add(name, text.encode())
        new.publish()
    return season


def as_files(season: SeasonAt) -> dict[str, str]:
    """The contents of the files by their paths relative to the folder, separated by `/`.

    Raises BadInput if the name of an agent cannot be the name of a folder, or two have the same.
    """
    files: dict[str, str] = {}
    for agent in season.state.agents.values():
        name = f"agents/{agent.name}/metrics.json"
        if _NAME.fullmatch(agent.name) is None or name in files:
            problem = f"agent {agent.ordinal} is called {format_value(agent.name)}"
            raise BadInput(f"{problem}, which its folder cannot be", "nothing is written")
        files[name] = _json(_metrics(season, agent))
    files["benchmarks/leaderboard.json"] = _json(season.ranks)
    return files


def _json(value: Any) -> str:
    return json.dumps(value, indent=2) + "\n"


def _metrics(season: SeasonAt, agent: AgentState) -> dict[str, Any]:
    """The metrics of an agent: all that the state has of it, its sum over the leaderboard's window
    on the day of the assignment (the state is already in the next one), and its scores.
    """
    config = season.state.config
    today = config.day(season.assignment)
    scores = season.scores.get(agent.ordinal, ())
    return {
        "after_assignment": season.assignment,
        **{name.rstrip("_"): value for name, value in attrs.asdict(agent).items()},
        "rolling": sum(total for day, total in agent.recent if config.is_recent(day, today)),
        "mean_total": mean([score.total for _, score in scores]),
        "scores": [{"assignment": number, **score._asdict()} for number, score in scores],
    }
