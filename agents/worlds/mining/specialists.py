"""The four specialist policies: each prefers one kind of action."""

from __future__ import annotations

from goldrush.agents.worlds.mining.draft import Draft
from goldrush.kernel.draws import Draws
from goldrush.kernel.worlds.mining.events import MINE, Actions
from goldrush.kernel.worlds.mining.observe import Observation


class Claimer:
    """Claims with half of its stamina first; then mines, claims and defends."""

    def plan(self, seen: Observation, draws: Draws) -> Actions:
        draft = Draft(seen, draws)
        draft.claim(seen.stamina // 2)
        draft.mine()
        draft.claim()
        draft.defend(seen.own)
        return tuple(draft.actions)


class Raider:
    """Raids with half of its stamina first; then mines, claims, and raids with the rest."""

    def plan(self, seen: Observation, draws: Draws) -> Actions:
        draft = Draft(seen, draws)
        draft.raid_speculatively(seen.stamina // 2)
        draft.mine()
        draft.claim()
        draft.raid_speculatively()
        return tuple(draft.actions)


class Defender:
    """Defends with half of its stamina first; then mines and claims."""

    def plan(self, seen: Observation, draws: Draws) -> Actions:
        draft = Draft(seen, draws)
        draft.defend(seen.own, seen.stamina // 2)
        draft.mine()
        draft.claim()
        return tuple(draft.actions)


class Miner:
    """Mines, defends the plots that it mines, and claims only as many as it can mine."""

    def plan(self, seen: Observation, draws: Draws) -> Actions:
        draft = Draft(seen, draws)
        draft.mine()
        draft.defend(sorted(draft.used(MINE)))
        workable = -(-seen.stamina // seen.mining_cap)
        draft.claim(max(0, workable - len(seen.own)))
        return tuple(draft.actions)
