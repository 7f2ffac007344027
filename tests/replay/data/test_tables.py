"""Tables against the events that they are made of, read back by pandas and by pyarrow."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from itertools import groupby
from operator import attrgetter
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq
import pytest
from msgspec.structs import asdict

import goldrush
from goldrush.agents.llm.failures import KINDS as FAILED
from goldrush.agents.seats import policy_label
from goldrush.agents.worlds.mining.roster import PROMPT
from goldrush.kernel import fold
from goldrush.kernel.draws import Draws
from goldrush.kernel.errors import BadInput, JournalError
from goldrush.kernel.journal import Header, JournalReader, JournalWriter
from goldrush.kernel.run import last_of, steps
from goldrush.kernel.shape import INTEGER, TEXT, Kind, several
from goldrush.kernel.world import EventType, Row, World
from goldrush.kernel.worlds.competition import competition
from goldrush.kernel.worlds.episode.world import episode_world
from goldrush.kernel.worlds.mining import MINING
from goldrush.kernel.worlds.mining.events import MINING_SETTLED, SUBMITTED
from goldrush.kernel.worlds.mining.observe import MiningObservation
from goldrush.kernel.worlds.mining.submit import Plan
from goldrush.replay.data import encoded
from goldrush.replay.data.columns import Table
from goldrush.replay.data.encoded import CSV, PARQUET
from goldrush.replay.data.run_data import map_runs, measured_at, run_at
from goldrush.replay.data.tables import tables_of
from goldrush.replay.journal.declared import labels_of
from goldrush.replay.study.backend import processes
from goldrush.replay.study.carry_out import carry_out
from goldrush.replay.study.plan import plan_of
from goldrush.replay.tools import Tools
from goldrush.replay.worlds.competition.tools import TOOLS as SEASON_TOOLS
from goldrush.replay.worlds.episode.tools import TOOLS as EPISODE_TOOLS
from goldrush.replay.worlds.mining.tables import AGENTS, SPELLS
from goldrush.replay.worlds.mining.tools import TOOLS
from tests import journals
from tests.golden import path_of
from tests.journals import changed, commits_of, in_pieces, write
from tests.mining import record
from tests.plugins.installed import install_world
from tests.tables import by_name, in_pandas, read_text, same_text

NAMES = ("events", "rounds", "agents", "spells")
ALL = tables_of(TOOLS, MINING)
EVENTS = ALL[0]
[FIGURES] = tables_of(TOOLS, MINING, ["measures"])

SEASONS = tables_of(SEASON_TOOLS, competition(None))
EPISODES = tables_of(EPISODE_TOOLS, episode_world())

TEXTS = (
    "", " a b ", "=1+1", '"quoted"', "a,b", "line\nline", "line\r\nline\r", "\x00\x1b[2J\x7f",
    "NA", "null", "None", "-", "0", "true", "#", "é 漢 \U0001f600 \u2028", "'", "[1]", ";\t|",
    "\\N",
)  # fmt: skip


class Writes:
    """Takes whatever it can, and more, with notes of all kinds of text."""

    def plan(self, seen: MiningObservation, draws: Draws) -> Plan:
        actions: list[Any] = [("claim", 3, 1), ("raid", -(2**63), 2**63 - 1)]
        actions += [("mine", plot, 1) for plot in seen.own]
        memo = TEXTS[(seen.round - 1) % len(TEXTS)]
        return Plan(actions, say=f"it is {memo}", memo=memo)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Runs of every kind; `open` ends with submissions that wait to be judged."""
    folder = tmp_path_factory.mktemp("runs")
    for name in ("authority-punish", "authority-adjudicate", "forked", "language-models"):
        (folder / f"{name}.journal").write_bytes(path_of(name).read_bytes())
    settings = {"rounds": len(TEXTS), "communication": True, "rows": 3, "cols": 3}
    settings |= {"alpha": 0.1, "authority": "punish", "fine": 0.7, "stamina_by_agent": [4, 9, 7]}
    record(folder / "made", settings, f"{__name__}:Writes*2,random")
    for name, change, of in (
        ("texts", with_none, folder / "made"), ("failing", failing, path_of("language-models")),
    ):  # fmt: skip
        commits = changed(commits_of(of), SUBMITTED, change)
        journals.forged(folder / f"{name}.journal", MINING, commits)
    pieces = in_pieces(commits_of(folder / "texts.journal"), 3)
    write(folder / "open.journal", pieces[:7])
    write(folder / "begun.journal", pieces[:1])
    return folder


