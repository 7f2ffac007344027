"""The rules of the orchard: what can be proposed for it, and how proposals compare.

A conduct is (distance, water): metres from tree to tree, 2 to 9, and litres a day, 0 to 30 in tens.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import attrs

from goldrush.kernel.settings import integer, setting
from goldrush.kernel.shape import INTEGER, record
from goldrush.kernel.worlds.competition.arena import (
    DOWN,
    UP,
    Arena,
    ArenaType,
    Rules,
    Subject,
)

DISTANCES: Final = range(2, 10)
WATERS: Final = range(0, 31, 10)
SOILS: Final = ("clay", "sand")  # the treatments
OBJECTIVES: Final = {"harvest": UP, "cost": DOWN}


@attrs.frozen
class Options:
    """`seeds`: years of a test. `hectares`: how large the orchard is."""

    seeds: int = setting(3, integer(1, 50))
    hectares: int = setting(1, integer(1, 100))


def subjects(options: Options, assignments: int) -> Sequence[Subject]:
    """Each objective on each soil. What is learned of a soil serves both objectives."""
    return [
        Subject(objective, better, soil, soil)
        for objective, better in OBJECTIVES.items()
        for soil in SOILS
    ]


def rules(arena: Arena, options: Options) -> Rules:
    """The rules of an orchard that a setup records."""
    return Rules(
        arena=arena,
        treatments=SOILS,
        conduct=record(distance=INTEGER, water=INTEGER),
        is_canonical=lambda conduct, soil: conduct[0] in DISTANCES and conduct[1] in WATERS,
        distance=lambda one, other: sum(a != b for a, b in zip(one, other, strict=True)),
        bar=lambda subject: (4, 10),
        describe=lambda conduct: f"{conduct[0]} m apart, {conduct[1]} litres",
    )


ARENA: Final = ArenaType(
    version=1,
    description="how far apart trees should stand, and how much they should be watered",
    options=Options,
    subjects=subjects,
    rules=rules,
)
