"""What a fork can change in a mining run, and its effect on the state.

A fork continues its parent after a round with another configuration, another roster, or some
submissions given by hand. The grid and the number of agents stay, and the run cannot end before the
round at which it is forked.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from goldrush.kernel.forking import Forks
from goldrush.kernel.world import Past
from goldrush.kernel.worlds.mining.config import MiningConfig, config_of
from goldrush.kernel.worlds.mining.events import EVENTS, SUBMITTED
from goldrush.kernel.worlds.mining.state import MiningState

FORKS: Final = Forks(
    MiningConfig, config_of, [EVENTS[SUBMITTED]], "rounds", fixed=("rows", "cols", "agents")
)


def fork(state: MiningState, facts: Mapping[str, Any], past: Past) -> MiningState:
    """The state with a fork's changes; its record of past rounds follows `visibility`."""
    config, roster = FORKS.forked(state.config, facts, state.round)
    visibility = state.config.visibility
    state.set_up(config, state.roster if roster is None else roster)
    if config.visibility != visibility:
        state.recall(past)
    return state
