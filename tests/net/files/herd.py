"""Models: animals that are lost, some of them each step, and in one by the seed of hashes."""

import random


class Herd:
    def __init__(self, seed, animals=20, risk=0.2):
        self.random = random.Random(seed)
        self.animals = animals
        self.risk = risk

    def step(self):
        self.animals -= sum(self.random.random() < self.risk for _ in range(self.animals))


class Deaf:
    def __init__(self, world_seed=0):
        self.total = world_seed

    def step(self):
        self.total += 1


class Scattered(Herd):
    def step(self):
        self.animals -= hash("luck") % 7
