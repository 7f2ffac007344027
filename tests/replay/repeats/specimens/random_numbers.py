"""Generators that no seed reaches."""

import os
import random
import uuid


def jit(function):
    """As that of Numba, which compiles no helper of the doctor's."""
    assert not any("goldrush" in name for name in function.__code__.co_names)
    return function


class Model:
    def __init__(self, seed):
        self.random = random.Random(seed)
        self.noise = random.Random()  # cause: random-unseeded
        self.name = uuid.uuid4().hex  # cause: system-random
        self.wealth = [10] * 5

    @staticmethod
    @jit
    def total(wealth):
        return sum([each for each in wealth])  # noqa: C416

    def step(self):
        self.wealth[0] += self.random.choice((-1, 1))
        self.wealth[1] += random.randint(0, 9)  # cause: random
        self.sum = self.total(self.wealth)
        self.position = self.noise.gauss(0, 1) + self.random.random()
        self.bit = os.urandom(1)[0] & 1  # cause: system-random
