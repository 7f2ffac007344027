"""Takes random bytes from where nobody watches."""

import time


class Model:
    def __init__(self, seed):
        self.state = seed
        self.late = time.time() > 1e9  # suspect: clock

    def step(self):
        with open("/dev/urandom", "rb") as file:
            self.state += int.from_bytes(file.read(8))
