"""What a learner sees and does in the mining world, as arrays of fixed shape.

Everything in an observation is what `kernel.worlds.mining.observe` shows the agent, and nothing
else; only messages, which are text, are left out. `Arrays.features` names the rows of an
observation.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from goldrush.kernel.errors import BadInput, format_value
from goldrush.kernel.worlds.mining.config import POINTWISE, MiningConfig
from goldrush.kernel.worlds.mining.events import DEFEND, KINDS, MINE, OUTCOMES, REASONS
from goldrush.kernel.worlds.mining.history import Outcomes, PublicRound, summary
from goldrush.kernel.worlds.mining.observe import Observation, SharedView
from goldrush.kernel.worlds.mining.state import HOLDINGS, MiningState

PAST_MAX: Final = 20  # past rounds in an observation, whatever `visibility` is
SUCCESSES: Final = ("mined", "won", "captured", "held")  # results of actions that did what they say

Observed = dict[str, Any]  # arrays: "observation" and "action_mask"
Action = NDArray[np.integer[Any]]

_PUBLIC: Final = ("claimants", "raiders", "defended", "captured")
_LAST: Final = ("claim winner", "raid owner", "raid outcome", "raid winner")
_OWN: Final = ("agent", "gold", "stamina", "own")


class StaminaUnits(spaces.MultiDiscrete):
    """`MultiDiscrete([1 + 4P] * S)` whose `sample` takes an observation's flat mask, too."""

    def sample(self, mask: Any = None, probability: Any = None) -> NDArray[np.int64]:
        """A random action; `mask` is flat or a tuple with an array for each stamina unit."""
        if isinstance(mask, np.ndarray):
            mask = tuple(mask.reshape(len(self.nvec), -1))
        sampled: NDArray[np.int64] = super().sample(mask, probability)
        return sampled


def choice_of(config: MiningConfig, kind: str, plot: int) -> int:
    """The number of a choice for a stamina unit: `1 + k * P + plot`, where k is the position of
    `kind` in defend, mine, claim, raid. 0 is to do nothing.

    Raises BadInput for another kind, and for a plot that is not on the grid.
    """
    if kind not in KINDS:
        raise BadInput(
            f"there is no action {format_value(kind)}", f"give one of {', '.join(KINDS)}"
        )
    if not 0 <= plot < config.plots:
        raise BadInput(f"there is no plot {plot}", f"give one from 0 to {config.plots - 1}")
    return 1 + KINDS.index(kind) * config.plots + plot


