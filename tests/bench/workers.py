"""Stations of a study of many workers: the cost of a run at each, and the runs a second that fill
one such station.

A run passes the client (planning, handing out, storing, syncing, the manifest), the scheduler of a
Dask cluster and a worker. Workers multiply; the client and the scheduler are one process each, and
what fills first limits the study. CPU time, but for the disk, which is time by the clock. Dask's
scheduler, two workers and this client talk over loopback; what is played there takes no time, so
that only the handing out is measured. Needs goldrush-sim[dask].
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from goldrush.replay.folders import make_folder
from goldrush.replay.study import carry_out, cluster
from goldrush.replay.study.backend import Backend, as_completed
from goldrush.replay.study.plan import Planned, plan_of
from goldrush.replay.study.play import play_remotely, store_journal

from .timing import Row, timed

RUNS = 1_000
HANDED_OUT = 4_000
PLAYED = 20


def rows(folder: Path) -> Iterator[Row]:
    """The rows of the table, each measured when it is asked for."""
    plan = plan_of(treatments=["baseline"], rosters=["greedy-mine"], seeds=RUNS)
    planning, runs = timed(plan.runs)
    journal = play_remotely(runs[0])
    playing, _ = timed(lambda: [play_remotely(run) for run in runs[:PLAYED]])
    yield _row("worker", "plays a run", playing / PLAYED)
    yield ("worker", "sends its journal", f"{len(journal):,} B", "", "")
    yield _row("client", "plans", planning / RUNS)
    study = str(folder / "study")
    make_folder(study)
    storing, stored = timed(lambda: [store_journal(run, study, journal) for run in runs])
    yield _row("client", "stores its journal", storing / RUNS)
    paths = [run.path for run in runs]
    syncing, _ = timed(lambda: carry_out._sync(Path(study), paths), time.perf_counter)
    yield _row("client's disk", "syncs its journal", syncing / RUNS)
    done = {run.path: made for run, made in zip(runs, stored, strict=True)}
    writing = timed(lambda: carry_out._Folder(Path(study), plan, runs, done, {}, done).write())[0]
    yield _row("client", "lists it in the manifest", writing / RUNS)
    yield from _of_dask(len(journal))


def _of_dask(size: int) -> Iterator[Row]:
    """CPU time of the client and of the scheduler."""
    from distributed import Client

    runs = plan_of(treatments=["baseline"], rosters=["greedy-mine"], seeds=HANDED_OUT).runs()
    with (
        _cluster(2) as dask,
        Client(dask.scheduler_address, set_as_default=False) as asking,
        cluster.cluster(dask.scheduler_address) as backend,
    ):
        asking.wait_for_workers(2)
        before = asking.run_on_scheduler(time.process_time)
        client, _ = timed(partial(_all, runs, backend, partial(_some_bytes, size)))
        scheduler = asking.run_on_scheduler(time.process_time) - before
    what = f"{cluster.BATCH} in a task, {size:,} B"
    yield _row("Dask's scheduler", what, scheduler / len(runs))
    yield _row("Dask's client", what, client / len(runs))


def _cluster(count: int) -> Any:
    """A scheduler and its workers, each a process of its own, on loopback."""
    from distributed import SubprocessCluster

    return SubprocessCluster(
        host="127.0.0.1", n_workers=count, scheduler_kwargs={"dashboard": False}, silence_logs=50,
        worker_kwargs={"nthreads": 1, "dashboard": False},
    )  # fmt: skip


def _all(runs: Sequence[Planned], backend: Backend, function: Callable[[Planned], Any]) -> None:
    for _ in as_completed(runs, backend, function):
        pass


def _row(station: str, what: str, seconds: float) -> Row:
    return (station, what, f"{seconds * 1e3:.3f} ms", "", f"{1 / seconds:,.0f} runs/s")


def _some_bytes(size: int, run: Planned) -> bytes:
    return bytes(size)
