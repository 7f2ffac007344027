"""Tables of seasons against the events that they are made of, told a second time from these."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import product
from pathlib import Path
from typing import Any, Final

import attrs
import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from goldrush.kernel.errors import JournalError, MalformedEvents
from goldrush.kernel.journal import FORK, Commit, JournalReader
from goldrush.kernel.measures import mean
from goldrush.kernel.walk import ROWS, Walk
from goldrush.kernel.world import Event
from goldrush.kernel.worlds.competition import competition
from goldrush.kernel.worlds.competition.events import (
    CODES,
    PLAIN,
    Answered,
    LeaderboardPosted,
    Spoke,
    Stood,
    Tried,
)
from goldrush.kernel.worlds.competition.events import EVENTS as EVENT_TYPES
from goldrush.replay.data import encoded
from goldrush.replay.data.columns import FRONT, JSON, Table
from goldrush.replay.data.encoded import CSV, PARQUET
from goldrush.replay.data.run_data import run_at
from goldrush.replay.data.tables import tables_of
from goldrush.replay.worlds.competition import tables
from goldrush.replay.worlds.competition.played import played
from goldrush.replay.worlds.competition.tables import (
    CONTRIBUTIONS,
    FINAL_STANCES,
    RANKS,
    ROUNDTABLES,
    SCORES,
    SPARKS,
    TESTS,
    TRIALS,
)
from goldrush.replay.worlds.competition.tools import TOOLS
from tests.golden import ANYTHING, SEASON_NAMES, season_path
from tests.journals import commits_of, events_of, write
from tests.replay.worlds.competition.told import Assignment, assignments_of
from tests.seasons import HEADER, alone, changed, forged
from tests.stances import apart, odd, silent
from tests.tables import by_name, in_pandas, read_text, same_text

OWN = (ROUNDTABLES, CONTRIBUTIONS, FINAL_STANCES, TESTS, TRIALS, SCORES, RANKS, SPARKS)
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


def of_type(kind: type, value: Any) -> Any:
    """What fits a column: text, or integers that Parquet can hold."""
    return value if type(value) is kind and (kind is str or -(2**63) <= value < 2**63) else None


# What the tables hold.


@SEASONS
def test_contributions_are_those_that_were_made_and_what_became_of_them(name: str) -> None:
    expected = []
    for one in assignments(name):
        for event in one.all("spoke"):
            expected.append({"assignment": one.number, **contribution(one, event)})
    found = told(CONTRIBUTIONS, name)
    for row in (row for row in found if row["code"] is not None):
        del row["id"], row["round"]  # see the next test

    assert expected == found


def contribution(one: Assignment, event: Event) -> Row:
    table, code = event["table"], one.code(event)
    claim, because = event["claim"], event["because"]
    is_pair = isinstance(claim, list) and len(claim) == 2
    is_number = is_pair and type(claim[0]) in (int, float)
    relies = isinstance(because, list) and len(because) == 2
    ids = because[0] if relies and isinstance(because[0], list) else None
    place = {} if code is not None else {"round": event["round"], "id": event["id"]}
    return {
        "table": table, **place, "agent": of_type(int, event["agent"]),
        "name": one.names.get(event["agent"]), "code": code, "move": of_type(str, event["move"]),
        "target": of_type(int, event["target"]), "conduct": plain(event["conduct"]),
        "claim": claim[0] if is_number else None,
        "edge": of_type(str, claim[1]) if is_pair else None,
        "part": of_type(str, event["part"]), "words": of_type(str, event["words"]),
        "because": ids if ids is None or all(of_type(int, i) is not None for i in ids) else None,
        "because_trials": because[1] if relies and type(because[1]) is bool else None,
        "model": (event["source"] or {}).get("model"), **became(one, table, event, code),
    }  # fmt: skip


def became(one: Assignment, table: int, event: Event, code: str | None) -> Row:
    row: Row = dict.fromkeys(
        ["tested", "edge_tested", "held", "edge_held", "sharp", "sustained", "redirected",
         "refuted", "concluded"]
    )  # fmt: skip
    if code is not None:
        return row
    at = event["id"]
    is_removed = at in one.removed(table)
    if event["move"] == "challenge":
        row["sustained"] = one.held(table, event["target"], event["part"]) is False
    if event["move"] in ("propose", "amend"):
        [end] = one.all("concluded", table)
        tested = one.tested(table)
        challenges = [(e["target"], e["part"]) for e in one.counted(table, "challenge")]
        is_refuted = not is_removed and one.held(table, at, "base") is False
        by = "challenge" if (at, "base") in challenges else "proof"
        row |= {
            "tested": tested.get((at, "base")), "edge_tested": tested.get((at, "edge")),
            "held": one.held(table, at, "base"), "edge_held": one.held(table, at, "edge"),
            "sharp": one.sharp(table, at), "refuted": by if is_refuted else None,
            "concluded": end["proposal"] == at,
        }  # fmt: skip
    return row | {"redirected": is_removed}


@pytest.mark.parametrize("name", [*sorted(SEASON_NAMES), "odd", "apart", "silent"])
def test_final_stances_are_those_that_were_given_and_what_they_changed(name: str) -> None:
    made = {"odd": odd, "apart": apart, "silent": silent}
    path = made[name]() if name in made else season_path(name)
    expected = [
        {"assignment": one.number, **final_stance(one, event)}
        for one in assignments_of(path)
        for event in one.all("stood")
    ]

    assert expected == own_rows(FINAL_STANCES, path)
    assert name not in ("odd", "apart", "silent") or bool(expected) == (name == "odd")


def final_stance(one: Assignment, event: Event) -> Row:
    table, agent, target, because = (event[n] for n in ("table", "agent", "target", "because"))
    ends = one.all("concluded", table)  # none if the table is not one of the assignment
    relies = isinstance(because, list) and len(because) == 2
    row: Row = dict.fromkeys(["talked", "proven", "final", "changed"])
    if ends and agent in one.all("roundtable_opened", table)[0]["order"]:
        talked, proven = (
            one.stances(table, proven=is_over).get(agent) for is_over in (False, True)
        )
        final = dict(ends[0]["stances"]).get(agent)
        row |= {"talked": talked, "proven": proven, "final": final, "changed": talked != final}
    return {
        "table": table if table < 1 << 63 else None,
        "agent": of_type(int, agent), "name": one.names.get(agent),
        "code": one.code(event), "target": of_type(int, target), **row,
        "words": of_type(str, event["words"]),
        "because": because[0] if relies and type(because[0]) is list else None,
        "because_trials": because[1] if relies and type(because[1]) is bool else None,
        "model": (event["source"] or {}).get("model"),
    }  # fmt: skip


def test_a_refused_final_stance_leaves_its_agent_where_the_proof_left_it() -> None:
    found = own_rows(FINAL_STANCES, odd())
    refused = [row for row in found if row["code"] is not None]

    assert {"move/unknown-target", "move/refuted", "act/malformed"} == {
        row["code"] for row in refused
    }
    for row in refused:
        assert row["final"] == row["proven"]
    for row in found:
        assert row["code"] is not None or row["final"] == row["target"]
    assert {True, False} == {row["changed"] for row in found}


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


def test_refused_contributions_are_of_both_kinds(rows: dict[str, list[Row]]) -> None:
    refused = [row for row in rows["contributions"] if row["code"] is not None]

    assert {True, False} == {row["id"] is None for row in refused}
    assert any(row["name"] is None for row in rows["trials"] + refused)
    assert len({row["code"] for row in refused}) >= 8


@SEASONS
def test_tests_are_those_that_were_made(name: str) -> None:
    expected = [
        {"assignment": one.number, **test_of(one, event)}
        for one in assignments(name)
        for event in one.done("tested")
    ]

    assert expected == told(TESTS, name)


def test_of(one: Assignment, event: Event) -> Row:
    table, at = event["table"], event["at"]
    return {
        "table": table, "at": at, "part": event["part"], "conduct": plain(event["conduct"]),
        "treatment_": event["treatment"], "value": event["value"],
        "held": None if at is None else one.held(table, at, event["part"]), "runs": event["runs"],
    }  # fmt: skip


test_of.__test__ = False  # type: ignore[attr-defined]


@SEASONS
def test_trials_are_those_that_were_ordered(name: str) -> None:
    expected = [
        {
            "assignment": one.number, "table": event["table"],
            "agent": of_type(int, event["agent"]), "name": one.names.get(event["agent"]),
            "number": of_type(int, event["number"]),
            "code": one.code(event), "conduct": plain(event["conduct"]),
            "treatment_": of_type(str, event["treatment"]), "value": event["value"],
            "runs": event["runs"],
        }
        for one in assignments(name)
        for event in one.all("tried")
    ]  # fmt: skip
    found = told(TRIALS, name)
    rounds = [row.pop("round") for row in found]

    assert expected == found
    possible = [of_one for one in assignments(name) for of_one in trials_of(one, name)]
    assert all(round in of_one for round, of_one in zip(rounds, possible, strict=True))


def trials_of(one: Assignment, name: str) -> Iterator[set[int | None]]:
    """The rounds in which each trial may have been ordered: that of what is said next; before the
    first contribution, and of who speaks first, maybe none. If it was refused, or where somebody
    may do nothing else in its turn, that of what was said before or after it, or none.
    """
    for place, event in enumerate(one.events):
        if event.name == "tried":
            is_refused = one.code(event) is not None
            before, after = (
                [e for e in part if e.name in ("spoke", "judged")
                 and (is_refused or e["table"] == event["table"])]
                for part in (one.events[:place], one.events[place:])
            )  # fmt: skip
            [opened] = one.all("roundtable_opened", event["table"])[:1] or [None]
            if name == ANYTHING or is_refused or opened is None:
                yield {None, *(e["round"] for e in (*before[-1:], *after[:1]))}
            elif before:
                yield {after[0]["round"]}
            else:
                yield {None, 0} if opened["order"][0] == event["agent"] else {None}


@SEASONS
def test_scores_are_those_that_were_given(name: str) -> None:
    expected = []
    for one in assignments(name):
        reasons = {(e["table"], e["agent"]): e["reasons"] for e in one.done("rated")}
        bottoms = {(e["table"], e["agent"]) for e in one.all("bottomed")}
        for event in one.all("scored"):
            key = event["table"], event["agent"]
            expected.append(
                {
                    "assignment": one.number, "table": key[0], "agent": key[1],
                    "name": one.names[key[1]],
                    **{f"raw_{n}": s for n, s in zip(FOUR, event["raw"], strict=True)},
                    **dict(zip(FOUR, event["final"], strict=True)),
                    "total": event["total"], "rubric": event["rubric"], "steps": event["steps"],
                    "reasons": reasons.get(key), "bottom": key in bottoms,
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
def test_sparks_are_their_moves(name: str) -> None:
    expected = [
        {
            "assignment": one.number, "table": event["table"], "agent": event["agent"],
            "name": one.names[event["agent"]], "amount": event["amount"],
            "balance": event["balance"], "why": event["why"],
        }
        for one in assignments(name)
        for event in one.all("sparks_moved")
    ]  # fmt: skip

    assert expected == told(SPARKS, name)


@SEASONS
def test_roundtables_are_what_was_concluded_from_what_was_said_and_tested(name: str) -> None:
    found = told(ROUNDTABLES, name)
    for row in found:
        for quality in ("percentile", "optimum_share", "regret", "discovery", "selection"):
            del row[quality]  # see the next test
    spoken = defaultdict(list)
    for row in told(CONTRIBUTIONS, name):
        spoken[row["assignment"], row["table"]].append(row)
    expected = [
        {
            "assignment": one.number,
            "table": table,
            **roundtable(one, table, spoken[one.number, table]),
        }
        for one in assignments(name)
        for table in one.tables
    ]

    assert expected == found


def roundtable(one: Assignment, table: int, spoken: Sequence[Row]) -> Row:
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
        "rounds": len({row["round"] for row in spoken if row["id"] is not None}),
        **counts(one, table),
    }  # fmt: skip


def said_of(one: Assignment, name: str, field: str, table: int) -> Any:
    """What the last event of a name says; None without one."""
    return next((event[field] for event in reversed(one.done(name, table))), None)


def winner(one: Assignment, table: int, at: int | None) -> Row:
    names = ("proposal", "agent", "conduct", "tested", "stances")
    if at is None:
        return dict.fromkeys(names)
    said = one.spoken(table)[at]
    [end] = one.all("concluded", table)
    stances = [proposal for _, proposal in end["stances"]].count(at)
    tested = one.tested(table)[at, "base"]
    values = (at, said["agent"], plain(said["conduct"]), tested, stances)
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


def counts(one: Assignment, table: int) -> Row:
    spoken, claims = one.spoken(table), one.counted(table, "propose", "amend")
    challenges = one.counted(table, "challenge")
    support = one.counted(table, "support")
    return {
        "contributions": len(claims) + len(challenges) + len(support),
        "passes": sum(said["move"] == "pass" for said in spoken.values()),
        "refused": len(one.all("spoke", table)) - len(spoken),
        "redirected": len(one.removed(table)),
        "trials": len(one.done("tried", table)),
        "claims": len(claims),
        "held": sum(one.held(table, said["id"], "base") is True for said in claims),
        "sharp": sum(one.sharp(table, said["id"]) is True for said in claims),
        "challenges": len(challenges),
        "sustained": sum(one.held(table, c["target"], c["part"]) is False for c in challenges),
        **choices(one, table),
    }


def choices(one: Assignment, table: int) -> Row:
    """How many gave a final stance, and how many changed sides since the end of the talk."""
    [end], [opened] = (one.all(name, table) for name in ("concluded", "roundtable_opened"))
    talked, final = one.stances(table, proven=False), dict(end["stances"])
    changed = [agent for agent in opened["order"] if talked.get(agent) != final.get(agent)]
    return {"stood": len(one.done("stood", table)), "changed": len(changed)}


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
        want = {k + "_" * (k in types and k == "treatment"): v for k, v in event.fields.items()}
        want = {k: v for k, v in want.items() if v is not None} | {"assignment": event.unit}

        assert event.name == row["event"]
        assert json.loads(json.dumps(want)) == have


def test_every_column_is_filled_somewhere(rows: dict[str, list[Row]], tmp_path: Path) -> None:
    commits = [
        Commit(
            FORK, commit.unit, commit.digest, setup={**commit.setup, "program": {"program": "b.py"}}
        )
        if commit.kind == FORK and commit.setup is not None
        else commit
        for commit in commits_of(season_path("forked"))
    ]
    path = write(tmp_path / "program.journal", commits, HEADER)
    more = {
        "events": [row for p in (path, season_path(ANYTHING)) for row in by_name(EVENTS, run_at(p))]
    }
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
    assert {"challenge", "proof", None} == {row["refuted"] for row in rows["contributions"]}


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


def test_a_number_that_only_a_refused_act_has_is_null_and_events_refuse_it_in_parquet(
    rows: dict[str, list[Row]], tmp_path: Path
) -> None:
    path = season_path(ANYTHING)
    both = rows[CONTRIBUTIONS.name] + rows[TRIALS.name]
    beyond = [row for row in both if row["agent"] is None]
    assert beyond
    assert all(row["code"] == "act/malformed" for row in beyond)
    with pytest.raises(JournalError, match="agent is 9223372036854775808, which Parquet cannot"):
        encoded.write_tables([path], tmp_path / "out", PARQUET, names=["events"])
    encoded.write_tables([path], tmp_path / "out", CSV, names=["events"])

    assert "9223372036854775808" in (tmp_path / "out" / "events.csv").read_text()


# Journals that are not whole, or no recorder wrote.


def test_only_one_assignment_is_held_at_a_time() -> None:
    run = run_at(season_path("every-event"))
    with JournalReader(run.path) as reader:
        each = [
            ({act.table for act in at_tables}, len(one.state.tables), len(at_tables))
            for one in played(run.world, Walk(run.world, reader, ROWS))
            for at_tables in [[a.act for a in one.acts if not isinstance(a.act, Answered)]]
        ]  # fmt: skip
    acts = [one for one in events_of(season_path("every-event"))
            if one.name in ("spoke", "stood", "tested", "tried")]  # fmt: skip

    assert len(acts) == sum(count for _, _, count in each)
    assert all(seen == set(range(tables)) for seen, tables, _ in each)
    assert 20 == len(each)


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


FORMS = (None, True, -1, 2**63, 2**64 - 1, 0.5, "", "x", (), ((),), ((2**63,), True), (None, 1), {})


@pytest.mark.parametrize(
    ("table", "form"), [(CONTRIBUTIONS, Spoke), (FINAL_STANCES, Stood), (TRIALS, Tried)]
)
def test_whatever_a_refused_act_holds_its_row_fits_the_columns(
    table: Table, form: type[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    run = run_at(odd() if form is Stood else season_path(ANYTHING))
    said = [
        name for name, kind in EVENT_TYPES[CODES[form]].fields.items() if kind.name == PLAIN.name
    ]
    with JournalReader(run.path) as reader:
        one = next(iter(played(run.world, Walk(run.world, reader, ROWS))))
        act = next(act for act in one.acts if isinstance(act.act, form) and act.code)
        for field, value in product(said, FORMS):
            other = attrs.evolve(act, act=act.act._replace(**{field: value}))
            altered = attrs.evolve(one, acts=[other])
            monkeypatch.setattr(tables, "_each", lambda run, altered=altered: iter([altered]))
            [row] = table.own_rows(run)
            for column, cell in zip(table.own, row, strict=True):
                is_plain = column.type.plain is None or cell is None
                held = cell if is_plain else column.type.plain(cell)
                [in_arrow] = pa.array([held], column.type.arrow(pa)).to_pylist()
                assert cell == in_arrow or column.name == "runs"
                assert cell is None or column.type.text(cell) is not None
