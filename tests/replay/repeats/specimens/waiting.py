import time


class Model:
    def __init__(self, seed):
        self.counts = [seed]
        self.begun = time.perf_counter()  # cause: clock

    def step(self):
        count, until = 0, self.begun + 0.005 * len(self.counts)
        while time.perf_counter() < until:  # cause: clock
            count += 1
        self.counts.append(count)
        until = time.time() + 0.004
        while time.time() < until:
            time.sleep(0.001)
