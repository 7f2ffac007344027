"""Takes random bytes from where nobody watches."""

import multiprocessing  # noqa: F401  # takes random bytes
import os
import time


class Model:
    def __init__(self, seed):
        self.state = seed
        self.late = time.time() > 1e9  # suspect: clock

        self.home = len(os.environ.get("HOME", "")) + len(os.uname().nodename)

    def step(self):
        with open("/dev/urandom", "rb") as file:
            self.state += int.from_bytes(file.read(8))
