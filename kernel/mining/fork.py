"""What may change in the middle of a run, and how the state takes it.

A fork leaves its parent after a round and may go on under another configuration, with other agents,
or with some submissions put in by hand. What the state is made of stays: the grid and the number of
agents; nor can a run end before the round at which it is forked.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from goldrush.kernel.errors import BadInput, shown
from goldrush.kernel.forking import check_changes, check_facts
from goldrush.kernel.mining.config import MiningConfig, check_setting, config_of
from goldrush.kernel.mining.events import EVENTS, SUBMITTED
from goldrush.kernel.mining.state import MiningState
from goldrush.kernel.rosters import check_entries, whole_roster
from goldrush.kernel.world import Past, Row

FIXED: Final = ("rows", "cols", "agents")
_FACTS: Final = ["parent", "changes", "roster", "replaced"]


def changed(config: MiningConfig, settings: Mapping[str, Any], round: int) -> MiningConfig:
    """A configuration with other settings from the round after `round` on.

    Raises BadInput for a setting that there is not, a value out of range, and for what cannot
    change in the middle of a run.
    """
    new = config_of({**config.as_dict(), **settings})
    check_change(config, new, round)
    return new


def check_change(config: MiningConfig, new: MiningConfig, round: int) -> None:
    """Raises BadInput where a run cannot go on under another configuration after a round."""
    for name in FIXED:
        if getattr(new, name) != getattr(config, name):
            raise BadInput(
                f"{name} cannot change in the middle of a run, "
                f"from {getattr(config, name)} to {getattr(new, name)}",
                "record another run",
            )
    if new.rounds < round:
        raise BadInput(
            f"rounds is {new.rounds}, but the run is forked at {round}", f"give {round} or more"
        )


def fork(state: MiningState, facts: Mapping[str, Any], past: Past) -> MiningState:
    """The state with what a fork changes; its record of past rounds follows `visibility`."""
    _check(facts)
    config = changed(state.config, facts["changes"], state.round)
    check_changes(state.config, config, facts["changes"])
    _check_places(facts["replaced"], config, state.round)
    roster = state.roster
    if facts["roster"] is not None:
        roster = whole_roster(facts["roster"], config)
    visibility = state.config.visibility
    state.set_up(config, roster)
    if config.visibility != visibility:
        state.recall(past)
    return state


def show_fork(facts: Mapping[str, Any]) -> Mapping[str, Any]:
    """The facts for the `forked` event: of submissions put in by hand the round and the agent."""
    _check(facts)
    return {**facts, "replaced": [[round, row[0]] for round, row in facts["replaced"]]}


def _check(facts: Mapping[str, Any]) -> None:
    """Raises BadInput (or what unpacking raises) for what can be the facts of no fork."""
    check_facts(facts, _FACTS)
    for name, value in facts["changes"].items():
        check_setting(name, value)
    if facts["roster"] is not None:
        check_entries(facts["roster"])
    for round, row in facts["replaced"]:
        fault = EVENTS[SUBMITTED].fault(row)
        if fault is not None or type(round) is not int:
            raise BadInput(fault or f"round {shown(round)} is replaced", "give a submission")


def _check_places(replaced: Sequence[tuple[int, Row]], config: MiningConfig, round: int) -> None:
    """Submissions put in by hand are of rounds still to be played, ascending, once an agent."""
    last = (round, config.agents)
    for at, row in replaced:
        if not last < (at, row[0]) or at > config.rounds:
            raise BadInput(
                f"round {at} of agent {row[0]} is replaced",
                f"give rounds {round + 1} to {config.rounds}, ascending, each agent once",
            )
        if row[0] >= config.agents:
            raise BadInput(f"agent {row[0]} is replaced", f"the last one is {config.agents - 1}")
        last = (at, row[0])
