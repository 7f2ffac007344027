import os
import random
import uuid


class Model:
    def __init__(self, seed):
        self.random = random.Random(seed)
        self.name = uuid.uuid4().hex  # cause: system-random
        self.bits = []

    def step(self):
        self.bits.append(os.urandom(1)[0] & 1)  # cause: system-random
