"""A fishery: agents share a stock of fish that regrows.

Each season every agent says how many tonnes it takes. Where that is more than there is, all get the
same part of what they asked for. What is left, x tonnes, grows by growth × x × (1 - x ÷ capacity),
times a shock (Schaefer, "Some Aspects of the Dynamics of Populations Important to the Management of
the Commercial Marine Fisheries", Inter-American Tropical Tuna Commission Bulletin 1 (1954), 27-56).
"""

from __future__ import annotations

import goldrush
from goldrush import Agent, measure, policy, setting, within


class Fishery(goldrush.Game):
    """Does a shared stock outlive those who fish it?"""

    horizon = "seasons"
    seasons = setting(50, 1, 10_000)
    agents = setting(5, 1, 1000)
    capacity = setting(1000.0, 10, 1e6)
    growth = setting(0.5, 0, 2)
    shock = setting(0.1, 0, 0.9)
    treatments = {"high-growth": ("the stock regrows twice as fast", {"growth": 1.0})}
    roster = "share*3,greedy*2"

    class State(goldrush.State):
        stock: float
        landed: list[float]

    class Asked(goldrush.Submission):
        fish: int = within(0, 10**9)

    class Landed(goldrush.Event):
        agent: Agent
        fish: float
        says = "{agent} lands {fish:amount}"

        def apply(self, state):
            state.landed[self.agent] += self.fish

    class Regrown(goldrush.Event):
        caught: float
        stock: float
        says = "{caught:amount} caught; the stock is {stock:amount}"

        def apply(self, state):
            state.stock = self.stock

    def start(self):
        return self.State(stock=self.capacity, landed=[0.0] * self.agents)

    def decide(self, state, asked, draw):
        wanted = sum(one.fish for one in asked)
        share = min(1.0, state.stock / wanted) if wanted else 0.0
        for one in asked:
            if one.fish:
                yield self.Landed(one.agent, one.fish * share)
        left = max(0.0, state.stock - wanted * share)
        shock = draw.between(1 - self.shock, 1 + self.shock, "shock")
        grown = (left + self.growth * left * (1 - left / self.capacity)) * shock
        yield self.Regrown(wanted * share, max(0.0, grown))

    def score(self, state, agent):
        return state.landed[agent]

    def over(self, state):
        return state.stock < 1

    @policy
    def share(self, seen, agent, draw, part=0.8):
        """Takes a part of its share of the largest catch that regrows, growth × capacity ÷ 4."""
        return self.Asked(int(part * self.growth * self.capacity / 4 / self.agents))

    @policy
    def greedy(self, seen, agent, draw, part=0.5):
        """Takes a part of its share of what there is."""
        return self.Asked(int(seen.stock / self.agents * part))

    @policy
    def random(self, seen, agent, draw):
        """Takes anything up to its share of what there is."""
        return self.Asked(int(draw.between(0, seen.stock / self.agents, "catch")))

    @measure("stock, tonnes")
    def stock(self, state):
        """Tonnes of fish at the end of the season."""
        return state.stock

    @measure("landed in all, tonnes", at_end=True)
    def landed(self, state):
        """What all have caught so far."""
        return sum(state.landed)
