"""Who plays a mining run: what the world says of its players, and runs recorded with them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from goldrush.agents import players, simultaneous
from goldrush.agents.game import Game, Prompting
from goldrush.agents.llm.models import Models
from goldrush.agents.mining.answers import answered
from goldrush.agents.mining.policy import Policy, Scripted
from goldrush.agents.mining.prompt import PROMPT_MAX, Prompts, schema
from goldrush.agents.mining.roster import POLICIES, POLICY_SET
from goldrush.agents.roster import Entry, Roster
from goldrush.kernel.draws import Draws
from goldrush.kernel.mining import MINING
from goldrush.kernel.mining.config import MiningConfig, config_of
from goldrush.kernel.mining.events import SUBMITTED
from goldrush.kernel.mining.fork import FORKS
from goldrush.kernel.mining.observe import Observation, SharedView
from goldrush.kernel.mining.state import MiningState
from goldrush.kernel.mining.submit import Actions, resubmitted, submitted
from goldrush.kernel.mining.treatments import TREATMENTS
from goldrush.kernel.run import OnUnit
from goldrush.kernel.treatments import BASELINE
from goldrush.kernel.world import Row


def prepare(
    settings: Mapping[str, Any],
    roster: str | Roster | None = None,
    treatment: str | None = None,
    models: Models | None = None,
) -> tuple[MiningConfig, Roster]:
    """Configuration and roster, brought together: agents.simultaneous.prepare."""
    config, found = simultaneous.prepare(GAME, settings, roster, treatment, models)
    assert isinstance(config, MiningConfig)  # which GAME makes
    return config, found


def record(
    path: str | Path,
    settings: Mapping[str, Any] | None = None,
    roster: str | Roster | None = None,
    treatment: str = BASELINE,
    *,
    models: Models | None = None,
    force: bool = False,
    fsync: bool = False,
    on_round: OnUnit[MiningState] | None = None,
) -> MiningState:
    """Play a whole mining run into a new journal at `path` and return the last state.

    `settings` are names and values of MiningConfig and go before those of the treatment; `roster`
    is its text form (None: the default mix), and the policies of somebody's own that it names are
    trusted. Otherwise as agents.players.record.
    """
    run = simultaneous.prepared(*prepare(settings or {}, roster, treatment, models))
    return players.record(
        MINING, MINING_PLAYERS, path, run, models=models, force=force, fsync=fsync, on_unit=on_round
    )


def resume(
    path: str | Path, *, on_round: OnUnit[MiningState] | None = None, **how: Any
) -> MiningState:
    """Go on with a mining run that broke off: agents.players.resume."""
    return players.resume(MINING, MINING_PLAYERS, path, on_unit=on_round, **how)


def fork(
    parent: str | Path,
    at: int,
    out: str | Path,
    *,
    settings: Mapping[str, Any] | None = None,
    treatment: str | None = None,
    roster: str | None = None,
    replace: Sequence[Mapping[str, Any]] = (),
    on_round: OnUnit[MiningState] | None = None,
    **how: Any,
) -> MiningState:
    """Play a mining run anew from the close of round `at` on: agents.players.fork.

    `settings` are names and new values of MiningConfig and go before those of the treatment;
    `roster` is a whole new one; `replace` has submissions of later rounds in the form of the
    `submitted` event, which are put in by hand (their `source` is not taken over). The grid, the
    number of agents and a horizon before `at` cannot change.
    """
    change = players.Change(settings or {}, treatment, roster, replace)
    return players.fork(MINING, MINING_PLAYERS, parent, at, out, change, on_unit=on_round, **how)


def view_of(state: MiningState) -> Prompts:
    """What all agents are shown of the next round, and told if they are models."""
    return Prompts(SharedView(state))


def ask(policy: Policy | Scripted, entry: Entry, view: Prompts) -> Row:
    """The row of what an agent submits. Raises BadPlan, and whatever a policy raises."""
    state, agent = view.shown.state, entry.agent
    draws = Draws(state.config.seed, state.round + 1, agent, "policy")
    answer = policy.plan(Observation(view.shown, agent), draws)
    if type(answer) is Actions and entry.policy in POLICIES:
        return (agent, answer, None, None, None, None)
    return submitted(agent, answer, state.config)


def _replayed(row: Row, view: Prompts) -> Row:
    agent, actions, error, say, memo, _ = row
    heard = say if view.shown.state.config.communication else None
    return (agent, actions, error, heard, memo, None)


def _answered(
    view: Prompts, agent: int, text: str | None, error: str | None, source: dict[str, Any]
) -> Row:
    return answered(agent, text, view.shown.state.config, error, source)


GAME: Final = Game[MiningState, Prompts](
    world=MINING,
    policy_set=POLICY_SET,
    code=SUBMITTED,
    config_of=config_of,
    horizon="rounds",
    unit=lambda state: state.round + 1,
    view=view_of,
    ask=ask,
    resubmitted=resubmitted,
    treatments=TREATMENTS,
    replayed=_replayed,
    forks=FORKS,
    prompting=Prompting(
        messages=Prompts.of,
        schema=lambda view, agent: schema(Observation(view.shown, agent)),
        row=_answered,
        longest=PROMPT_MAX,
        stand_in="greedy-mine",
    ),
)
MINING_PLAYERS: Final = simultaneous.make_players(GAME)
