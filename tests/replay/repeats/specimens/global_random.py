import random


def jit(function):
    """As that of Numba, which compiles no helper of the doctor's."""
    assert not any("goldrush" in name for name in function.__code__.co_names)
    return function


class Model:
    def __init__(self, seed):
        self.random = random.Random(seed)
        self.wealth = [10] * 5

    @staticmethod
    @jit
    def total(wealth):
        return sum([each for each in wealth])  # noqa: C416

    def step(self):
        for agent in range(5):
            self.wealth[agent] += self.random.choice((-1, 1))
            self.wealth[agent] += random.randint(0, 1)  # cause: random
        self.sum = self.total(self.wealth)
