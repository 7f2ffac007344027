"""A plan under construction, and the steps of which scripted policies consist.

Each step spends stamina while some is left, up to its limit. A step that picks plots shuffles the
candidates, in ascending id, once with the agent's draws and takes the first ones; without stamina
it draws nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache

from goldrush.kernel.draws import Draws
from goldrush.kernel.worlds.mining.events import CLAIM, DEFEND, MINE, RAID, Action, Actions
from goldrush.kernel.worlds.mining.observe import Observation


class Draft:
    """A plan under construction.

    Attributes:
        actions: of the plan so far, with codes of kinds.
        draws: of the agent.
        left: stamina points that are not spent yet.
        seen: the observation of the agent.

    """

    __slots__ = ("actions", "draws", "left", "seen")

    def __init__(self, seen: Observation, draws: Draws) -> None:
        self.seen = seen
        self.draws = draws
        self.left = seen.stamina
        self.actions: list[Action] = []

    def used(self, kind: int) -> set[int]:
        """The plots of the plan's actions of this kind."""
        return {action[1] for action in self.actions if action and action[0] == kind}

    def mine(self) -> None:
        """Mine own plots, the richest first, each up to the cap."""
        cap = self.seen.mining_cap
        workable = -(-self.left // cap)
        actions, self.left = _mining(self.seen.own_by_alpha[:workable], self.left, cap)
        self.actions += actions

    def claim(self, limit: int | None = None) -> None:
        """Claim unowned plots, at most `limit`."""
        if self.left:
            self._pick(CLAIM, self.seen.unowned, limit)

    def raid(self, limit: int | None = None) -> None:
        """Raid plots of other agents, at most `limit`."""
        if self.left:
            self._pick(RAID, self.seen.others, limit)

    def raid_speculatively(self, limit: int | None = None) -> None:
        """Raid plots of other agents; if there are none left and no truce, unowned plots."""
        if not self._budget(limit):
            return
        used = self.used(RAID)
        others = [plot for plot in self.seen.others if plot not in used]
        speculative = not others and self.seen.truce == 0
        self._pick(RAID, self.seen.unowned if speculative else others, limit)

    def raid_one(self, plots: Sequence[int]) -> None:
        """Raid one of these plots, if the plan does not raid it yet."""
        self._pick(RAID, plots, 1)

    def defend(self, plots: Iterable[int], limit: int | None = None) -> None:
        """Defend these plots in order, with one stamina point each, at most `limit`."""
        for plot in list(plots)[: self._budget(limit)]:
            self.actions.append((DEFEND, plot, 1))
            self.left -= 1

    def _budget(self, limit: int | None) -> int:
        return self.left if limit is None else min(limit, self.left)

    def _pick(self, kind: int, candidates: Sequence[int], limit: int | None) -> None:
        budget = self._budget(limit)
        if not budget:
            return
        used = self.used(kind)
        free = [plot for plot in candidates if plot not in used] if used else candidates
        picked = self.draws.shuffled(free)[:budget]
        self.actions.extend([(kind, plot, 1) for plot in picked])
        self.left -= len(picked)


@lru_cache(maxsize=256)
def _mining(plots: tuple[int, ...], left: int, cap: int) -> tuple[Actions, int]:
    """The actions that mine these plots in order, each up to the cap, and the stamina left over.

    Cached, because an agent mines the same plots until one changes hands.
    """
    actions: list[Action] = []
    for plot in plots:
        points = min(left, cap)
        actions.append((MINE, plot, points))
        left -= points
    return tuple(actions), left
