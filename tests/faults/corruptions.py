"""A million random corruptions: each is verified, and read once more by a reader drawn at random.

Everything follows from the seed: case n is drawn from a generator of its own, so that one that
failed can be had again alone, and any number of processes try the same ones.
"""

from __future__ import annotations

import random
import tempfile
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from tests.faults.damage import corrupted
from tests.faults.journals import SOUND, fast_folder, rubble
from tests.faults.readers import LONG_READERS, Bench, Finding, verified

PIECE = 2_000  # cases that a process takes at a time
SHARES = ("small",) * 5 + ("forked",) * 4 + ("big",)  # of the journals among the cases
SHOWN = 3  # findings that a piece brings back in words

Found = tuple[Counter[str], Counter[tuple[str, str]], list[str]]


def tried(cases: int, seed: int, jobs: int) -> Iterator[Found]:
    """Cases by kind, findings by (kind of corruption, kind of finding), and some in words."""
    pieces = [(seed, start, min(PIECE, cases - start)) for start in range(0, cases, PIECE)]
    with ProcessPoolExecutor(jobs) as pool:
        yield from pool.map(_piece, pieces)


def _piece(piece: tuple[int, int, int]) -> Found:
    seed, start, count = piece
    kinds: Counter[str] = Counter()
    findings: Counter[tuple[str, str]] = Counter()
    says: list[str] = []
    with tempfile.TemporaryDirectory(dir=fast_folder()) as folder:
        benches = {}
        for name in SOUND:
            Path(folder, name).mkdir()
            benches[name] = Bench(Path(folder, name), SOUND[name]())
        for number in range(start, start + count):
            kind, found = case(benches, seed, number)
            kinds[kind] += 1
            for finding in found:
                findings[kind, finding.kind] += 1
                if len(says) < SHOWN:
                    says.append(f"seed {seed}, case {number}, {kind}: {finding}")
        for bench in benches.values():
            bench.close()
    return kinds, findings, says


def case(benches: dict[str, Bench], seed: int, number: int) -> tuple[str, list[Finding]]:
    """One corruption, and what was wrong with what the readers said of it."""
    chance = random.Random(f"{seed}/{number}")
    name = chance.choice(SHARES)
    bench = benches[name]
    bench.chance = chance
    kind, data = corrupted(chance, bench.sound.data, rubble(name))
    return kind, bench.findings(data, (verified, chance.choice(LONG_READERS)))
