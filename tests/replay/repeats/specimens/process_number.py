import os
import random


class Model:
    def __init__(self, seed):
        self.random = random.Random(seed + os.getpid())  # cause: process
        self.value = 0.0

    def step(self):
        self.value += self.random.random()
