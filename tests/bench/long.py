"""Long journals: any round of a million, and memory over ten million events.

Recording them takes minutes, so they are measured only by `python -m tests.bench --long`.
"""

from __future__ import annotations

import random
import statistics
import subprocess
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from goldrush.kernel.journal import JournalReader
from goldrush.kernel.walk import Walk
from goldrush.kernel.worlds.mining import MINING
from goldrush.replay.journal.rebuild import rebuild
from tests.indexes import index_of
from tests.mining import record

from .timing import Row, timed

ROOT = Path(__file__).resolve().parents[2]
SEED = 7
ROUNDS = 1_000_000
REBUILT = 200  # rounds drawn
EVENTS_A_ROUND = 40  # at least, of the default roster

_VERIFY = r"""
import re, sys
from goldrush.replay.journal.verify import verify
verdict = verify(sys.argv[1], 2)
assert verdict.holds and verdict.finished
# Not getrusage: its peak includes that of the process which started this one.
print(verdict.events, re.search(r"VmHWM:\s+(\d+) kB", open("/proc/self/status").read())[1])
"""


def rows(folder: Path) -> Iterator[Row]:
    """The rows of the table, each measured when it is asked for."""
    yield from _memory(folder)
    yield from _any_round(folder)


def _memory(folder: Path) -> Iterator[Row]:
    """Peak memory of a whole process that verifies a journal to level 2 (needs Linux)."""
    peaks = []
    for events in (20_000, 10_000_000):
        path = folder / f"{events}.journal"
        record(path, {"seed": SEED, "rounds": events // EVENTS_A_ROUND})
        command = [sys.executable, "-c", _VERIFY, str(path)]
        done = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True)
        found, peak = map(int, done.stdout.split())
        assert found >= events
        peaks.append((found, peak / 1024, path.stat().st_size / 2**20))
        path.unlink()
    (few, low, _), (many, high, size) = peaks
    yield (
        "memory to verify, level 2",
        f"{many:,} events ({size:.0f} MiB), {few:,}",
        f"{high / low:.2f} x",
        "<= 2",
        f"{low:.1f} MiB",
    )


def _any_round(folder: Path) -> Iterator[Row]:
    """CPU time of a rebuild from a fresh open, against folding the whole journal."""
    path = folder / "million.journal"
    record(path, {"seed": SEED, "rounds": ROUNDS})
    whole, _ = timed(lambda: _fold(path))
    first, _ = timed(lambda: rebuild(path, ROUNDS // 2))
    drawn = random.Random(SEED)
    times = [timed(partial(rebuild, path, drawn.randint(1, ROUNDS)))[0] for _ in range(REBUILT)]
    median = statistics.median(times)
    size = path.stat().st_size, index_of(path).stat().st_size
    yield (
        "a random round of 1,000,000",
        f"folding it whole ({size[0] / 2**20:.0f} MiB)",
        f"{whole / median:,.0f} x faster",
        ">= 1,000",
        f"{whole:.1f} s; a round {median * 1e3:.2f} ms, at most {max(times) * 1e3:.2f} ms; "
        f"making the index {first:.1f} s, {size[1] / size[0]:.1%} of the journal",
    )


def _fold(path: Path) -> None:
    with JournalReader(path) as reader:
        for _ in Walk(MINING, reader):
            pass
