"""The mining world as a PettingZoo environment: `goldrush/mining-v0`. Each episode is a journal.

ENVIRONMENT.md in this folder is its page. Importing this module registers the environment with
PettingZoo.

Observations and actions are arrays of fixed shape. An observation has all that
`kernel.worlds.mining.observe` shows the agent but messages, which are text.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, Final

import attrs
import numpy as np
import pettingzoo
from gymnasium import logger, spaces
from numpy.typing import NDArray
from pettingzoo.utils.conversions import parallel_to_aec

from goldrush.agents.simultaneous import StagePlayers
from goldrush.agents.worlds.mining.players import MINING_PLAYERS
from goldrush.agents.worlds.mining.prompts.view import PlanPrompts
from goldrush.agents.worlds.mining.roster import PROMPTS
from goldrush.kernel.draws import Draws
from goldrush.kernel.errors import BadInput, format_value
from goldrush.kernel.journal import Header
from goldrush.kernel.treatments import BASELINE
from goldrush.kernel.worlds.mining import MINING
from goldrush.kernel.worlds.mining.config import POINTWISE, MiningConfig
from goldrush.kernel.worlds.mining.events import (
    DEFEND,
    KINDS,
    MINE,
    MINING_SETTLED,
    OUTCOMES,
    PRUNED,
    REASONS,
    RULED,
)
from goldrush.kernel.worlds.mining.history import Outcomes, PublicRound, summary
from goldrush.kernel.worlds.mining.observe import Observation, SharedView
from goldrush.kernel.worlds.mining.state import HOLDINGS, MiningState, RoundRecord
from goldrush.replay.colours import HUES, hues_of, mixed, shades_of
from goldrush.replay.environment import Infos, JournalEnv, refused_action
from goldrush.replay.journal.declared import labels_of
from goldrush.replay.journal.rebuild import Rebuilt
from goldrush.replay.worlds.mining.tools import TOOLS

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


class Arrays:
    """The spaces of a configuration, and the arrays of one run after the other.

    An observation has a column for each plot, and these rows (`features`), in this order:

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
        self.features = tuple(name for name, _ in self._rows(0))
        self.observation_spaces = {agent: self._observation_space(agent) for agent in agents}
        self.action_spaces = {
            agent: StaminaUnits([1 + len(KINDS) * config.plots] * config.staminas[agent])
            for agent in agents
        }
        gold = [self._most_gold(agent) for agent in range(config.agents)]
        rich = float(self._alphas.max())
        high = [config.agents, rich, config.rounds, len(HOLDINGS) - 1, config.rounds, *gold]
        self.state_space = _box(high, config.plots)

    @property
    def _last_rows(self) -> int:
        return len(_LAST) + 2 * self._config.agents

    def _most_gold(self, agent: int) -> float:
        config = self._config
        return config.rounds * config.staminas[agent] * float(self._alphas.max())

    def _rows(self, agent: int) -> Iterator[tuple[str, float]]:
        """The names of the rows of an agent's observations, each with its highest value."""
        config, past = self._config, range(1, self._length + 1)
        agents, stamina = config.agents, config.staminas[agent]
        yield from (("owner", agents), ("alpha", float(self._alphas.max())))
        yield from (("round", config.rounds + 1), ("rounds", config.rounds))
        yield from zip(_LAST, (agents, agents, len(OUTCOMES), agents), strict=True)
        yield from ((f"{act} {a}", 1) for act in ("claimant", "raider") for a in range(agents))
        public = dict(zip(_PUBLIC, (agents, agents, 1, 1), strict=True))
        yield from ((f"{row} -{ago}", high) for ago in past for row, high in public.items())
        yield from zip(_OWN, (agents, self._most_gold(agent), stamina, 1), strict=True)
        spent = [row for kind in KINDS for row in ((kind, stamina), (f"{kind} succeeded", 1))]
        yield from ((f"{row} -{ago}", high) for ago in past for row, high in spent)

    def _observation_space(self, agent: int) -> spaces.Dict:
        config = self._config
        choices = (1 + len(KINDS) * config.plots) * config.staminas[agent]
        return spaces.Dict(
            observation=_box([high for _, high in self._rows(agent)], config.plots),
            action_mask=spaces.Box(0, 1, (choices,), np.int8),
        )

    def begin(self, config: MiningConfig) -> None:
        """Begin a run; `config` differs from the first one in its seed and what follows."""
        self._config, self._alphas = config, np.array(config.alphas, np.float32)
        self._public.clear()
        self._own.clear()
        self._last[:] = 0

    def take(self, state: MiningState) -> None:
        """Take in the round that has just been closed."""
        record, plots = state.history[-1], self._config.plots
        public = PublicRound(record)
        counts = np.zeros((len(_PUBLIC), plots), np.float32)
        for plot in record.view(summary).plots:
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
        outcomes = record.view(Outcomes)
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
        common[:2] = owner, self._alphas
        common[2:4] = [[state.round + 1], [config.rounds]]
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
    """Lay parts one below the other, from row `at` on; returns the row after them."""
    for part in parts:
        rows[at : at + len(part)] = part
        at += len(part)
    return at


