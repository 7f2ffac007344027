import numpy as np


class Model:
    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)
        self.other = np.random.RandomState(seed)
        self.noise = np.random.default_rng()  # cause: numpy-unseeded
        self.grid = self.rng.random(4) + self.other.rand(4)

    def step(self):
        self.grid += self.noise.normal(size=4)
