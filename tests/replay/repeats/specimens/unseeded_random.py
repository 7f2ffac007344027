import random


class Model:
    def __init__(self, seed):
        self.random = random.Random(seed)
        self.noise = random.Random()  # cause: random-unseeded
        self.position = 0.0

    def step(self):
        self.position += self.noise.gauss(0, 1) + self.random.random()
