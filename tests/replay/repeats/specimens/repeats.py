"""Full of what a reader would suspect, and yet it repeats."""

import os
import random
import time

import numpy as np


class Agent:
    def __init__(self, name):
        self.name = name


class Model:
    def __init__(self, seed):
        random.seed(seed)
        np.random.seed(seed)
        self.agents = {Agent(name) for name in "abcdefgh"}
        self.names = sorted({agent.name for agent in self.agents})
        self.path = os.path.basename(os.getcwd()) and random.choice(self.names)
        self.late = time.time() > 1e9 and os.getpid() > 0 and bool(os.listdir(os.sep))

    def step(self):
        self.total = random.gauss(0, 1) + np.random.rand()
        self.rank = {id(agent): agent.name for agent in self.agents} and len(self.agents)
        self.names = [*sorted(self.names, key=len)]
        self.hashes = len({hash(name) for name in self.names})
        self.late = self.late or {"red", "blue"}.pop() in ("red", "blue")
