"""Scale: what an event costs as agents and plots grow.

Every point is measured in pairs with the smallest one, in the same process and by CPU time, and
what is printed is the median of the ratios. The curves:

- The kernel by size, 10 agents on 100 plots to 100,000 on 1,000,000: recording, verify level 2
  (fold), verify level 3 (derive). The agents play `Neighbour`, which picks its plots by number. All
  points have the same rounds, so that their events are of the same types in the same shares; the
  smaller ones are run more often. Start and first round, in which everything is claimed, are not in
  the cost of an event.
- Each shipped policy by size, to 10,000 agents on 100,000 plots: recording, and verify level 4,
  which asks it again.
"""

from __future__ import annotations

import gc
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Final

from goldrush.agents.worlds.mining.roster import POLICIES
from goldrush.kernel.draws import Draws
from goldrush.kernel.worlds.mining.observe import MiningObservation
from goldrush.replay.journal.verify import verify
from tests.mining import record

from .timing import Row

SEED: Final = 7
SIZES: Final = tuple((10**n, 10 ** (n + 1)) for n in range(1, 6))
SIZES_OF_POLICIES: Final = SIZES[:4]
ROUNDS: Final = 10
EVENTS: Final = 50_000  # of one measurement, at least
BUDGET: Final = 20_000_000  # events of all measurements of a point, about
REPEATS: Final = 5  # at most; a point with more events is measured less often
EACH: Final = 5  # events of an agent in a round, about

Size = tuple[int, int]  # agents, plots
Costs = tuple[float, ...]  # CPU ns an event: of recording, and of verify at each level


class Neighbour:
    """Mines its own plots. Claims near its number; now and then defends, or raids the next agent.

    Agent a's home is plots 10 a to 10 a + 9.
    """

    def plan(self, seen: MiningObservation, draws: Draws) -> Sequence[Any]:
        agent, round_ = seen.agent, seen.round
        plots = 10 * seen.agents
        own = seen.own
        if len(own) < 3:
            return [("claim", plot, 1) for plot in range(10 * agent, 10 * agent + 4)]
        plan: list[Any] = [("mine", plot, 3) for plot in own[:3]]
        match (round_ + agent) % 4:
            case 0:
                plan.append(("claim", 10 * agent + 4 + round_ // 4 % 6, 1))
            case 1:
                plan.append(("defend", own[0], 1))
            case 2:
                plan.append(("raid", (10 * agent + 10 + draws.below(4)) % plots, 1))
        return plan


def rows(folder: Path) -> Iterator[Row]:
    """The rows of both tables, each measured when it is asked for."""
    gc.collect()
    gc.freeze()  # or every full collection would also walk through the peers of other benchmarks
    path, kernel = folder / "run.journal", f"{__name__}:{Neighbour.__name__}"
    yield from _curve(path, "kernel", SIZES, kernel, (2, 3))
    for policy in POLICIES:
        yield from _curve(path, policy, SIZES_OF_POLICIES, policy, (4,))


def _curve(
    path: Path, what: str, sizes: Sequence[Size], roster: str, levels: Sequence[int]
) -> Iterator[Row]:
    costs = partial(_costs, path, roster, levels)
    for size in sizes:
        repeats = max(1, min(REPEATS, BUDGET // (EACH * size[0] * ROUNDS)))
        references = -(-REPEATS // repeats)
        pairs = [_pair(costs, size, sizes[0], references, again % 2) for again in range(repeats)]
        for index, kind in enumerate(["record", *(f"verify {level}" for level in levels)]):
            cost = statistics.median(ours[index] for ours, _ in pairs)
            ratio = statistics.median(ours[index] / first[index] for ours, first in pairs)
            point = f"{size[0]:,} agents on {size[1]:,} plots"
            yield (f"{kind}, {what}", point, f"{ratio:.2f} x", "", f"{cost:,.0f} ns an event")


def _pair(
    costs: Callable[[Size], Costs], size: Size, first: Size, references: int, goes_first: int
) -> tuple[Costs, Costs]:
    """The costs of both; those of the first point are medians of so many measurements."""
    ours = costs(size) if goes_first else ()
    theirs = [costs(first) for _ in range(references)]
    return ours or costs(size), tuple(map(statistics.median, zip(*theirs, strict=True)))


def _costs(path: Path, roster: str, levels: Sequence[int], size: Size) -> Costs:
    """CPU ns an event, over so many runs that they have EVENTS."""
    agents, plots = size
    settings = {
        "seed": SEED, "rounds": ROUNDS, "agents": agents, "rows": agents, "cols": plots // agents,
    }  # fmt: skip
    spent = [0.0] * (1 + len(levels))
    laps: list[float] = []
    events = 0.0

    def lap(*_: object) -> None:
        laps.append(time.process_time())

    while events < EVENTS:
        gc.collect()
        laps.clear()
        record(path, settings, roster, force=True, on_round=lap)
        spent[0] += laps[-1] - laps[0]
        for place, level in enumerate(levels, 1):
            laps.clear()
            verify(path, level, on_bytes=lap)
            spent[place] += laps[-1] - laps[1]  # after START and the first round
        verdict = verify(path, 1)
        assert verdict.holds
        events += verdict.events * (ROUNDS - 1) / ROUNDS
    return tuple(1e9 * seconds / events for seconds in spent)
