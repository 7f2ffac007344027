"""The study of all treatments of kernel/worlds/mining/README.md and its report: how long.

CPU time, that of its workers included: it is to cost little more than its runs one by one.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from goldrush.replay.report.report import report
from goldrush.replay.study.carry_out import carry_out
from goldrush.replay.study.plan import StudyPlan, plan_of
from goldrush.replay.study.play import play
from tests.indexes import cache_apart

from .timing import Row, cpu_with_children


def rows(folder: Path) -> Iterator[Row]:
    """The rows of the table, each measured when it is asked for."""
    plan = plan_of()
    runs = plan.runs()
    alone = cpu_with_children(lambda: _one_by_one(plan, folder / "alone"))
    took = cpu_with_children(lambda: carry_out(plan, folder / "study"))
    yield (
        f"a study of {len(runs):,} runs", "its runs one by one",
        f"{took / alone:.2f} x", "<= 1.25", f"{alone:.1f} s",
    )  # fmt: skip
    kept = cpu_with_children(lambda: carry_out(plan, folder / "study"))
    yield ("the same once more, all kept", "the study", f"{kept / took:.2f} x", "<= 0.05", "")
    with cache_apart():
        yield from _of_report(folder / "study", took)


def _one_by_one(plan: StudyPlan, folder: Path) -> None:
    folder.mkdir()
    for run in plan.runs():
        play(run, str(folder))


def _of_report(folder: Path, study: float) -> Iterator[Row]:
    """A report, and one more of the same journals."""
    for name, target in (("its report", "<= 0.5"), ("a second report, nothing changed", "<= 0.2")):
        took = cpu_with_children(lambda: report(folder))
        yield (name, "the study", f"{took / study:.2f} x", target, f"{study:.1f} s")
