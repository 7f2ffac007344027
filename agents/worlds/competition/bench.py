"""Tests of conducts: `Bench`, which makes one run, and `Tests`, which computes tested values.

`Tests` keeps the results of runs, also for other seasons of the process in the same arena, and
makes runs in parallel, which changes neither values nor their order.

An entry point of the group `goldrush.benches` is a `BenchType`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from functools import partial
from typing import TYPE_CHECKING, Any, Final, Generic, TypeVar

import attrs
from xxhash import xxh3_64_intdigest, xxh3_128_digest

from goldrush.agents.llm.messages import Messages
from goldrush.kernel.codec import pack
from goldrush.kernel.draws import Draws
from goldrush.kernel.measures import Value
from goldrush.kernel.worlds.competition.arena import Arena, Conduct

if TYPE_CHECKING:
    from goldrush.agents.pool import Workers

Run = tuple[Value, int]  # the value of a run, and a 64-bit digest of it
Result = tuple[Value, tuple[tuple[int, int], ...]]  # a tested value; seed and digest of each run
Task = tuple[Conduct, str, str, int]  # conduct, treatment, objective, seed

C = TypeVar("C")  # the options of an arena

ARENA_TEXTS: Final = Messages("goldrush.agents.worlds.competition", "arenas.toml")
NO_OUTPUT: Final = xxh3_64_intdigest(b"")  # the digest of a run that its time limit ended
RUNS_MAX: Final = 1 << 18  # runs kept; the oldest one is dropped
AHEAD: Final = 4  # parts per job into which many runs are split

# Executors of runs: none, without keeping results, for runs of microseconds; or processes.
ALONE, PROCESSES = ("alone", "processes")


class TimedOut(Exception):
    """A run was ended by its time limit. It has no value, and the digest of no output."""


def nothing(*of: str) -> None:
    """What a bench without this has: no list, no values, no remark."""


@attrs.frozen
class Bench:
    """The half of an arena that tests. All conducts that it gets are canonical.

    Attributes:
        test: `(conduct, treatment, objective, seed)` to the value of a conduct in one run (None:
            undefined) and a 64-bit digest of the run. Raises TimedOut.
        vary: a drawn neighbour of a conduct, canonical for the treatment.
        conducts: all conducts of a treatment, in a fixed order; None: they cannot be listed.
        atlas: `(objective, treatment)` to their values without noise, in that order; None: unknown.
        together: the values of all objectives by name and the digest of a run, as by
            `test`; None: a run has one objective.
        as_tested: a representative of all conducts with equal runs.
        read: `(value, treatment)`: converts a value of an answer that fits the schema of conducts
            to a conduct, and returns any other value unchanged.
        text: the rules of the arena for a language model or a person.
        whole: the full text of a conduct, for arenas whose rules describe it shortened.
        at_once: the executor of runs: ALONE or PROCESSES.
        deterministic: `test` is a pure function, except where it raises TimedOut.
        time_limit: of a run in seconds; None: `test` raises no TimedOut.
        remark: a warning on one line before a season is played, or None.
    """

    test: Callable[[Conduct, str, str, int], Run]
    vary: Callable[[Conduct, str, Draws], Conduct]
    conducts: Callable[[str], Sequence[Conduct] | None] = nothing
    atlas: Callable[[str, str], Sequence[Value] | None] = nothing
    together: Callable[[Conduct, str, int], tuple[Mapping[str, Value], int]] | None = None
    as_tested: Callable[[Conduct, str], Conduct] = lambda conduct, treatment: conduct
    read: Callable[[Any, str], Conduct] = lambda value, treatment: value
    text: str = ""
    whole: Callable[[Conduct], str] | None = None
    at_once: str = PROCESSES
    deterministic: bool = True
    time_limit: float | None = None
    remark: Callable[[], str | None] = nothing


def guessing(bench: Bench) -> Bench:
    """The bench with drawn values in place of runs."""

    def test(conduct: Conduct, treatment: str, objective: str, seed: int) -> Run:
        word = Draws(objective, treatment, repr(conduct), seed).word()
        return word / 2**64, word

    return attrs.evolve(bench, test=test, together=None, deterministic=False, at_once=ALONE)


@attrs.frozen
class BenchType(Generic[C]):
    """The object of an entry point in the group `goldrush.benches`.

    Attributes:
        opened: `(options, path of the program or None)` to the bench: the options of the arena,
            as an instance of the class that its rules name. Raises BadInput.
        options: the options to record, by name, from those that were typed. Raises BadInput.
        program: a path to the options that identify the user's program; None: the arena takes no
            program. Raises BadInput for a path that is not a program.
    """

    opened: Callable[[C, str | None], Bench]
    options: Callable[[Mapping[str, Any]], Mapping[str, Any]] = dict
    program: Callable[[str], Mapping[str, Any]] | None = None


@attrs.frozen
class Request:
    """A requested test: a conduct under a treatment, for an objective, with these seeds."""

    conduct: Conduct
    treatment: str
    objective: str
    seeds: Sequence[int]


class Tests(AbstractContextManager["Tests"]):
    """Tests of conducts in an arena. A context manager that ends runs in other processes.

    Attributes:
        timed_out: the runs of the last call of `values` that a time limit ended.
    """

    def __init__(self, arena: Arena, opened: Callable[[], Bench], jobs: int = 1) -> None:
        """Open the bench by `opened`, also in other processes, for `jobs` parallel runs."""
        self.bench = opened()
        self.timed_out: Collection[Task] = ()
        self._opened = opened
        self._jobs = jobs
        self._pool: Workers | None = None
        # Other seasons make their own runs where the results may differ.
        self._kept = _kept if self.bench.deterministic else {}
        self._arena = pack((arena.name, arena.version, dict(arena.options)))  # not its subjects

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """Stop runs."""
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)
            self._pool = None

    def value(
        self, conduct: Conduct, treatment: str, objective: str, seeds: Sequence[int]
    ) -> Result:
        """The tested value of a conduct, the mean of the runs, and (seed, digest) of each run. The
        value is None if that of a run is undefined.
        """
        return self.values([Request(conduct, treatment, objective, seeds)])[0]

    def values(self, requests: Sequence[Request]) -> list[Result]:
        """The tested values of several requests, in their order. Raises WorkerDied if a process is
        killed, and any exception of the bench.
        """
        tasks = [
            (self.bench.as_tested(one.conduct, one.treatment), one.treatment, one.objective, seed)
            for one in requests
            for seed in one.seeds
        ]
        runs = iter(self._runs(tasks))
        return [_mean(one.seeds, [next(runs) for _ in one.seeds]) for one in requests]

    def _runs(self, tasks: Sequence[Task]) -> Iterable[Run]:
        """The results of runs, in the order of the tasks."""
        if self.bench.at_once == ALONE:
            return [self.bench.test(*task) for task in tasks]
        keys = [self._key(task) for task in tasks]
        found = {key: self._kept[key] for key in keys if key in self._kept}
        missing = {key: task for key, task in zip(keys, tasks, strict=True) if key not in found}
        for key, made in zip(missing, self._made(list(missing.values())), strict=True):
            found[key] = made
            if not made.timed_out:  # the next run may be in time
                self._kept[key] = made
            if len(self._kept) > RUNS_MAX:
                del self._kept[next(iter(self._kept))]
        self.timed_out = {task for key, task in missing.items() if found[key].timed_out}
        return [
            (found[key].values[task[2]], found[key].digest)
            for key, task in zip(keys, tasks, strict=True)
        ]

    def _key(self, task: Task) -> bytes:
        conduct, treatment, objective, seed = task
        only = objective if self.bench.together is None else None
        return xxh3_128_digest(self._arena + pack((conduct, treatment, only, seed)))

    def _made(self, tasks: Sequence[Task]) -> Sequence[_Made]:
        """Make runs, in parallel if there are several jobs."""
        if self._jobs == 1 or len(tasks) < 2:
            return [_made(self.bench, task) for task in tasks]
        # Imported here, so that a season without parallel runs does not pay for it.
        from concurrent.futures import BrokenExecutor

        from goldrush.agents.pool import WorkerDied, result_of, workers

        self._pool = self._pool or workers(self._jobs, partial(_open, self._opened))
        at_once = max(1, len(tasks) // (AHEAD * self._jobs))
        try:
            parts = [tasks[at : at + at_once] for at in range(0, len(tasks), at_once)]
            futures = [self._pool.submit(_made_there, part) for part in parts]
            return [made for future in futures for made in result_of(future)]
        except BaseException as error:  # do not wait for running tasks
            self._pool.stop()
            self._pool = None
            if isinstance(error, BrokenExecutor):
                raise WorkerDied from None
            raise


@attrs.frozen
class _Made:
    """The result of a run: values by objective, and its digest."""

    values: Mapping[str, Value]
    digest: int
    timed_out: bool = False


# The results of runs by a digest of arena and task, kept for all seasons of this process.
_kept: Final[dict[bytes, _Made]] = {}


def _made(bench: Bench, task: Task) -> _Made:
    conduct, treatment, objective, seed = task
    if bench.together is not None:
        return _Made(*bench.together(conduct, treatment, seed))
    try:
        value, digest = bench.test(conduct, treatment, objective, seed)
    except TimedOut:
        return _Made({objective: None}, NO_OUTPUT, timed_out=True)
    return _Made({objective: value}, digest)


def _mean(seeds: Sequence[int], runs: Sequence[Run]) -> Result:
    total: Value = 0.0
    for value, _ in runs:  # `sum` of floats is not the same in every Python
        total = None if total is None or value is None else total + value
    if total is not None:
        total = total / len(runs) if math.isfinite(total) else None
    return total, tuple((seed, digest) for seed, (_, digest) in zip(seeds, runs, strict=True))


# In a worker process.

_bench: list[Bench] = []


def _open(opened: Callable[[], Bench]) -> None:
    _bench[:] = [opened()]


def _made_there(tasks: Sequence[Task]) -> Sequence[_Made]:
    return [_made(_bench[0], task) for task in tasks]
