"""Clocks beside other causes, and one that only a log is told of."""

import datetime
import logging
import random
import time

log = logging.getLogger("model")


class Model:
    def __init__(self, seed):
        self.state = seed
        self.made = datetime.datetime.now()  # cause: clock
        self.states = {"sick", "well", "dead", "away"}

    def step(self):
        started = time.perf_counter()
        self.state = self.state * 31 + time.time_ns() % 1000  # cause: clock
        self.drawn = random.random()  # cause: random
        self.first, *_ = self.states  # cause: set-order
        log.warning("a step took %s s", time.perf_counter() - started)
