"""Stations of a study of many workers: the cost of a run at each, and the runs a second that fill
one such station.

A run passes the client (planning, handing out, storing, syncing, the manifest), the scheduler of a
Dask cluster and a worker. Workers multiply; the client and the scheduler are one process each, and
what fills first limits the study. CPU time, but for the disk, which is time by the clock. Dask's
scheduler, two workers and this client talk over loopback; what is played there takes no time, so
that only the handing out is measured. Needs goldrush-sim[dask].
"""

from __future__ import annotations

import pickle
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor, Future
from functools import partial
from pathlib import Path
from typing import Any
from unittest import mock

from goldrush.kernel.files import make_folder
from goldrush.replay.study import carry_out, cluster
from goldrush.replay.study.backend import Backend, as_completed, processes
from goldrush.replay.study.manifest import MANIFEST
from goldrush.replay.study.plan import Planned, plan_of
from goldrush.replay.study.play import play_remotely, store_journal

Row = tuple[str, str, str, str, str]

RUNS = 1_000
HANDED_OUT = 4_000
IN_A_STUDY = 160
PLAYED = 20


def rows(folder: Path) -> Iterator[Row]:
    """The rows of the table, each measured when it is asked for."""
    yield ("station", "what it does", "per run", "target", "full at")
    plan = plan_of(treatments=["baseline"], rosters=["greedy-mine"], seeds=RUNS)
    planning, runs = _cpu(plan.runs)
    journal = play_remotely(runs[0])
    playing, _ = _cpu(lambda: [play_remotely(run) for run in runs[:PLAYED]])
    yield _row("worker", "plays a run", playing / PLAYED)
    yield ("worker", "sends its journal", f"{len(journal):,} B", "", "")
    for size in (1, cluster.BATCH):
        task = pickle.dumps((play_remotely, runs[:size]))
        yield ("client", f"sends it, {size} in a task", f"{len(task) // size:,} B", "", "")
    yield _row("client", "plans", planning / RUNS)
    for size in (1, cluster.BATCH):
        here = Backend(lambda runs: _Here(), 8, batch=size)
        handing = _cpu(partial(_all, runs, here, _nothing))[0]
        yield _row("client", f"hands it out, {size} in a task", handing / RUNS)
    study = str(folder / "study")
    make_folder(study)
    storing, stored = _cpu(lambda: [store_journal(run, study, journal) for run in runs])
    yield _row("client", "stores its journal", storing / RUNS)
    syncing = _clock(lambda: carry_out._sync(Path(study), [run.path for run in runs]))
    yield _row("client's disk", "syncs its journal", syncing / RUNS)
    done = {run.path: made for run, made in zip(runs, stored, strict=True)}
    writing = _cpu(lambda: carry_out._Folder(Path(study), plan, runs, done, {}, done).write())[0]
    yield _row("client", "lists it in the manifest", writing / RUNS)
    size = Path(study, MANIFEST).stat().st_size
    yield ("client", "the same", f"{size // RUNS:,} B", "", "")
    yield from _of_dask(len(journal))
    yield from _by_the_clock(folder)


def _of_dask(size: int) -> Iterator[Row]:
    """CPU time of the client and of the scheduler."""
    from distributed import Client

    runs = plan_of(treatments=["baseline"], rosters=["greedy-mine"], seeds=HANDED_OUT).runs()
    with _cluster(2) as dask, Client(dask.scheduler_address, set_as_default=False) as asking:
        asking.wait_for_workers(2)
        for batch, of_bytes in (
            (1, 0), (cluster.BATCH, 0), (cluster.BATCH, size),
        ):  # fmt: skip
            some = runs if batch > 1 else runs[:RUNS]
            with (
                mock.patch.object(cluster, "BATCH", batch),
                cluster.cluster(dask.scheduler_address) as backend,
            ):
                before = asking.run_on_scheduler(time.process_time)
                given = partial(_some_bytes, of_bytes)
                client, _ = _cpu(partial(_all, some, backend, given))
                scheduler = asking.run_on_scheduler(time.process_time) - before
            what = f"{batch} in a task, {of_bytes:,} B"
            yield _row("Dask's scheduler", what, scheduler / len(some))
            yield _row("Dask's client", what, client / len(some))


def _by_the_clock(folder: Path) -> Iterator[Row]:
    """The same study by the pool of processes and by Dask."""
    plan = plan_of(treatments=["baseline"], rosters=["greedy-mine"], seeds=IN_A_STUDY)
    for count in (1, 2):
        out = folder / f"pool{count}"
        took = _clock(partial(carry_out.carry_out, plan, out, backend=processes(count)))
        yield _row("pool", f"a study, {count} at once, by the clock", took / IN_A_STUDY)
        with _cluster(count) as dask, cluster.cluster(dask.scheduler_address) as backend:
            out = folder / f"dask{count}"
            took = _clock(partial(carry_out.carry_out, plan, out, backend=backend))
        yield _row("Dask", f"a study, {count} at once, by the clock", took / IN_A_STUDY)


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


def _cpu(work: Callable[[], Any]) -> tuple[float, Any]:
    start = time.process_time()
    done = work()
    return time.process_time() - start, done


def _clock(work: Callable[[], Any]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def _nothing(run: Planned) -> None:
    return None


def _some_bytes(size: int, run: Planned) -> bytes:
    return bytes(size)


class _Here(Executor):
    """Calls what is submitted, at once."""

    def submit(self, task: Callable[..., Any], /, *given: Any, **named: Any) -> Future[Any]:
        future: Future[Any] = Future()
        future.set_result(task(*given, **named))
        return future
