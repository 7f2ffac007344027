"""The bench of the arena `nk`: a run is the value of a conduct on a landscape, with noise."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from functools import partial
from typing import Final

from xxhash import xxh3_64_intdigest

from goldrush.agents.worlds.competition.bench import ALONE, Bench, BenchType, Run
from goldrush.kernel.draws import Draws
from goldrush.kernel.worlds.competition.arenas.nk import (
    BITS,
    CONDUCTS,
    NkOptions,
    landscape,
    tested,
)


def _opened(options: NkOptions, program: str | None) -> Bench:
    return Bench(
        test=partial(_test, options),
        vary=_vary,
        conducts=lambda treatment: CONDUCTS,
        atlas=partial(_atlas, options),
        at_once=ALONE,
    )


def _test(options: NkOptions, conduct: str, treatment: str, objective: str, seed: int) -> Run:
    """One run. Its digest is that of the eight bytes of the value."""
    value = tested(treatment, conduct, seed, options)
    return value, xxh3_64_intdigest(struct.pack("<d", value))


def _vary(conduct: str, treatment: str, draws: Draws) -> str:
    """A conduct with one bit flipped."""
    place = draws.below(BITS)
    return f"{conduct[:place]}{1 - int(conduct[place])}{conduct[place + 1 :]}"


def _atlas(options: NkOptions, objective: str, treatment: str) -> Sequence[float]:
    return landscape(options.landscape, treatment, options.drift)


BENCH: Final = BenchType(_opened)
