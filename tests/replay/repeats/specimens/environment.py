import os


class Model:
    """Its test gives every process another value, which nothing can know to be the cause."""

    def __init__(self, seed):
        self.state = seed
        self.shift = int(os.environ["SPECIMEN_SHIFT"])  # suspect: environment

    def step(self):
        self.state += self.shift
