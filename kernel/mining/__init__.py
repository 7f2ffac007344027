"""The gold-mining world: miners claim, raid, defend and mine plots of a grid, round by round."""

from __future__ import annotations

from typing import Final

from kernel.mining.decide import arrange, decide, waiting_fault
from kernel.mining.events import EVENTS
from kernel.mining.fork import fork, show_fork
from kernel.mining.state import (
    MiningState,
    close,
    copied,
    digest,
    ended,
    evolve,
    freeze,
    initial,
    thaw,
    unit_done,
)
from kernel.world import World

MINING: Final[World[MiningState]] = World(
    name="mining",
    rules=1,
    events=EVENTS,
    initial=initial,
    decide=decide,
    evolve=evolve,
    ended=ended,
    arrange=arrange,
    waiting_fault=waiting_fault,
    unit_done=unit_done,
    close=close,
    digest=digest,
    copy=copied,
    fork=fork,
    show_fork=show_fork,
    freeze=freeze,
    thaw=thaw,
)
