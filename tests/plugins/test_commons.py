"""A package installed by pip, whose world is the class of a game: it edits nothing here, and the
commands that know no world play it, tell it and verify it.
"""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.helpers import ROOT, cold, goldrush


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


PLAN = """
world = "commons"
treatments = ["baseline", "half-shock", "small-stock"]
rosters = ["share*5", "random*5"]
seeds = [2, 5]
rounds = 12
[treatment.half-shock]
shock = 0.05
"""


BY_METHOD = """
import multiprocessing, sys
multiprocessing.set_start_method(sys.argv.pop(1))
from goldrush.cli.main import main
main()
"""


def test_processes_find_it_however_they_begin(installed: Path, tmp_path: Path) -> None:
    (tmp_path / "plan.toml").write_text(PLAN)
    words = ("study", "plan.toml", "--out")
    goldrush(*words, "alone", "--jobs", 1, cwd=tmp_path, installed=installed)
    alone = (tmp_path / "alone" / "manifest.json").read_bytes()
    for method in ("forkserver", "spawn"):
        done = cold(
            method, *words, method, "--jobs", 2, cwd=tmp_path,
            front=("-c", BY_METHOD), env={"PYTHONPATH": f"{installed}:{ROOT}"},
        )  # fmt: skip

        assert (0, "") == (done.code, done.err)
        assert alone == (tmp_path / method / "manifest.json").read_bytes()
