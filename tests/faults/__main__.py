"""The large numbers: `python -m tests.faults [--corruptions 1000000] [--kills 1000]`.

First the tests of this folder with nothing left out (FAULTS=all), then chance. Prints a table and
exits with 1 unless every fault was met as it should be. Whatever is found names the seed and the
case, by which it can be had again.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

from tests.faults.corruptions import tried
from tests.faults.readers import KINDS
from tests.indexes import cache_apart

ROOT = Path(__file__).resolve().parents[2]
AT_RANDOM, AT_EVERY_CALL = "killed at a random instant", "killed at every call"
HEADS = (
    "fault", "cases", *KINDS, "resumed", "rounds lost", "other bytes",
)  # fmt: skip


def main() -> int:
    """Run, print the table, and say whether all is well."""
    parser = argparse.ArgumentParser(prog="tests.faults", description=__doc__)
    parser.add_argument("--corruptions", type=int, default=1_000_000, help="of bytes, random")
    parser.add_argument("--kills", type=int, default=1_000, help="at random instants")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="processes")
    chosen = parser.parse_args()
    began = time.monotonic()
    enumerated = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "tests/faults"],
        cwd=ROOT, env={**os.environ, "FAULTS": "all"}, check=False,
    )  # fmt: skip
    with cache_apart():
        rows, says = corruptions(chosen.corruptions, chosen.seed, chosen.jobs)
    lines, found = kills(chosen.kills, chosen.seed, chosen.jobs)
    widths = [max(len(head), 9) for head in HEADS]
    widths[0] = 27
    for row in (HEADS, *rows, *lines):
        cells = [f"{cell:,}" if isinstance(cell, int) else cell for cell in row]
        print(cells[0].ljust(widths[0]), *map(str.rjust, cells[1:], widths[1:]))
    print(f"\n{chosen.jobs} processes, {time.monotonic() - began:,.0f} seconds")
    for line in (*says, *found):
        print(line)
    # All but the first number of a row, which counts the cases, and the runs resumed.
    missed = [cell for row in (*rows, *lines) for cell in (*row[2:5], *row[6:])]
    return int(any(type(cell) is int and cell for cell in missed) or enumerated.returncode != 0)


def corruptions(cases: int, seed: int, jobs: int) -> tuple[list[tuple[Any, ...]], list[str]]:
    """A row for each kind of corruption, and findings in words."""
    kinds: Counter[str] = Counter()
    found: Counter[tuple[str, str]] = Counter()
    says: list[str] = []
    for more_kinds, more_found, more_says in tried(cases, seed, jobs):
        kinds += more_kinds
        found += more_found
        says += more_says[: 20 - len(says)]
        _progress(kinds.total(), cases)
    rows = [
        (kind, kinds[kind], *(found[kind, finding] for finding in KINDS), "-", "-", "-")
        for kind in sorted(kinds)
    ]
    return rows, says


def kills(count: int, seed: int, jobs: int) -> tuple[list[tuple[Any, ...]], list[str]]:
    """Two rows for the kills, and what went wrong in words."""
    drivers = [
        subprocess.Popen(
            [
                sys.executable, "-m", "tests.faults.kills", "--seed", str(seed + job),
                "--kills", str(count * (job + 1) // jobs - count * job // jobs),
                "--piece", "0" if job else "1",
            ],
            cwd=ROOT, stdout=subprocess.PIPE,
        )
        for job in range(jobs)
    ]  # fmt: skip
    counts: Counter[str] = Counter()
    says: list[str] = []
    for driver in drivers:
        out, _ = driver.communicate()
        if driver.returncode:
            raise SystemExit("a process that kills others has died")
        more = json.loads(out)
        says += more.pop("says")
        counts.update(more)
    wrong = (counts["misread"], 0, counts["tracebacks"])
    row = (*wrong, counts["resumed"], counts["lost"], counts["differ"])
    at_call = counts["at every call"]
    return [
        (AT_RANDOM, counts["kills"] - at_call, *row),
        (AT_EVERY_CALL, at_call, *("(above)",) * 6),
        ("  of all, inside a commit", counts["inside a commit"], *("",) * 6),
        ("  of all, of a fork", counts["forks"], *("",) * 6),
    ], says


def _progress(done: int, cases: int) -> None:
    if sys.stderr.isatty():
        print(f"\r{done:,} of {cases:,}", end="\r", file=sys.stderr)


if __name__ == "__main__":
    sys.exit(main())
