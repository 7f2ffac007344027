"""The arena `nk`: rugged landscapes that drift, with a known best conduct.

A conduct is twelve bits, written as text. Its value is the mean of twelve entries, each of which
depends on five adjacent bits; a test adds noise. There are four families of landscapes. In each
generation of a family some entries are redrawn, so facts about it become outdated slowly. All
numbers are keyed hashes, so a landscape is never stored. The key holds the option `landscape`, by
default the season's seed: seasons of other seeds are on other landscapes, unless they are given one
number.

Kauffman, S. and Levin, S. (1987), Towards a general theory of adaptive walks on rugged landscapes.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Sequence
from functools import lru_cache
from operator import add
from typing import Final

import attrs

from goldrush.kernel.draws import Draws
from goldrush.kernel.settings import INTEGER_MAX, integer, real, setting
from goldrush.kernel.shape import Kind
from goldrush.kernel.worlds.competition.arena import (
    SEEDS_MAX,
    UP,
    Arena,
    ArenaType,
    Rules,
    Subject,
)

BITS: Final = 12
READ: Final = 5  # bits that an entry depends on
CONDUCTS: Final = tuple(format(bits, f"0{BITS}b")[::-1] for bits in range(1 << BITS))
INDEX: Final = {conduct: index for index, conduct in enumerate(CONDUCTS)}
BAR_RANK: Final = 2_458  # of the 4,096 from the worst on: 40% of the conducts beat the bar
OBJECTIVE: Final = "value"
FAMILIES: Final = 4
GENERATIONS_MIN: Final = 10
GENERATIONS_MAX: Final = 25_000  # as many as the longest season asks for
LANDSCAPES_KEPT: Final = 128  # 32 KiB each

UNIT: Final = 2.0**-53
_TREATMENT: Final = re.compile(rf"([0-{FAMILIES - 1}])\.(0|[1-9][0-9]{{0,4}})", re.ASCII)
# For each locus, the bits that it reads of each conduct, as a number; the lowest is its own. Of the
# first loci only the conducts without a bit above those read, which is all there is to know.
_READ_BY: Final = tuple(
    bytes(
        sum((bits >> (locus + k) % BITS & 1) << k for k in range(READ))
        for bits in range(1 << min(locus + READ, BITS))
    )
    for locus in range(BITS)
)


@attrs.frozen
class NkOptions:
    """The options of the arena.

    Attributes:
        seeds: the number of runs of a test.
        noise: the standard deviation of the noise of a run.
        drift: the probability that a locus is redrawn in a generation.
        landscape: the number of the landscapes, part of the key of every draw.
    """

    seeds: int = setting(5, integer(1, SEEDS_MAX))
    noise: float = setting(0.05, real(0, 1))
    drift: float = setting(0.2, real(0, 1))
    landscape: int = setting(0, integer(0, INTEGER_MAX))


# Landscapes


@lru_cache(LANDSCAPES_KEPT)
def landscape(number: int, treatment: str, drift: float) -> Sequence[float]:
    """The noiseless values of all conducts under a treatment, in the order of CONDUCTS.

    `number` is the option `landscape`, here and below.
    """
    family, generation = parsed(treatment)
    total = [0.0] * (1 << READ - 1)
    for locus, read in enumerate(_READ_BY):
        drawn = redrawn(number, family, generation, locus, drift)
        entries = _entries(number, family, drawn, locus)
        if len(read) > len(total):
            total += total  # the sums so far do not depend on the next bit
        total = list(map(add, total, map(entries.__getitem__, read)))
    return array("d", [value / BITS for value in total])


def redrawn(number: int, family: int, generation: int, locus: int, drift: float) -> int:
    """The latest generation, up to this one, in which a locus was redrawn; 0 if there is none."""
    if not drift:
        return 0
    return next(
        (
            earlier
            for earlier in range(generation, 0, -1)
            if Draws("drift", number, family, earlier, locus).chance(drift)
        ),
        0,
    )


def _entries(number: int, family: int, drawn: int, locus: int) -> list[float]:
    """The entries of a locus as drawn in a generation, by the bits that it reads."""
    return [
        (Draws("landscape", number, family, drawn, locus, read).word() >> 11) * UNIT
        for read in range(1 << READ)
    ]


def parsed(treatment: str) -> tuple[int, int]:
    """The family and the generation of a treatment. Raises ValueError for an unknown one."""
    match = _TREATMENT.fullmatch(treatment)
    if match is None or int(match[2]) >= GENERATIONS_MAX:
        raise ValueError(f"{treatment!r} is not a treatment of nk")
    return int(match[1]), int(match[2])


@lru_cache(4 * LANDSCAPES_KEPT)
def bar(number: int, treatment: str, drift: float) -> str:
    """The bar's conduct: that of rank BAR_RANK by ascending value; equals are ranked by index."""
    values = landscape(number, treatment, drift)
    ranked = sorted(range(len(CONDUCTS)), key=values.__getitem__)
    return CONDUCTS[ranked[BAR_RANK - 1]]


# The arena


def _subjects(options: NkOptions, assignments: int) -> Sequence[Subject]:
    generations = max(GENERATIONS_MIN, -(-assignments // FAMILIES))
    return [
        Subject(OBJECTIVE, UP, f"{family}.{generation}", str(family))
        for generation in range(generations)
        for family in range(FAMILIES)
    ]


def _rules(arena: Arena, options: NkOptions) -> Rules:
    return Rules(
        arena=arena,
        treatments=tuple(subject.treatment for subject in arena.subjects),
        conduct=_CONDUCT,
        is_canonical=lambda conduct, treatment: not set(conduct) - {"0", "1"},
        distance=lambda a, b: min(2, (INDEX[a] ^ INDEX[b]).bit_count()),
        bar=lambda subject: bar(options.landscape, subject.treatment, options.drift),
        describe=str,
    )


_CONDUCT: Final = Kind(
    f"{BITS} characters",
    lambda value: type(value) is str and len(value) == BITS,
    schema={"type": "string", "pattern": f"^[01]{{{BITS}}}$"},
)


ARENA: Final = ArenaType(
    version=2,
    description="twelve bits on landscapes whose best is known and which drift",
    options=NkOptions,
    subjects=_subjects,
    rules=_rules,
    seeded="landscape",
)
