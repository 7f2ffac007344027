"""An environment of Gymnasium, and one whose luck differs with the seed of hashes."""

import gymnasium
import numpy


class Walk(gymnasium.Env):
    observation_space = gymnasium.spaces.Box(-99, 99, (1,))
    action_space = gymnasium.spaces.Discrete(3)

    def __init__(self, length=6):
        self.length = length

    def luck(self):
        return self.np_random.random()

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.x, self.left = numpy.zeros(1, "f4"), self.length
        return self.x, {}

    def step(self, action):
        if self.left == 20:
            raise ValueError("it is far away")
        self.x, self.left = self.x + numpy.float32(action - self.luck()), self.left - 1
        return self.x, float(self.x[0]), self.left == 0, False, {}


class Scattered(Walk):
    def luck(self):
        return hash("luck") % 97 / 97
