"""The fishery in Mesa 3.3, as somebody who models in Mesa would write it.

The rules and the policies are those of goldrush.games.fishery; the shock is drawn by the model's
own generator. The DataCollector keeps what a journal's events say: every season the catch and the
stock, and of every agent what it asked for and has landed.
"""

import mesa  # type: ignore[import-untyped]  # Mesa ships no types


class Fishery(mesa.Model):  # type: ignore[misc]  # Mesa ships no types
    """A stock of fish that regrows, and who fishes it."""

    def __init__(self, share: int, greedy: int, part: float, capacity: float, shock: float) -> None:
        super().__init__(seed=7)
        self.capacity, self.growth, self.shock = capacity, 0.5, shock
        self.count = share + greedy
        self.stock, self.caught = float(capacity), 0.0
        Share.create_agents(self, share)
        Greedy.create_agents(self, greedy, part=part)
        self.datacollector = mesa.DataCollector(
            model_reporters={"stock": "stock", "caught": "caught"},
            agent_reporters={"asked": "asked", "landed": "landed"},
        )

    def step(self) -> None:
        """One season."""
        self.agents.do("ask")
        wanted = sum(fisher.asked for fisher in self.agents)
        share = min(1.0, self.stock / wanted) if wanted else 0.0
        self.agents.do("land", share)
        self.caught = wanted * share
        left = max(0.0, self.stock - self.caught)
        shock = self.random.uniform(1 - self.shock, 1 + self.shock)
        grown = (left + self.growth * left * (1 - left / self.capacity)) * shock
        self.stock = max(0.0, grown)
        self.running = self.stock >= 1
        self.datacollector.collect(self)


class Fisher(mesa.Agent):  # type: ignore[misc]  # Mesa ships no types
    """An agent that asks for fish and lands its part."""

    model: Fishery
    asked = 0
    landed = 0.0

    def land(self, share: float) -> None:
        """Land what there is of what it asked for."""
        self.landed += self.asked * share


class Share(Fisher):
    """Takes a part of its share of the largest catch that regrows, growth × capacity ÷ 4."""

    def ask(self) -> None:
        """Decide on a catch."""
        model = self.model
        self.asked = int(0.8 * model.growth * model.capacity / 4 / model.count)


class Greedy(Fisher):
    """Takes a part of its share of what there is."""

    def __init__(self, model: Fishery, part: float) -> None:
        super().__init__(model)
        self.part = part

    def ask(self) -> None:
        """Decide on a catch."""
        self.asked = int(self.model.stock / self.model.count * self.part)


def run(
    share: int, greedy: int, part: float, capacity: float, shock: float, seasons: int
) -> tuple[float, list[float]]:
    """The stock at the end, and what each has landed."""
    model = Fishery(share, greedy, part, capacity, shock)
    while model.running and model.steps < seasons:
        model.step()
    return model.stock, [fisher.landed for fisher in model.agents]
