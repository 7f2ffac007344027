"""Recorders killed, resumed, killed again: `python -m tests.faults.kills --kills 200 --every 1`.

A process with one thread, which forks those that it kills, so that hundreds take seconds. They are
killed by a call that changes a disk: by every so manyth, one after the other, or by one that is
drawn, as is who goes on and is killed in turn; no clock has a say. What counts: a round that the
recorder announced is in the file, the file is a beginning of the one never interrupted, and at last
it is that file, byte for byte. Recorders write in small pieces, so that kills meet commits half
written.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import tempfile
import traceback
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import attrs

from goldrush.kernel.errors import BadInput, GoldrushError, TornTail
from goldrush.kernel.journal import FORK, JournalReader
from tests.faults.dying import die_at
from tests.faults.journals import AUTHORITY, ROSTER, SMALL, TRUST, fork_small, forked, small
from tests.mining import record, resume

Announce = Callable[[int, Any], None]
Act = Callable[[Path, Announce], object]

PIECE = 80  # bytes a write
FAILED = 70  # exit code of a process with a traceback


def resumed(path: Path, announce: Announce) -> None:
    resume(path, trust=TRUST, on_round=announce)


def recorded(path: Path, announce: Announce) -> None:
    record(path, SMALL, ROSTER, AUTHORITY, force=True, on_round=announce)


def forked_off(path: Path, announce: Announce) -> None:
    fork_small(path.with_name("parent.journal"), path, force=True, on_round=announce)


@attrs.frozen
class Run:
    """What is killed: how it starts, on which file, and the bytes that it ends with."""

    start: Act
    before: bytes
    whole: bytes
    is_fork: bool = False


def main() -> None:
    """Kill, and print as JSON the counts, and what was wrong."""
    parser = argparse.ArgumentParser(description="Kill recorders, and see what is left.")
    parser.add_argument("--kills", type=int, default=200, help="at calls that are drawn")
    parser.add_argument("--every", type=int, default=1, help="at every so manyth call; 0: at none")
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    whole = small().data
    torn = whole[: small().commits[2].end + 50]
    runs = [
        Run(recorded, b"", whole),
        Run(resumed, torn, whole),
        Run(forked_off, b"", forked().data, is_fork=True),
    ]
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "parent.journal").write_bytes(whole)
        killing = Killing(Path(folder) / "run.journal", random.Random(chosen.seed))
        if chosen.every:
            killing.at_every_call(runs, chosen.every)
        killing.at_random(runs, chosen.kills)
    print(json.dumps({**killing.counts, "says": killing.says}))


@attrs.frozen
class Killing:
    """Kills processes that write to a path, and counts what came of it."""

    path: Path
    chance: random.Random
    counts: Counter[str] = attrs.Factory(Counter)
    says: list[str] = attrs.Factory(list)

    def at_every_call(self, runs: Sequence[Run], every: int) -> None:
        """Kill at each call that changes a file, of who records, resumes and forks."""
        for run in runs:
            call = 0
            while self._begin(run, PIECE, call) == -signal.SIGKILL:
                self._finish(run)
                call += every

    def at_random(self, runs: Sequence[Run], kills: int) -> None:
        """Kill at calls that are drawn, and what goes on in its place, until so many were."""
        until = self.counts["kills"] + kills
        while self.counts["kills"] < until:
            run, piece = self.chance.choice(runs), self.chance.randint(1, 200)
            code = self._begin(run, piece, self._call(run, piece))
            while code == -signal.SIGKILL and self.chance.random() < 0.5:
                code = self._tried(run, self._next(run), piece, self._call(run, piece))
            self._finish(run)

    def _call(self, run: Run, piece: int) -> int:
        return self.chance.randrange(len(run.whole) // piece + 20)

    def _begin(self, run: Run, piece: int, dies_at: int) -> int:
        self.path.unlink(missing_ok=True)
        if run.before:
            self.path.write_bytes(run.before)
        return self._tried(run, run.start, piece, dies_at)

    def _finish(self, run: Run) -> None:
        """Let the run go to its end, and compare it with one that was never interrupted."""
        if not self.path.exists() or self.path.read_bytes() != run.whole:
            self._tried(run, self._next(run))
        if not self.path.exists() or self.path.read_bytes() != run.whole:
            self.says.append("it ends in other bytes")

    def _next(self, run: Run) -> Act:
        """How it goes on: from what is left or, where that is no journal, from the start."""
        goes_on = _left(self.path)[0] >= 0
        self.counts["resumed"] += goes_on
        return resumed if goes_on else run.start

    def _tried(self, run: Run, act: Act, piece: int = 1 << 40, dies_at: int | None = None) -> int:
        """The exit code of a process that does this, and is killed at this call."""
        heard, told = os.pipe()
        if not (pid := os.fork()):
            os._exit(self._code_of(act, told, piece, dies_at))
        os.close(told)
        with os.fdopen(heard, "rb") as pipe:
            announced = max(pipe.read(), default=0)
        code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        self._judge(run, announced, code)
        return code

    def _code_of(self, act: Act, told: int, piece: int, dies_at: int | None) -> int:
        try:
            die_at(dies_at, piece)
            act(self.path, lambda unit, _: (os.write(told, bytes([unit])), None)[1])
        except BadInput:
            return 2  # the run had come to its end
        except BaseException:
            traceback.print_exc()
            return FAILED
        return 0

    def _judge(self, run: Run, announced: int, code: int) -> None:
        """Count a kill and what it left."""
        left, kinds, torn = _left(self.path)
        data = self.path.read_bytes() if self.path.exists() else b""
        self.counts["kills"] += code == -signal.SIGKILL
        self.counts["inside a commit"] += torn
        self.counts["announced"] += announced > 0
        if code == FAILED:
            self.says.append("a traceback")
        if announced > max(left, 0):
            self.says.append(f"round {announced} was announced, {left} is the last one left")
        if left >= 0 and not run.whole.startswith(data):
            self.says.append(f"{len(data)} bytes are no beginning of the run")
        if left >= 0 and run.is_fork and FORK not in kinds:
            self.says.append("what is left of a fork is taken for its parent")
        if left < 0 and data:
            self.says.append("what is no journal yet has the name of one")


def _left(path: Path) -> tuple[int, list[int], bool]:
    """The last whole round in a file (-1: it is no journal yet), the kinds of its commits, and
    whether a torn one follows.
    """
    last, kinds = -1, []
    try:
        with JournalReader(path) as reader:
            for commit in reader:
                last = commit.unit
                kinds.append(commit.kind)
    except TornTail:
        return last, kinds, True
    except GoldrushError:
        return -1, kinds, False
    return last, kinds, False


if __name__ == "__main__":
    main()
