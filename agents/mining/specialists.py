"""The source's four specialists: each puts one thing first."""

from __future__ import annotations

from goldrush.agents.mining.draft import Draft
from goldrush.kernel.draws import Draws
from goldrush.kernel.mining.events import MINE
from goldrush.kernel.mining.observe import Observation
from goldrush.kernel.mining.submit import Actions


class Claimer:
    """Expands: half of its stamina goes into claims before anything else."""

    def plan(self, seen: Observation, draws: Draws) -> Actions:
        draft = Draft(seen, draws)
        draft.claim(seen.stamina // 2)
        draft.mine()
        draft.claim()
        draft.defend(seen.own)
        return draft.actions


class Raider:
    """Takes from others: half of its stamina goes into raids first, and what is left over too."""

    def plan(self, seen: Observation, draws: Draws) -> Actions:
        draft = Draft(seen, draws)
        draft.raid_speculatively(seen.stamina // 2)
        draft.mine()
        draft.claim()
        draft.raid_speculatively()
        return draft.actions


class Defender:
    """Holds: half of its stamina guards its plots before it mines them."""

    def plan(self, seen: Observation, draws: Draws) -> Actions:
        draft = Draft(seen, draws)
        draft.defend(seen.own, seen.stamina // 2)
        draft.mine()
        draft.claim()
        return draft.actions


class Miner:
    """Works: mines, guards the plots it mines, and claims only as many as it can work."""

    def plan(self, seen: Observation, draws: Draws) -> Actions:
        draft = Draft(seen, draws)
        draft.mine()
        draft.defend(sorted(draft.used(MINE)))
        workable = -(-seen.stamina // seen.mining_cap)
        draft.claim(max(0, workable - len(seen.own)))
        return draft.actions
