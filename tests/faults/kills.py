"""Recorders killed at every so manyth call that changes a disk: `tests.faults.kills EVERY PIECE`.

A process with one thread, which forks those that it kills, so that hundreds take seconds. Whoever
goes on in their place is killed, too, a few calls later; then one is let go to its end. What
counts: a round that the recorder announced is in the file, the file is a beginning of the one never
interrupted, and at last it is that file, byte for byte. Recorders write in small pieces, so that
kills meet commits half written.
"""

from __future__ import annotations

import itertools
import json
import os
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
from tests.faults.journals import AUTHORITY, ROSTER, SMALL, TRUST, fork_small, forked, small
from tests.mining import record, resume

Announce = Callable[[int, Any], None]
Act = Callable[[Path, Announce], object]

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
    whole = small().data
    torn = whole[: small().commits[2].end + 50]
    runs = [
        Run(recorded, b"", whole),
        Run(resumed, torn, whole),
        Run(forked_off, b"", forked().data, is_fork=True),
    ]
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "parent.journal").write_bytes(whole)
        killing = Killing(Path(folder) / "run.journal", int(sys.argv[2]))
        for run in runs:
            killing.at_every_call(run, int(sys.argv[1]))
    print(json.dumps({**killing.counts, "says": killing.says}))


@attrs.frozen
class Killing:
    """Kills processes that write to a path, and counts what came of it."""

    path: Path
    piece: int  # bytes of a write
    counts: Counter[str] = attrs.Factory(Counter)
    says: list[str] = attrs.Factory(list)

    def at_every_call(self, run: Run, every: int) -> None:
        """Kill at each call that changes a file."""
        for call in itertools.count(0, every):
            self.path.unlink(missing_ok=True)
            if run.before:
                self.path.write_bytes(run.before)
            if self._tried(run, run.start, call) != -signal.SIGKILL:
                return
            self._tried(run, self._next(run), 5 + call % 20)
            if not self.path.exists() or self.path.read_bytes() != run.whole:
                self._tried(run, self._next(run))
            if not self.path.exists() or self.path.read_bytes() != run.whole:
                self.says.append("it ends in other bytes")

    def _next(self, run: Run) -> Act:
        """How it goes on: from what is left or, where that is no journal, from the start."""
        goes_on = _left(self.path)[0] >= 0
        self.counts["resumed"] += goes_on
        return resumed if goes_on else run.start

    def _tried(self, run: Run, act: Act, dies_at: int | None = None) -> int:
        """The exit code of a process that does this, and is killed at this call."""
        heard, told = os.pipe()
        if not (pid := os.fork()):
            os._exit(self._code_of(act, told, dies_at))
        os.close(told)
        with os.fdopen(heard, "rb") as pipe:
            announced = max(pipe.read(), default=0)
        code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        self._judge(run, announced, code)
        return code

    def _code_of(self, act: Act, told: int, dies_at: int | None) -> int:
        try:
            die_at(dies_at, self.piece)
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
        wrong = {
            "a traceback": code == FAILED,
            f"round {announced} was announced, and is not there": announced > max(left, 0),
            "no beginning of the run": left >= 0 and not run.whole.startswith(data),
            "what is left of a fork is taken for its parent": (
                left >= 0 and run.is_fork and FORK not in kinds
            ),
            "what is no journal yet has the name of one": left < 0 and bool(data),
        }
        self.says.extend(says for says, is_so in wrong.items() if is_so)


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
