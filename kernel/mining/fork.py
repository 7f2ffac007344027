"""What may change in the middle of a run, and how the state takes it.

A fork leaves its parent after a round and may go on under another configuration, with other agents,
or with some submissions put in by hand. What the state is made of stays: the grid and the number of
agents; nor can a run end before the round at which it is forked.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from goldrush.kernel.forking import Forks
from goldrush.kernel.mining.config import MiningConfig, config_of
from goldrush.kernel.mining.events import EVENTS, SUBMITTED
from goldrush.kernel.mining.state import MiningState
from goldrush.kernel.world import Past

FORKS: Final = Forks(
    MiningConfig, config_of, EVENTS[SUBMITTED], "rounds", fixed=("rows", "cols", "agents")
)


def fork(state: MiningState, facts: Mapping[str, Any], past: Past) -> MiningState:
    """The state with what a fork changes; its record of past rounds follows `visibility`."""
    config, roster = FORKS.forked(state.config, facts, state.round)
    visibility = state.config.visibility
    state.set_up(config, state.roster if roster is None else roster)
    if config.visibility != visibility:
        state.recall(past)
    return state
