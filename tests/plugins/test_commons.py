"""A package installed by pip, whose world is the class of a game: it edits nothing here, and the
commands that know no world play it, tell it and verify it.
"""

import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.helpers import ROOT, Ran, assert_refused, cold, goldrush

Command = Callable[..., Ran]


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the package lies, installed."""
    pytest.importorskip("setuptools", "77")
    copy, target = tmp_path_factory.mktemp("copy") / "commons", tmp_path_factory.mktemp("target")
    shutil.copytree(ROOT / "tests" / "plugins" / "commons", copy)
    done = subprocess.run(
        [sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--no-index",
         "--no-build-isolation", "--target", target, copy],
        capture_output=True, text=True, timeout=600, check=False,
    )  # fmt: skip
    assert 0 == done.returncode, done.stderr
    return target


@pytest.fixture(scope="module")
def played(installed: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run."""
    path = tmp_path_factory.mktemp("run") / "c.journal"
    ran = goldrush(
        "record", "--world", "commons", "--seed", 3, "--roster", "share*5", "--out", path,
        cwd=path.parent, installed=installed,
    )  # fmt: skip
    assert 0 == ran.code
    return path


@pytest.fixture
def commons(installed: Path, played: Path, tmp_path: Path) -> Command:
    """Runs a command where the package is installed, in a folder with a run."""
    shutil.copy(played, tmp_path)

    def run(*arguments: object, **environment: str) -> Ran:
        return goldrush(*arguments, cwd=tmp_path, installed=installed, **environment)

    return run


PLAN = """
world = "commons"
treatments = ["baseline", "half-shock", "small-stock"]
rosters = ["share*5", "random*5"]
seeds = [2, 5]
rounds = 12
[treatment.half-shock]
shock = 0.05
"""


def test_it_is_studied_and_reported_only_where_it_is(commons: Command, tmp_path: Path) -> None:
    (tmp_path / "plan.toml").write_text(PLAN)
    studied = commons("study", "plan.toml", "--out", "study", "--jobs", 2)
    answered = json.loads(commons("report", "study", "--criteria", "--json").out)
    manifest = json.loads((tmp_path / "study" / "manifest.json").read_text())
    journal = "small-stock/share_5/seasons-12/seed-0005.journal"

    assert studied.out.startswith("12 runs in study (0 were there already")
    assert "goldrush-commons 0.1.0" == manifest["distribution"]
    assert (tmp_path / "study" / journal).is_file()
    assert ["recovery"] * 3 == [one["criterion"] for one in answered["verdicts"]]  # not of the null
    assert {"stock", "landed", "sustained", "gini"} == set(
        answered["against_baseline"][0]["differences"]
    )
    assert_refused(commons("report", "study", GOLDRUSH_PLUGINS=""), "cannot be read here")


BY_METHOD = """
import multiprocessing, sys
multiprocessing.set_start_method(sys.argv.pop(1))
from goldrush.cli.main import main
main()
"""


def test_processes_find_it_however_they_begin(
    commons: Command, installed: Path, tmp_path: Path
) -> None:
    (tmp_path / "plan.toml").write_text(PLAN)
    commons("study", "plan.toml", "--out", "alone", "--jobs", 1)
    alone = (tmp_path / "alone" / "manifest.json").read_bytes()
    for method in ("forkserver", "spawn"):
        done = cold(
            method, "study", "plan.toml", "--out", method, "--jobs", 2, cwd=tmp_path,
            front=("-c", BY_METHOD), env={"PYTHONPATH": f"{installed}:{ROOT}"},
        )  # fmt: skip

        assert (0, "") == (done.code, done.err)
        assert alone == (tmp_path / method / "manifest.json").read_bytes()


def test_it_adds_a_world_a_policy_and_a_command_unless_it_is_not_allowed(commons: Command) -> None:
    recorded = commons("record", "--roster", "settler[plots=1]*2", "--rounds", 6, "--out", "m")
    shut = commons("replay", "c.journal", "--round", 1, GOLDRUSH_PLUGINS="other")

    assert ["commons", "mining/settler", "quota"] == [
        line.split()[0] for line in commons("plugins").out.splitlines()
    ]
    assert (0, 0) == (recorded.code, commons("verify", "--strict", "m").code), recorded.err
    assert Ran(0, "125\n", "") == commons("quota", "c.journal")
    assert_refused(commons("quota", "c.journal", GOLDRUSH_PLUGINS="commons"), "no command 'quota'")
    assert_refused(shut, "world 'commons'")
