"""How conducts are tested: an arena's bench, and `Tests`, which a season asks.

A bench gives the value of one run. `Tests` makes tested values of runs, as the journal records
them; makes each run once, also for all the seasons that a process plays in the same arena; and
hands many runs over to other processes, which changes no value and no order.

An entry point of the group `goldrush.benches` is a `BenchType`.
"""

from __future__ import annotations

import math
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import BrokenExecutor, Executor
from functools import partial
from typing import Any, Final, Self

import attrs
from xxhash import xxh3_128_digest

from goldrush.kernel.codec import pack
from goldrush.kernel.competition.arena import Arena, Conduct
from goldrush.kernel.draws import Draws
from goldrush.kernel.measures import Value

Run = tuple[Value, int]  # what a run gives, and a 64-bit digest of what it did
Tested = tuple[Value, tuple[tuple[int, int], ...]]  # a tested value; seed and digest of each run
Task = tuple[Conduct, str, str, int]  # conduct, treatment, objective, seed

RUNS_MAX: Final = 65_536  # kept for an arena; the one that was used longest ago is forgotten
ARENAS_MAX: Final = 4  # whose runs are kept
AHEAD: Final = 4  # parts for each job into which many runs are cut

# How the runs of a bench are made at once: one after the other, because they take microseconds; by
# threads, because they wait for other programs; by processes, because they compute.
ALONE, THREADS, PROCESSES = ("alone", "threads", "processes")


def _unlisted(*of: str) -> None:
    return None


def _nothing() -> None:
    return None


@attrs.frozen
class Bench:
    """The half of an arena that tests. Conducts that it is given are canonical.

    - `test(conduct, treatment, objective, seed)`: the value of a conduct in one run, None where it
      has none, and a digest of the run. The same for the same arguments, if `deterministic`.
    - `vary(conduct, treatment, draws)`: a conduct next to this one, canonical for the treatment;
      which one is drawn.
    - `conducts(treatment)`: all there are; None where they cannot be listed.
    - `atlas(objective, treatment)`: the value of each of these, in their order, apart from the
      noise of tests; None where it is not known.
    - `together(conduct, treatment, seed)`: the values of all objectives, where one run gives them,
      and its digest; `test` gives the same.
    - `as_tested(conduct, treatment)`: the one conduct that stands for all whose runs are the same.
    - `at_once`: ALONE, THREADS or PROCESSES.
    - `remark()`: what a person must be told before a season is played, in a line; None mostly.
    - `close()`: called when nobody asks any more.
    """

    test: Callable[[Conduct, str, str, int], Run]
    vary: Callable[[Conduct, str, Draws], Conduct]
    conducts: Callable[[str], Sequence[Conduct] | None] = _unlisted
    atlas: Callable[[str, str], Sequence[Value] | None] = _unlisted
    together: Callable[[Conduct, str, int], tuple[Mapping[str, Value], int]] | None = None
    as_tested: Callable[[Conduct, str], Conduct] = lambda conduct, treatment: conduct
    at_once: str = PROCESSES
    deterministic: bool = True
    remark: Callable[[], str | None] = _nothing
    close: Callable[[], None] = _nothing


def _as_typed(settings: Mapping[str, Any]) -> Mapping[str, Any]:
    return settings


@attrs.frozen
class BenchType:
    """What an entry point of the group `goldrush.benches` gives.

    - `opened(arena, program)`: the bench of an arena; `program` is the path of what tests, where
      the arena is tested by a program of the user's. Raises BadInput where it cannot be opened.
    - `options(settings)`: the options to record, by name, of those that a person typed. Raises
      BadInput.
    - `program(path)`: the options by which the record names such a program, where there is one.
      Raises BadInput for a path that names none.
    """

    opened: Callable[[Arena, str | None], Bench]
    options: Callable[[Mapping[str, Any]], Mapping[str, Any]] = _as_typed
    program: Callable[[str], Mapping[str, Any]] | None = None


@attrs.frozen
class Request:
    """A test that is asked for: a conduct under a treatment, for an objective, with these seeds."""

    conduct: Conduct
    treatment: str
    objective: str
    seeds: Sequence[int]


