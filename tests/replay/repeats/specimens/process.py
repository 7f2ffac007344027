"""What differs from process to process."""

import os
import random
from concurrent.futures import ThreadPoolExecutor, as_completed


class Agent:
    def __init__(self, number):
        self.number = number


class Model:
    def __init__(self, seed):
        self.seed, self.size = seed, hash(seed)
        self.streams = [
            random.Random(hash((seed, name)))  # cause: hash
            for name in ("births", "deaths")
        ]
        self.random = random.Random(seed + os.getpid())  # cause: process
        self.agents = [Agent(n) for n in range(seed, seed + 8)]

    def step(self):
        self.drawn = [stream.random() for stream in (*self.streams, self.random)]
        ranked = sorted(
            self.agents,
            key=lambda agent: id(agent) * 40503 % 65521,  # cause: id
        )
        self.ranks = [agent.number for agent in ranked]
        with ThreadPoolExecutor(2) as pool:
            results = [pool.submit(abs, n - self.seed) for n in range(60)]
        self.ready = [
            future.result()
            for future in as_completed(results)  # cause: completion
        ]
