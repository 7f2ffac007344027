"""Generators of numpy."""

import numpy as np


class Global:
    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)
        self.grid = self.rng.integers(0, 9, (3, 3))

    def step(self):
        self.grid += np.random.poisson(3, (3, 3))  # cause: numpy-random
        self.grid += np.random.mtrand._rand.randint(9)  # cause: numpy-random


class Unseeded:
    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)
        self.other = np.random.RandomState(seed)
        self.noise = np.random.default_rng()  # cause: numpy-unseeded
        self.grid = self.rng.random(4) + self.other.rand(4)

    def step(self):
        self.grid += self.noise.normal(size=4)


class Model:
    def __init__(self, seed):
        self.parts = [Global(seed), Unseeded(seed)]

    def step(self):
        for part in self.parts:
            part.step()
