"""Seasons told a second time: each assignment by its events, and by what the oracle makes of what
was done.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from goldrush.kernel.fold import block_events, units
from goldrush.kernel.journal import FORK, JournalReader
from goldrush.kernel.world import RecordedEvent, Step
from goldrush.kernel.worlds.competition import competition
from tests.journals import events_of
from tests.laws.seasons import logical
from tests.season_oracle import SeasonOracle, Table

Row = dict[str, Any]

WORLD = competition(None)


class Assignment:
    """An assignment: who is called what, its tables, and its events, each with the code of its
    refusal.
    """

    def __init__(self, number: int, names: dict[int, str], season: SeasonOracle) -> None:
        self.number = number
        self.names = names
        self.arena = season.arena
        self.tables: list[Table] = season.tables  # it begins another list when it closes one
        self.events: list[RecordedEvent] = []
        self.codes: dict[int, str] = {}

    def take(self, season: SeasonOracle, step: Step) -> None:
        """The next step, in which the season moves on."""
        acts, followed = (
            list(block_events(WORLD, self.number + 1, block))
            for block in (step.inputs, step.derived)
        )
        season.step([act.as_dict() for act in acts])
        for event in followed:
            if event.name == "refused":
                self.codes[id(acts[event["act"]["index"]])] = event["code"]
            if event.name == "joined":
                self.names[event["ordinal"]] = event["name"]
        self.events += [*acts, *followed]

    def all(self, name: str, table: Table | None = None) -> list[RecordedEvent]:
        """The events of a name (of a table), refused ones included."""
        return [
            event for event in self.events
            if event.name == name and (table is None or event["table"] == table.number)
        ]  # fmt: skip

    def done(self, name: str, table: Table | None = None) -> list[RecordedEvent]:
        """Those of them that were not refused."""
        return [event for event in self.all(name, table) if self.code(event) is None]

    def code(self, event: RecordedEvent) -> str | None:
        return self.codes.get(id(event))

    def family(self, table: Table) -> str:
        subject = [table.objective, table.treatment]
        return next(str(of[3]) for of in self.arena.subjects if [of[0], of[2]] == subject)


def assignments_of(path: Path) -> Iterator[Assignment]:
    """The closed assignments of a season."""
    start, *_ = events_of(path)
    season = SeasonOracle(logical(start["config"]), start["cast"])
    names = {entry["ordinal"]: entry["name"] for entry in start["cast"]}
    with JournalReader(path) as reader:
        commits = list(reader)
    forks = {commit.unit: commit.setup or {} for commit in commits if commit.kind == FORK}
    for unit in units(commits, WORLD.arrange):
        assignment = Assignment(unit.number - 1, dict(names), season)
        for step in unit.steps:
            assignment.take(season, step)
        if unit.digest is not None:
            yield assignment
        names = assignment.names
        season.config.update(forks.get(unit.number, {}).get("changes", {}))
