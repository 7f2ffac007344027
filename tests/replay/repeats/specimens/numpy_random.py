"""Generators of numpy."""

import numpy as np


class Model:
    def __init__(self, seed):
        self.rng, self.other = np.random.default_rng(seed), np.random.RandomState(seed)
        self.noise = np.random.default_rng()  # cause: numpy-unseeded
        self.grid = self.rng.random((3, 3)) + self.other.rand(3, 3)

    def step(self):
        self.grid += self.noise.normal(size=(3, 3))
        self.grid += np.random.poisson(3, (3, 3))  # cause: numpy-random
        self.grid += np.random.mtrand._rand.randint(9)  # cause: numpy-random
