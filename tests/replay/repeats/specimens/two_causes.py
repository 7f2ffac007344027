import os
import random


class Model:
    def __init__(self, seed):
        self.random = random.Random(seed)
        self.states = {"sick", "well", "dead", "away"}
        self.state, self.process = "", os.getpid() > 0

    def step(self):
        self.state = self.random.choice([*self.states])  # cause: set-order
        if random.random() < 0.5:  # cause: random
            self.state = "gone"
