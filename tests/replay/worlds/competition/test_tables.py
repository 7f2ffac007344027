"""Tables of seasons against the events that they are made of, told a second time from these."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from goldrush.kernel.world import RecordedEvent
from goldrush.replay.data.columns import FRONT, Table
from goldrush.replay.data.run_data import run_at
from goldrush.replay.worlds.competition.tables import (
    CONTRIBUTIONS,
    RANKS,
    ROUNDTABLES,
    SCORES,
    STANCES,
)
from tests.golden import SEASON_NAMES, season_path
from tests.journals import commits_of, write
from tests.replay.worlds.competition.told import Assignment, assignments_of
from tests.season_oracle import Table as Roundtable
from tests.seasons import HEADER
from tests.stances import apart, odd, silent
from tests.tables import by_name

OWN = (ROUNDTABLES, CONTRIBUTIONS, STANCES, SCORES, RANKS)

Row = dict[str, Any]


def own_rows(table: Table, path: Path) -> list[Row]:
    """The rows of a season, without what all rows of it begin with."""
    front = [column.name for column in FRONT]
    found = by_name(table, run_at(path))
    return [{key: row[key] for key in row if key not in front} for row in found]


def plain(conduct: Any) -> str | None:
    return conduct if conduct is None or isinstance(conduct, str) else json.dumps(conduct)


# What the tables hold.


@pytest.mark.parametrize("name", sorted(SEASON_NAMES))
def test_contributions_are_those_that_were_made_and_what_became_of_them(name: str) -> None:
    path = season_path(name)
    expected = [
        {"assignment": one.number, **contribution(one, table, event)}
        for one in assignments_of(path)
        for table in one.tables
        for event in one.done("spoke", table)
    ]

    assert expected == [row for row in own_rows(CONTRIBUTIONS, path) if row["code"] is None]


def contribution(one: Assignment, table: Roundtable, event: RecordedEvent) -> Row:
    at, said = event["id"], table.said[event["id"]]
    claim, edge = event["claim"] or (None, None)
    return {
        "table": table.number, "agent": event["agent"], "name": one.names[event["agent"]],
        "round": event["round"], "id": at, "move": event["move"],
        "conduct": plain(event["conduct"]), "claim": claim, "edge": edge,
        "target": event["target"], "part": event["part"],
        "because": None if event["because"] is None else event["because"][0],
        "words": event["words"], "code": None,
        "redirected": event["move"] != "pass" and said not in table.counted(),
        "sustained": table.is_sustained(said) if event["move"] == "challenge" else None,
        **became(table, event),
    }  # fmt: skip


def became(table: Roundtable, event: RecordedEvent) -> Row:
    names = ("tested", "edge_tested", "held", "edge_held", "sharp", "concluded")
    if event["move"] not in ("propose", "amend"):
        return dict.fromkeys(names)
    at, tests = event["id"], table.tests
    held, edge_held = (
        table.holds(at, part) if (at, part) in tests else None for part in ("base", "edge")
    )
    sharp = None if held is None else table.is_sharp(at)
    values = (
        tests.get((at, "base")), tests.get((at, "edge")), held, edge_held, sharp,
        table.conclusion == at,
    )  # fmt: skip
    return dict(zip(names, values, strict=True))


@pytest.mark.parametrize("name", [*sorted(SEASON_NAMES), "odd", "apart", "silent"])
def test_stances_are_those_of_the_talk_of_the_proof_and_of_the_end(name: str) -> None:
    made = {"odd": odd, "apart": apart, "silent": silent}
    path = made[name]() if name in made else season_path(name)
    found = own_rows(STANCES, path)
    expected = [
        {"assignment": one.number, "table": table.number, **stance(one, table, agent)}
        for one in assignments_of(path)
        for table in one.tables
        for agent in table.order
    ]

    assert expected == found
    assert name not in ("odd", "apart", "silent") or any(r["stood"] for r in found) == (
        name == "odd"
    )
    assert all(row["stood"] or row["final"] == row["proven"] for row in found)


def stance(one: Assignment, table: Roundtable, agent: int) -> Row:
    counted = table.counted()
    talked, proven = (table.stances(counted, is_over).get(agent) for is_over in (False, True))
    final = table.final_stances(counted).get(agent)
    return {
        "agent": agent, "name": one.names[agent], "talked": talked, "proven": proven,
        "final": final, "changed": talked != final, "stood": agent in table.stood,
    }  # fmt: skip


# A journal that is not whole.


@pytest.mark.parametrize("table", OWN, ids=lambda table: table.name)
def test_of_a_season_under_way_there_are_the_assignments_that_are_closed(
    tmp_path: Path, table: Table
) -> None:
    commits = commits_of(season_path("every-event"))
    last = max(place for place, commit in enumerate(commits) if commit.unit == 4)
    path = write(tmp_path / "a.journal", commits[:last], HEADER)
    run = run_at(path)
    found = [row["assignment"] for row in by_name(table, run)]
    write(path, commits, HEADER)  # it goes on while it is read

    assert {0, 1, 2} >= set(found) >= {1, 2}  # at the first table nothing was left to stand by
    assert found == [row["assignment"] for row in by_name(table, run)]
