"""Tables of seasons against the events that they are made of, told a second time from these."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest

from goldrush.kernel.world import RecordedEvent
from goldrush.kernel.worlds.competition import competition
from goldrush.replay.data.columns import FRONT, Table
from goldrush.replay.data.run_data import run_at
from goldrush.replay.data.tables import tables_of
from goldrush.replay.worlds.competition.tables import (
    CONTRIBUTIONS,
    RANKS,
    ROUNDTABLES,
    SCORES,
    STANCES,
)
from goldrush.replay.worlds.competition.tools import TOOLS
from tests.golden import ANYTHING, SEASON_NAMES, season_path
from tests.journals import commits_of, events_of, write
from tests.replay.worlds.competition.told import Assignment, assignments_of
from tests.seasons import HEADER
from tests.stances import apart, odd, silent
from tests.tables import by_name

OWN = (ROUNDTABLES, CONTRIBUTIONS, STANCES, SCORES, RANKS)
ALL = tables_of(TOOLS, competition(None))
EVENTS, UNITS = ALL[:2]
SEASONS: Final = pytest.mark.parametrize("name", sorted(SEASON_NAMES))
FOUR = ("novelty", "accuracy", "impact", "challenge")

Row = dict[str, Any]


def told(table: Table, name: str) -> list[Row]:
    """The rows of a golden season, without what all rows of it begin with."""
    return own_rows(table, season_path(name))


def own_rows(table: Table, path: Path) -> list[Row]:
    """The same, of any season."""
    front = [column.name for column in FRONT]
    found = by_name(table, run_at(path))
    return [{key: row[key] for key in row if key not in front} for row in found]


def assignments(name: str) -> Iterator[Assignment]:
    """The assignments of a golden season, and what holds in each."""
    return assignments_of(season_path(name))


def plain(conduct: Any) -> str | None:
    return conduct if conduct is None or isinstance(conduct, str) else json.dumps(conduct)


# What the tables hold.


@SEASONS
def test_contributions_are_those_that_were_made_and_what_became_of_them(name: str) -> None:
    expected = [
        {"assignment": one.number, **contribution(one, event)}
        for one in assignments(name)
        for table in one.tables
        for event in one.done("spoke", table)
    ]
    assert expected == [row for row in told(CONTRIBUTIONS, name) if row["code"] is None]


def contribution(one: Assignment, event: RecordedEvent) -> Row:
    table, at = event["table"], event["id"]
    claim, edge = event["claim"] or (None, None)
    is_challenge = event["move"] == "challenge"
    return {
        "table": table, "agent": event["agent"], "name": one.names[event["agent"]],
        "round": event["round"], "id": at, "move": event["move"],
        "conduct": plain(event["conduct"]), "claim": claim, "edge": edge,
        "target": event["target"], "part": event["part"],
        "because": None if event["because"] is None else event["because"][0],
        "words": event["words"], "code": None, "redirected": at in one.removed(table),
        "sustained": one.held(table, event["target"], event["part"]) is False
        if is_challenge else None,
        **became(one, table, event),
    }  # fmt: skip


def became(one: Assignment, table: int, event: RecordedEvent) -> Row:
    names = ("tested", "edge_tested", "held", "edge_held", "sharp", "concluded")
    if event["move"] not in ("propose", "amend"):
        return dict.fromkeys(names)
    at, tested, [end] = event["id"], one.tested(table), one.all("concluded", table)
    values = (
        tested.get((at, "base")), tested.get((at, "edge")), one.held(table, at, "base"),
        one.held(table, at, "edge"), one.sharp(table, at), end["proposal"] == at,
    )  # fmt: skip
    return dict(zip(names, values, strict=True))


@pytest.mark.parametrize("name", [*sorted(SEASON_NAMES), "odd", "apart", "silent"])
def test_stances_are_those_of_the_talk_of_the_proof_and_of_the_end(name: str) -> None:
    made = {"odd": odd, "apart": apart, "silent": silent}
    path = made[name]() if name in made else season_path(name)
    found = own_rows(STANCES, path)
    expected = [
        {"assignment": one.number, "table": table, **stance(one, table, agent)}
        for one in assignments_of(path)
        for table in one.tables
        for agent in one.all("roundtable_opened", table)[0]["order"]
    ]

    assert expected == found
    assert name not in ("odd", "apart", "silent") or any(r["stood"] for r in found) == (
        name == "odd"
    )
    assert all(row["stood"] or row["final"] == row["proven"] for row in found)


def stance(one: Assignment, table: int, agent: int) -> Row:
    [end] = one.all("concluded", table)
    talked, proven = (one.stances(table, proven=is_over).get(agent) for is_over in (False, True))
    final = dict(end["stances"]).get(agent)
    return {
        "agent": agent, "name": one.names[agent], "talked": talked, "proven": proven,
        "final": final, "changed": talked != final,
        "stood": agent in [event["agent"] for event in one.done("stood", table)],
    }  # fmt: skip


@SEASONS
def test_what_was_refused_in_its_turn_has_the_place_of_a_pass(name: str) -> None:
    found = told(CONTRIBUTIONS, name)
    opened = {
        (one.number, event["table"]): event["order"]
        for one in assignments(name)
        for event in one.all("roundtable_opened")
    }
    for place, order in opened.items():
        counted = [
            row for row in found
            if (row["assignment"], row["table"]) == place and row["id"] is not None
        ]  # fmt: skip
        turns = [(row["round"], order.index(row["agent"])) for row in counted]

        assert [row["id"] for row in counted] == list(range(len(counted)))
        assert sorted(set(turns)) == turns
        if name != ANYTHING:  # where somebody does nothing at all in its turn
            assert len(order) == sum(round == 0 for round, _ in turns)


@SEASONS
def test_ranks_are_those_that_were_posted_with_what_each_had_then(name: str) -> None:
    config = events_of(season_path(name))[0]["config"]
    sparks: defaultdict[int, int] = defaultdict(lambda: config["sparks_start"])
    classes: defaultdict[int, str] = defaultdict(lambda: "haiku")
    statuses: defaultdict[int, str] = defaultdict(lambda: "active")
    after = {"relegated": "benched", "returned": "active", "deleted": "gone"}
    expected = []
    for one in assignments(name):
        for event in one.events:
            if event.name in after:
                statuses[event["agent"]] = after[event.name]
            elif event.name == "sparks_moved":
                sparks[event["agent"]] = event["balance"]
            elif event in one.done("class_moved") and event["allowed"] is not False:
                classes[event["agent"]] = event["class"]
        [posted] = one.all("leaderboard_posted")
        expected += [
            {
                "assignment": one.number, "day": one.number // config["assignments_per_day"],
                "rank": rank, "agent": agent, "name": one.names[agent], "rolling": rolling,
                "all_time": all_time, "class": classes[agent], "status": statuses[agent],
                "sparks": sparks[agent],
            }
            for rank, agent, rolling, all_time in posted["rows"]
        ]  # fmt: skip

    assert expected == told(RANKS, name)


@SEASONS
def test_roundtables_are_what_was_concluded_from_what_was_said_and_tested(name: str) -> None:
    found = told(ROUNDTABLES, name)
    for row in found:
        for quality in ("percentile", "optimum_share", "regret", "discovery", "selection"):
            del row[quality]  # measures: see test_measures.py
    expected = [
        {"assignment": one.number, "table": table, **roundtable(one, table)}
        for one in assignments(name)
        for table in one.tables
    ]

    assert expected == found


def roundtable(one: Assignment, table: int) -> Row:
    objective, better, treatment, family = one.subject(table)
    [bar] = [e for e in one.done("tested", table) if e["at"] is None]
    [end], [opened] = (one.all(name, table) for name in ("concluded", "roundtable_opened"))
    return {
        "objective": objective, "better": better, "treatment_": treatment, "family": family,
        "bar": bar["value"],
        **winner(one, table, end["proposal"]),
        "drawn": bool(end["tied"]), "rejected": said_of(one, "digested", "rejected", table),
        "adopted": said_of(one, "adopted", "adopted", table),
        "best": best(one, table), "participants": len(opened["participants"]),
    }  # fmt: skip


def said_of(one: Assignment, name: str, field: str, table: int) -> Any:
    """What the last event of a name says; None without one."""
    return next((event[field] for event in reversed(one.done(name, table))), None)


def winner(one: Assignment, table: int, at: int | None) -> Row:
    names = ("proposal", "agent", "conduct", "tested")
    if at is None:
        return dict.fromkeys(names)
    said = one.spoken(table)[at]
    tested = one.tested(table)[at, "base"]
    values = (at, said["agent"], plain(said["conduct"]), tested)
    return dict(zip(names, values, strict=True))


def best(one: Assignment, table: int) -> float | None:
    """The best tested base."""
    sign = 1 if one.subject(table)[1] == "up" else -1
    tested = one.tested(table)
    known = [
        sign * value
        for said in one.counted(table, "propose", "amend")
        if (value := tested[said["id"], "base"]) is not None
    ]
    return sign * max(known) if known else None


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
