import random


class Model:
    def __init__(self, seed):
        self.streams = [
            random.Random(hash((seed, name)))  # cause: hash
            for name in ("births", "deaths")
        ]
        self.size = hash(seed)

    def step(self):
        births, deaths = self.streams
        self.size += births.random() - deaths.random()
