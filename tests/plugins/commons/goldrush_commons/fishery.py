"""The fishery of goldrush.games with a prompt, another treatment, and who gets how much."""

from __future__ import annotations

from goldrush import measure
from goldrush.games.fishery import Fishery
from goldrush.kernel.measures import gini


class Commons(Fishery):
    """Does a shared stock outlive those who fish it?"""

    treatments = {
        **Fishery.treatments,
        "small-stock": ("half the capacity", {"capacity": 500}),
    }

    criteria = {"recovery": ("fish grow back", {"stock": +1, "sustained": +1})}
    null = "random"

    def prompt(self, seen, agent):
        landed = seen.landed[agent]
        return f"There are {seen.stock:.0f} tonnes. You have landed {landed:.0f} so far."

    @measure("sustained")
    def sustained(self, state):
        """1 while half the capacity or more is left, else 0."""
        return int(state.stock >= self.capacity / 2)

    @measure("Gini of landings", at_end=True)
    def gini(self, state):
        """Gini coefficient of what each landed."""
        return gini(state.landed)