def _from_1(agent: int | None) -> int:
    return 0 if agent is None else agent + 1


CELL: Final = 16  # pixels of a plot's side; smaller on grids that would exceed PICTURE_MAX
PICTURE_MAX: Final = 640  # pixels of the longer side; a plot has at least one
NOBODYS: Final = (245, 246, 248)


def picture(state: MiningState) -> NDArray[np.uint8]:
    """The map as pixels, height × width × 3 (red, green, blue; 0 to 255): plots in their owners'
    colours, with white lines between those larger than 2 pixels.
    """
    rows, cols = state.config.rows, state.config.cols
    fills = _fills(tuple(labels_of(state.roster, PROMPTS)))
    cell = max(1, min(CELL, PICTURE_MAX // max(rows, cols)))
    colours = [NOBODYS if owner is None else fills[owner] for owner in state.owner]
    grid = np.array(colours, np.uint8).reshape(rows, cols, 3)
    pixels = grid.repeat(cell, 0).repeat(cell, 1)
    if cell > 2:
        pixels[::cell] = pixels[:, ::cell] = 255
    return pixels


@cache
def _fills(policies: tuple[str, ...]) -> list[tuple[int, ...]]:
    """The colours of agents by id: shades of the hues of their policies, as on the run's page."""
    hues = hues_of(policies, TOOLS.hue_order, TOOLS.null)
    return [
        tuple(bytes.fromhex(mixed(HUES[hues[policy]][0], shade)[1:]))
        for policy, shade in zip(policies, shades_of(policies), strict=True)
    ]


ENV_ID: Final = "goldrush/mining-v0"
RENDER_MODES: Final = ("human", "ansi", "rgb_array")


@attrs.define
class _Learner:
    """The policy that the run asks in place of a learner: it has been told what to submit."""

    plan_: list[tuple[str, int, int]] = attrs.field(factory=list)

    def plan(self, seen: Observation, draws: Draws) -> list[tuple[str, int, int]]:
        return self.plan_


class MiningEnv(JournalEnv[MiningState, _Learner, Observed, Action | None]):
    """The mining world for learners.

    - Action: `MultiDiscrete([1 + 4P] * S)`: what each of the S stamina units of a round is spent
      on, on a map of P plots (`choice_of`; 0: nothing).
    - Observation: `{"observation": float32 (rows, P), "action_mask": int8 (S * (1 + 4P),)}`; for
      the rows see Arrays. The mask says which choices are legal for a unit by itself, for one unit
      after the other.
    - Reward: the gold that the round's settlements give the agent, less its fines.
    - Termination: when the last round is closed, which the rules and the agents know. Truncation:
      after `max_cycles` rounds, if that is before.
    - Info: `pruned`, the actions that the rules removed, as (kind, plot, amount, reason).

    Learners send no messages, whatever the treatment.
    """

    config: MiningConfig
    metadata: dict[str, object] = {  # noqa: RUF012  # PettingZoo declares it so
        "name": ENV_ID,
        "render_modes": [*RENDER_MODES],
        "render_fps": 4,
        "is_parallelizable": True,
    }

    def __init__(
        self,
        treatment: str = BASELINE,
        *,
        roster: str | Sequence[object] | None = None,
        journal: str | Path | None = None,
        render_mode: str | None = None,
        max_cycles: int | None = None,
        **settings: Any,
    ) -> None:
        """Arguments and errors as those of `goldrush.parallel_env`."""
        if render_mode is not None and render_mode not in RENDER_MODES:
            raise BadInput(
                f"there is no render mode {format_value(render_mode)}",
                f"give one of {', '.join(RENDER_MODES)}",
            )
        super().__init__(_Learner, treatment, roster, journal, max_cycles, settings)
        self.render_mode = render_mode
        self._arrays = Arrays(self.config, list(self._learners))
        self.features, self.state_space = self._arrays.features, self._arrays.state_space

    @property
    def _players(self) -> StagePlayers[MiningState, PlanPrompts]:
        return MINING_PLAYERS

    def observation_space(self, agent: str) -> spaces.Dict:
        """The space of an agent's observations."""
        return self._arrays.observation_spaces[self._names[agent]]

    def action_space(self, agent: str) -> spaces.MultiDiscrete[Any]:
        """The space of an agent's actions."""
        return self._arrays.action_spaces[self._names[agent]]

    def choice_of(self, kind: str, plot: int) -> int:
        """The number of a choice for a stamina unit, as ("claim", 3). Raises BadInput."""
        return choice_of(self.config, kind, plot)

    def _begin(self) -> tuple[dict[str, Observed], Infos]:
        self._arrays.begin(self.config)
        if self.render_mode == "human":
            self.render()
        return self._observed(), {agent: {"pruned": ()} for agent in self.agents}

    def step(
        self, actions: Mapping[str, Action | None]
    ) -> tuple[dict[str, Observed], dict[str, float], dict[str, bool], dict[str, bool], Infos]:
        """Play a round: observations, rewards, terminations, truncations, infos by agent.
        `actions`: one for each of `agents`.

        Raises:
            BadInput: where no episode is under way, for an agent without an action, and for actions
                outside of their spaces. Nothing is played then.
            PolicyFailed, WriteFailed: as in `record`; the episode is over then.
        """
        self._under_way()
        for name in self.agents:
            if name not in actions or not self.action_space(name).contains(actions[name]):
                raise refused_action(name, actions)
        for name in self.agents:
            plan = plan_of(self.config, np.asarray(actions[name]))
            self._learners[self._names[name]].plan_ = plan
        has_ended = self._play()
        state = self._begun()
        self._arrays.take(state)
        is_cut = not has_ended and state.round == self.max_cycles
        names, record = self.agents, state.history[-1]
        if has_ended or is_cut:
            self.close()
        if self.render_mode == "human":
            self.render()
        return (
            self._observed(),
            self._rewards(record),
            dict.fromkeys(names, has_ended),
            dict.fromkeys(names, is_cut),
            self._infos(record),
        )

    def render(self) -> str | NDArray[np.uint8] | None:
        """The map as text ("ansi") or as `picture` ("rgb_array"); "human" prints the text.

        Raises BadInput before the first `reset`.
        """
        if self.render_mode is None:
            logger.warn("render() without a render_mode; give one to the environment")
            return None
        state = self._begun()
        if self.render_mode == "rgb_array":
            return picture(state)
        text = repr(
            Rebuilt(
                str(self.journal), Header(MINING.name, MINING.rules), state.round, state, (),
                MINING.digest(state), MINING.vocabulary,
            )
        )  # fmt: skip
        if self.render_mode == "ansi":
            return text
        print(text)
        return None

    def state(self) -> NDArray[np.float32]:
        """The whole state, for training with a critic that sees everything: `Arrays.state`.

        Raises BadInput before the first `reset`.
        """
        return self._arrays.state(self._begun())

    def _observed(self) -> dict[str, Observed]:
        found = self._arrays.observations(self._begun())
        return {name: found[agent] for name, agent in self._names.items()}

    def _rewards(self, record: RoundRecord) -> dict[str, float]:
        gold = dict.fromkeys(range(self.config.agents), 0.0)
        for _, agent, _, settled in record.rows(MINING_SETTLED):
            gold[agent] += settled
        for _, captor, _, _, _, fine, _ in record.rows(RULED):
            gold[captor] -= fine
        return {name: gold[agent] for name, agent in self._names.items()}

    def _infos(self, record: RoundRecord) -> Infos:
        removed = {agent: removals for agent, removals, _ in record.rows(PRUNED)}
        return {
            name: {
                "pruned": tuple(
                    (*self._learners[agent].plan_[index], REASONS[reason])
                    for index, reason in removed.get(agent, ())
                )
            }
            for name, agent in self._names.items()
        }


def env(*arguments: Any, **settings: Any) -> pettingzoo.AECEnv[str, Observed, Action | None]:
    """The environment whose agents act one after the other, with the arguments and errors of
    `goldrush.parallel_env`.
    """
    return parallel_to_aec(MiningEnv(*arguments, **settings))


pettingzoo.register("parallel", ENV_ID, entry_point=MiningEnv)
pettingzoo.register("aec", ENV_ID, entry_point=env)
