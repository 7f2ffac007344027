"""Recorders killed, resumed, killed again: `python -m tests.faults.kills [--kills 200]`.

A process with one thread, which forks those that it kills, so that hundreds take seconds. Some are
killed by every call that changes a disk, one after the other; the others by one that is drawn, or
from outside, as soon as they announce a round that is drawn: no clock has a say. What counts: a
round that the recorder announced is in the file, the file is a beginning of the one never
interrupted, and at last it is that file, byte for byte.

Recorders write in small pieces, so that kills meet commits half written.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import sys
import tempfile
import traceback
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import attrs

from goldrush.kernel.errors import BadInput, GoldrushError, TornTail
from goldrush.kernel.journal import FORK, JournalReader
from tests.faults.dying import die_at
from tests.faults.journals import AUTHORITY, BIG, FORKED_AT, ROSTER, SMALL, TRUST, fork_small, small
from tests.faults.policies import NOISY
from tests.mining import fork, record, resume

Announce = Callable[[int, Any], None]
Act = Callable[[Path, Announce], object]

TRIES = 30  # times that a run is killed at most, before it is let go to its end
FAILED = 70  # exit code of a process with a traceback


@attrs.frozen
class Run:
    """What is killed: how it starts, and the bytes that it ends with if it is not."""

    start: Act
    start_over: Act  # where nothing was left to go on with
    whole: bytes
    forks_at: int | None = None


def resumed(path: Path, announce: Announce) -> None:
    """Go on with the run."""
    resume(path, trust=TRUST, on_round=announce)


def recorded(settings: dict[str, Any], roster: str, *, force: bool = False) -> Act:
    """Record a run."""
    return lambda path, announce: record(
        path, settings, roster, AUTHORITY, force=force, on_round=announce
    )


def forked(parent: Path, at: int, *, force: bool = False) -> Act:
    """Fork one."""
    return lambda path, announce: fork(
        parent, at, path, settings={"fine": 2.5}, trust=TRUST, force=force, on_round=announce
    )


def main() -> None:
    """Kill, and print the counts as JSON."""
    parser = argparse.ArgumentParser(description="Kill recorders, and see what is left.")
    parser.add_argument("--kills", type=int, default=200, help="at random instants")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--piece", type=int, default=16, help="bytes a write; 0: no every call")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        killing = Killing(Path(folder), chosen.seed)
        if chosen.piece:
            killing.at_every_call(chosen.piece)
        killing.at_random(chosen.kills)
    print(json.dumps({**killing.counts, "says": killing.says}))


class Killing:
    """Kills processes and counts what came of it; see `COUNTED`."""

    COUNTED = (
        "kills", "at every call", "inside a commit", "before the start", "forks", "resumed",
        "announced", "lost", "differ", "misread", "tracebacks",
    )  # fmt: skip

    def __init__(self, folder: Path, seed: int) -> None:
        self.folder = folder
        self.path = folder / "run.journal"
        self.chance = random.Random(seed)
        self.counts: Counter[str] = Counter(dict.fromkeys(self.COUNTED, 0))
        self.says: list[str] = []

    def at_every_call(self, piece: int) -> None:
        """Kill at each call that changes a file, of who records, resumes and forks."""
        whole = small()
        parent = self.folder / "parent.journal"
        parent.write_bytes(whole.data)
        out = self.folder / "fork.journal"
        fork_small(parent, out)
        torn = whole.data[: whole.commits[2].end + 50]
        for act, over, before, after, at in (
            (recorded(SMALL, ROSTER), recorded(SMALL, ROSTER, force=True), b"", whole.data, None),
            (resumed, resumed, torn, whole.data, None),
            (_forked_small(parent), _forked_small(parent, force=True), b"", out.read_bytes(),
             FORKED_AT),
        ):  # fmt: skip
            run = Run(act, over, after, at)
            call = 0
            while self._killed_at(run, before, call, piece):
                call += 1
            self.counts["at every call"] += call

    def at_random(self, kills: int) -> None:
        """Kill at random instants, until so many were."""
        runs = self._runs()
        until = self.counts["kills"] + kills
        while self.counts["kills"] < until:
            run = self.chance.choice(runs)
            self.path.unlink(missing_ok=True)
            self._see_through(run)

    def _runs(self) -> list[Run]:
        """A recorder and a forker."""
        roster = f"random*3,raid,{NOISY}"
        parent = self.folder / "long.journal"
        record(parent, BIG, roster, AUTHORITY)
        runs = []
        for start, over, at in (
            (recorded(BIG, roster), recorded(BIG, roster, force=True), None),
            (forked(parent, 20), forked(parent, 20, force=True), 20),
        ):
            self.path.unlink(missing_ok=True)
            pid, heard = self._spawn(start)
            _last_round(heard)
            self.counts["tracebacks"] += _wait(pid) == FAILED
            runs.append(Run(start, over, self.path.read_bytes(), at))
        return runs

    def _killed_at(self, run: Run, before: bytes, call: int, piece: int) -> bool:
        """Whether there was such a call to be killed at."""
        self.path.unlink(missing_ok=True)
        if before:
            self.path.write_bytes(before)
        pid, heard = self._spawn(run.start, piece, dies_at=call)
        code = _wait(pid)
        self._judge(run, _last_round(heard), code)
        self._finish(run)
        return code == -signal.SIGKILL

    def _see_through(self, run: Run) -> None:
        """Kill a process at a random instant, and what goes on in its place, till one ends."""
        act = run.start
        for _ in range(TRIES):
            piece = self.chance.randint(1, 200)
            if self.chance.random() < 0.5:
                calls = len(run.whole) // piece + 3 * BIG["rounds"]
                pid, heard = self._spawn(act, piece, dies_at=self.chance.randrange(calls))
                announced = _last_round(heard)
            else:
                pid, heard = self._spawn(act, piece)
                announced = _last_round(heard, pid, self.chance.randint(0, BIG["rounds"]))
            code = _wait(pid)
            self._judge(run, announced, code)
            if code != -signal.SIGKILL or self.chance.random() < 0.5:
                break
            act = self._next(run)
        self._finish(run)

    def _judge(self, run: Run, announced: int, code: int) -> None:
        """Count a kill and what it left."""
        killed = code == -signal.SIGKILL
        self.counts["tracebacks"] += code == FAILED
        self.counts["kills"] += killed
        self.counts["forks"] += killed and run.forks_at is not None
        left, kinds, torn = _left(self.path)
        data = self.path.read_bytes() if self.path.exists() else b""
        self.counts["inside a commit"] += torn
        self.counts["before the start"] += left < 0
        self.counts["announced"] += announced > 0
        if announced > max(left, 0):
            self._tell("lost", f"round {announced} was announced, {left} is the last one left")
        if left >= 0 and not run.whole.startswith(data):
            self._tell("misread", f"{len(data)} bytes are no beginning of the run")
        if left >= 0 and run.forks_at is not None and FORK not in kinds:
            self._tell("misread", "what is left of a fork is taken for its parent")
        if left < 0 and self.path.exists():
            self._refused(data)

    def _refused(self, data: bytes) -> None:
        """What is no journal yet has to be refused by its name, and kept."""
        try:
            resume(self.path, trust=TRUST)
        except GoldrushError as error:
            if str(self.path) not in str(error) or self.path.read_bytes() != data:
                self._tell("misread", f"refused with {error!r}")
        else:
            self._tell("misread", "resumed without a start")

    def _finish(self, run: Run) -> None:
        """Let the run go to its end, and compare it with one that was never interrupted."""
        if not self.path.exists() or self.path.read_bytes() != run.whole:
            self.counts["resumed"] += 1
            pid, heard = self._spawn(self._next(run))
            _last_round(heard)
            self.counts["tracebacks"] += _wait(pid) == FAILED
        if not self.path.exists() or self.path.read_bytes() != run.whole:
            self._tell("differ", f"{self.path.stat().st_size} of {len(run.whole)} bytes")

    def _next(self, run: Run) -> Act:
        """How it goes on: from what is left or, where that is no journal, from the start."""
        return resumed if _left(self.path)[0] >= 0 else run.start_over

    def _tell(self, kind: str, says: str) -> None:
        self.counts[kind] += 1
        self.says.append(f"{kind}: {says}")

    def _spawn(
        self, act: Act, piece: int = 1 << 40, *, dies_at: int | None = None
    ) -> tuple[int, int]:
        """A process that does this; its id, and the pipe on which it announces rounds."""
        heard, told = os.pipe()
        pid = os.fork()
        if pid:
            os.close(told)
            return pid, heard
        os.close(heard)
        code = 0
        try:
            die_at(dies_at, piece)
            act(self.path, lambda unit, _: _announce(told, unit))
        except BadInput:
            code = 2  # the run had come to its end
        except BaseException:
            traceback.print_exc()
            code = FAILED
        os._exit(code)


def _forked_small(parent: Path, *, force: bool = False) -> Act:
    return lambda path, announce: fork_small(parent, path, force=force, on_round=announce)


def _announce(told: int, round: int) -> None:
    os.write(told, round.to_bytes(4, "big"))


def _wait(pid: int) -> int:
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def _last_round(heard: int, pid: int | None = None, kills: int = 0) -> int:
    """The last round that was announced; `pid` is killed as soon as round `kills` is."""
    last = 0
    with os.fdopen(heard, "rb", buffering=0) as pipe:
        while True:
            if pid is not None and last >= kills:
                os.kill(pid, signal.SIGKILL)
                pid = None
            if not (told := pipe.read(4)):
                return last
            last = int.from_bytes(told, "big")


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
    sys.exit(main())
