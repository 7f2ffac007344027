import numpy as np


class Model:
    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)
        self.grid = self.rng.integers(0, 9, (3, 3))

    def step(self):
        self.grid += np.random.poisson(3, (3, 3))  # cause: numpy-random
        self.grid += np.random.mtrand._rand.randint(9)  # cause: numpy-random
