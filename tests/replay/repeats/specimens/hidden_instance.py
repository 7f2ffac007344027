import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "site-packages"))

import drawing


class Model:
    def __init__(self, seed):
        self.repeated = drawing.links(6, 0.5, seed=seed)
        self.links = drawing.links(6, 0.5)  # within: random

    def step(self):
        self.links = self.links[1:]
