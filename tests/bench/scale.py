"""Scale: what an event costs as agents and plots grow, and as rounds do.

Every point is measured in pairs with the smallest one, in the same process and by CPU time, and
what is printed is the median of the ratios. The curves:

- The kernel by size, 10 agents on 100 plots to 100,000 on 1,000,000: recording, verify level 2
  (fold), verify level 3 (derive). The agents play `Neighbour`, which picks its plots by number. All
  points have the same rounds, so that their events are of the same types in the same shares; the
  smaller ones are run more often. Start and first round, in which everything is claimed, are not in
  the cost of an event.
- Each shipped policy by size, to 10,000 agents on 100,000 plots: recording, and verify level 4,
  which asks it again.
- By rounds, 200 to 1,000,000, default configuration, greedy-mine, whole runs.
"""

from __future__ import annotations

import gc
import statistics
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Final

import attrs

from goldrush.agents.worlds.mining.roster import POLICIES
from goldrush.kernel.draws import Draws
from goldrush.kernel.worlds.mining.observe import MiningObservation
from goldrush.replay.journal.verify import verify
from tests.mining import record

SEED: Final = 7
SIZES: Final = tuple((10**n, 10 ** (n + 1)) for n in range(1, 6))  # agents, plots
SIZES_OF_POLICIES: Final = SIZES[:4]
ROUNDS: Final = 10  # of the curve by size
LENGTHS: Final = (200, 2_000, 20_000, 200_000, 1_000_000)  # rounds
EVENTS: Final = 50_000  # of one measurement, at least
BUDGET: Final = 20_000_000  # events of all measurements of a point, about
REPEATS: Final = 5  # at most; a point with more events is measured less often
EACH: Final = 45  # events of ten agents in a round, about
BAR: Final = 10  # characters of the bar of the smallest point
LEVELS: Final = (2, 3)  # of verify

Row = tuple[str, str, str, str, str]
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


@attrs.frozen
class Point:
    """A point of a curve: its name, about how many events a run has, and how it is measured."""

    name: str
    events: int
    costs: Callable[[], Costs]


def rows(folder: Path) -> Iterator[Row]:
    """The rows of both tables, each measured when it is asked for."""
    gc.collect()
    gc.freeze()  # or every full collection would also walk through the peers of other benchmarks
    path, kernel = folder / "run.journal", f"{__name__}:{Neighbour.__name__}"
    yield from _curve("agents, plots", _sizes(path, SIZES, kernel, LEVELS), LEVELS)
    for policy in POLICIES:
        yield from _curve(policy, _sizes(path, SIZES_OF_POLICIES, policy, (4,)), (4,))
    lengths = [
        Point(f"{rounds:,}", EACH * rounds, _by_rounds(folder / "run.journal", rounds))
        for rounds in LENGTHS
    ]
    yield from _curve("rounds", lengths, LEVELS)


def _sizes(
    path: Path, sizes: Sequence[tuple[int, int]], roster: str, levels: Sequence[int]
) -> list[Point]:
    return [
        Point(f"{agents:,} on {plots:,}", agents * EACH // 10 * ROUNDS,
              _by_size(path, agents, plots, roster, levels))
        for agents, plots in sizes
    ]  # fmt: skip


def _curve(what: str, points: Sequence[Point], levels: Sequence[int]) -> Iterator[Row]:
    yield ("CPU time", what, "an event", "ratio", "")
    for point in points:
        repeats = max(1, min(REPEATS, BUDGET // point.events))
        references = -(-REPEATS // repeats)
        pairs = [_pair(point, points[0], references, repeat % 2) for repeat in range(repeats)]
        for index, kind in enumerate(["record", *(f"verify {level}" for level in levels)]):
            cost = statistics.median(ours[index] for ours, _ in pairs)
            ratio = statistics.median(ours[index] / first[index] for ours, first in pairs)
            yield (kind, point.name, f"{cost:,.0f} ns", f"{ratio:.2f} x", "#" * round(BAR * ratio))


def _pair(point: Point, first: Point, references: int, goes_first: int) -> tuple[Costs, Costs]:
    """The costs of both; those of the first point are medians of so many measurements."""
    ours = point.costs() if goes_first else ()
    theirs = [first.costs() for _ in range(references)]
    return ours or point.costs(), tuple(map(statistics.median, zip(*theirs, strict=True)))


def _by_size(
    path: Path, agents: int, plots: int, roster: str, levels: Sequence[int]
) -> Callable[[], Costs]:
    settings = {
        "seed": SEED, "rounds": ROUNDS, "agents": agents, "rows": agents, "cols": plots // agents,
    }  # fmt: skip

    def played() -> Iterator[float]:
        laps: list[float] = []

        def lap(*_: object) -> None:
            laps.append(time.process_time())

        record(path, settings, roster, force=True, on_round=lap)
        yield laps[-1] - laps[0]
        for level in levels:
            laps.clear()
            verify(path, level, on_bytes=lap)
            yield laps[-1] - laps[1]  # after START and the first round

    return lambda: _costs(path, played, (ROUNDS - 1) / ROUNDS)


def _by_rounds(path: Path, rounds: int) -> Callable[[], Costs]:
    def played() -> Iterator[float]:
        settings = {"seed": SEED, "rounds": rounds}
        yield _seconds(lambda: record(path, settings, "greedy-mine", force=True))
        for level in LEVELS:
            yield _seconds(partial(verify, path, level))

    return lambda: _costs(path, played, 1)


def _costs(path: Path, played: Callable[[], Iterable[float]], share: float) -> Costs:
    """CPU ns an event, over so many runs that they have EVENTS; `share` of the events is timed."""
    spent: list[float] = []
    events = 0.0
    while events < EVENTS:
        gc.collect()
        now = list(played())
        spent = [one + other for one, other in zip(spent or [0.0] * len(now), now, strict=True)]
        verdict = verify(path, 1)
        assert verdict.holds
        events += verdict.events * share
    return tuple(1e9 * seconds / events for seconds in spent)


def _seconds(work: Callable[[], object]) -> float:
    started = time.process_time()
    work()
    return time.process_time() - started
