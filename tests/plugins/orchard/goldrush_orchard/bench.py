"""The bench of the orchard: a year of it, with rain that is drawn by the seed."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, Final

from goldrush.agents.worlds.competition.bench import ALONE, Bench, BenchType, Run
from goldrush.kernel.codec import fingerprint
from goldrush.kernel.draws import Draws
from goldrush_orchard.rules import DISTANCES, WATERS, Options

HOLDS: Final = {"clay": 30, "sand": 15}  # litres a day that a tree can draw from a soil at most

Planting = tuple[int, int]


def opened(options: Options, program: str | None) -> Bench:
    """The bench of an orchard. It takes no program, so none is given."""
    return Bench(
        test=partial(year, options.hectares),
        vary=vary,
        conducts=lambda soil: [(distance, water) for distance in DISTANCES for water in WATERS],
        read=read,
        text="CONDUCT: distance from tree to tree, 2 to 9 metres; water, 0, 10, 20 or 30 litres a "
        f"day.\nVALUE: tonnes harvested, or euros spent, a year on {options.hectares} hectares.",
        at_once=ALONE,
    )


def year(hectares: int, planting: Planting, soil: str, objective: str, seed: int) -> Run:
    """A year: tonnes or euros, and a digest of all that it depends on."""
    distance, water = planting
    rain = Draws("rain", soil, seed).below(20)
    trees = hectares * 10_000 / distance**2
    drunk = min(water + rain, HOLDS[soil])
    harvest = trees * 0.1 * distance * drunk / (drunk + 10)
    value = harvest if objective == "harvest" else trees * (5 + water)
    return value, fingerprint((planting, soil, objective, rain, value))


def vary(planting: Planting, soil: str, draws: Draws) -> Planting:
    """Another distance, or another amount of water."""
    distance, water = planting
    if draws.below(2):
        return _other(DISTANCES, distance, draws), water
    return distance, _other(WATERS, water, draws)


def _other(known: Sequence[int], than: int, draws: Draws) -> int:
    others = [one for one in known if one != than]
    return others[draws.below(len(others))]


def read(value: Any, soil: str) -> Any:
    """A planting from the object that a model answers with."""
    return (value.get("distance"), value.get("water")) if isinstance(value, dict) else value


BENCH: Final = BenchType(opened)
