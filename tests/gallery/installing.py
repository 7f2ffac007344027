"""Environments of Python, each with a package of the gallery and the doctor."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import attrs

from tests.gallery.judging import plain
from tests.gallery.packages import Package
from tests.gallery.processes import ran

ROOT: Final = Path(__file__).resolve().parents[2]
INSTALL_SECONDS: Final = 400
LIST_SECONDS: Final = 300
# Never compiled: a package that wants a version without a wheel is not installed.
_WHEELS: Final = "numpy,scipy,pandas,matplotlib,pillow,pygame,opencv-python,scikit-learn,torch,h5py"


@attrs.frozen
class Installed:
    """A package that pip installed.

    Attributes:
        python: its interpreter.
        version: of the interpreter.
        packages: as `pip freeze` lists them.
    """

    python: Path
    version: str
    packages: Sequence[str]

    def version_of(self, distribution: str) -> str:
        """The version of one of the packages."""
        versions = {_normal(name): of for name, _, of in (p.partition("==") for p in self.packages)}
        return versions[_normal(distribution)]


def _normal(name: str) -> str:
    return name.lower().replace("_", "-").replace(".", "-")


class NotInstalled(Exception):
    """Why not, in a line."""


def doctor(folder: Path) -> Path:
    """The wheel of this checkout, made in an empty folder, of a copy: nothing is left in it."""
    left_out = (".git", ".venv*", ".*_cache", ".hypothesis", "*.egg-info", "build", "tests")
    copy = folder / "copy"
    shutil.copytree(ROOT, copy, symlinks=True, ignore=shutil.ignore_patterns(*left_out))
    options = ["-q", "--no-deps", f"--wheel-dir={folder}"]
    subprocess.run([sys.executable, "-m", "pip", "wheel", *options, str(copy)], check=True)
    (wheel,) = folder.glob("*.whl")
    return wheel


def installed(package: Package, folder: Path, wheel: Path) -> Installed:
    """A package in its environment, which is made if it is not there or is another's.

    Raises NotInstalled.
    """
    home = folder / package.name.replace(" ", "-")
    python, stamp = home / "bin" / "python", home / "installed.json"
    wanted = json.dumps([package.python, *package.install])
    if stamp.exists() and stamp.read_text() == wanted:
        _pip(python, "--force-reinstall", "--no-deps", str(wheel))
    else:
        shutil.rmtree(home, ignore_errors=True)
        base = shutil.which(f"python{package.python}") if package.python else sys.executable
        if base is None:
            raise NotInstalled(f"it needs Python {package.python}, which is not here")
        made = ran([base, "-m", "venv", str(home)], LIST_SECONDS)
        if made.code != 0:
            raise NotInstalled(f"no virtual environment: {made.last_line}")
        _pip(python, *package.install, str(wheel))
        stamp.write_text(wanted)
    version = ran([str(python), "-c", "import platform; print(platform.python_version())"], 60)
    frozen = ran([str(python), "-m", "pip", "freeze", "--exclude=goldrush"], LIST_SECONDS)
    names = tuple(sorted(frozen.out.split("\n"), key=str.lower))
    return Installed(python, version.out.strip(), tuple(filter(None, names)))


def _pip(python: Path, *what: str) -> None:
    options = ["-q", "--no-compile", f"--only-binary={_WHEELS}"]
    process = ran([str(python), "-m", "pip", "install", *options, *what], INSTALL_SECONDS)
    if process.code != 0:
        lines = [line for line in process.err.splitlines() if not line.startswith("WARNING:")]
        errors = [line.removeprefix("ERROR: ") for line in lines if line.startswith("ERROR:")]
        late = f"pip takes longer than {INSTALL_SECONDS} seconds"
        raise NotInstalled(
            late if process.code is None else plain((errors or lines[-1:] or ["?"])[0])
        )
