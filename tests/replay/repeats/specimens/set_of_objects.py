class Agent:
    def __init__(self, number):
        self.number = number


class Model:
    def __init__(self, seed):
        self.agents = {Agent(n) for n in range(20)}
        self.state = seed

    def step(self):
        self.state = sum(
            agent.number * place
            for place, agent in enumerate(self.agents)  # cause: set-order
        )