def plan_of(config: MiningConfig, action: Action) -> list[tuple[str, int, int]]:
    """The plan, `(kind, plot, amount)` in the order of first mention, of an action.

    Units that mine one plot make one action with their number as its amount; so do units that
    defend one, where `defense` is "pointwise". Any other choice is an action of its own, so one
    that is made twice is removed by the rules as a duplicate.
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


class Arrays:
    """The spaces of a configuration, and the arrays of one run after the other.

    - `features`: the names of the rows of an observation, which has a column for each plot.
    - `observation_spaces`, `action_spaces`: by agent; `state_space`.

    An observation has, in this order:

    - owner: of the plot, agent + 1; 0 is nobody. alpha: gold per stamina unit. round: to plan for,
      from 1 (one more than `rounds` when all is over). rounds: of the whole run.
    - Of the last round: claim winner (agent + 1, 0: not claimed); raid owner, against whom it was,
      raid winner (both agent + 1, 0: nobody); raid outcome (0 not raided, 1 void, 2 truce, 3
      blocked, 4 captured); claimant a, raider a: 1 where agent a claimed, or raided.
    - Of each of the last min(`visibility`, `rounds`, PAST_MAX) rounds, "-1" being the last one:
      claimants and raiders (how many), defended and captured (0, 1).
    - The agent's own: agent (its id), gold, stamina (units a round), own (1: its plot).
    - Of each of those rounds, by kind of action: the units it spent on the plot, of what was not
      removed, and whether that succeeded (0, 1): mined, claim won, captured, defence that held.

    What is no fact of a plot has the same value in every column. All are float32.
    """

    def __init__(self, config: MiningConfig, agents: Sequence[int]) -> None:
        """Raises BadInput for a learner that has no stamina."""
        for agent in agents:
            if not config.staminas[agent]:
                raise BadInput(f"agent {agent} learns and has no stamina", "give it 1 or more")
        window = config.visibility if isinstance(config.visibility, int) else config.rounds
        self._config, self._agents = config, agents
        self._length = min(window, config.rounds, PAST_MAX)
        self._alphas = np.array(config.alphas, np.float32)
        self._public: deque[NDArray[np.float32]] = deque(maxlen=self._length)
        self._own: deque[Mapping[int, NDArray[np.float32]]] = deque(maxlen=self._length)
        self._last = np.zeros((self._last_rows, config.plots), np.float32)
        ids, past = range(config.agents), range(1, self._length + 1)
        kinds = [row for kind in KINDS for row in (kind, f"{kind} succeeded")]
        self.features = (
            "owner", "alpha", "round", "rounds", *_LAST,
            *(f"claimant {a}" for a in ids), *(f"raider {a}" for a in ids),
            *(f"{row} -{ago}" for ago in past for row in _PUBLIC),
            *_OWN,
            *(f"{row} -{ago}" for ago in past for row in kinds),
        )  # fmt: skip
        self.observation_spaces = {agent: self._observation_space(agent) for agent in agents}
        self.action_spaces = {
            agent: StaminaUnits([1 + len(KINDS) * config.plots] * config.staminas[agent])
            for agent in agents
        }
        gold = [self._most_gold(agent) for agent in ids]
        rich = float(self._alphas.max())
        high = [config.agents, rich, config.rounds, len(HOLDINGS) - 1, config.rounds, *gold]
        self.state_space = _box(high, config.plots)

    @property
    def _last_rows(self) -> int:
        return len(_LAST) + 2 * self._config.agents

    def _most_gold(self, agent: int) -> float:
        config = self._config
        return config.rounds * config.staminas[agent] * float(self._alphas.max())

    def _observation_space(self, agent: int) -> spaces.Dict:
        config = self._config
        agents, stamina = config.agents, config.staminas[agent]
        high = [
            agents, float(self._alphas.max()), config.rounds + 1, config.rounds,
            agents, agents, len(OUTCOMES), agents, *[1] * (2 * agents),
            *[agents, agents, 1, 1] * self._length,
            agents, self._most_gold(agent), stamina, 1,
            *[stamina, 1] * (len(KINDS) * self._length),
        ]  # fmt: skip
        choices = (1 + len(KINDS) * config.plots) * stamina
        return spaces.Dict(
            observation=_box(high, config.plots),
            action_mask=spaces.Box(0, 1, (choices,), np.int8),
        )

    def begin(self, config: MiningConfig) -> None:
        """A new run begins; `config` differs from the first one in its seed and what follows."""
        self._config, self._alphas = config, np.array(config.alphas, np.float32)
        self._public.clear()
        self._own.clear()
        self._last[:] = 0

    def take(self, state: MiningState) -> None:
        """Take in the round that has just been closed."""
        record, plots = state.history[-1], self._config.plots
        public = PublicRound(record)
        counts = np.zeros((len(_PUBLIC), plots), np.float32)
        for plot in summary(public).plots:
            counts[:, plot.plot] = plot.claimants, plot.raiders, plot.defended, plot.captured
        self._public.appendleft(counts)
        last, agents = np.zeros_like(self._last), self._config.agents
        for claim in public.claims:
            last[0, claim.plot] = claim.winner + 1
            last[[len(_LAST) + agent for agent in claim.claimants], claim.plot] = 1
        for raid in public.raids:
            outcome = 1 + OUTCOMES.index(raid.outcome)
            last[1:4, raid.plot] = _from_1(raid.owner), outcome, _from_1(raid.winner)
            last[[len(_LAST) + agents + agent for agent in raid.raiders], raid.plot] = 1
        self._last = last
        outcomes = Outcomes(record)
        self._own.appendleft({agent: self._of(outcomes, agent) for agent in self._agents})

    def _of(self, outcomes: Outcomes, agent: int) -> NDArray[np.float32]:
        rows = np.zeros((2 * len(KINDS), self._config.plots), np.float32)
        for action in outcomes.of(agent):
            if action.kind is not None and action.result not in REASONS:
                row = 2 * KINDS.index(action.kind)
                rows[row : row + 2, action.plot] = action.amount, action.result in SUCCESSES
        return rows

    def observations(self, state: MiningState) -> dict[int, Observed]:
        """What each learner is shown before the next round."""
        shown, config, plots = SharedView(state), self._config, self._config.plots
        owner = np.array([_from_1(owner) for owner in shown.owners], np.float32)
        common = np.zeros((len(self.features), plots), np.float32)
        common[:4] = owner, self._alphas, _all(state.round + 1, plots), _all(config.rounds, plots)
        common[4 : 4 + self._last_rows] = self._last
        at = _fill(common, 4 + self._last_rows, self._public)
        at += (self._length - len(self._public)) * len(_PUBLIC)
        found: dict[int, Observed] = {}
        for agent in self._agents:
            seen, own = Observation(shown, agent), owner == agent + 1
            rows = common.copy()
            rows[at : at + 3] = np.array([[agent], [seen.gold], [seen.stamina]])
            rows[at + 3] = own
            _fill(rows, at + len(_OWN), (by_agent[agent] for by_agent in self._own))
            free = owner == 0
            raided = ~own if seen.truce == 0 else ~(own | free)
            choices = np.concatenate([[True], own, own, free, raided]).astype(np.int8)
            found[agent] = {
                "observation": rows,
                "action_mask": np.tile(choices, seen.stamina),
            }
        return found

    def state(self, state: MiningState) -> NDArray[np.float32]:
        """The whole state, which no agent is shown: owner (agent + 1), alpha, since (round), how
        (0 nobody's, 1 by claim, 2 by capture) of each plot; round (that was closed last); the gold
        of every agent.
        """
        owner = [_from_1(owner) for owner in state.owner]
        facts = [[value] * len(owner) for value in (state.round, *state.gold)]
        return np.array([owner, state.alphas, state.since, state.how, *facts], np.float32)


def _box(high: Sequence[float], plots: int) -> spaces.Box:
    return spaces.Box(0, np.repeat(np.array(high, np.float32)[:, None], plots, 1), dtype=np.float32)


def _fill(rows: NDArray[Any], at: int, parts: Iterable[NDArray[Any]]) -> int:
    """Lay parts one below the other, from a row on; gives the row after them."""
    for part in parts:
        rows[at : at + len(part)] = part
        at += len(part)
    return at


def _all(value: float, plots: int) -> NDArray[np.float32]:
    return np.full(plots, value, np.float32)


def _from_1(agent: int | None) -> int:
    return 0 if agent is None else agent + 1
