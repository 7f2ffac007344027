"""The mining world as a PettingZoo environment. Each episode is a journal.

ENVIRONMENT.md in this folder is its page. Observations and actions are arrays of fixed shape. An
observation has all that `kernel.worlds.mining.observe` shows the agent, but messages.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any, Final

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from goldrush.agents.worlds.mining.players import MINING_PLAYERS, MiningPlayers
from goldrush.kernel.errors import BadInput, unknown
from goldrush.kernel.worlds.mining.config import POINTWISE, MiningConfig
from goldrush.kernel.worlds.mining.events import (
    DEFEND,
    KINDS,
    MINE,
    OUTCOMES,
    PRUNED,
    REASONS,
)
from goldrush.kernel.worlds.mining.history import Outcomes, public_round, summary
from goldrush.kernel.worlds.mining.state import MiningState, RoundRecord
from goldrush.replay.environment import Infos, JournalEnv

PAST_MAX: Final = 20  # past rounds in an observation, whatever `visibility` is
SUCCESSES: Final = ("mined", "won", "captured", "held")  # results of actions that did what they say

Observed = dict[str, Any]  # arrays: "observation" and "action_mask"
Action = NDArray[np.integer[Any]]

Rows = Iterator[tuple[str, float, Any]]  # name, highest value, and values by plot or for all


class StaminaUnits(spaces.MultiDiscrete):
    """`MultiDiscrete([1 + 4P] * S)` whose `sample` takes an observation's flat mask, too."""

    def sample(self, mask: Any = None, probability: Any = None) -> NDArray[np.int64]:
        """A random action; `mask` is flat or a tuple with an array for each stamina unit."""
        if isinstance(mask, np.ndarray):
            mask = tuple(mask.reshape(len(self.nvec), -1))
        sampled: NDArray[np.int64] = super().sample(mask, probability)
        return sampled


def plan_of(config: MiningConfig, action: Action) -> list[tuple[str, int, int]]:
    """The plan, `(kind, plot, amount)` in the order of first mention, of an action.

    Units that mine one plot, or defend it where `defense` is "pointwise", make one action with
    their number as its amount. Any other choice is an action of its own: the rules remove a second
    one as a duplicate.
    """
    merged = (MINE, DEFEND) if config.defense == POINTWISE else (MINE,)
    plan: list[tuple[str, int, int]] = []
    position: dict[int, int] = {}
    for choice in action.tolist():
        if choice == 0:
            continue
        kind, plot = divmod(choice - 1, config.plots)
        if kind in merged and choice in position:
            name, plot, amount = plan[position[choice]]
            plan[position[choice]] = (name, plot, amount + 1)
        else:
            position[choice] = len(plan)
            plan.append((KINDS[kind], plot, 1))
    return plan


def rows_of(state: MiningState, agent: int) -> Rows:
    """The rows of an agent's observation, with a column for each plot; what is no fact of a plot
    has one value for all. ENVIRONMENT.md says what they mean.
    """
    yield from _shared_rows(state)
    yield from _own_rows(state, agent)


def _shared_rows(state: MiningState) -> Rows:
    """What all agents are shown."""
    config, agents = state.config, state.config.agents
    yield "owner", agents, [_from_1(owner) for owner in state.owner]
    yield "alpha", max(config.alphas), config.alphas
    yield "round", config.rounds + 1, state.round + 1
    yield "rounds", config.rounds, config.rounds
    last = state.history[-1].view(public_round) if state.history else None
    claims, raids = (last.claims, last.raids) if last is not None else ((), ())
    outcomes = {raid.plot: 1 + OUTCOMES.index(raid.outcome) for raid in raids}
    winners = {raid.plot: _from_1(raid.winner) for raid in raids}
    yield "claim winner", agents, _by_plot(config, {c.plot: c.winner + 1 for c in claims})
    yield "raid owner", agents, _by_plot(config, {r.plot: _from_1(r.owner) for r in raids})
    yield "raid outcome", len(OUTCOMES), _by_plot(config, outcomes)
    yield "raid winner", agents, _by_plot(config, winners)
    for agent in range(agents):
        claimed = {claim.plot: 1 for claim in claims if agent in claim.claimants}
        yield f"claimant {agent}", 1, _by_plot(config, claimed)
    for agent in range(agents):
        raided = {raid.plot: 1 for raid in raids if agent in raid.raiders}
        yield f"raider {agent}", 1, _by_plot(config, raided)
    for ago, record in _past(state):
        plots = () if record is None else record.view(summary).plots
        for name, high in (("claimants", agents), ("raiders", agents), ("defended", 1),
                           ("captured", 1)):  # fmt: skip
            counts = {plot.plot: getattr(plot, name) for plot in plots}
            yield f"{name} -{ago}", high, _by_plot(config, counts)


def _own_rows(state: MiningState, agent: int) -> Rows:
    """What the agent alone is shown: its id and means, and what it did."""
    config, stamina = state.config, state.config.staminas[agent]
    yield "agent", config.agents, agent
    yield "gold", config.rounds * stamina * max(config.alphas), state.gold[agent]
    yield "stamina", stamina, stamina
    yield "own", 1, [owner == agent for owner in state.owner]
    for ago, record in _past(state):
        kept = [
            action
            for action in (() if record is None else record.view(Outcomes).of(agent))
            if action.kind is not None and action.result not in REASONS
        ]
        for kind in KINDS:
            done = [action for action in kept if action.kind == kind]
            spent = {action.plot: action.amount for action in done}
            successes = {action.plot: action.result in SUCCESSES for action in done}
            yield f"{kind} -{ago}", stamina, _by_plot(config, spent)
            yield f"{kind} succeeded -{ago}", 1, _by_plot(config, successes)


