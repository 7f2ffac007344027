"""What is installed: one package, which collides with nobody's `agents` or `kernel`."""

import os
import shutil
import subprocess
import sys
import tomllib
import zipfile
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.cli.helpers import ROOT
from tests.waiting import HANGS

ROOMS = ("kernel", "agents", "replay", "cli")
SOURCES = (*ROOMS, "goldrush", "pyproject.toml", "README.md", "LICENSE")
POLICY = """
class Agent:
    def plan(self, seen, draws):
        return [("claim", plot, 1) for plot in seen.unowned[:1]]
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel of this checkout, built from a copy."""
    pytest.importorskip("setuptools", "77")
    copy, out = tmp_path_factory.mktemp("copy"), tmp_path_factory.mktemp("wheel")
    skipped = shutil.ignore_patterns("__pycache__")
    for name in SOURCES:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, copy / name, symlinks=True, ignore=skipped)
        else:
            shutil.copy(ROOT / name, copy)
    pip("wheel", "--no-build-isolation", "--wheel-dir", out, copy)
    [built] = out.iterdir()
    return built


def pip(*arguments: object) -> None:
    command = [sys.executable, "-m", "pip", *map(str, arguments), "--no-deps", "--no-index", "-q"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600)

    assert 0 == done.returncode, done.stderr


def environment(folder: Path, *wheels: Path) -> Path:
    """The interpreter of a fresh environment with these wheels, one installed after the other, and
    with what they depend on.
    """
    subprocess.run(
        [sys.executable, "-m", "venv", "--without-pip", folder], check=True, timeout=HANGS
    )
    python = folder / "bin" / "python"
    for one in wheels:
        pip("--python", python, "install", one)
    [packages] = folder.glob("lib/python*/site-packages")
    paths = [path for path in sys.path if path.endswith("site-packages")]
    (packages / "dependencies.pth").write_text("".join(f"{path}\n" for path in paths))
    return python


def other_wheel(folder: Path, name: str, files: Mapping[str, str], points: str = "") -> Path:
    """A wheel of another project."""
    path, info = folder / f"{name}-1.0-py3-none-any.whl", f"{name}-1.0.dist-info"
    told = {
        "METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n",
        "WHEEL": "Wheel-Version: 1.0\nGenerator: x\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        "entry_points.txt": points,
        "RECORD": "",
    }
    with zipfile.ZipFile(path, "w") as file:
        for inside, text in {**files, **{f"{info}/{key}": told[key] for key in told}}.items():
            file.writestr(inside, text)
    return path


def test_every_folder_with_modules_is_listed_for_the_wheel() -> None:
    listed = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]["packages"]
    there = {path.parent for room in ROOMS for path in (ROOT / room).rglob("*.py")}
    rooms = [f"goldrush.{'.'.join(p.relative_to(ROOT).parts)}" for p in there]

    assert ["goldrush", *sorted([*rooms, "goldrush.games"])] == listed


