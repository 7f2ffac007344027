import pickle


class Agent:
    name = "Ada"


class Price:
    def __format__(self, spec):
        return format(2.0, spec)


class Model:
    def __init__(self, seed):
        self.agents = [Agent() for _ in range(seed, seed + 4)]
        self.names, self.prices = [], []
        self.bucket = hash(self.agents[2]) % 65521  # cause: hash

    def step(self):
        self.names = [
            f"{self.agents[0]}"[-12:],  # cause: id
            str(self.agents[1])[-12:],  # cause: id
            str(len(self.agents)),
            "{.name}".format(self.agents[3]),  # noqa: UP032
            pickle.loads(pickle.dumps(self.agents[3])).name,
        ]
        self.prices = [f"{Price():.2f}"]
