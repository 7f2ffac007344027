"""The players of mining runs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from goldrush.agents.roster import Entry
from goldrush.agents.simultaneous import SimultaneousPlayers
from goldrush.agents.worlds.mining.policy import Policy, Scripted
from goldrush.agents.worlds.mining.roster import POLICIES, POLICY_SET
from goldrush.kernel.draws import Draws
from goldrush.kernel.world import Row
from goldrush.kernel.worlds.mining import MINING
from goldrush.kernel.worlds.mining.config import MiningConfig, config_of
from goldrush.kernel.worlds.mining.events import SUBMITTED
from goldrush.kernel.worlds.mining.fork import FORKS
from goldrush.kernel.worlds.mining.observe import MiningObservation
from goldrush.kernel.worlds.mining.state import MiningState
from goldrush.kernel.worlds.mining.submit import resubmitted, submitted
from goldrush.kernel.worlds.mining.treatments import TREATMENTS

if TYPE_CHECKING:
    from goldrush.agents.worlds.mining.prompts.prompt import PlanPrompts


class MiningPlayers(SimultaneousPlayers[MiningState, MiningState]):
    """The players of mining runs."""

    world = MINING
    policy_set = POLICY_SET
    codes = (SUBMITTED,)
    treatments = TREATMENTS
    forks = FORKS
    horizon = "rounds"
    stand_in = "greedy-mine"
    noun = "plan"
    talk = "communication"
    leaves_state = True

    def config_of(self, settings: Mapping[str, object]) -> MiningConfig:
        return config_of(settings)

    def unit(self, state: MiningState) -> int:
        return state.round + 1

    def view(self, state: MiningState) -> MiningState:
        return state

    def ask(self, policy: Policy | Scripted, entry: Entry, view: MiningState) -> Row:
        agent = entry.agent
        draws = Draws(view.config.seed, view.round + 1, agent, "policy")
        answer = policy.plan(MiningObservation(view, agent), draws)
        if entry.policy in POLICIES:
            return (agent, answer, None, None, None, None)
        return submitted(agent, answer, view.config)

    def resubmitted(self, item: Mapping[str, object], config: MiningConfig, code: int) -> Row:
        return resubmitted(item, config)

    def replayed(self, row: Row, view: MiningState) -> Row:
        agent, actions, error, say, memo, _ = row
        heard = say if view.config.communication else None
        return (agent, actions, error, heard, memo, None)

    def unread(self, row: Row) -> bool:
        actions = row[1]
        return bool(actions) and not any(actions)

    def prompts(self, view: MiningState) -> PlanPrompts:
        from goldrush.agents.worlds.mining.prompts.prompt import PlanPrompts

        return PlanPrompts(view)


MINING_PLAYERS: Final = MiningPlayers()
