import random


class Model:
    def __init__(self, seed):
        self.random = random.Random(seed)
        self.wealth = [10] * 5

    def step(self):
        for agent in range(5):
            self.wealth[agent] += self.random.choice((-1, 1))
            self.wealth[agent] += random.randint(0, 1)  # cause: random
