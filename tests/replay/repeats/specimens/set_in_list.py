import random


class Model:
    def __init__(self, seed):
        self.random = random.Random(seed)
        self.towns = {"Ada", "Bern", "Cork", "Delft", "Essen", "Fez"}
        self.visited = []

    def step(self):
        self.visited.append(self.random.choice(list(self.towns)))  # cause: set-order
