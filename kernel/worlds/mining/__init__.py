"""The gold-mining world: agents claim, raid, defend and mine plots of a grid, round by round.

It is no `Game`, because nearly all that a game declares would need a form of its own here: START
without source, the last rounds beside the state, the digest in parts, quiet rounds repeated, rows
that are neither checked nor watched.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Final

from goldrush.kernel.submissions import arrange, pending_fault
from goldrush.kernel.world import Vocabulary, World
from goldrush.kernel.worlds.mining.decide import decide
from goldrush.kernel.worlds.mining.events import EVENTS, SUBMITTED
from goldrush.kernel.worlds.mining.fork import FORKS, fork
from goldrush.kernel.worlds.mining.state import (
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


def _world(rules: int, older: Sequence[World[MiningState]] = ()) -> World[MiningState]:
    return World(
        name="mining",
        rules=rules,
        events=EVENTS,
        initial=partial(initial, rules=rules),
        decide=decide,
        evolve=evolve,
        ended=ended,
        arrange=arrange,
        pending_fault=lambda state, pending: pending_fault(
            pending, SUBMITTED, range(state.config.agents)
        ),
        unit_done=unit_done,
        close=close,
        digest=digest,
        copy=copied,
        fork=fork,
        show_fork=FORKS.show,
        freeze=freeze,
        thaw=partial(thaw, rules=rules),
        vocabulary=Vocabulary(location="plot"),
        checks_rows=False,
        older=older,
    )


# Under rules 1 policies shuffle all plots from which they pick some; all else is the same. See
# `Draft` of agents/worlds/mining/roster.py.
MINING: Final = _world(2, older=(_world(1),))
