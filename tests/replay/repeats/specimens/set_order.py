"""Sets that are iterated over, each in a way of its own."""

import random


class Agent:
    def __init__(self, number):
        self.number = number


class Model:
    def __init__(self, seed):
        self.random, self.state, self.total = random.Random(seed), seed, 0
        self.towns = {"Ada", "Bern", "Cork", "Delft", "Essen", "Fez"}
        self.agents = {Agent(n) for n in range(20)}
        self.waiting = {f"client {n}" for n in range(seed, seed + 30)}
        self.sorted = dict.fromkeys(sorted(self.towns), seed)
        self.queue = [
            town.lower()
            for town in frozenset(self.towns)  # cause: set-order
            if town
        ]

    def step(self):
        for town in self.towns:  # cause: set-order
            self.state = self.state * 3 % 1009 + len(town)
        for town in self.towns:
            self.total += len(town)
        self.visited = self.random.choice(list(self.towns))  # cause: set-order
        self.ranks = sum(
            agent.number * place
            for place, agent in enumerate(self.agents)  # cause: set-order
        )
        self.served = self.waiting.pop()  # cause: set-pop
        [1, 2].pop()
