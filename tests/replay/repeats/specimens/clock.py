import datetime
import time


class Model:
    def __init__(self, seed):
        self.state = seed
        self.made = datetime.datetime.now()  # cause: clock

    def step(self):
        self.state = self.state * 31 + time.time_ns() % 1000  # cause: clock
