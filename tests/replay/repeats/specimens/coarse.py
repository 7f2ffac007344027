"""What is read differs seldom: the hour, and whether a random byte is even."""

import os
from datetime import datetime
from typing import Any


class Model:
    def __init__(self, seed: int, now: Any = datetime.now) -> None:
        self.now, self.tides, self.even = now, [seed], False

    def step(self) -> None:
        now = self.now
        self.tides.append(now().replace(minute=0, second=0, microsecond=0).hour)  # cause: clock
        self.even = os.urandom(1)[0] % 2 == 0  # cause: system-random
