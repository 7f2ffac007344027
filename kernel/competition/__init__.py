"""The competition world: roundtables, scores, a leaderboard, rewards, consequences, contracts."""

from __future__ import annotations

from typing import Final

from goldrush.kernel.competition.decide import decide, waiting_fault
from goldrush.kernel.competition.events import EVENTS
from goldrush.kernel.competition.evolve import close, evolve
from goldrush.kernel.competition.fork import fork, show_fork
from goldrush.kernel.competition.state import (
    SeasonState,
    copied,
    digest,
    ended,
    freeze,
    initial,
    thaw,
    unit_done,
)
from goldrush.kernel.world import Vocabulary, World

COMPETITION: Final[World[SeasonState]] = World(
    name="competition",
    rules=1,
    events=EVENTS,
    initial=initial,
    decide=decide,
    evolve=evolve,
    waiting_fault=waiting_fault,
    ended=ended,
    unit_done=unit_done,
    close=close,
    digest=digest,
    copy=copied,
    fork=fork,
    show_fork=show_fork,
    freeze=freeze,
    thaw=thaw,
    vocabulary=Vocabulary(
        unit="assignment",
        started="season_started",
        ended="season_ended",
        first=0,
        players="cast",
    ),
)