def test_the_wheel_has_one_name_at_its_top_and_real_files(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as file:
        names = file.namelist()
        links = [one.filename for one in file.infolist() if one.external_attr >> 28 == 0xA]
    modules = {
        f"goldrush/{p.relative_to(ROOT)}" for room in ROOMS for p in (ROOT / room).rglob("*.py")
    }

    assert {"goldrush"} == {name.partition("/")[0] for name in names if ".dist-info/" not in name}
    assert modules < set(names)
    assert {
        "goldrush/py.typed", "goldrush/kernel/README.md", "goldrush/PLUGINS.md",
        "goldrush/replay/report/page.html", "goldrush/replay/report/page.css",
        "goldrush/replay/worlds/mining/report.html",
        "goldrush/agents/worlds/competition/benches/mining.atlas",
        "goldrush/agents/worlds/competition/sentences.toml",
        "goldrush/agents/worlds/competition/wording.toml",
        "goldrush/agents/worlds/mining/prompts/prompt.toml",
        "goldrush/agents/worlds/mining/prompts/wordings/plain.toml",
    } < set(names)  # fmt: skip
    assert [] == links


@pytest.mark.parametrize("is_first", [True, False], ids=["first", "second"])
def test_it_is_installed_beside_another_package_that_is_called_agents(
    wheel: Path, is_first: bool, tmp_path: Path
) -> None:
    other = other_wheel(tmp_path, "openai_agents", {"agents/__init__.py": "class Agent: pass\n"})
    python = environment(tmp_path / "venv", *((wheel, other) if is_first else (other, wheel)))
    code = (
        "from agents import Agent; import goldrush.agents.worlds.mining.players as players; "
        "print(Agent.__module__, players.__file__)"
    )
    done = subprocess.run(
        [python, "-c", code], cwd=tmp_path, capture_output=True, text=True, timeout=HANGS
    )

    assert done.stdout.startswith(f"agents {tmp_path}/venv/"), done.stderr
    assert done.stdout.endswith("/goldrush/agents/worlds/mining/players.py\n")


@pytest.mark.parametrize("is_first", [True, False], ids=["first", "second"])
def test_another_distribution_goldrush_beside_it_is_told_in_one_line(
    wheel: Path, is_first: bool, tmp_path: Path
) -> None:
    files = {"goldrush/__init__.py": "", "goldrush/cli.py": "def main(): print('records')\n"}
    other = other_wheel(
        tmp_path, "goldrush", files, "[console_scripts]\ngoldrush = goldrush.cli:main\n"
    )
    python = environment(tmp_path / "venv", *((wheel, other) if is_first else (other, wheel)))
    [packages] = (tmp_path / "venv").glob("lib/python*/site-packages")
    line = (
        f"goldrush-sim and the distribution goldrush-1.0, another project, overwrite each other in "
        f"{packages}; type: pip uninstall -y goldrush goldrush-sim && pip install goldrush-sim\n"
    )
    alone = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    ran = [
        subprocess.run(
            command, cwd=tmp_path, env=alone, capture_output=True, text=True, timeout=HANGS
        )
        for command in (
            [python.with_name("goldrush"), "--version"],
            [python, "-c", "from goldrush.agents.players import Players"],
            *([] if is_first else [[python, "-c", "import goldrush; goldrush.Game"]]),
        )
    ]

    assert (2, "", f"goldrush: {line}") == (ran[0].returncode, ran[0].stdout, ran[0].stderr)
    assert all(done.stderr.endswith(f"ImportError: {line}") for done in ran[1:])


def test_the_kernel_looks_at_no_folder_when_it_is_imported() -> None:
    code = (
        "import os, sys; del os.listdir; import goldrush.kernel.draws; "
        "assert 'goldrush.version' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True, cwd=ROOT, timeout=HANGS)


@pytest.mark.parametrize("room", ROOMS)
def test_a_room_cannot_be_imported_by_another_name(room: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", f"import {room}"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=HANGS,
    )

    assert f"ImportError: import goldrush.{room}: " in done.stderr


def test_policies_of_ones_own_may_stand_in_a_module_that_is_called_agents(
    wheel: Path, tmp_path: Path
) -> None:
    python = environment(tmp_path / "venv", wheel)
    (tmp_path / "agents.py").write_text(POLICY)
    printed = [
        subprocess.run(
            [python, "-m", "goldrush", *words], cwd=tmp_path, capture_output=True, text=True,
            timeout=HANGS, check=True,
        ).stdout
        for words in (
            ["record", "--rounds", "2", "--roster", "agents:Agent*2", "--out", "x"],
            ["verify", "x", "--trust", "agents:Agent"],
        )
    ]  # fmt: skip

    assert "holds at levels 1 to 4" in printed[1]


def test_the_suite_can_be_run_with_junitxml_in_one_process(tmp_path: Path) -> None:
    """Tests of faults record their counts as properties (`tests/faults/conftest.py`)."""
    (tmp_path / "test_it.py").write_text(
        "def test_it(record_property):\n    record_property('faults', ['kind', 7])\n"
    )
    options = ("-c", ROOT / "pyproject.toml", "--rootdir", tmp_path, "-n", "0")
    ran = subprocess.run(
        [sys.executable, "-m", "pytest", *options, "--junitxml", "suite.xml", "test_it.py"],
        cwd=tmp_path, capture_output=True, text=True, timeout=HANGS,
    )  # fmt: skip

    assert 0 == ran.returncode, ran.stdout
    assert "['kind', 7]" in (tmp_path / "suite.xml").read_text()