@pytest.fixture(scope="module")
def paths(folder: Path) -> list[Path]:
    return sorted(folder.glob("*.journal"))


@pytest.fixture(scope="module")
def out(paths: list[Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """All tables of all runs, in both formats."""
    out = tmp_path_factory.mktemp("out")
    for form in encoded.FORMATS:
        encoded.write_tables(paths, out, form)
    return out


def forged(path: Path, code: int, change: Callable[[Row], Row]) -> Path:
    """A run with every row of a type changed, under the digests that it had."""
    return write(path, changed(commits_of(path_of("authority-punish")), code, change))


def failing(row: Row) -> Row:
    """A model's submission as that of one that failed, or had a plan that was too long."""
    return (*row[:2], ("cut", "overflow", "no-json")[row[0]] if row[5] else None, *row[3:])


def with_none(row: Row) -> Row:
    """A submission with an item that is no action and an error, as a model's may have."""
    return (row[0], (*row[1], None), "cut" if row[0] else None, *row[3:])


def events_of(path: Path, world: World[Any] = MINING) -> list[dict[str, Any]]:
    with JournalReader(path) as reader:
        return [{"unit": event.unit, **event.as_dict()} for event in fold.events(world, reader)]


def front_of(path: Path) -> dict[str, Any]:
    """What every row of a run begins with, from its events alone."""
    seed, names = None, []
    for event in events_of(path):
        if event["event"] in ("run_started", "forked"):
            seed = {**event.get("config", {}), **event.get("changes", {})}.get("seed", seed)
            names = labels_of(event["roster"] or (), PROMPT) or names
    groups = [(name, len(list(same))) for name, same in groupby(names)]
    roster = ",".join(name + f"*{n}" * (n > 1) for name, n in groups)
    return {"journal": str(path), "treatment": None, "roster": roster, "seed": seed}


def expected_events(paths: Sequence[Path]) -> list[dict[str, Any]]:
    """Every field of every event by its name, null where it has none."""
    names = [column.name for column in EVENTS.columns]
    rows = []
    for path in paths:
        begins = front_of(path)
        for place, event in enumerate(events_of(path)):
            front = {**begins, "place": place, "round": event["unit"]}
            if "roster" in event:
                event["roster_"] = event.pop("roster")
            assert set(event) <= {*names, "unit"}
            rows.append({name: {**event, **front}.get(name) for name in names})
    return rows


MAPS_AND_RECORDS = ("actions", "removed", "replaced", "config", "roster_", "changes", "source")


def in_parquet(name: str, value: Any) -> Any:
    """The form that Parquet holds of a value in its logical form."""
    return value if value is None or name not in MAPS_AND_RECORDS else json.dumps(value)


def expected_agents(path: Path) -> list[dict[str, Any]]:
    """What the states and the events of each round say of every agent."""
    rows, gold = [], [0.0] * 99
    for unit in goldrush.open(path):
        state, events = unit.state, [event.as_dict() for event in unit.events]
        submitted = {e["agent"]: e for e in events if e["event"] == "submitted"}
        gone = {e["agent"]: e["removed"] for e in events if e["event"] == "pruned"}
        for agent, entry in enumerate(state.roster):
            plan = submitted[agent]
            removed = [index for index, _ in gone.get(agent, [])]
            left = [a for index, a in enumerate(plan["actions"]) if a and index not in removed]
            said = "no-action" if plan["actions"] and not any(plan["actions"]) else plan["error"]
            spent = {
                f"spent_{kind}": sum(points for each, _, points in left if each == kind)
                for kind in ("defend", "mine", "claim", "raid")
            }
            rows.append({
                "journal": str(path), "round": state.round, "agent": agent,
                "policy": policy_label(entry, PROMPT), "variant": None,
                "failure": said if plan["source"] and said in FAILED else None,
                "stamina": (state.config.stamina_by_agent or [state.config.stamina] * 99)[agent],
                **spent, "gold": state.gold[agent],
                "gold_gained": pytest.approx(state.gold[agent] - gold[agent], abs=1e-9),
                "plots": len(state.plots_of[agent]),
            })  # fmt: skip
        gold = list(state.gold)
    return rows


def test_events_in_parquet_are_the_events_value_for_value(paths: list[Path], out: Path) -> None:
    expected = [
        {name: in_parquet(name, value) for name, value in row.items()}
        for row in expected_events(paths)
    ]

    assert expected == pq.read_table(out / "events.parquet").to_pylist()


def test_events_in_csv_are_the_events_value_for_value(paths: list[Path], out: Path) -> None:
    same_text(EVENTS, expected_events(paths), read_text(out / "events.csv"))


def test_every_event_and_every_field_was_there_to_be_compared(paths: list[Path]) -> None:
    rows = expected_events(paths)
    names = {"run_started", "forked", *(e.name for e in MINING.events), "round_closed", "run_ended"}

    assert names == {row["event"] for row in rows}
    for column in EVENTS.own:
        assert any(row[column.name] is not None for row in rows), column.name
    assert set(TEXTS) <= {row["memo"] for row in rows}


def test_no_text_is_told_from_null_in_csv(out: Path) -> None:
    text = pa_csv.read_csv(
        out / "events.csv",
        parse_options=pa_csv.ParseOptions(newlines_in_values=True),
        convert_options=pa_csv.ConvertOptions(
            include_columns=["memo"], null_values=[""], strings_can_be_null=True,
            quoted_strings_can_be_null=False, column_types={"memo": pa.string()},
        ),
    )  # fmt: skip

    assert pq.read_table(out / "events.parquet")["memo"].to_pylist() == text["memo"].to_pylist()
    assert {"", None} <= set(text["memo"].to_pylist())


def test_agents_are_what_the_events_make_of_them(paths: list[Path], out: Path) -> None:
    expected = [row for path in paths for row in expected_agents(path)]
    found = in_pandas(pd.read_parquet(out / "agents.parquet"))

    assert len(expected) == len(found) > 0
    for want, have in zip(expected, found, strict=True):
        assert want == {name: have[name] for name in want}


def test_rounds_are_the_measures(paths: list[Path], out: Path) -> None:
    found = in_pandas(pd.read_parquet(out / "rounds.parquet"))
    expected = []
    for path in paths:
        run = measured_at(path)
        for place in range(run.units):
            row = {**front_of(path), "round": place + 1}
            expected.append(row | {name: run.values[name][place] for name in run.values})

    assert expected == found


def test_spells_are_those_of_the_measures(paths: list[Path], out: Path) -> None:
    expected = []
    for path in paths:
        run = measured_at(path)
        front = front_of(path)
        expected += [
            front | asdict(spell) | {"length": spell.length, "censored": spell.censored}
            for spell in run.spells
        ]

    assert expected == pq.read_table(out / "spells.parquet").to_pylist()
    assert {True, False} == {row["censored"] for row in expected}


@pytest.mark.parametrize("table", [AGENTS, SPELLS], ids=lambda table: table.name)
def test_csv_and_parquet_hold_the_same(paths: list[Path], out: Path, table: Table) -> None:
    rows = [row for path in paths for row in by_name(table, run_at(path))]

    assert rows == pq.read_table(out / f"{table.name}.parquet").to_pylist()
    same_text(table, rows, read_text(out / f"{table.name}.csv"))


@pytest.mark.parametrize("table", ALL, ids=lambda table: table.name)
def test_polars_and_duckdb_read_what_pyarrow_reads(out: Path, table: Table) -> None:
    expected = pq.read_table(out / f"{table.name}.parquet").to_pylist()
    with duckdb.connect() as database:
        parquet = database.execute(f"SELECT * FROM '{out}/{table.name}.parquet'").fetchall()
        rows = database.execute(f"SELECT * FROM '{out}/{table.name}.csv'").fetchall()

    assert expected == pl.read_parquet(out / f"{table.name}.parquet").to_dicts()
    assert [tuple(row.values()) for row in expected] == parquet
    assert len(expected) == len(rows)


def test_the_schema_is_the_same_for_every_journal(
    paths: list[Path], out: Path, tmp_path: Path
) -> None:
    for number, path in enumerate(paths):
        encoded.write_tables([path], tmp_path / str(number), PARQUET)
    for name in NAMES:
        files = sorted(tmp_path.glob(f"*/{name}.parquet"))
        whole = pq.read_table(out / f"{name}.parquet")

        assert {True} == {pq.read_schema(file).equals(whole.schema) for file in files}
        assert whole == pa.concat_tables(pq.read_table(file) for file in files)


def test_batches_and_row_groups_change_no_row(
    paths: list[Path], out: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(encoded, "BATCH", 7)
    monkeypatch.setattr(encoded, "GROUP", 20)
    for form in encoded.FORMATS:
        rows = encoded.write_tables(paths, tmp_path, form)

        assert [pq.read_table(out / f"{name}.parquet").num_rows for name in NAMES] == [
            rows[str(tmp_path / f"{name}.{form}")] for name in NAMES
        ]
    for name in NAMES:
        csv, parquet = f"{name}.csv", f"{name}.parquet"

        assert (out / csv).read_bytes() == (tmp_path / csv).read_bytes()
        assert pq.read_table(out / parquet) == pq.read_table(tmp_path / parquet)
    groups = pq.ParquetFile(tmp_path / "agents.parquet").metadata
    assert groups.num_row_groups > 2


def test_every_column_is_named_once_and_says_what_it_is() -> None:
    for table in (*ALL, *SEASONS, *EPISODES):
        names = [column.name for column in table.columns]

        assert len(set(names)) == len(names)
        assert all(column.description for column in table.columns)
        assert "journal" == names[0]


# Journals that no recorder wrote.


def test_integers_beyond_64_bits_are_refused_in_parquet_by_name(tmp_path: Path) -> None:
    huge = forged(tmp_path / "huge", MINING_SETTLED, lambda row: (*row[:2], 2**64 - 1, row[3]))
    with pytest.raises(JournalError, match="a value of stamina is too large for Parquet"):
        encoded.write_tables(
            [path_of("baseline"), huge], tmp_path / "out", PARQUET, names=["events"]
        )
    encoded.write_tables([huge], tmp_path / "out", CSV, names=["events"])

    assert str(2**64 - 1) in (tmp_path / "out" / "events.csv").read_text()


@pytest.mark.parametrize("gold", [float("nan"), 1.7e308])
def test_gold_that_no_run_can_mine_is_refused(tmp_path: Path, gold: float) -> None:
    path = forged(tmp_path / "a", MINING_SETTLED, lambda row: (*row[:3], gold))
    run = run_at(path)
    for ask in (
        lambda: encoded.write_tables([path], tmp_path / "out", CSV, names=["rounds"]),
        lambda: run.measured,
        lambda: list(encoded.rows_of(AGENTS, run)),
    ):
        with pytest.raises(JournalError, match="gold"):
            ask()

    assert not (tmp_path / "out").exists()


# Studies.


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("study") / "s"
    rosters = {"all the same": "random", "raiders": "raid"}
    plan = plan_of(treatments=["baseline", "scarce"], rosters=rosters, seeds=[4], rounds=[3])
    carry_out(plan, folder, backend=processes(1))
    return folder


def cells_of(study: Path) -> list[tuple[Any, ...]]:
    paths = sorted(study.rglob("*.journal"))
    fronts = list(map_runs(attrgetter("front"), paths))
    return [front[1:] for front in fronts]


def test_runs_of_a_study_are_called_as_it_calls_them(study: Path, tmp_path: Path) -> None:
    every = [(t, r, 4) for t in ("baseline", "scarce") for r in ("all the same", "raiders")]
    encoded.write_tables([*sorted(study.rglob("*.journal"))], tmp_path, CSV)

    assert every == cells_of(study)
    for name in NAMES:
        found = pd.read_csv(tmp_path / f"{name}.csv", low_memory=False)
        columns = found[["treatment", "roster", "seed"]].drop_duplicates()
        assert every == list(columns.itertuples(index=False, name=None))


@pytest.mark.parametrize(
    "manifest",
    [None, "{", '{"runs": [{"treatment": 3, "roster": "a", "path": "a.journal"}]}'],
)
def test_elsewhere_a_run_is_called_by_who_plays(tmp_path: Path, manifest: str | None) -> None:
    if manifest is not None:
        (tmp_path / "manifest.json").write_text(manifest)
    record(tmp_path / "a.journal", {"rounds": 1, "seed": 3}, "raid*2,random,raid")

    assert [(None, "raid*2,random,raid", 3)] == cells_of(tmp_path)


# Other worlds.

STRANGE = Kind("list of pairs", lambda v: type(v) is tuple, lambda v: [list(pair) for pair in v])
TOLD, SET = range(2)
OTHER: World[int] = World(
    "other",
    1,
    (
        EventType("told", {"event": TEXT, "value": INTEGER}, is_input=True),
        EventType("set", {"value": several(INTEGER), "pairs": STRANGE, "digest": INTEGER}),
    ),
    lambda setup: 0,
    lambda state, inputs: [(SET, [((state,), ((state, 1),), 7)])],
    lambda state, block: state + len(block.rows(SET)),
    ended=lambda state: state == 3,
)


class OtherTools(Tools):
    def world(self, setup: Mapping[str, Any]) -> World[int]:
        return OTHER


ODD = OtherTools()


def test_events_of_any_world_are_a_table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    other = tmp_path / "other.journal"
    with JournalWriter(other, Header(OTHER.name, OTHER.rules)) as journal:
        setup = {"seed": 7, "who": "me"}
        last_of(steps(OTHER, setup, journal, ask=lambda n: [(TOLD, [("hi", n)])]))
    install_world(tmp_path, monkeypatch, OTHER.name, f"{__name__}:ODD")
    for form in encoded.FORMATS:
        done = encoded.write_tables([other], tmp_path / "out", form)
        assert [str(tmp_path / "out" / f"events.{form}")] == list(done)
    rows = pq.read_table(tmp_path / "out" / "events.parquet").to_pylist()
    start, told, set_, closed = rows[:4]

    assert (None, None, 7) == (start["treatment"], start["roster"], start["seed"])
    assert {"seed": 7, "who": "me"} == json.loads(start["facts"])
    assert ("told", "hi", "0") == (told["event"], told["event_"], told["value"])
    assert ("[0]", "[[0, 1]]", 7, None) == tuple(
        set_[name] for name in ("value", "pairs", "digest_", "digest")
    )
    assert (16, None) == (len(closed["digest"]), closed["digest_"])
    with pytest.raises(BadInput, match="no table 'rounds'"):
        encoded.write_tables([other], tmp_path / "out", CSV, names=["rounds"])
    same_csv = pd.read_csv(tmp_path / "out" / "events.csv")
    assert [row["event"] for row in rows] == list(same_csv["event"])
