class Model:
    def __init__(self, seed):
        self.waiting = {f"client {n}" for n in range(seed, seed + 30)}
        self.served = []

    def step(self):
        if self.waiting:
            self.served.append(self.waiting.pop())  # cause: set-pop
        [1, 2].pop()
