"""A season of 40 assignments against the distinct mining runs that its claims need, recorded alone.

CPU time, both in this process: what roundtables cost beside the mining that they talk about, and
whether a run is played twice.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from goldrush.agents import players
from goldrush.agents.competition.lab import Lab, setting_of
from goldrush.agents.competition.players import record
from goldrush.agents.mining.players import MINERS
from goldrush.agents.roster import Roster
from goldrush.agents.simultaneous import prepared
from goldrush.kernel.competition.config import SeasonConfig, config_of
from goldrush.kernel.mining import MINING
from goldrush.replay.verify import verify

Row = tuple[str, str, str, str, str]
SEEDS = (1, 2)


def rows(folder: Path) -> Iterator[Row]:
    """The rows of the table, each measured when it is asked for."""
    yield ("what", "against", "measured", "target", "the reference in itself")
    for seed in SEEDS:
        path = folder / f"{seed}.journal"
        config = config_of({"seed": seed})
        lab = Lab(config)
        season = _timed(lambda at=path, used=lab, s=seed: record(at, {"seed": s}, lab=used))
        alone = _timed(lambda of=config, used=lab: _recorded(of, used, folder / "run.journal"))
        yield (
            f"a season of {config.assignments} assignments, seed {seed}",
            f"its {lab.played:,} mining runs, recorded alone",
            f"{season / alone:.2f} x", "<= 1.3", f"{alone:.1f} s",
        )  # fmt: skip
        yield ("the same", f"{path.stat().st_size:,} bytes of journal", f"{season:.1f} s", "", "")
        verifying = _timed(lambda at=path: _verified(at))
        yield ("verify it at level 4", "recording it", f"{verifying / season:.2f} x", "", "")


def _recorded(config: SeasonConfig, lab: Lab, path: Path) -> None:
    """Record every run of the season's laboratory once."""
    for conduct, treatment, seed in lab.trials:
        size = config.test_agents, config.test_rounds
        mining, entries = setting_of(conduct, treatment, seed, *size)
        run = prepared(mining, Roster(tuple(entries)))
        players.record(MINING, MINERS, path, run, force=True)


def _verified(path: Path) -> None:
    if not verify(path).holds:
        raise SystemExit("the season does not verify")


def _timed(work: Callable[[], Any]) -> float:
    start = time.process_time()
    work()
    return time.process_time() - start
