"""A season as a folder: the metrics of each agent, and the leaderboard.

    agents/{name}/metrics.json    benchmarks/leaderboard.json

The folder is written under a temporary name in the same parent and then moved to its path, whole or
not at all. Agents' names come from the journal, which is untrusted: a name that could lead out of
the folder is refused before anything is written.
"""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any, Final

import attrs

from goldrush.kernel.errors import BadInput, format_value
from goldrush.kernel.files import NewFolder
from goldrush.kernel.worlds.competition.state import AgentState
from goldrush.replay.journal.forged import reader_of
from goldrush.replay.worlds.competition.leaderboard import SeasonAt, season_at

_NAME: Final = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*", re.ASCII)  # of an agent, as worlds give them


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
    _check_free(str(folder))
    with NewFolder(str(folder)) as new:
        for name, text in files.items():
            new.add(name, text.encode())
        _check_free(str(folder))
        new.publish()
    return season


def _check_free(folder: str) -> None:
    if os.path.islink(folder) or (os.path.isdir(folder) and os.listdir(folder)):
        raise BadInput(f"{folder} is not an empty folder", "give a new one")


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
    """The metrics of an agent; those of workers are null for other roles."""

    def of_worker(value: Any) -> Any:
        return value if agent.is_worker else None

    scores = [
        {"assignment": number, **{k: v for k, v in score._asdict().items() if k != "agent"}}
        for number, score in season.scores.get(agent.ordinal, ())
    ]
    return {
        "after_assignment": season.assignment,
        "agent": agent.ordinal,
        "name": agent.name,
        "role": agent.role,
        "policy": agent.policy,
        "class": of_worker(agent.class_),
        "status": agent.status,
        "stage": agent.stage,
        "self_determined": agent.is_self_determined,
        "sparks": of_worker(agent.sparks),
        "served": agent.served,
        "bottoms": of_worker(agent.bottoms),
        "rolling": of_worker(_rolling(season, agent)),
        "all_time": of_worker(agent.all_time),
        "mean_total": season.mean_total(agent.ordinal),
        "scores": scores,
        "contract": None if agent.contract is None else attrs.asdict(agent.contract),
        "instructions": dict(agent.instructions),
        "persona": agent.persona,
        "traits": list(agent.traits),
        "memory": {
            family: [attrs.asdict(fact) for fact in facts] for family, facts in agent.memory.items()
        },
    }


def _rolling(season: SeasonAt, agent: AgentState) -> int:
    """The rolling sum on the day of the assignment; the state is already in the next one."""
    config = season.state.config
    today = config.day(season.assignment)
    return sum(total for day, total in agent.recent if config.is_recent(day, today))
