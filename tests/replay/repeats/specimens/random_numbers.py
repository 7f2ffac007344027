"""Generators that no seed reaches."""

import os
import random
import uuid


def jit(function):
    """As that of Numba, which compiles no helper of the doctor's."""
    assert not any("goldrush" in name for name in function.__code__.co_names)
    return function


class Global:
    def __init__(self, seed):
        self.random = random.Random(seed)
        self.wealth = [10] * 5

    @staticmethod
    @jit
    def total(wealth):
        return sum([each for each in wealth])  # noqa: C416

    def step(self):
        for agent in range(5):
            self.wealth[agent] += self.random.choice((-1, 1))
            self.wealth[agent] += random.randint(0, 1)  # cause: random
        self.sum = self.total(self.wealth)


class Unseeded:
    def __init__(self, seed):
        self.random = random.Random(seed)
        self.noise = random.Random()  # cause: random-unseeded
        self.position = 0.0

    def step(self):
        self.position += self.noise.gauss(0, 1) + self.random.random()


class System:
    def __init__(self, seed):
        self.random = random.Random(seed)
        self.name = uuid.uuid4().hex  # cause: system-random
        self.bits = []

    def step(self):
        self.bits.append(os.urandom(1)[0] & 1)  # cause: system-random


class Model:
    def __init__(self, seed):
        self.parts = [Global(seed), Unseeded(seed), System(seed)]

    def step(self):
        for part in self.parts:
            part.step()
