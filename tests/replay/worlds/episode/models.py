"""Models to be recorded: plain classes, and one with what Mesa's models have."""

from __future__ import annotations

import random
from itertools import count
from types import SimpleNamespace
from typing import Any

import gymnasium
import numpy as np

COUNTED = count()  # by which a model that does not repeat differs


class Walk:
    """A plain class: points that walk at random."""

    def __init__(self, seed: int, points: int = 5, drift: float = 0.0) -> None:
        self.random = random.Random(seed)
        self.drift = drift
        self.places = [0.0] * points
        self.mean = 0.0
        self._steps = 0

    def step(self) -> float:
        self._steps += 1
        self.places = [place + self.random.random() - 0.5 + self.drift for place in self.places]
        self.mean = sum(self.places) / len(self.places)
        return self.mean


class Collector:
    """As Mesa's DataCollector."""

    def __init__(self) -> None:
        self.model_vars: dict[str, list[object]] = {"alive": [], "by kind": []}
        self._agent_records: dict[int, list[tuple[object, ...]]] = {}


class Herd:
    """As a model of Mesa: a collector, generators, and an end."""

    def __init__(self, alive: int = 20, risk: float = 0.2, *, seed: int | None = None) -> None:
        self.running = True
        self.random, self.rng = random.Random(seed), np.random.default_rng(seed)
        self.alive, self.steps, self.scenario = alive, 0, SimpleNamespace(risk=risk)
        self.datacollector = Collector()
        self.collect()

    def collect(self) -> None:
        kept = self.datacollector
        kept.model_vars["alive"].append(self.alive)
        kept.model_vars["by kind"].append({"old": self.alive // 2})
        kept._agent_records[self.steps] = [(self.steps, one, 1.5) for one in range(self.alive)]

    def step(self) -> None:
        self.steps += 1
        self.alive -= int(self.rng.binomial(self.alive, self.scenario.risk))
        self.random.random()
        self.collect()
        self.running = self.alive > 0


class Forgetful(Walk):
    """Holds something that differs whenever it is made again."""

    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        self.hidden = [next(COUNTED)]


class Numbered(Walk):
    """Repeats in a process of its own: its class counts what is made."""

    made = 0

    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        Numbered.made += 1
        self.number = Numbered.made


class LazyEnv(gymnasium.Env[Any, Any]):
    """An environment whose action may be left out; its class has no spaces."""

    def step(self, action: Any = None) -> Any:
        raise NotImplementedError

    def __init__(self) -> None:
        self.action_space = self.observation_space = gymnasium.spaces.Discrete(2)


class Duck:
    """An environment by what its objects have."""

    def __init__(self, seed: int = 0) -> None:
        self.action_space = gymnasium.spaces.Discrete(2)

    def reset(self, seed: int | None = None) -> None:
        raise NotImplementedError

    def step(self, action: object = None) -> None:
        raise NotImplementedError


class Nested(Walk):
    """Holds an object, and what all models share."""

    K = 1
    of_class = SimpleNamespace(a=1)

    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        self.a = SimpleNamespace(a=1)
        self.kind, self.function, self.module = Nested, herd, random


class Failing(Walk):
    """Fails in its third step."""

    def step(self) -> float:
        if self._steps == 2:
            raise ZeroDivisionError("the third step")
        return super().step()


def herd(seed: int, alive: int) -> Any:
    """A function that makes a model."""
    return Herd(alive, seed=seed)


def numbered(seed: int) -> Numbered:
    """A function that makes a model."""
    return Numbered(seed)
