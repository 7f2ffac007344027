"""Seasons: what roundtables cost beside what they talk about.

A default season of 40 assignments is held against the distinct mining runs that its trials and
tests need, recorded alone; one on `nk` against its table lookups and its rules in a plain loop,
with nobody asked and nothing written. Each in a process of its own, for what was tested once is not
tested again in a process; CPU time, but for `--jobs`, where it is time by the clock.
"""

from __future__ import annotations

import multiprocessing
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from goldrush.agents import players
from goldrush.agents.players import Resources
from goldrush.agents.roster import Roster
from goldrush.agents.worlds.competition.arenas import bench_of, rules_of
from goldrush.agents.worlds.competition.bench import Bench
from goldrush.agents.worlds.competition.benches.mining import setting_of
from goldrush.agents.worlds.competition.players import configured
from goldrush.agents.worlds.mining.players import MINING_PLAYERS
from goldrush.kernel.fold import units
from goldrush.kernel.journal import JournalReader
from goldrush.kernel.world import Step, World
from goldrush.kernel.worlds.competition import competition
from goldrush.kernel.worlds.competition.arena import Arena, options_in
from goldrush.kernel.worlds.competition.arenas.mining import MiningOptions
from goldrush.kernel.worlds.competition.events import CODES, Tested, Tried, named
from goldrush.kernel.worlds.competition.state import SeasonState
from goldrush.kernel.worlds.mining import MINING
from goldrush.replay.journal.verify import verify
from tests.playing import record

from .timing import Row, timed

Run = tuple[Any, str, int]  # conduct, treatment, seed
SEED = 1


def rows(folder: Path) -> Iterator[Row]:
    """The rows of the table, each measured when it is asked for."""
    yield from _mining(folder)
    yield from _nk(folder)


def _mining(folder: Path) -> Iterator[Row]:
    path, config = folder / "season.journal", configured({"seed": SEED})
    world, bench = competition(rules_of(config.arena)), bench_of(config.arena)
    season = _alone(lambda: record(path, {"seed": SEED}))
    runs = _runs(_steps(path, world), bench)
    alone = _alone(lambda: _recorded(config.arena, runs, folder / "run.journal"))
    yield (
        f"a season of {config.assignments} assignments",
        f"its {len(runs):,} mining runs, recorded alone",
        f"{season / alone:.2f} x", "<= 1.3", f"{alone:.1f} s",
    )  # fmt: skip
    for what, one, two in (
        ("its trials and tests", _recording(path, 1), _recording(path, 2)),
        ("its verify at level 4", _held(path, 1), _held(path, 2)),
    ):
        ratio = _alone(two, time.perf_counter) / _alone(one, time.perf_counter)
        yield (f"{what}, --jobs 2", "one process, by the clock", f"{ratio:.2f} x", "<= 0.6", "")


def _nk(folder: Path) -> Iterator[Row]:
    path, settings = folder / "nk.journal", {"seed": SEED, "arena": "nk"}
    config = configured(settings)
    world, bench = competition(rules_of(config.arena)), bench_of(config.arena)
    season = _alone(lambda: record(path, settings, force=True))
    steps = _steps(path, world)
    with JournalReader(path) as reader:
        start = next(iter(reader)).setup or {}
    plain = _alone(lambda: _plainly(world, start, steps, bench))
    yield (
        f"a season of {config.assignments} on nk",
        "its lookups and rules in a plain loop",
        f"{season / plain:.2f} x", "<= 5", f"{plain:.2f} s",
    )  # fmt: skip


def _steps(path: Path, world: World[SeasonState]) -> list[Step]:
    with JournalReader(path) as reader:
        return [step for unit in units(reader, world.arrange) for step in unit.steps]


def _runs(steps: list[Step], bench: Bench) -> list[Run]:
    """The distinct runs of a season's trials and tests."""
    found: dict[Run, None] = {}
    for step in steps:
        for form in (Tested, Tried):
            for row in step.inputs.rows(CODES[form]):
                tested = named(CODES[form], row)
                conduct = bench.as_tested(tested.conduct, tested.treatment)
                found |= dict.fromkeys((conduct, tested.treatment, seed) for seed, _ in tested.runs)
    return list(found)


def _recorded(arena: Arena, runs: list[Run], path: Path) -> None:
    """Record every run once."""
    options = options_in(arena, MiningOptions)
    for conduct, treatment, seed in runs:
        mining, entries = setting_of(options, conduct, treatment, seed)
        run = MINING_PLAYERS.prepared(mining, Roster(tuple(entries)))
        players.record(MINING, MINING_PLAYERS, path, run, force=True)


def _plainly(
    world: World[SeasonState], start: dict[str, Any], steps: list[Step], bench: Bench
) -> None:
    """Every lookup of a season, and every step by its rules."""
    state = world.initial(start)
    for step in steps:
        for form in (Tested, Tried):
            for row in step.inputs.rows(CODES[form]):
                tested = named(CODES[form], row)
                for seed, _ in tested.runs:
                    bench.test(tested.conduct, tested.treatment, "value", seed)
        world.decide(state, step.inputs)
        state = world.evolve(world.evolve(state, step.inputs), step.derived)
        if world.unit_done(state):
            state = world.close(state)


def _recording(path: Path, jobs: int) -> Callable[[], Any]:
    return lambda: record(path, {"seed": SEED}, jobs=jobs, force=True)


def _held(path: Path, jobs: int) -> Callable[[], Any]:
    def held() -> None:
        if not verify(path, resources=Resources(jobs=jobs)).holds:
            raise SystemExit("the season does not verify")

    return held


def _alone(work: Callable[[], Any], clock: Callable[[], float] = time.process_time) -> float:
    """How long some work takes, in a process that has done nothing yet."""
    context = multiprocessing.get_context("fork")
    receiving, sending = context.Pipe(duplex=False)

    process = context.Process(target=lambda: sending.send(timed(work, clock)[0]))
    process.start()
    process.join()
    if not receiving.poll():
        raise SystemExit("what was to be timed failed")
    seconds: float = receiving.recv()
    return seconds
