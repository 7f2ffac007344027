"""The gold-mining world: agents claim, raid, defend and mine plots of a grid, round by round."""

from __future__ import annotations

from functools import partial
from typing import Final

import attrs

from goldrush.kernel.submissions import arrange, pending_fault
from goldrush.kernel.world import World
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

_RULES_1: Final[World[MiningState]] = World(
    name="mining",
    rules=1,
    events=EVENTS,
    initial=partial(initial, rules=1),
    decide=decide,
    evolve=evolve,
    ended=ended,
    arrange=arrange,
    pending_fault=lambda state, pending: pending_fault(pending, SUBMITTED, state.config.agents),
    unit_done=unit_done,
    close=close,
    digest=digest,
    copy=copied,
    fork=fork,
    show_fork=FORKS.show,
    freeze=freeze,
    thaw=partial(thaw, rules=1),
    checks_rows=False,
)
# Under rules 1 policies shuffle all plots from which they pick some; see agents/worlds/mining. The
# kernel's own rules are the same.
MINING: Final = attrs.evolve(
    _RULES_1,
    rules=2,
    initial=partial(initial, rules=2),
    thaw=partial(thaw, rules=2),
    older=(_RULES_1,),
)
