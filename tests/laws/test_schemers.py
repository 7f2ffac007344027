"""Who only wants to score ends below who is honest, by the sum of totals over seasons.

One schemer sits beside five honest workers of one character, another in each season. Elimination
and rewards are off, so that all sit at every table.
"""

from collections.abc import Iterator

import pytest

from goldrush.agents.competition.cast import cast_of
from goldrush.agents.competition.character import CHARACTERS
from goldrush.agents.competition.treatments import NO_STAKES, TREATMENTS
from goldrush.kernel.competition.arena import Arena
from goldrush.kernel.competition.events import Scored
from tests.laws import schemers
from tests.playing import events, nk, steps

WORKERS = 6
FIRST = 5  # the first worker's ordinal


def totals(arena: Arena, name: str, seed: int, assignments: int) -> Iterator[tuple[int, float]]:
    """At each table of a season, the schemer's total and the mean of the honest ones'."""
    policy = f"{schemers.__name__}:{name}"
    cast = cast_of(WORKERS)
    for entry in cast[FIRST:]:
        entry["options"] = {"character": list(CHARACTERS)[seed % len(CHARACTERS)]}
    schemer = FIRST + seed % WORKERS
    cast[schemer]["policy"] = policy
    settings = {"seed": seed, "assignments": assignments, "arena": arena}
    for step in steps({**settings, **TREATMENTS[NO_STAKES].settings}, cast, [policy]):
        scored = {row.agent: row.total for row in events(step, Scored)}
        if scored:
            own = scored.pop(schemer)
            yield own, sum(scored.values()) / len(scored)


def summed(arena: Arena, name: str, seasons: int, assignments: int) -> tuple[float, float]:
    """The schemer's totals and those of an honest one, summed up."""
    tables = [t for seed in range(seasons) for t in totals(arena, name, seed, assignments)]
    own, honest = map(sum, zip(*tables, strict=True))
    return own, honest


# How many seasons of how many assignments make it clear; more where less is between them.
CLEAR, CLOSE = (3, 20), (12, 20)
SCHEMERS = {
    "Silent": CLEAR,
    "Agreeing": CLEAR,
    "Choosing": CLEAR,
    "RepeatingTheBar": CLEAR,
    "Repeating": CLEAR,
    "Echoing": CLEAR,
    "Farming": CLEAR,
    "FarmingTried": CLEAR,
    "Halving": CLOSE,
    "Challenging": CLOSE,
}


@pytest.mark.parametrize("name", SCHEMERS)
def test_on_nk_a_schemer_ends_below_the_honest(name: str) -> None:
    own, honest = summed(nk(), name, *SCHEMERS[name])

    assert own < honest
