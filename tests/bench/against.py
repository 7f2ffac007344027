"""Another version: what users wait for, against an environment in which that version is installed.

The same command lines are run by both, as whole processes, in interleaved pairs. Each version works
in a folder and a cache of its own, on journals that it recorded itself; a line says where these
differ, for then the work differs too. A row that the other version does not know is skipped.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

from .timing import Row, alternately, cpu_of, row

PLAYED = (
    "--treatment baseline --treatment scarce --seeds 15 --rounds 50 --jobs 1 "
    "--roster greedy-mine*4,random*2,raid*2,defend*2 --roster greedy-mine"
)

# What each version records for itself before anything is measured.
PREPARED = (
    "record --seed 7 --out run.journal",
    "record --seed 7 --rounds 2000 --out long.journal",
    "fork run.journal --at 50 --set authority=punish --out fork.journal",
    "season --seed 1 --assignments 4 --out season.journal",
    f"study {PLAYED} --out study",
)
JOURNALS = ("run.journal", "fork.journal", "long.journal", "season.journal")
COMMANDS = (
    "--help",
    "record --rounds 10 --out new.journal --force",
    "record --out new.journal --force",
    "record --roster random --out new.journal --force",
    "resume torn.journal",
    "fork run.journal --at 100 --roster raid*10 --out new.journal --force",
    *(f"verify run.journal --level {level}" for level in (1, 2, 3, 4)),
    "replay long.journal --round 1900",
    "log run.journal",
    "diff run.journal fork.journal --by-round",
    "audit run.journal --all",
    "measure run.journal --json --by-round",
    "export run.journal --format csv --out csv --force",
    "export run.journal --format parquet --out parquet --force",
    "prompt run.journal --round 3 --agent 0",
)
SLOW = (
    "season --seed 1 --assignments 1 --out new.journal --force",
    "verify season.journal --level 3",
    "leaderboard season.journal",
    f"study {PLAYED} --out again",
    f"study {PLAYED} --out study",
    "report study --jobs 1 --out page.html --force",
)
NAME_MAX = 42  # characters of a row's name
ENDED = (0, 1)  # exit codes of work that was done


class Skipped(Exception):
    """A version cannot do what a row asks for; the text is what it said."""


def script_beside(python: str) -> str:
    """The command `goldrush` of the environment of an interpreter."""
    return str(Path(python).with_name("goldrush"))


class Version:
    """An installed version, by its interpreter, and the folder in which it works."""

    def __init__(self, python: str, folder: Path) -> None:
        folder.mkdir()
        self.script, self.folder = script_beside(python), folder
        self._environment = {**os.environ, "XDG_CACHE_HOME": str(folder / "cache")}
        for name in ("PYTHONPATH", "PYTHONDONTWRITEBYTECODE"):  # what is installed, compiled once
            self._environment.pop(name, None)
        for command in PREPARED:
            self._cpu_of(command)
        self._half = (folder / "run.journal").read_bytes()
        self._half = self._half[: len(self._half) // 2]

    def cpu_of(self, command: str) -> float:
        """The CPU seconds of a command, with a torn journal put back and no study before it."""
        (self.folder / "torn.journal").write_bytes(self._half)
        shutil.rmtree(self.folder / "again", ignore_errors=True)
        return self._cpu_of(command)

    def _cpu_of(self, command: str) -> float:
        # Not `-m`: what `goldrush` was called inside has changed, the script has not.
        words = [self.script, *command.split()]
        seconds, done = cpu_of(words, cwd=self.folder, env=self._environment)
        if done.returncode not in ENDED:
            raise Skipped((done.stderr.strip().splitlines() or [str(done.returncode)])[-1])
        return seconds


def rows_against(folder: Path, python: str) -> Iterator[Row]:
    """The rows of the table, each measured when it is asked for."""
    old, new = Version(python, folder / "old"), Version(sys.executable, folder / "new")
    for name in JOURNALS:
        if (new.folder / name).read_bytes() != (old.folder / name).read_bytes():
            yield ("not the same work", f"that of {name}", "", "", "")
    yield from _commands(old, new, COMMANDS, 11)
    yield from _commands(old, new, SLOW, 5)


def _commands(old: Version, new: Version, commands: Sequence[str], repeats: int) -> Iterator[Row]:
    for command in commands:
        name = command[:NAME_MAX]
        try:
            for version in (old, new):  # imports compiled, caches filled
                version.cpu_of(command)
        except Skipped as error:
            yield ("goldrush", name, "skipped", "", str(error))
            continue
        ours, theirs = partial(new.cpu_of, command), partial(old.cpu_of, command)
        yield row("goldrush", name, alternately(ours, theirs, repeats), "<= 1.1")
