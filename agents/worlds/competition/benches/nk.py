"""The bench of the arena `nk`: a run is the value of a conduct on a landscape, with noise."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from functools import partial
from typing import Any, Final

from xxhash import xxh3_64_intdigest

from goldrush.agents.worlds.competition.bench import ALONE, Bench, BenchType, Run
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
    drift = (
        f"the entries of each bit are drawn anew with a chance of {options.drift:g}"
        if options.drift
        else "nothing changes"
    )
    return "\n".join(
        [
            f"CONDUCT: {BITS} bits, written as text of 0 and 1, as in {CONDUCTS[1]}; the first is "
            "bit 0.",
            f"VALUE: the mean of {BITS} entries from 0 to 1, one a bit; more is better. The entry "
            f"of a bit depends on it and on the {READ - 1} bits behind it (behind the last comes "
            "the first) and on nothing else: each combination of them has an entry of its own, "
            f"drawn at random. So to change one bit changes {READ} entries, and leaves the other "
            f"{BITS - READ}. A run adds noise, of a standard deviation of {options.noise:g}.",
            f"TREATMENTS: f.g, as in 2.5, is family f (0 to {FAMILIES - 1}) in generation g. From "
            f"one generation of a family to the next {drift}. Families have nothing in common.",
            f"BAR: a conduct of rank {BAR_RANK:,} of all {len(CONDUCTS):,} from the worst on; 40% "
            "are better.",
        ]
    )


def _atlas(options: NkOptions, objective: str, treatment: str) -> Sequence[float]:
    return landscape(options.landscape, treatment, options.drift)


BENCH: Final = BenchType(_opened)
