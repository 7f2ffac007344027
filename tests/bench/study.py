"""The study of all treatments of kernel/worlds/mining/README.md and its report: how long.

Wall time, for this is about all processors together: the runs of a study one after the other in one
process, halved, are what two processors cannot beat.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from goldrush.replay.report.report import report
from goldrush.replay.study.carry_out import carry_out
from goldrush.replay.study.plan import StudyPlan, plan_of
from goldrush.replay.study.play import play
from tests.indexes import cache_apart

from .timing import Row, timed


def rows(folder: Path) -> Iterator[Row]:
    """The rows of the table, each measured when it is asked for."""
    plan = plan_of()
    runs = plan.runs()
    alone = _clock(lambda: _one_by_one(plan, folder / "alone"))
    took = _clock(lambda: carry_out(plan, folder / "study"))
    processors = os.cpu_count() or 1
    yield (
        f"a study of {len(runs):,} runs", f"its runs one by one, ÷ {processors}",
        f"{took * processors / alone:.2f} x", "<= 1.25", f"{alone / processors:.1f} s",
    )  # fmt: skip
    kept = _clock(lambda: carry_out(plan, folder / "study"))
    yield ("the same once more, all kept", "the study", f"{kept / took:.2f} x", "<= 0.05", "")
    with cache_apart():
        yield from _of_report(folder / "study", took)


def _one_by_one(plan: StudyPlan, folder: Path) -> None:
    folder.mkdir()
    for run in plan.runs():
        play(run, str(folder))


def _of_report(folder: Path, study: float) -> Iterator[Row]:
    """A report, and one more of the same journals."""
    for name, target in (("its report", "<= 1"), ("a second report, nothing changed", "<= 0.2")):
        took = _clock(lambda: report(folder))
        yield (name, "the study", f"{took / study:.2f} x", target, f"{study:.1f} s")


def _clock(work: Callable[[], object]) -> float:
    return timed(work, time.perf_counter)[0]
