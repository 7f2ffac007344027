"""The bench of the arena `nk`: a run is the value of a conduct on a landscape, with noise."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from functools import partial
from typing import Any, Final

from xxhash import xxh3_64_intdigest

from goldrush.agents.worlds.competition.bench import (
    ALONE,
    ARENA_TEXTS,
    Bench,
    BenchType,
    Run,
)
from goldrush.kernel.codec import pack
from goldrush.kernel.draws import Draws
from goldrush.kernel.worlds.competition.arena import Conduct
from goldrush.kernel.worlds.competition.arenas.nk import (
    BAR_RANK,
    BITS,
    CONDUCTS,
    FAMILIES,
    INDEX,
    READ,
    UNIT,
    NkOptions,
    landscape,
)


def _opened(options: NkOptions, program: str | None) -> Bench:
    return Bench(
        test=partial(_test, options),
        vary=_vary,
        conducts=lambda treatment: CONDUCTS,
        atlas=partial(_atlas, options),
        read=_read,
        text=_text(options),
        at_once=ALONE,
    )


def _test(options: NkOptions, conduct: str, treatment: str, objective: str, seed: int) -> Run:
    """One run. Its digest is that of the eight bytes of the value."""
    number = options.landscape
    exact = landscape(number, treatment, options.drift)[INDEX[conduct]]
    value = exact + options.noise * noise_of(number, treatment, conduct, seed)
    return value, xxh3_64_intdigest(struct.pack("<d", value))


def noise_of(number: int, treatment: str, conduct: str, seed: int) -> float:
    """The unscaled noise of one run: the sum of twelve uniforms from 0 to 1, minus 6.

    It is nearly a standard normal. `number` is the option `landscape`.
    """
    key = pack(("noise", number, treatment, conduct, seed))  # as Draws has it
    total = 0.0
    for k in range(12):
        total += (xxh3_64_intdigest(key, k) >> 11) * UNIT
    return total - 6.0


def _vary(conduct: str, treatment: str, draws: Draws) -> str:
    """A conduct with one bit flipped."""
    place = draws.below(BITS)
    return f"{conduct[:place]}{1 - int(conduct[place])}{conduct[place + 1 :]}"


def _read(value: Any, treatment: str) -> Conduct:
    return value.strip() if isinstance(value, str) else value


def _text(options: NkOptions) -> str:
    change = "nk_drift" if options.drift else "nk_no_drift"
    return ARENA_TEXTS(
        "nk",
        bits=BITS,
        example=CONDUCTS[1],
        behind=READ - 1,
        read=READ,
        left=BITS - READ,
        noise=f"{options.noise:g}",
        last=FAMILIES - 1,
        change=ARENA_TEXTS(change, drift=f"{options.drift:g}"),
        rank=f"{BAR_RANK:,}",
        conducts=f"{len(CONDUCTS):,}",
    )


def _atlas(options: NkOptions, objective: str, treatment: str) -> Sequence[float]:
    return landscape(options.landscape, treatment, options.drift)


BENCH: Final = BenchType(_opened)
