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
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import attrs

from goldrush.kernel.errors import BadInput, format_value
from goldrush.kernel.files import NewFolder
from goldrush.kernel.journal import JournalReader
from goldrush.kernel.measures import mean
from goldrush.kernel.walk import ROWS, Walk
from goldrush.kernel.worlds.competition.events import Scored
from goldrush.kernel.worlds.competition.state import AgentState, SeasonState
from goldrush.replay.journal.forged import reader_of
from goldrush.replay.journal.rebuild import last_unit, rebuild
from goldrush.replay.worlds.competition.ended import ended
from goldrush.replay.worlds.competition.steps import season_world

_NAME: Final = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*", re.ASCII)  # of an agent, as worlds give them


@attrs.frozen
class Line:
    """One line of the leaderboard.

    `served`: assignments in which it had a seat; `tables`: tables at which it was scored, of which
    an assignment may have several; `mean_total`: the mean of these scores.
    """

    rank: int
    agent: int
    name: str
    class_: str
    status: str
    rolling: int
    all_time: int
    sparks: int
    served: int
    tables: int
    mean_total: float | None


@attrs.frozen
class Leaderboard:
    """The leaderboard after an assignment; sums roll over `rolling_days` days."""

    assignment: int
    day: int
    rolling_days: int
    rows: Sequence[Line]

    def as_dict(self) -> dict[str, Any]:
        rows = [_as_dict(row) for row in self.rows]
        return {**attrs.asdict(self, recurse=False), "rows": rows}


def _as_dict(record: attrs.AttrsInstance) -> dict[str, Any]:
    return {name.rstrip("_"): value for name, value in attrs.asdict(record).items()}


@attrs.frozen
class SeasonAt:
    """A season after an assignment: its state, and by agent all scores so far, each with the number
    of its assignment.
    """

    assignment: int
    state: SeasonState
    scores: Mapping[int, Sequence[tuple[int, Scored]]]

    @property
    def leaderboard(self) -> Leaderboard:
        config = self.state.config
        rows = [self._line(*row) for row in self.state.leaderboard]
        return Leaderboard(self.assignment, config.day(self.assignment), config.rolling_days, rows)

    def _line(self, rank: int, ordinal: int, rolling: int, all_time: int) -> Line:
        agent = self.state.agents[ordinal]
        return Line(
            rank, ordinal, agent.name, agent.class_, agent.status, rolling, all_time, agent.sparks,
            agent.served, len(self.scores.get(ordinal, ())), self.mean_total(ordinal),
        )  # fmt: skip

    def mean_total(self, agent: int) -> float | None:
        """The mean of an agent's totals; None if it has none."""
        return mean([score.total for _, score in self.scores.get(agent, ())])


@reader_of
def leaderboard(path: str | Path, assignment: int | None = None) -> Leaderboard:
    """The leaderboard posted after an assignment. Raises as `season_at` does."""
    return season_at(path, assignment).leaderboard


@reader_of
def season_at(path: str | Path, assignment: int | None = None) -> SeasonAt:
    """A season after an assignment, by default the last closed one.

    Raises BadInput for an unknown assignment, and what reading a journal, up to that assignment,
    raises.
    """
    scores: dict[int, list[tuple[int, Scored]]] = {}
    with JournalReader(path) as reader:
        world = season_world(reader)
        last, damage = last_unit(path)
        if assignment is not None:
            last = assignment
        elif damage is not None:
            raise damage
        if last < 0:
            raise BadInput(f"{path} has no closed assignment {last}", "give one from 0 on")
        state = rebuild(path, last, world=world).state
        for one in ended(world, Walk(world, reader, ROWS)):
            for score in one.of(Scored):
                scores.setdefault(score.agent, []).append((one.state.assignment, score))
            if one.state.assignment == last:
                break
    return SeasonAt(last, state, scores)


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
    files["benchmarks/leaderboard.json"] = _json(season.leaderboard.as_dict())
    return files


def _json(value: Any) -> str:
    return json.dumps(value, indent=2) + "\n"


def _metrics(season: SeasonAt, agent: AgentState) -> dict[str, Any]:
    """The metrics of an agent: all that the state has of it, its sum over the leaderboard's window
    on the day of the assignment (the state is already in the next one), and its scores.
    """
    config = season.state.config
    today = config.day(season.assignment)
    return {
        "after_assignment": season.assignment,
        **_as_dict(agent),
        "rolling": sum(total for day, total in agent.recent if config.is_recent(day, today)),
        "mean_total": season.mean_total(agent.ordinal),
        "scores": [
            {"assignment": number, **score._asdict()}
            for number, score in season.scores.get(agent.ordinal, ())
        ],
    }
