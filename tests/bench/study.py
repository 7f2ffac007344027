"""The study of all treatments of kernel/worlds/mining/README.md and its report: how long, and
where.

Wall time, for this is about all processors together: the runs of a study one after the other in one
process, halved, are what two processors cannot beat.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

from goldrush.kernel.treatments import BASELINE
from goldrush.replay.data.encoded import PARQUET, write_tables
from goldrush.replay.data.groups import groups
from goldrush.replay.journal.batch import journals_in, verify_all
from goldrush.replay.report.page import StudyPage
from goldrush.replay.report.report import report
from goldrush.replay.report.reported import study_of
from goldrush.replay.study.carry_out import carry_out
from goldrush.replay.study.measuring import results_of
from goldrush.replay.study.plan import StudyPlan, plan_of
from goldrush.replay.study.play import play
from tests.indexes import cache_apart

Row = tuple[str, str, str, str, str]


def rows(folder: Path) -> Iterator[Row]:
    """The rows of the table, each measured when it is asked for."""
    plan = plan_of()
    runs = plan.runs()
    yield ("what", "against", "measured", "target", "the reference in itself")
    alone = _timed(lambda: _one_by_one(plan, folder / "alone"))[0]
    took, manifest = _timed(lambda: carry_out(plan, folder / "study"))
    size = sum(run.bytes or 0 for run in manifest.runs)
    processors = os.cpu_count() or 1
    yield (
        f"a study of {len(runs):,} runs", f"its runs one by one, ÷ {processors}",
        f"{took * processors / alone:.2f} x", "<= 1.25", f"{alone / processors:.1f} s",
    )  # fmt: skip
    yield ("the same", f"{size / 1e6:,.0f} MB of journals", f"{took:.1f} s", "", "")
    kept = _timed(lambda: carry_out(plan, folder / "study"))[0]
    yield ("the same once more, all kept", "", f"{kept:.1f} s", "", "")
    with cache_apart():
        yield from _of_report(folder / "study", took)
    yield from _of_processes(folder)
    verifying = _timed(lambda: _verified(folder / "study"))[0]
    yield (f"verify, {len(runs):,} journals, level 4", "", f"{verifying:.1f} s", "", "")


def _one_by_one(plan: StudyPlan, folder: Path) -> None:
    folder.mkdir()
    for run in plan.runs():
        play(run, str(folder))


def _of_report(folder: Path, study: float) -> Iterator[Row]:
    """A report, one more of the same journals, and the parts of the second."""
    for name, target in (("its report", "<= 1"), ("a second report, nothing changed", "<= 0.2")):
        took = _timed(lambda: report(folder))[0]
        yield (name, "the study", f"{took / study:.2f} x", target, f"{study:.1f} s")
    reading, results = _timed(lambda: results_of(folder))
    yield ("report: measures that are kept", "", f"{reading:.1f} s", "", "")
    whole, made = _timed(lambda: StudyPage(study_of(results)))
    yield ("report: statistics and the page", "", f"{whole:.1f} s", "", "")
    writing, page = _timed(made.html)
    yield ("report: writing it", f"{len(page) / 1e6:.1f} MB", f"{writing:.1f} s", "", "")


def _of_processes(folder: Path) -> Iterator[Row]:
    """What reads many journals, of one treatment, with two processes."""
    paths = journals_in([folder / "study" / BASELINE])
    works: dict[str, Callable[[int], Any]] = {
        "measure": lambda jobs: groups(paths, jobs),
        "export to Parquet": lambda jobs: write_tables(
            paths, folder / "tables", PARQUET, jobs=jobs, force=True
        ),
        "verify": lambda jobs: list(verify_all(paths, jobs=jobs)),
    }
    for name, work in works.items():
        one, two = (_timed(partial(work, jobs))[0] for jobs in (1, 2))
        what = f"{name}, {len(paths)} journals, --jobs 2"
        yield (what, "one process, by the clock", f"{two / one:.2f} x", "", f"{one:.1f} s")


def _verified(folder: Path) -> None:
    if not all(outcome.holds for outcome in verify_all(journals_in([folder]))):
        raise SystemExit("a run of the study does not verify")


def _timed(work: Callable[[], Any]) -> tuple[float, Any]:
    start = time.perf_counter()
    done = work()
    return time.perf_counter() - start, done
