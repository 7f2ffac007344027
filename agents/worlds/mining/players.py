"""The players of mining runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from goldrush.agents.llm.failures import NO_ANSWER, NO_JSON, REFUSAL
from goldrush.agents.llm.notes import note_after
from goldrush.agents.llm.question import Message, Source
from goldrush.agents.roster import Entry
from goldrush.agents.simultaneous import SimultaneousPlayers
from goldrush.agents.worlds.mining.parse import is_unread, parse
from goldrush.agents.worlds.mining.policy import Policy, Scripted
from goldrush.agents.worlds.mining.prompts.prompt import PlanPrompts, form_of
from goldrush.agents.worlds.mining.roster import POLICIES, POLICY_SET
from goldrush.kernel.draws import Draws
from goldrush.kernel.shape import Schema
from goldrush.kernel.world import Row
from goldrush.kernel.worlds.mining import MINING
from goldrush.kernel.worlds.mining.config import MiningConfig, config_of
from goldrush.kernel.worlds.mining.events import KINDS, SUBMITTED
from goldrush.kernel.worlds.mining.fork import FORKS
from goldrush.kernel.worlds.mining.observe import MiningObservation, SharedView
from goldrush.kernel.worlds.mining.state import MiningState
from goldrush.kernel.worlds.mining.submit import message_of, resubmitted, submitted
from goldrush.kernel.worlds.mining.treatments import TREATMENTS


class MiningPlayers(SimultaneousPlayers[MiningState, PlanPrompts]):
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

    def view(self, state: MiningState) -> PlanPrompts:
        return PlanPrompts(SharedView(state))

    def ask(self, policy: Policy | Scripted, entry: Entry, view: PlanPrompts) -> Row:
        shown, agent = view.shown, entry.agent
        state = shown.state
        draws = Draws(state.config.seed, state.round + 1, agent, "policy")
        answer = policy.plan(MiningObservation(shown, agent), draws)
        if entry.policy in POLICIES:
            return (agent, answer, None, None, None, None)
        return submitted(agent, answer, state.config)

    def resubmitted(self, item: Mapping[str, object], config: MiningConfig, code: int) -> Row:
        return resubmitted(item, config)

    def replayed(self, row: Row, view: PlanPrompts) -> Row:
        agent, actions, error, say, memo, _ = row
        heard = say if view.shown.state.config.communication else None
        return (agent, actions, error, heard, memo, None)

    def unread(self, row: Row) -> bool:
        return is_unread(row[1])

    def messages(self, view: PlanPrompts, agent: int) -> Sequence[Message]:
        return view.of(agent)

    def schema(self, view: PlanPrompts, agent: int) -> Schema:
        return view.schema(agent)

    def answered(
        self, view: PlanPrompts, agent: int, text: str | None, error: str | None, source: Source
    ) -> Row:
        """The row of an answer. Where an agent may have a note, each of its rows holds the last.
        `no-answer` and `refusal` leave the plan empty, `cut` is recorded if the text has no plan.
        """
        state, framed = view.shown.state, view.framed(agent)
        note = state.memo[agent] if framed.notes else None
        if text is None or error in (NO_ANSWER, REFUSAL):
            return (agent, (), error, None, note, source)
        config = state.config
        parsed = parse(text, config.rows, config.cols, config.defense, form_of(framed.wording))
        actions = tuple(
            action and (KINDS.index(action[0]), *action[1:]) for action in parsed.actions
        )
        if parsed.error != NO_JSON:
            error = parsed.error
        say = message_of(parsed.say, config)
        if framed.notes:
            note = note_after(note, parsed.note)
        return (agent, actions, error or parsed.error, say, note, source)


MINING_PLAYERS: Final = MiningPlayers()
