"""Models to be recorded: plain classes, and one with what Mesa's models have."""

from __future__ import annotations

import random
from itertools import count
from types import SimpleNamespace
from typing import Any

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


class Hoard(Walk):
    """Holds much that no step touches."""

    def __init__(self, seed: int, kept: int) -> None:
        super().__init__(seed)
        self.kept = list(range(kept))


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
