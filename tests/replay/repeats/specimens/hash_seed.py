import os


class Model:
    def __init__(self, seed):
        self.state = seed
        self.shift = int(os.environ["PYTHONHASHSEED"])  # cause: environment

    def step(self):
        self.state += self.shift