class Tests:
    """Tests conducts in an arena, each run once, as far as they are kept.

    As a context manager it is closed at the end. `played` counts the runs that were made, `kept`
    those that had been made before.
    """

    def __init__(self, arena: Arena, opened: Callable[[], Bench], jobs: int = 1) -> None:
        """`opened` opens the bench, in other processes too; `jobs`: how many runs at once."""
        self.bench = opened()
        self.played = self.kept = 0
        self._opened = opened
        self._jobs = jobs
        self._pool: Executor | None = None
        # What need not be the same twice is asked for again in another season.
        self._store = _store_of(arena) if self.bench.deterministic else _Store()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """End what is under way, and close the bench."""
        self.bench.close()  # first: it ends what threads wait for
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)
            self._pool = None

    def value(
        self, conduct: Conduct, treatment: str, objective: str, seeds: Sequence[int]
    ) -> Tested:
        """The tested value of a conduct: the mean of its runs with these seeds, added up in their
        order; None where one of them has no value. With seed and digest of each run.
        """
        return self.values([Request(conduct, treatment, objective, seeds)])[0]

    def values(self, requests: Sequence[Request]) -> list[Tested]:
        """The tested values of many, in their order, found at once. Raises what the bench raises,
        and WorkerDied where a process is ended from outside.
        """
        tasks = [
            (self.bench.as_tested(one.conduct, one.treatment), one.treatment, one.objective, seed)
            for one in requests
            for seed in one.seeds
        ]
        runs = iter(self._runs(tasks))
        return [_mean(one.seeds, [next(runs) for _ in one.seeds]) for one in requests]

    def _runs(self, tasks: Sequence[Task]) -> Iterable[Run]:
        """What comes of runs, in their order: those that are not kept are made."""
        if self.bench.at_once == ALONE:
            self.played += len(tasks)
            return [self.bench.test(*task) for task in tasks]
        keys = [self._key(task) for task in tasks]
        found = {key: made for key in keys if (made := self._store.get(key)) is not None}
        missing = {key: task for key, task in zip(keys, tasks, strict=True) if key not in found}
        self.kept += len(found)
        self.played += len(missing)
        for key, made in zip(missing, self._made(list(missing.values())), strict=True):
            found[key] = made
            self._store.put(key, made)
        return [
            (found[key].values[task[2]], found[key].digest)
            for key, task in zip(keys, tasks, strict=True)
        ]

    def _key(self, task: Task) -> bytes:
        conduct, treatment, objective, seed = task
        only = objective if self.bench.together is None else None
        return xxh3_128_digest(pack((conduct, treatment, only, seed)))

    def _made(self, tasks: Sequence[Task]) -> Sequence[_Made]:
        """Make runs, as many at once as there are jobs."""
        if self._jobs == 1 or len(tasks) < 2:
            return [_made(self.bench, task) for task in tasks]
        if self.bench.at_once == THREADS:
            return self._by_threads(tasks)
        return self._by_processes(tasks)

    # What it takes to begin threads and processes need not be imported to play alone.

    def _by_threads(self, tasks: Sequence[Task]) -> Sequence[_Made]:
        from concurrent.futures import ThreadPoolExecutor

        self._pool = self._pool or ThreadPoolExecutor(self._jobs)
        return list(self._pool.map(partial(_made, self.bench), tasks))

    def _by_processes(self, tasks: Sequence[Task]) -> Sequence[_Made]:
        from goldrush.agents.workers import WorkerDied, Workers, workers

        self._pool = self._pool or workers(self._jobs, partial(_open, self._opened))
        assert isinstance(self._pool, Workers)
        at_once = max(1, len(tasks) // (AHEAD * self._jobs))
        try:
            return list(self._pool.map(_made_there, tasks, chunksize=at_once))
        except BaseException as error:  # nobody waits for what is under way
            self._pool.stop()
            self._pool = None
            if isinstance(error, BrokenExecutor):
                raise WorkerDied from None
            raise


@attrs.frozen
class _Made:
    """What a run gave: its value for each objective that is known of it, and its digest."""

    values: Mapping[str, Value]
    digest: int


def _made(bench: Bench, task: Task) -> _Made:
    conduct, treatment, objective, seed = task
    if bench.together is not None:
        return _Made(*bench.together(conduct, treatment, seed))
    value, digest = bench.test(conduct, treatment, objective, seed)
    return _Made({objective: value}, digest)


def _mean(seeds: Sequence[int], runs: Sequence[Run]) -> Tested:
    total: Value = 0.0
    for value, _ in runs:  # `sum` of floats is not the same in every Python
        total = None if total is None or value is None else total + value
    if total is not None:
        total = total / len(runs) if math.isfinite(total) else None
    return total, tuple((seed, digest) for seed, (_, digest) in zip(seeds, runs, strict=True))


# In a process that makes runs for another one.

_bench: list[Bench] = []


def _open(opened: Callable[[], Bench]) -> None:
    _bench[:] = [opened()]


def _made_there(task: Task) -> _Made:
    return _made(_bench[0], task)


# Runs that are kept, by arena, for all seasons of this process.


class _Store:
    """Runs by what was run: a bounded number of them."""

    def __init__(self) -> None:
        self._runs: OrderedDict[bytes, _Made] = OrderedDict()

    def get(self, key: bytes) -> _Made | None:
        made = self._runs.get(key)
        if made is not None:
            self._runs.move_to_end(key)
        return made

    def put(self, key: bytes, made: _Made) -> None:
        self._runs[key] = made
        if len(self._runs) > RUNS_MAX:
            self._runs.popitem(last=False)


_stores: Final[OrderedDict[bytes, _Store]] = OrderedDict()


def _store_of(arena: Arena) -> _Store:
    """The runs of an arena with these options, whatever its subjects are."""
    key = pack((arena.name, arena.version, dict(arena.options)))
    store = _stores.setdefault(key, _Store())
    _stores.move_to_end(key)
    if len(_stores) > ARENAS_MAX:
        _stores.popitem(last=False)
    return store
