"""Another version: what users wait for, against an environment in which that version is installed.

The same command lines are run by both, as whole processes. CPU time (user and system, children
included) in interleaved pairs, medians; the ratio is the median of those of the pairs. Each version
works in a folder and a cache of its own, on journals that it recorded itself; a line says where
these differ, for then the work differs too. A row that the other version does not know is skipped.
"""

from __future__ import annotations

import os
import resource
import shutil
import statistics
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

Row = tuple[str, str, str, str, str]

MIXED = "greedy-mine*4,random*2,raid*2,defend*2"
PLAYED = ("--treatment", "baseline", "--treatment", "scarce", "--roster", MIXED,
          "--roster", "greedy-mine", "--seeds", "15", "--rounds", "50")  # fmt: skip

# What each version records for itself before anything is measured.
PREPARED = (
    ("record", "--seed", "7", "--out", "run.journal"),
    ("record", "--seed", "7", "--rounds", "2000", "--out", "long.journal"),
    ("fork", "run.journal", "--at", "50", "--set", "authority=punish", "--out", "fork.journal"),
    ("season", "--seed", "1", "--assignments", "4", "--out", "season.journal"),
    ("study", *PLAYED, "--out", "study", "--jobs", "1"),
)
JOURNALS = ("run.journal", "fork.journal", "long.journal", "season.journal")
TARGET = "<= 1.1"
NAME_MAX = 60  # characters of a row's name
_COMMAND = "goldrush"
TORN = "torn.journal"  # the first half of run.journal, put back before each command
ENDED = (0, 1)  # exit codes of work that was done


class Command(NamedTuple):
    """A command line, how often it is timed, and what it leaves that must not be there again."""

    words: tuple[str, ...]
    repeats: int = 11
    leaves: str = ""


COMMANDS = (
    *(Command((*name, "--help")) for name in ((), ("record",))),
    Command(("record", "--out", "new.journal", "--force")),
    Command(("record", "--rounds", "500", "--roster", MIXED, "--out", "new.journal", "--force")),
    Command(("resume", TORN)),
    Command(("fork", "run.journal", "--at", "100", "--roster", "raid*10", "--out", "new.journal",
             "--force")),
    *(Command(("verify", "run.journal", "--level", level)) for level in "1234"),
    Command(("replay", "long.journal", "--round", "1900")),
    Command(("log", "run.journal")),
    Command(("diff", "run.journal", "fork.journal", "--by-round")),
    Command(("audit", "run.journal", "--all")),
    Command(("measure", "run.journal", "--json", "--by-round")),
    Command(("export", "run.journal")),
    Command(("export", "run.journal", "--format", "csv", "--out", "csv", "--force")),
    Command(("export", "run.journal", "--format", "parquet", "--out", "parquet", "--force")),
    Command(("prompt", "run.journal", "--round", "3", "--agent", "0")),
    Command(("season", "--seed", "1", "--assignments", "1", "--out", "new.journal", "--force"), 5),
    Command(("verify", "season.journal", "--level", "3")),
    Command(("log", "season.journal")),
    Command(("leaderboard", "season.journal")),
    Command(("study", *PLAYED, "--out", "again", "--jobs", "1"), 5, "again"),
    Command(("report", "study", "--jobs", "1", "--out", "page.html", "--force"), 5),
)  # fmt: skip


def script_beside(python: str) -> str:
    """The command `goldrush` of the environment of an interpreter."""
    return str(Path(python).with_name(_COMMAND))


class Version:
    """An installed version: its interpreter, and the folder in which it works."""

    def __init__(self, python: str, folder: Path) -> None:
        folder.mkdir()
        self.python, self.folder = python, folder
        self._environment = {**os.environ, "XDG_CACHE_HOME": str(folder / "cache")}
        for name in ("PYTHONPATH", "PYTHONDONTWRITEBYTECODE"):  # what is installed, compiled once
            self._environment.pop(name, None)

    def goldrush(self, command: Command) -> float:
        """The CPU seconds of a command, after the files that it needs were put in place."""
        self.restore(command.leaves)
        # Not `-m`: what `goldrush` was called inside has changed, the script has not.
        return self._cpu_of([script_beside(self.python), *command.words])

    def prepare(self) -> None:
        """Record what the commands read. Raises Skipped where one fails."""
        for words in PREPARED:
            self._cpu_of([script_beside(self.python), *words])
        whole = (self.folder / "run.journal").read_bytes()
        (self.folder / "half").write_bytes(whole[: len(whole) // 2])

    def restore(self, leaves: str) -> None:
        """Put the torn journal back, and remove what the last run of a command left."""
        shutil.copyfile(self.folder / "half", self.folder / TORN)
        if leaves:
            shutil.rmtree(self.folder / leaves, ignore_errors=True)

    def _cpu_of(self, words: Sequence[str]) -> float:
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        done = subprocess.run(
            words, cwd=self.folder, env=self._environment, capture_output=True, text=True
        )
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        if done.returncode not in ENDED:
            raise Skipped((done.stderr.strip().splitlines() or [str(done.returncode)])[-1])
        return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


class Skipped(Exception):
    """A version cannot do what a row asks for; the text is what it said."""


def rows_against(folder: Path, python: str) -> Iterator[Row]:
    """The rows of the table, each measured when it is asked for."""
    old, new = Version(python, folder / "old"), Version(sys.executable, folder / "new")
    old.prepare()
    new.prepare()
    for name in JOURNALS:
        ours, theirs = ((version.folder / name).read_bytes() for version in (new, old))
        if ours != theirs:
            sizes = f"{len(theirs):,} B, here {len(ours):,} B"
            yield ("not the same work", f"that of {name}", "", "", sizes)
    yield ("what", "", "measured", "target", "the other: median (quartiles apart)")
    for command in COMMANDS:
        name = " ".join(command.words)
        try:
            for version in (old, new):  # imports compiled, caches filled
                version.goldrush(command)
        except Skipped as error:
            yield (_COMMAND, name[:NAME_MAX], "skipped", "", str(error))
            continue
        yield _row(_COMMAND, name, _pairs(old, new, command))


def _pairs(old: Version, new: Version, command: Command) -> list[tuple[float, float]]:
    """Seconds of both, as often as the command says; who goes first alternates."""
    pairs = []
    for number in range(command.repeats):
        first, second = (old, new) if number % 2 else (new, old)
        took = {first: first.goldrush(command), second: second.goldrush(command)}
        pairs.append((took[old], took[new]))
    return pairs


def _row(what: str, name: str, pairs: Sequence[tuple[float, float]]) -> Row:
    old, new = zip(*pairs, strict=True)
    ratio = statistics.median(ours / theirs for theirs, ours in pairs)
    times = f"{_milliseconds(old)}, here {_milliseconds(new)}"
    return (what, name[:NAME_MAX], f"{ratio:.2f} x", TARGET, times)


def _milliseconds(seconds: Sequence[float]) -> str:
    first, _, third = statistics.quantiles(seconds, n=4, method="inclusive")
    return f"{statistics.median(seconds) * 1e3:.1f} ms ({(third - first) * 1e3:.1f})"
