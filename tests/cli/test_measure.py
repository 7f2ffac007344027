"""`measure`: measures of one run, of many, by round, and ownership spells."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import attrs
import pytest

from goldrush.kernel.measures import mean
from goldrush.kernel.worlds.mining.events import MINING_SETTLED
from goldrush.replay.data.groups import groups
from goldrush.replay.data.run_data import measured_at
from goldrush.replay.study.inference import interval
from tests.cli.helpers import assert_refused, goldrush
from tests.golden import RULES_1, path_of
from tests.journals import changed, commits_of, write
from tests.mining import fork, record


def test_several_runs_are_means_with_their_intervals(tmp_path: Path) -> None:
    """Runs of two kinds that differ in the seed, and one that differs in the horizon."""
    for seed in range(3):
        record(tmp_path / f"a{seed}", {"rounds": 9, "seed": seed})
    for seed in range(2):
        record(tmp_path / f"b{seed}", {"rounds": 9, "seed": seed, "fine": 2.0}, "raid*2")
    record(tmp_path / "c", {"rounds": 8})
    paths = sorted(tmp_path.iterdir())
    a, b, c = json.loads(goldrush("measure", *paths, "--json", cwd=tmp_path).out)
    runs = [measured_at(path) for path in paths]
    gini = [run.of("gini") for run in runs]
    gold = [mean(run.by_agent["gold"]) for run in runs]
    fields = ("treatment", "horizon", "runs", "unfinished")

    assert [None, 9, 3, 0] == [a[field] for field in fields]
    assert [{"agents": 2, "fine": 2.0}, 9, 2, 0] == [b[field] for field in fields]
    assert [None, 8, 1, 0] == [c[field] for field in fields]
    assert attrs.asdict(interval(gini[:3])) == a["measures"]["gini"]
    assert attrs.asdict(interval(gold[:3])) == a["measures"]["gold"]
    assert attrs.asdict(interval(gini[3:5])) == b["measures"]["gini"]
    assert {"n": 1, "mean": gini[5], "low": None, "high": None} == c["measures"]["gini"]


def test_a_copy_is_counted_once_and_a_fork_is_of_another_kind(tmp_path: Path) -> None:
    a = tmp_path / "a.journal"
    record(a, {"rounds": 4, "seed": 7})
    record(tmp_path / "c.journal", {"rounds": 4, "seed": 8})
    fork(a, 2, tmp_path / "d.journal")
    shutil.copy(a, tmp_path / "b.journal")
    ran = goldrush("measure", ".", "--json", cwd=tmp_path)
    runs, forks = json.loads(ran.out)

    assert "goldrush: ./b.journal has the same bytes as ./a.journal; counted once\n" == ran.err
    assert (2, [], 1) == (runs["runs"], runs["forks"], forks["runs"])
    assert [{"round": 2, "changes": {}, "roster": None, "replaced": []}] == forks["forks"]


def test_two_runs_with_one_seed_are_noted(tmp_path: Path) -> None:
    record(tmp_path / "a.journal", {"rounds": 4})
    whole = commits_of(tmp_path / "a.journal")
    write(tmp_path / "b.journal", whole[:-1])
    [group] = groups([tmp_path / "a.journal", tmp_path / "b.journal"])

    assert (2, 1) == (group.runs, group.unfinished)
    [note] = group.notes
    assert "b.journal has the seed of " in note


def test_runs_of_a_study_are_grouped_by_its_treatments(tmp_path: Path) -> None:
    """Also where settings are drawn from the seed, and a folder has a single run."""
    study = ("study", "--out", "s", "--roster", "raid", "--rounds", 3, "--seeds", 2, "--jobs", 1)
    goldrush(*study, "--treatment", "alpha-rich", "--treatment", "scarce", cwd=tmp_path)
    rich, scarce = json.loads(goldrush("measure", "s", "--json", cwd=tmp_path).out)
    one = tmp_path / "one"
    one.mkdir()
    shutil.copy(next((tmp_path / "s" / "scarce").rglob("*.journal")), one)

    assert ("alpha-rich", 2) == (rich["treatment"], rich["runs"])
    assert ("scarce", 2) == (scarce["treatment"], scarce["runs"])
    assert [1] == [g["runs"] for g in json.loads(goldrush("measure", one, "--json", cwd=one).out)]


def forged(path: Path, gold: Any) -> Path:
    """A run in which everything that is mined brings this."""
    sound = commits_of(path_of("baseline"))
    return write(path, changed(sound, MINING_SETTLED, lambda row: [*row[:3], gold]))


@pytest.mark.parametrize("gold", [float("nan"), 1.7e308])
def test_gold_that_no_run_can_mine_is_told_in_a_line(tmp_path: Path, gold: float) -> None:
    assert_refused(goldrush("measure", forged(tmp_path / "a", gold), cwd=tmp_path), "gold")


def test_runs_under_different_rules_are_in_different_groups() -> None:
    found = groups([str(path_of("baseline")), str(path_of("baseline", RULES_1))])

    assert ["mining", "mining, rules 1"] == [group.kind.world for group in found]
    assert [1, 1] == [group.runs for group in found]
