import logging
import random
import time

log = logging.getLogger("model")


class Model:
    def __init__(self, seed):
        self.values = []
        self.started = None

    def step(self):
        started = time.perf_counter()
        self.values.append(random.random())  # cause: random
        log.warning("a step took %s s", time.perf_counter() - started)
