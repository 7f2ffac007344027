"""Tables of seasons against the events that they are made of, told a second time from these."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final

import duckdb
import pandas as pd
import polars as pl
import pyarrow.parquet as pq
import pytest

from goldrush.kernel.errors import JournalError, MalformedEvents
from goldrush.kernel.measures import mean
from goldrush.kernel.world import RecordedEvent
from goldrush.kernel.worlds.competition import competition
from goldrush.kernel.worlds.competition.events import CODES, LeaderboardPosted
from goldrush.replay.data import encoded
from goldrush.replay.data.columns import FRONT, JSON, Table
from goldrush.replay.data.encoded import CSV, PARQUET
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
from tests.seasons import HEADER, alone, changed, forged
from tests.stances import apart, odd, silent
from tests.tables import by_name, in_pandas, read_text, same_text

OWN = (ROUNDTABLES, CONTRIBUTIONS, STANCES, SCORES, RANKS)
ALL = tables_of(TOOLS, competition(None))
EVENTS, UNITS = ALL[:2]
EACH = pytest.mark.parametrize("table", OWN, ids=lambda table: table.name)
EVERY = pytest.mark.parametrize("table", ALL, ids=lambda table: table.name)
SEASONS: Final = pytest.mark.parametrize("name", sorted(SEASON_NAMES))
FOUR = ("novelty", "accuracy", "impact", "challenge")

Row = dict[str, Any]


@pytest.fixture(scope="module")
def paths(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """The golden seasons, one with a drawn conclusion, one with all kinds of final stances."""
    drawn = alone(tmp_path_factory.mktemp("seasons"))
    return [*(season_path(name) for name in sorted(SEASON_NAMES)), drawn, odd()]


@pytest.fixture(scope="module")
def out(paths: list[Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """All tables, in both formats; but for the events of a season that Parquet cannot hold."""
    out = tmp_path_factory.mktemp("out")
    for form in encoded.FORMATS:
        encoded.write_tables(
            paths, out, form, names=[table.name for table in ALL if table is not EVENTS]
        )
        encoded.write_tables(holdable(paths), out, form, names=["events"])
    return out


def holdable(paths: Sequence[Path]) -> list[Path]:
    """All but the season in which somebody acts as agent 2^63."""
    return [path for path in paths if path.stem != ANYTHING]


@pytest.fixture(scope="module")
def rows(paths: list[Path]) -> dict[str, list[Row]]:
    """The rows of the files, by table."""
    return {
        table.name: [
            row
            for path in (holdable(paths) if table is EVENTS else paths)
            for row in by_name(table, run_at(path))
        ]
        for table in ALL
    }


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
def test_scores_are_those_that_were_given(name: str) -> None:
    expected = []
    for one in assignments(name):
        bottoms = {(e["table"], e["agent"]) for e in one.all("bottomed")}
        for event in one.all("scored"):
            key = event["table"], event["agent"]
            expected.append(
                {
                    "assignment": one.number, "table": key[0], "agent": key[1],
                    "name": one.names[key[1]],
                    **{f"raw_{n}": s for n, s in zip(FOUR, event["raw"], strict=True)},
                    **dict(zip(FOUR, event["final"], strict=True)),
                    "total": event["total"], "rubric": event["rubric"], "bottom": key in bottoms,
                }
            )  # fmt: skip

    assert expected == told(SCORES, name)


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
            del row[quality]  # see the next test
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


@SEASONS
def test_assignments_have_the_means_of_their_roundtables(name: str) -> None:
    tables = told(ROUNDTABLES, name)
    for row in told(UNITS, name):
        at_tables = [table for table in tables if table["assignment"] == row["assignment"]]
        for of in ("percentile", "optimum_share", "regret", "discovery", "selection"):
            assert row[of] == mean([table[of] for table in at_tables])


# Events, whole.


@pytest.mark.parametrize("name", sorted(SEASON_NAMES - {ANYTHING}))
def test_events_are_the_events_value_for_value(out: Path, name: str) -> None:
    types = {column.name: column.type for column in EVENTS.columns}
    found = [
        row for row in pq.read_table(out / "events.parquet").to_pylist()
        if row["journal"] == str(season_path(name))
    ]  # fmt: skip
    for event, row in zip(events_of(season_path(name)), found, strict=True):
        have = {}
        for column, value in row.items():
            if value is not None and column not in {c.name for c in FRONT} | {"place", "event"}:
                is_struct = isinstance(value, list) and value and isinstance(value[0], dict)
                shown = [list(item.values()) for item in value] if is_struct else value
                have[column] = json.loads(shown) if types[column] is JSON else shown
        fields = event.fields
        if event.name in ("season_started", "forked"):
            own = {k: v for k, v in fields.items() if k not in ("world", "rules")}
            fields = {k: v for k, v in fields.items() if k not in own} | {"facts": own}
        want = {k + "_" * (k in types and k == "treatment"): v for k, v in fields.items()}
        want = {k: v for k, v in want.items() if v is not None} | {"assignment": event.unit}

        assert event.name == row["event"]
        assert json.loads(json.dumps(want)) == have


def test_every_column_is_filled_somewhere(rows: dict[str, list[Row]]) -> None:
    more = {"events": by_name(EVENTS, run_at(season_path(ANYTHING)))}
    for table in ALL:
        found = [*rows[table.name], *more.get(table.name, ())]
        for column in table.own:
            assert any(row[column.name] is not None for row in found), column


def test_every_truth_is_seen_to_be_both(rows: dict[str, list[Row]]) -> None:
    for table in OWN:
        for column in table.own:
            if column.type.name == "boolean":
                seen = {row[column.name] for row in rows[table.name]}
                assert {True, False} <= seen, column


def test_every_field_of_every_event_says_what_it_is() -> None:
    fields = [field for event in competition(None).events for field in event.fields.items()]

    assert {name for name, _ in fields} == {name for name, kind in fields if kind.meaning}


# Files.


@EACH
def test_csv_and_parquet_hold_the_same(rows: dict[str, list[Row]], out: Path, table: Table) -> None:
    in_file = pq.read_table(out / f"{table.name}.parquet").to_pylist()
    for row in in_file:
        for name, value in row.items():
            if isinstance(value, list) and value and isinstance(value[0], dict):
                row[name] = [list(item.values()) for item in value]

    assert rows[table.name] == in_file
    same_text(table, rows[table.name], read_text(out / f"{table.name}.csv"))


@EVERY
def test_pandas_polars_and_duckdb_read_both(
    rows: dict[str, list[Row]], out: Path, table: Table
) -> None:
    parquet, csv = (out / f"{table.name}.{form}" for form in (PARQUET, CSV))
    expected = pq.read_table(parquet).to_pylist()
    exact = pd.read_parquet(parquet, dtype_backend="pyarrow")
    names = [column.name for column in table.columns]
    with duckdb.connect() as database:
        in_duckdb = [
            database.execute(f"SELECT * FROM '{path}'").fetchall() for path in (parquet, csv)
        ]

    assert expected == in_pandas(exact)
    assert expected == pl.read_parquet(parquet).to_dicts()
    assert [(*row.values(),) for row in expected] == in_duckdb[0]
    assert len(expected) == len(in_duckdb[1])
    for read in (pd.read_csv(csv, low_memory=False), pl.read_csv(csv, infer_schema_length=None)):
        assert (names, len(rows[table.name])) == (list(read.columns), len(read))


def test_a_number_that_only_a_refused_act_has_is_refused_in_parquet(tmp_path: Path) -> None:
    path = season_path(ANYTHING)
    with pytest.raises(JournalError, match="a value of agent is too large for Parquet"):
        encoded.write_tables([path], tmp_path / "out", PARQUET, names=["events"])
    encoded.write_tables([path], tmp_path / "out", CSV, names=["events"])

    assert "9223372036854775808" in (tmp_path / "out" / "events.csv").read_text()


# Journals that are not whole, or no recorder wrote.


@EACH
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


def test_a_leaderboard_that_ranks_nobody_known_is_malformed(tmp_path: Path) -> None:
    def unknown(row: list[Any]) -> None:
        row[0] = ((1, 99, 0, 0), *row[0])

    season = season_path("short")
    commits = changed(season, CODES[LeaderboardPosted], 2, unknown)
    path = forged(tmp_path / "a.journal", commits, season)

    with pytest.raises(MalformedEvents, match="assignment 2"):
        by_name(RANKS, run_at(path))
