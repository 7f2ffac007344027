"""A policy that submits what has to be pruned, says something and keeps a memo, so that a run of
four rounds holds every type of event and every field of each filled.
"""

from goldrush.kernel.draws import Draws
from goldrush.kernel.worlds.mining.observe import MiningObservation
from goldrush.kernel.worlds.mining.submit import Plan

NOISY = f"{__name__}:Noisy"


class Noisy:
    """Raids everything twice, claims what is off the grid, and talks about it."""

    def plan(self, seen: MiningObservation, draws: Draws) -> Plan:
        raids = [("raid", plot, 1) for plot in draws.shuffled(seen.others)]
        claims = [("claim", plot, 1) for plot in draws.shuffled(seen.unowned)]
        memo = None if seen.round == 2 else f"round {seen.round}"
        return Plan([*claims[:3], *raids, *raids, ("claim", 99, 1)], say="mine!", memo=memo)
