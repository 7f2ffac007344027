"""The players of mining runs."""

from __future__ import annotations

from typing import Final

from goldrush.agents import simultaneous
from goldrush.agents.llm.failures import NO_ANSWER, NO_JSON, REFUSAL
from goldrush.agents.llm.notes import note_after
from goldrush.agents.llm.question import Source
from goldrush.agents.roster import Entry
from goldrush.agents.stage_game import Prompting, StageGame
from goldrush.agents.worlds.mining.parse import is_unread, parse
from goldrush.agents.worlds.mining.policy import Policy, Scripted
from goldrush.agents.worlds.mining.prompts.prompt import PlanPrompts, form_of
from goldrush.agents.worlds.mining.roster import POLICIES, POLICY_SET
from goldrush.kernel.draws import Draws
from goldrush.kernel.world import Row
from goldrush.kernel.worlds.mining import MINING
from goldrush.kernel.worlds.mining.config import config_of
from goldrush.kernel.worlds.mining.events import KINDS, SUBMITTED
from goldrush.kernel.worlds.mining.fork import FORKS
from goldrush.kernel.worlds.mining.observe import Observation, SharedView
from goldrush.kernel.worlds.mining.state import MiningState
from goldrush.kernel.worlds.mining.submit import message_of, resubmitted, submitted
from goldrush.kernel.worlds.mining.treatments import TREATMENTS


def view_of(state: MiningState) -> PlanPrompts:
    """The shared observation of the next round, with the prompts of models."""
    return PlanPrompts(SharedView(state))


def ask(policy: Policy | Scripted, entry: Entry, view: PlanPrompts) -> Row:
    """The row of an agent's submission. Raises BadPlan, and any exception of the policy."""
    shown, agent = view.shown, entry.agent
    state = shown.state
    draws = Draws(state.config.seed, state.round + 1, agent, "policy")
    answer = policy.plan(Observation(shown, agent), draws)
    if entry.policy in POLICIES:
        return (agent, answer, None, None, None, None)
    return submitted(agent, answer, state.config)


def _replayed(row: Row, view: PlanPrompts) -> Row:
    agent, actions, error, say, memo, _ = row
    heard = say if view.shown.state.config.communication else None
    return (agent, actions, error, heard, memo, None)


def _answered(
    view: PlanPrompts, agent: int, text: str | None, error: str | None, source: Source
) -> Row:
    """The row of an answer: see Prompting.row. Where an agent may have a note, each of its rows
    holds the last. `no-answer` and `refusal` leave the plan empty, `cut` is recorded if the text
    has no plan.
    """
    state, framed = view.shown.state, view.framed(agent)
    note = state.memo[agent] if framed.notes else None
    if text is None or error in (NO_ANSWER, REFUSAL):
        return (agent, (), error, None, note, source)
    config = state.config
    parsed = parse(text, config.rows, config.cols, config.defense, form_of(framed.wording))
    actions = tuple(action and (KINDS.index(action[0]), *action[1:]) for action in parsed.actions)
    if parsed.error != NO_JSON:
        error = parsed.error
    say = message_of(parsed.say, config)
    if framed.notes:
        note = note_after(note, parsed.note)
    return (agent, actions, error or parsed.error, say, note, source)


GAME: Final = StageGame[MiningState, PlanPrompts](
    world=MINING,
    policy_set=POLICY_SET,
    codes=(SUBMITTED,),
    config_of=config_of,
    horizon="rounds",
    unit=lambda state: state.round + 1,
    view=view_of,
    ask=ask,
    resubmitted=lambda item, config, code: resubmitted(item, config),
    treatments=TREATMENTS,
    replayed=_replayed,
    unread=lambda row: is_unread(row[1]),
    forks=FORKS,
    prompting=Prompting(PlanPrompts.of, PlanPrompts.schema, _answered),
    stand_in="greedy-mine",
    noun="plan",
    talk="communication",
    leaves_state=True,
)
MINING_PLAYERS: Final = simultaneous.StagePlayers(GAME)
