"""Recorders killed at every so manyth call that changes a disk: `tests.faults.kills EVERY PIECE`.

A process with one thread, which forks those that it kills, so that hundreds take seconds. What
counts is the law of recorders where only the process has died: a commit that it had announced is in
the file, and who goes on ends in the same bytes. Recorders write in small pieces, so that kills
meet commits half written.
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
from pathlib import Path

from tests.faults.disk import ALL, Disk
from tests.faults.dying import die_at
from tests.faults.recorders import NAME, Recorder, recorders, whole_bytes
from tests.faults.tries import End, Found, temporary_folder, watched

SIZE = 8  # bytes of an offset in the pipe


def main() -> None:
    """Kill, and print as JSON the counts, and what was wrong."""
    every, piece = map(int, sys.argv[1:])
    counts: Counter[str] = Counter()
    found = Found()
    with tempfile.TemporaryDirectory() as room:
        for name in ("record", "resume", "fork"):
            for call in itertools.count(0, every):
                with temporary_folder(Path(room)) as folder:
                    if not _survived(recorders()[name], folder, call, piece, counts, found):
                        break
    print(json.dumps({**counts, "says": found.says}))


def _survived(
    recorder: Recorder, folder: Path, call: int, piece: int, counts: Counter[str], found: Found
) -> bool:
    """Kill a recorder at a call and judge what is left; False where it ended before."""
    recorder.prepare(folder)
    code, announced = _killed(recorder, folder, call, piece)
    if code != -signal.SIGKILL:
        if code:
            found.says.append(f"{recorder.name}: exit code {code}")
        return False
    path = folder / NAME
    counts["kills"] += 1
    counts["announced"] += bool(announced)
    counts["inside a commit"] += path.exists() and whole_bytes(path) < path.stat().st_size
    end = End(Disk(folder), None, [(offset, False) for offset in announced])
    found.judge(
        f"{recorder.name}, killed at call {call}", lambda: recorder.judge_crash(folder, end, ALL)
    )
    return True


def _killed(recorder: Recorder, folder: Path, call: int, piece: int) -> tuple[int, list[int]]:
    """The exit code of a process that is killed at this call, and where the commits end that it
    announced.
    """
    heard, told = os.pipe()
    if not (pid := os.fork()):
        code = 0
        try:
            die_at(call, piece)
            with watched(lambda offset, is_synced: os.write(told, offset.to_bytes(SIZE, "big"))):
                recorder.write(folder)
        except BaseException:
            traceback.print_exc()
            code = 1
        os._exit(code)
    os.close(told)
    with os.fdopen(heard, "rb") as pipe:
        data = pipe.read()
    announced = [int.from_bytes(data[at : at + SIZE], "big") for at in range(0, len(data), SIZE)]
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), announced


if __name__ == "__main__":
    main()
