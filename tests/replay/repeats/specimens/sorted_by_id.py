class Agent:
    def __init__(self, number):
        self.number = number


class Model:
    def __init__(self, seed):
        self.agents = [Agent(n) for n in range(seed, seed + 8)]
        self.order = []

    def step(self):
        ranked = sorted(
            self.agents,
            key=lambda agent: id(agent) * 40503 % 65521,  # cause: id
        )
        self.order = [agent.number for agent in ranked]
