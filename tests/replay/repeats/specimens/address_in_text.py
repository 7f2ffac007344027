class Agent:
    pass


class Model:
    def __init__(self, seed):
        self.agents = [Agent() for _ in range(seed, seed + 4)]
        self.names = []
        self.bucket = hash(self.agents[2]) % 65521  # cause: hash

    def step(self):
        self.names = [
            f"{self.agents[0]}",  # cause: id
            str(self.agents[1]),  # cause: id
            str(len(self.agents)),
        ]
