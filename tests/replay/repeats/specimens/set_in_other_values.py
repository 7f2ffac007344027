"""Sets that become texts, counts and bytes."""

import pickle
from collections import Counter


class Model:
    def __init__(self, seed):
        self.tags, self.counts = {"red", "green", "blue", "white"}, Counter()
        self.left, *self.others = self.tags  # cause: set-order
        self.shown = f"tags: {self.tags}"  # cause: set-order
        (self
            .counts.update(self.tags))  # cause: set-order  # fmt: skip
        self.first = self.counts.most_common(1)
        self.saved = pickle.dumps(self.tags)  # cause: set-order
        self.more = pickle.loads(self.saved) | {"grey"}
        self.number = hash(seed) + hash((seed, 2.0))

    def step(self):
        self.number += 1
