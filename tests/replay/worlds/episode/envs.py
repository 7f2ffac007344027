"""Small environments of each kind, with what makes recorders fail."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
import pettingzoo
from gymnasium import spaces

END = 6  # steps of an episode

# Spaces of observations and of actions.
HUNTER = spaces.Box(-99, 99, (2,)), spaces.Box(-1, 1, (2,))
PLAYER = spaces.Box(-99, 99, (1,), np.float64), spaces.Discrete(4)


class NoisyWalk(gymnasium.Env[Any, Any]):
    """A noisy walk. `drift`: added at step `at` of all steps; `fails`: where it raises."""

    observation_space = spaces.Dict({"x": spaces.Box(-99, 99, (1,)), "end": spaces.Discrete(99)})
    action_space = spaces.Discrete(3)

    def __init__(self, drift: float = 0.0, at: int = 0, fails: int = -1, info: Any = None) -> None:
        self.drift, self.at, self.fails, self.info = drift, at, fails, info
        self.steps = 0

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        super().reset(seed=seed)
        self.x, self.left = (options or {}).get("x", 0.0), END
        return self.seen(), {}

    def step(self, action: Any) -> Any:
        self.steps += 1
        if self.steps == self.fails:
            raise StopIteration("the walk stops")
        self.x += float(action) - 1 + self.np_random.normal()
        self.left -= 1
        reward = self.x + (self.drift if self.steps == self.at else 0)
        info = {"score": np.float32(self.x), "left": self.left, "of": self.info}
        if self.x > 0:
            info["ahead"] = self.x
        return self.seen(), reward, self.left == 0, False, info

    def seen(self) -> Any:
        return {"x": np.array([self.x], np.float32), "end": self.left}


class Hunt(pettingzoo.ParallelEnv[str, Any, Any]):
    """The agents leave one after the other; what they leave is told to all."""

    metadata = {"name": "hunt_v0"}

    def __init__(self, agents: int = 3, drift: float = 0.0, at: int = 0) -> None:
        self.possible_agents = [f"hunter_{number}" for number in range(agents)]
        self.agents: list[str] = []
        self.drift, self.at, self.steps = drift, at, 0

    def observation_space(self, agent: str) -> Any:
        return HUNTER[0]

    def action_space(self, agent: str) -> Any:
        return HUNTER[1]

    def reset(self, seed: int | None = None, options: Any = None) -> Any:
        if seed is not None:
            self.rng = np.random.default_rng(seed)
        self.agents = list(self.possible_agents)
        self.at_place = {agent: self.rng.normal(size=2).astype("f4") for agent in self.agents}
        return dict(self.at_place), {agent: {} for agent in self.agents}

    def step(self, actions: Any) -> Any:
        self.steps += 1
        living = list(self.agents)
        for agent in living:
            move = actions.get(agent, np.zeros(2, "f4"))
            self.at_place[agent] = self.at_place[agent] + move + self.rng.normal(size=2) / 9
            self.at_place[agent] = self.at_place[agent].astype("f4")
        drift = self.drift if self.steps == self.at else 0
        rewards = {agent: float(self.at_place[agent].sum()) + drift for agent in living}
        ended = {agent: agent == living[-1] for agent in living}
        self.agents = living[:-1]
        seen = {agent: self.at_place[agent] for agent in living}
        infos = {agent: {"near": len(living)} for agent in living} | {"all": {"left": len(living)}}
        return seen, rewards, ended, dict.fromkeys(living, False), infos


class Turns(pettingzoo.AECEnv[str, Any, Any]):
    """Agents take a number each in turn; who takes 0 is dead, and acts once more, by None. To
    observe draws from the generator.
    """

    metadata = {"name": "turns_v0"}

    def __init__(self, agents: int = 3, drift: float = 0.0, at: int = 0) -> None:
        super().__init__()
        self.possible_agents = [f"player_{number}" for number in range(agents)]
        self.agents = []
        self.drift, self.at, self.steps = drift, at, 0

    def observation_space(self, agent: str) -> Any:
        return PLAYER[0]

    def action_space(self, agent: str) -> Any:
        return PLAYER[1]

    def reset(self, seed: int | None = None, options: Any = None) -> None:
        if seed is not None:
            self.rng = np.random.default_rng(seed)
        self.agents = list(self.possible_agents)
        self.rewards = dict.fromkeys(self.agents, 0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self.infos = {agent: {} for agent in self.agents}
        self.agent_selection = self.agents[0]

    def observe(self, agent: str) -> Any:
        return np.array([self.rng.normal()])

    def step(self, action: Any) -> None:
        agent = self.agent_selection
        if self.terminations[agent]:
            self._was_dead_step(action)
            return
        self.steps += 1
        self._cumulative_rewards[agent] = 0
        self._clear_rewards()
        self.rewards[agent] = action + (self.drift if self.steps == self.at else 0)
        self.terminations[agent] = bool(action == 0)
        self._accumulate_rewards()
        order = self.agents
        self.agent_selection = order[(order.index(agent) + 1) % len(order)]
        self._deads_step_first()


def vector(drift: float = 0.0, at: int = 0) -> Any:
    """Three walks at once, of which the first drifts."""
    drifts = [drift, 0.0, 0.0]
    return gymnasium.vector.SyncVectorEnv([lambda d=d: NoisyWalk(d, at) for d in drifts])


class Lasts(gymnasium.Env[Any, Any]):
    """Every episode has so many steps, each of which pays 1."""

    observation_space, action_space = spaces.Discrete(99), spaces.Discrete(2)

    def __init__(self, length: int) -> None:
        self.length = length

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        self.steps = 0
        return 0, {}

    def step(self, action: Any) -> Any:
        self.steps += 1
        return self.steps, 1.0, self.steps == self.length, False, {}


def of_lengths(*lengths: int, mode: Any = None) -> Any:
    """A vector of environments whose episodes have these lengths. `mode`: of its resets."""
    makers = [lambda n=n: Lasts(n) for n in lengths]
    return gymnasium.vector.SyncVectorEnv(makers, autoreset_mode=mode or "NextStep")


MAKE = {"environment": NoisyWalk, "vector": vector, "parallel": Hunt, "AEC": Turns}


def play(env: Any, kind: str, steps: int, seed: int | None = 7) -> list[Any]:
    """What an environment returns in so many steps, and a second episode without a seed."""
    found: list[Any] = []
    rng = np.random.default_rng(1)
    while len(found) < steps:
        found.append(env.reset(seed=seed))
        seed = None
        if kind == "environment":
            while not (found[-1][2:3] == (True,) or len(found) >= steps):
                found.append(env.step(rng.integers(3)))
        elif kind == "vector":
            found += [env.step(rng.integers(3, size=3)) for _ in range(steps)]
        elif kind == "parallel":
            while env.agents:
                moves = {agent: rng.random(2, "f4") for agent in env.agents}
                found.append(env.step(moves))
        else:
            for _ in env.agent_iter():
                found.append(env.last())
                is_dead = found[-1][2]
                env.step(None if is_dead else int(rng.integers(4)))
    return found
