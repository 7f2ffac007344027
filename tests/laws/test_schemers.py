"""Who only wants to score ends below who is honest, by the sum of totals over seasons.

One schemer sits beside five honest workers of one character, another in each season. Elimination
and rewards are off, so that all sit at every table.
"""

from collections.abc import Iterator

import pytest
from msgspec.structs import replace

from goldrush.agents.worlds.competition.cast import cast_of
from goldrush.agents.worlds.competition.character import CHARACTERS
from goldrush.agents.worlds.competition.treatments import NO_STAKES, TREATMENTS
from goldrush.kernel.worlds.competition.arena import Arena
from goldrush.kernel.worlds.competition.events import Scored
from tests.faults.sampling import in_turn
from tests.laws import schemers
from tests.playing import events, mining, nk, steps

WORKERS = 6
FIRST = 5  # the first worker's ordinal


def totals(arena: Arena, name: str, seed: int, assignments: int) -> Iterator[tuple[int, float]]:
    """At each table of a season, the schemer's total and the mean of the honest ones'."""
    policy = f"{schemers.__name__}:{name}"
    cast = cast_of(WORKERS)
    character = {"character": list(CHARACTERS)[seed % len(CHARACTERS)]}
    cast[FIRST:] = [replace(seat, options=character) for seat in cast[FIRST:]]
    schemer = FIRST + seed % WORKERS
    cast[schemer] = replace(cast[schemer], policy=policy)
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


NAMES = (
    "SilentWorker", "Agreeing", "Choosing", "RepeatingTheBar", "Repeating", "Echoing", "Halving",
    "Farming", "FarmingTried", "Challenging", "ChallengingFirst", "ChallengingAfterwards",
)  # fmt: skip
NAMES_ON_MINING = ("Agreeing", "Echoing", "FarmingTried", "Challenging", "ChallengingFirst")
# Two seasons make it clear (of 20 assignments on nk, of 10 of mining, where a test costs more);
# eight do where less is between the two.
CLEAR, CLOSE = 2, 8
CLOSE_ON_NK = {"Halving", "Challenging", "ChallengingFirst", "ChallengingAfterwards"}
CLOSE_ON_MINING = {"FarmingTried"}  # 0.64 ± 0.56 below a table, over twelve seasons


@pytest.mark.parametrize("name", in_turn(NAMES))
def test_on_nk_a_schemer_ends_below_the_honest(name: str) -> None:
    own, honest = summed(nk(), name, CLOSE if name in CLOSE_ON_NK else CLEAR, 20)

    assert own < honest


@pytest.mark.parametrize("name", in_turn(NAMES_ON_MINING))
def test_on_mining_a_schemer_ends_below_the_honest(name: str) -> None:
    own, honest = summed(mining(), name, CLOSE if name in CLOSE_ON_MINING else CLEAR, 10)

    assert own < honest
