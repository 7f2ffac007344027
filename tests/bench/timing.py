"""How two pieces of work are compared: CPU time, in pairs.

Not wall time and not two separate measurements, because on a machine that is shared, throttled or
busy both say more about the machine than about the code. Here each repeat times both sides one
right after the other, so that what slows one slows the other, and what is kept is the median of
the ratios of the pairs. Who goes first alternates, for the second finds warm caches and the heap
that the first left behind. Each side runs once unmeasured first, to import, compile and fill
caches.
"""

import gc
import resource
import statistics
import subprocess
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

Row = tuple[str, str, str, str, str]  # what, against, measured, target, the reference in itself
Pairs = Sequence[tuple[float, float]]  # seconds of ours and of the reference


def row(what: str, against: str, pairs: Pairs, target: str = "", units: float = 1.0) -> Row:
    """What ours costs as a multiple of the reference, or, where the target is a least value, how
    many times faster ours is. `units`: how many times as much ours did as the reference.
    """
    ratio = statistics.median(ours / reference for ours, reference in pairs) / units
    references = [reference for _, reference in pairs]
    first, _, third = statistics.quantiles(references, n=4, method="inclusive")
    spread = f"{statistics.median(references) * 1e3:.3f} ms ({(third - first) * 1e3:.3f})"
    measured = f"{1 / ratio:.1f} x faster" if target.startswith(">=") else f"{ratio:.2f} x"
    return (what, against, measured, target, spread)


def in_process(ours: Callable[[], object], reference: Callable[[], object], repeats: int) -> Pairs:
    """The CPU seconds of both in this process.

    Garbage is collected outside the clock, and the collector stays on inside it, since it is on
    when the code is used; but it does not walk through what was there before, which is mostly what
    peers have imported.
    """
    ours()
    reference()
    gc.collect()
    gc.freeze()

    def cpu(work: Callable[[], object]) -> float:
        gc.collect()
        return timed(work)[0]

    return alternately(partial(cpu, ours), partial(cpu, reference), repeats)


def alternately(ours: Callable[[], float], reference: Callable[[], float], repeats: int) -> Pairs:
    """What both return, as often as is said; who goes first alternates."""
    pairs = []
    for repeat in range(repeats):
        if repeat % 2 == 0:
            mine = ours()
            pairs.append((mine, reference()))
        else:
            theirs = reference()
            pairs.append((ours(), theirs))
    return pairs


def timed(
    work: Callable[[], Any], clock: Callable[[], float] = time.process_time
) -> tuple[float, Any]:
    """How long some work takes, and what it returns."""
    started = clock()
    done = work()
    return clock() - started, done


def cpu_with_children(work: Callable[[], object]) -> float:
    """The CPU seconds of some work, with those of the processes that it has started and ended."""
    before = _cpu_so_far()
    work()
    return _cpu_so_far() - before


def _cpu_so_far() -> float:
    used = map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(each.ru_utime + each.ru_stime for each in used)


def cpu_of(command: Sequence[str], **how: Any) -> tuple[float, subprocess.CompletedProcess[str]]:
    """The CPU seconds of a process and of its children, and what it said."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(command, capture_output=True, text=True, **how)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, done
