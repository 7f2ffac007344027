"""What differs from process to process."""

import os
import random
from concurrent.futures import ThreadPoolExecutor, as_completed


class HashOfText:
    def __init__(self, seed):
        self.streams = [
            random.Random(hash((seed, name)))  # cause: hash
            for name in ("births", "deaths")
        ]
        self.size = hash(seed)

    def step(self):
        births, deaths = self.streams
        self.size += births.random() - deaths.random()


class ProcessNumber:
    def __init__(self, seed):
        self.random = random.Random(seed + os.getpid())  # cause: process
        self.value = 0.0

    def step(self):
        self.value += self.random.random()


class Agent:
    def __init__(self, number):
        self.number = number


class SortedById:
    def __init__(self, seed):
        self.agents = [Agent(n) for n in range(seed, seed + 8)]
        self.order = []

    def step(self):
        ranked = sorted(
            self.agents,
            key=lambda agent: id(agent) * 40503 % 65521,  # cause: id
        )
        self.order = [agent.number for agent in ranked]


class FirstReady:
    def __init__(self, seed):
        self.seed, self.order = seed, []

    def step(self):
        with ThreadPoolExecutor(2) as pool:
            results = [pool.submit(abs, n - self.seed) for n in range(60)]
        self.order = [
            future.result()
            for future in as_completed(results)  # cause: completion
        ]


class Model:
    def __init__(self, seed):
        self.parts = [HashOfText(seed), ProcessNumber(seed), SortedById(seed)]
        self.parts.append(FirstReady(seed))

    def step(self):
        for part in self.parts:
            part.step()
