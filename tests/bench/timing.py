"""How two pieces of work are compared: CPU time, in pairs, in one process.

Not wall time and not two separate measurements, because on a machine that is shared, throttled or
busy both say more about the machine than about the code. Here each repeat times both sides one
right after the other, so that what slows one slows the other, and what is kept is the median of
the ratios of the pairs. Who goes first alternates, for the second finds warm caches and the heap
that the first left behind. Garbage is collected before each pair and outside the clock, and the
collector stays on inside it, since it is on when the code is used; but it does not walk through
what was there before, which is mostly what peers have imported. Each side runs once unmeasured
first, to import, compile and fill caches.
"""

import gc
import statistics
import time
from collections.abc import Callable

import attrs


@attrs.frozen
class Ratio:
    """What `ours` costs as a multiple of the reference: below 1 is faster than it.

    The spread is the distance between the quartiles of the reference's times: how far to trust it.
    """

    median_ratio: float
    reference_median_seconds: float
    reference_spread_seconds: float
    ours_median_seconds: float


def paired_ratio(
    ours: Callable[[], object], reference: Callable[[], object], repeats: int
) -> Ratio:
    """Time both `repeats` times, interleaved, and compare pair by pair.

    Raises ValueError for fewer than one repeat, and where the reference is too short for the
    clock to see, since a ratio to nothing would be no measurement.
    """
    if repeats < 1:
        raise ValueError(f"repeats is {repeats}; at least 1 is needed")
    ours()
    reference()
    gc.collect()
    gc.freeze()
    ours_seconds: list[float] = []
    reference_seconds: list[float] = []
    for repeat in range(repeats):
        gc.collect()
        if repeat % 2 == 0:
            ours_seconds.append(_cpu_seconds(ours))
            reference_seconds.append(_cpu_seconds(reference))
        else:
            reference_seconds.append(_cpu_seconds(reference))
            ours_seconds.append(_cpu_seconds(ours))
    if min(reference_seconds) <= 0.0:
        raise ValueError("the reference took no measurable CPU time; give it more to do")
    return Ratio(
        median_ratio=statistics.median(
            mine / theirs for mine, theirs in zip(ours_seconds, reference_seconds, strict=True)
        ),
        reference_median_seconds=statistics.median(reference_seconds),
        reference_spread_seconds=_interquartile_range(reference_seconds),
        ours_median_seconds=statistics.median(ours_seconds),
    )


def _cpu_seconds(work: Callable[[], object]) -> float:
    started = time.process_time()
    work()
    return time.process_time() - started


def _interquartile_range(seconds: list[float]) -> float:
    if len(seconds) < 2:
        return 0.0
    first, _, third = statistics.quantiles(seconds, n=4, method="inclusive")
    return third - first
