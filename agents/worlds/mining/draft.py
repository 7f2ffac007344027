"""A plan under construction, and the steps of which scripted policies consist.

Each step spends stamina while some is left, up to its limit. A step that picks plots samples the
candidates, in ascending id, with the agent's draws (README.md, section 10); without stamina it
draws nothing. Under rules 1 it shuffled all candidates and took the first ones.
"""

from __future__ import annotations

from bisect import insort
from collections.abc import Sequence
from functools import lru_cache

from goldrush.kernel.draws import Draws
from goldrush.kernel.worlds.mining.events import CLAIM, DEFEND, MINE, RAID, Action, Actions
from goldrush.kernel.worlds.mining.observe import Observation


class Pool:
    """Plots, ascending, of which an agent picks some, each once; `left` are not used yet."""

    __slots__ = ("_used", "left", "plots")

    def __init__(self, plots: Sequence[int]) -> None:
        self.plots = plots
        self.left = len(plots)
        self._used: list[int] = []  # indices, ascending

    def index(self, n: int) -> int:
        """The index of the n-th plot, from 0, of those left."""
        for used in self._used:
            if used > n:
                break
            n += 1
        return n

    def use(self, index: int) -> None:
        """Use the plot at an index."""
        insort(self._used, index)
        self.left -= 1

    def pop(self, n: int) -> int:
        """Use the n-th plot, from 0, of those left: `use(index(n))` in one search."""
        place = 0
        for used in self._used:
            if used > n:
                break
            n += 1
            place += 1
        self._used.insert(place, n)
        self.left -= 1
        return self.plots[n]

    def take(self, places: Sequence[int]) -> list[int]:
        """Use the plots at these different places among those left."""
        indices = list(map(self.index, places)) if self._used else places
        self._used = sorted([*self._used, *indices])
        self.left -= len(indices)
        return [self.plots[index] for index in indices]


class Draft:
    """A plan under construction; `left`: stamina points that are not spent yet."""

    __slots__ = ("_pools", "actions", "draws", "left", "seen")

    def __init__(self, seen: Observation, draws: Draws) -> None:
        self.seen = seen
        self.draws = draws
        self.left = seen.stamina
        self.actions: list[Action] = []
        self._pools: dict[object, Pool] = {}  # for each purpose

    def mine(self) -> None:
        """Mine own plots, the richest first, each up to the cap."""
        cap = self.seen.mining_cap
        workable = -(-self.left // cap)
        actions, self.left = _mining(self.seen.own_by_alpha[:workable], self.left, cap)
        self.actions += actions

    def claim(self, limit: int | None = None) -> None:
        """Claim unowned plots, at most `limit`."""
        if self.left:
            self._pick(CLAIM, self._pool(CLAIM, self.seen.unowned), limit)

    def raid(self, limit: int | None = None) -> None:
        """Raid plots of other agents, at most `limit`."""
        if self.left:
            self._pick(RAID, self._others(), limit)

    def raid_speculatively(self, limit: int | None = None) -> None:
        """Raid plots of other agents; if there are none left and no truce, unowned plots."""
        pool = self._others()
        if not pool.left and self.seen.truce == 0:
            pool = self._pool("speculative", self.seen.unowned)
        self._pick(RAID, pool, limit)

    def raid_back(self, raider: int) -> None:
        """Raid a plot of an agent. Not for plans that raid plots of all others, too."""
        if self.left:
            self._pick(RAID, self._pool(("back", raider), self.seen.plots_of(raider)), 1)

    def defend(self, plots: Sequence[int], limit: int | None = None) -> None:
        """Defend these plots in order, with one stamina point each, at most `limit`."""
        defended = plots[: self._budget(limit)]
        self.actions += [(DEFEND, plot, 1) for plot in defended]
        self.left -= len(defended)

    def _budget(self, limit: int | None) -> int:
        return self.left if limit is None else min(limit, self.left)

    def _others(self) -> Pool:
        return self._pools.get(RAID) or self._pool(RAID, self.seen.others)

    def _pool(self, purpose: object, plots: Sequence[int]) -> Pool:
        return self._pools.setdefault(purpose, Pool(plots))

    def _pick(self, kind: int, pool: Pool, limit: int | None) -> None:
        budget = self._budget(limit)
        if not budget or not pool.left:
            return
        pick = _shuffled if self.seen.rules == 1 else Draws.sample
        plots = pool.take(pick(self.draws, pool.left, budget))
        self.actions += [(kind, plot, 1) for plot in plots]
        self.left -= len(plots)


def _shuffled(draws: Draws, n: int, size: int) -> list[int]:
    """The pick of rules 1, with the arguments of `Draws.sample`."""
    return draws.shuffled(range(n))[:size]


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
