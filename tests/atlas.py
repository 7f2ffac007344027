"""Makes the atlas of the arena `mining`, and finds the subjects that are worth a table.

`python -m tests.atlas` plays every conduct under every treatment (17 x 288 x 5 runs, some minutes),
writes agents/worlds/competition/benches/mining.atlas, and prints the subjects that pass the screen,
which stand in kernel/worlds/competition/arenas/mining.py. Needed again when the rules of mining or
its policies change; a test plays a few runs of it and says so.
"""

import math
import os
import struct
import time
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Final

import attrs

import goldrush.agents.worlds.competition.benches.mining as bench
from goldrush.agents.worlds.competition.bench import Request, Tests
from goldrush.kernel.codec import pack
from goldrush.kernel.measures import Value
from goldrush.kernel.worlds.competition.arena import Arena
from goldrush.kernel.worlds.competition.arenas.mining import (
    ARENA,
    OBJECTIVES,
    TREATMENTS,
    MiningOptions,
    subject_of,
)

SEEDS: Final = (1, 2, 3, 4, 5)  # of no test: those are 2^52 and more
BEATING: Final = (0.05, 0.60)  # the share of all conducts that beat the bar
SHARING_MAX: Final = 0.05  # the share of all that have the best value
PATH: Final = Path(bench.__file__).with_name(bench.ATLAS)


def arena_of(options: MiningOptions) -> Arena:
    subjects = tuple(ARENA.subjects(options, 1))
    return Arena("mining", ARENA.version, attrs.asdict(options), subjects)


Table = Mapping[tuple[str, str], Sequence[Value]]  # values by (objective, treatment)


def made(treatments: Sequence[str], jobs: int = 1) -> Table:
    """The atlas for these treatments."""
    options = MiningOptions()
    arena = arena_of(options)
    table: dict[tuple[str, str], Sequence[Value]] = {}
    with Tests(arena, partial(bench.BENCH.opened, options, None), jobs) as tests:
        for treatment in treatments:
            for objective in OBJECTIVES:
                asked = [Request(c, treatment, objective, SEEDS) for c in bench.conducts(treatment)]
                table[objective, treatment] = [value for value, _ in tests.values(asked)]
    return {key: table[key] for key in sorted(table, key=_place)}


def written(table: Table) -> bytes:
    """The bytes of the file of an atlas."""
    arena = arena_of(MiningOptions())
    values = [math.nan if v is None else v for row in table.values() for v in row]
    return pack(
        {
            "arena": arena.name,
            "version": arena.version,
            "options": dict(arena.options),
            "seeds": list(SEEDS),
            "subjects": [list(subject) for subject in table],
            "values": struct.pack(f"<{len(values)}f", *values),
        }
    )


def _place(subject: tuple[str, str]) -> tuple[int, int]:
    return list(OBJECTIVES).index(subject[0]), list(TREATMENTS).index(subject[1])


def screened(atlas: Table) -> Mapping[str, Sequence[str]]:
    """The subjects in which there is something to find, treatments by objective."""
    found: dict[str, list[str]] = {}
    for objective, treatment in atlas:
        if _is_worth_it(atlas, objective, treatment):
            found.setdefault(objective, []).append(treatment)
    return {objective: tuple(treatments) for objective, treatments in found.items()}


def _is_worth_it(atlas: Table, objective: str, treatment: str) -> bool:
    subject, every = subject_of(objective, treatment), list(bench.conducts(treatment))
    values = atlas[objective, treatment]
    bar = values[every.index(("greedy-mine", None, 0, treatment))]
    beating = sum(subject.beats(value, bar) for value in values) / len(values)
    best = sum(not any(subject.beats(other, value) for other in values) for value in values)
    return BEATING[0] <= beating <= BEATING[1] and best / len(values) <= SHARING_MAX


if __name__ == "__main__":
    began = time.perf_counter()
    PATH.write_bytes(written(made(list(TREATMENTS), os.cpu_count() or 1)))
    print(f"{PATH}: {PATH.stat().st_size:,} bytes, {time.perf_counter() - began:.0f} s")
    for objective, treatments in screened(bench.atlas()).items():
        print(f"    {objective!r}: {treatments!r},")
