"""Sets that are iterated over, each in a way of its own."""

import random


class InFor:
    def __init__(self, seed):
        self.towns = {"Ada", "Bern", "Cork", "Delft", "Essen", "Fez"}
        self.total = self.state = seed

    def step(self):
        for town in self.towns:  # cause: set-order
            self.state = self.state * 3 % 1009 + len(town)
        for town in self.towns:
            self.total += len(town)


class InList:
    def __init__(self, seed):
        self.random = random.Random(seed)
        self.towns = {"Ada", "Bern", "Cork", "Delft", "Essen", "Fez"}
        self.visited = []

    def step(self):
        self.visited.append(self.random.choice(list(self.towns)))  # cause: set-order


class InComprehension:
    def __init__(self, seed):
        towns = frozenset(["Ada", "Bern", "Cork", "Delft", "Essen", "Fez"])
        self.number = dict.fromkeys(sorted(towns), seed)
        self.queue = [
            town.lower()
            for town in towns  # cause: set-order
            if town
        ]

    def step(self):
        self.number[self.queue[0].title()] += 1


class Agent:
    def __init__(self, number):
        self.number = number


class OfObjects:
    def __init__(self, seed):
        self.agents = {Agent(n) for n in range(20)}
        self.state = seed

    def step(self):
        self.state = sum(
            agent.number * place
            for place, agent in enumerate(self.agents)  # cause: set-order
        )


class Popped:
    def __init__(self, seed):
        self.waiting = {f"client {n}" for n in range(seed, seed + 30)}
        self.served = []

    def step(self):
        if self.waiting:
            self.served.append(self.waiting.pop())  # cause: set-pop
        [1, 2].pop()


class Model:
    def __init__(self, seed):
        self.parts = [
            InFor(seed),
            InList(seed),
            InComprehension(seed),
            OfObjects(seed),
            Popped(seed),
        ]

    def step(self):
        for part in self.parts:
            part.step()
