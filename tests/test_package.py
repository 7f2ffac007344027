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


def ran(folder: Path, *words: object) -> subprocess.CompletedProcess[str]:
    """A command that was run in a folder, with nothing but what its environment has installed."""
    alone = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    return subprocess.run(
        [*map(str, words)], cwd=folder, env=alone, capture_output=True, text=True, timeout=HANGS
    )


def environment(folder: Path, *wheels: Path) -> Path:
    """The interpreter of a fresh environment with these wheels, one installed after the other, and
    with what they depend on.
    """
    ran(folder.parent, sys.executable, "-m", "venv", "--without-pip", folder).check_returncode()
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

    assert ["goldrush", *sorted([*rooms, "goldrush.games", "goldrush.hook"])] == listed


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
        "goldrush/replay/worlds/mining/report.html", "goldrush/replay/report/sentences.jinja",
        "goldrush/agents/worlds/competition/benches/mining.atlas",
        "goldrush/agents/worlds/competition/sentences.toml",
        "goldrush/agents/worlds/competition/wording.toml",
        "goldrush/agents/worlds/mining/prompts/prompt.toml",
        "goldrush/agents/worlds/mining/prompts/wordings/plain.toml",
    } < set(names)  # fmt: skip
    assert [] == links


@pytest.mark.parametrize("is_first", [True, False], ids=["first", "second"])
def test_another_distribution_goldrush_beside_it_is_told_in_one_line(
    wheel: Path, is_first: bool, tmp_path: Path
) -> None:
    files = {"goldrush/__init__.py": "", "goldrush/cli.py": "def main(): print('records')\n"}
    other = other_wheel(
        tmp_path, "goldrush", files, "[console_scripts]\ngoldrush = goldrush.cli:main\n"
    )
    python = environment(tmp_path / "venv", *((wheel, other) if is_first else (other, wheel)))
    goldrush = ran(tmp_path, python.with_name("goldrush"), "--version")
    programs = ["from goldrush.agents.players import Players", "import goldrush; goldrush.Game"]
    imports = [ran(tmp_path, python, "-c", code) for code in programs[: 1 if is_first else 2]]

    assert (2, "", 1) == (goldrush.returncode, goldrush.stdout, goldrush.stderr.count("\n"))
    for done in (goldrush, *imports):
        told = done.stderr.splitlines()[-1]
        assert (
            f"the distribution goldrush-1.0, another project, overwrite each other in {tmp_path}"
            in told
        )
        assert told.endswith("pip uninstall -y goldrush goldrush-sim && pip install goldrush-sim")


def test_the_kernel_looks_at_no_folder_when_it_is_imported() -> None:
    code = (
        "import os, sys; del os.listdir; import goldrush.kernel.draws; "
        "assert 'goldrush.version' not in sys.modules"
    )
    ran(ROOT, sys.executable, "-c", code).check_returncode()


@pytest.mark.parametrize("room", ROOMS)
def test_a_room_cannot_be_imported_by_another_name(room: str) -> None:
    done = ran(ROOT, sys.executable, "-c", f"import {room}")

    assert f"ImportError: import goldrush.{room}: " in done.stderr