def _past(state: MiningState) -> Iterator[tuple[int, RoundRecord | None]]:
    """The last rounds that are shown, by how long ago they were; None before the first round."""
    config = state.config
    window = config.visibility if isinstance(config.visibility, int) else config.rounds
    for ago in range(1, min(window, config.rounds, PAST_MAX) + 1):
        yield ago, state.history[-ago] if ago <= len(state.history) else None


def _by_plot(config: MiningConfig, values: Mapping[Any, float]) -> NDArray[np.float32]:
    """Values by plot; 0 where there is none."""
    row = np.zeros(config.plots, np.float32)
    for plot, value in values.items():
        row[plot] = value
    return row


def _from_1(agent: int | None) -> int:
    return 0 if agent is None else agent + 1


def mask_of(state: MiningState, agent: int) -> NDArray[np.int8]:
    """1 for each choice that is legal for a stamina unit by itself, for one after the other."""
    owner = np.array([_from_1(owner) for owner in state.owner])
    own, free = owner == agent + 1, owner == 0
    raided = ~own if state.config.truce == 0 else ~(own | free)
    choices = np.concatenate([[True], own, own, free, raided]).astype(np.int8)
    return np.tile(choices, state.config.staminas[agent])


class MiningEnv(JournalEnv[MiningState, Observed, Action | None]):
    """The mining world for learners.

    - Action: `MultiDiscrete([1 + 4P] * S)`: what each of the S stamina units of a round is spent
      on, on a map of P plots (`choice_of`; 0: nothing).
    - Observation: `{"observation": float32 (rows, P), "action_mask": int8 (S * (1 + 4P),)}`; see
      `rows_of` and `mask_of`. `features` has the names of the rows.
    - Reward: the change of the agent's gold: what it mined, less its fines.
    - Termination: when the last round is closed, which the rules and the agents know.
    - Info: `pruned`, the actions that the rules removed, as (kind, plot, amount, reason).

    Learners send no messages, whatever the treatment.
    """

    config: MiningConfig

    def __init__(
        self, treatment: str, roster: str | Sequence[object] | None,
        journal: str | Path | None, settings: Mapping[str, object],
    ) -> None:  # fmt: skip
        """Arguments and errors as those of `goldrush.parallel_env`."""
        super().__init__(treatment, roster, journal, settings)
        for agent in self._learners:
            if not self.config.staminas[agent]:
                raise BadInput(f"agent {agent} learns and has no stamina", "give it 1 or more")
        self.features = tuple(name for name, _, _ in rows_of(self._initial, 0))
        choices = 1 + len(KINDS) * self.config.plots
        self._observation_spaces = {
            name: self._observation_space(agent, choices) for name, agent in self._names.items()
        }
        self._action_spaces = {
            name: StaminaUnits([choices] * self.config.staminas[agent])
            for name, agent in self._names.items()
        }

    @property
    def _players(self) -> MiningPlayers:
        return MINING_PLAYERS

    def _observation_space(self, agent: int, choices: int) -> spaces.Dict:
        high = np.array([high for _, high, _ in rows_of(self._initial, agent)], np.float32)
        bounds = np.repeat(high[:, None], self.config.plots, 1)
        mask = spaces.Box(0, 1, (choices * self.config.staminas[agent],), np.int8)
        return spaces.Dict(observation=spaces.Box(0, bounds, dtype=np.float32), action_mask=mask)

    def choice_of(self, kind: str, plot: int) -> int:
        """The number of a choice for a stamina unit: `1 + k * P + plot`, where k is the position of
        `kind` in defend, mine, claim, raid. 0 is to do nothing.

        Raises BadInput for another kind, and for a plot that is not on the grid.
        """
        if kind not in KINDS:
            raise unknown("action", kind, KINDS)
        if not 0 <= plot < self.config.plots:
            raise BadInput(
                f"there is no plot {plot}", f"give one from 0 to {self.config.plots - 1}"
            )
        return 1 + KINDS.index(kind) * self.config.plots + plot

    def _submission(self, name: str, action: Action | None) -> object | None:
        if not self.action_space(name).contains(action):
            return None
        return plan_of(self.config, np.asarray(action))

    def _observed(self) -> dict[str, Observed]:
        state = self._begun()
        shared = [values for _, _, values in _shared_rows(state)]
        observed = {}
        for name, agent in self._names.items():
            rows = np.zeros((len(self.features), self.config.plots), np.float32)
            own = (values for _, _, values in _own_rows(state, agent))
            for index, values in enumerate(chain(shared, own)):
                rows[index] = values
            observed[name] = {"observation": rows, "action_mask": mask_of(state, agent)}
        return observed

    def _scored(self, state: MiningState) -> Mapping[str, float]:
        return {name: state.gold[agent] for name, agent in self._names.items()}

    def _infos(self) -> Infos:
        history = self._begun().history
        rows = history[-1].rows(PRUNED) if history else ()
        removed = {agent: removals for agent, removals, _ in rows}
        infos: Infos = {}
        for name, agent in self._names.items():
            plan: Any = self._learners[agent].submission
            pruned = [(*plan[index], REASONS[reason]) for index, reason in removed.get(agent, ())]
            infos[name] = {"pruned": tuple(pruned)}
        return infos
