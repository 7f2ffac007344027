"""The scripted policies of mining, which do not learn, and what rosters can name.

A policy consists of steps on a plan under construction (`Draft`). Each step spends stamina while
some is left, up to its limit. A step that picks plots samples the candidates, in ascending id, with
the agent's draws (README.md, section 10); without stamina it draws nothing. Under rules 1 it
shuffled all candidates and took the first ones.
"""

from __future__ import annotations

from bisect import insort
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Final

from goldrush.agents.llm.options import FRAMING
from goldrush.agents.llm.versions import PromptVersion
from goldrush.agents.recorded import Recording
from goldrush.agents.seats import PolicySet
from goldrush.agents.worlds.mining.policy import Scripted
from goldrush.kernel.draws import Draws
from goldrush.kernel.worlds.mining import MINING
from goldrush.kernel.worlds.mining.config import AGENTS_MAX
from goldrush.kernel.worlds.mining.events import (
    CLAIM,
    DEFEND,
    MINE,
    RAID,
    SUBMITTED,
    Action,
    Actions,
)
from goldrush.kernel.worlds.mining.observe import MiningObservation

if TYPE_CHECKING:
    from goldrush.agents.llm.wordings import Wordable


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

    def take(self, places: Sequence[int]) -> list[int]:
        """Use the plots at these different places among those left."""
        indices = list(map(self.index, places)) if self._used else places
        self._used = sorted([*self._used, *indices])
        self.left -= len(indices)
        return [self.plots[index] for index in indices]


class Draft:
    """A plan under construction; `left`: stamina points that are not spent yet."""

    __slots__ = ("_pools", "actions", "draws", "left", "seen")

    def __init__(self, seen: MiningObservation, draws: Draws) -> None:
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
        self._pick(CLAIM, self._pool(CLAIM, self.seen.unowned), limit)

    def claim_workable(self) -> None:
        """Claim as many unowned plots as the stamina can mine beyond the own ones."""
        workable = -(-self.seen.stamina // self.seen.mining_cap)
        self.claim(max(0, workable - len(self.seen.own)))

    def raid(self) -> None:
        """Raid plots of other agents."""
        self._pick(RAID, self._others())

    def raid_any(self, limit: int | None = None) -> None:
        """Raid plots of other agents; if there are none left and no truce, unowned plots."""
        pool = self._others()
        if not pool.left and self.seen.truce == 0:
            pool = self._pool("speculative", self.seen.unowned)
        self._pick(RAID, pool, limit)

    def raid_back(self) -> None:
        """Raid a plot of each agent that raided last round, for each of its raids. Not for plans
        that raid plots of all others, too.
        """
        for raid in self.seen.suffered:
            for raider in raid.raiders:
                if raider != self.seen.agent:
                    self._pick(RAID, self._pool(("back", raider), self.seen.plots_of(raider)), 1)

    def defend(self, limit: int | None = None) -> None:
        """Defend own plots in order, at most `limit`."""
        self._defend(self.seen.own[: self._budget(limit)])

    def defend_mined(self) -> None:
        """Defend the plots that are mined, in order."""
        self._defend(sorted(action[1] for action in self.actions if action)[: self.left])

    def _defend(self, plots: Sequence[int]) -> None:
        self.actions += [(DEFEND, plot, 1) for plot in plots]
        self.left -= len(plots)

    def _budget(self, limit: int | None) -> int:
        return self.left if limit is None else min(limit, self.left)

    def _others(self) -> Pool:
        return self._pools.get(RAID) or self._pool(RAID, self.seen.others)

    def _pool(self, purpose: object, plots: Sequence[int]) -> Pool:
        return self._pools.setdefault(purpose, Pool(plots))

    def _pick(self, kind: int, pool: Pool, limit: int | None = None) -> None:
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


class Random:
    """Spends each stamina point on a random action on a random plot: the null policy."""

    def plan(self, seen: MiningObservation, draws: Draws) -> Actions:
        own, cap, below = seen.own, seen.mining_cap, draws.below
        pools = (Pool(own), Pool(own), Pool(seen.unowned), Pool(seen.others))  # by kind
        possible = [kind for kind, pool in enumerate(pools) if pool.left]
        actions: list[tuple[int, int, int]] = []
        mined: dict[int, int] = {}  # index in `own` -> index of its action
        for _ in range(seen.stamina):
            if not possible:
                break
            kind = possible[below(len(possible))]
            pool = pools[kind]
            n = below(pool.left)
            index = pool.index(n)
            if kind != MINE:
                pool.use(index)
                actions.append((kind, pool.plots[index], 1))
            else:
                at = mined.setdefault(index, len(actions))
                if at == len(actions):
                    actions.append((MINE, own[index], 0))
                points = actions[at][2] + 1
                actions[at] = (MINE, own[index], points)
                if points == cap:
                    pool.use(index)
            if not pool.left:
                possible.remove(kind)
        return tuple(actions)


class _Drafts:
    """A policy that fills a draft, by these steps."""

    steps: Sequence[Callable[[Draft], None]]

    def plan(self, seen: MiningObservation, draws: Draws) -> Actions:
        draft = Draft(seen, draws)
        for step in self.steps:
            step(draft)
        return tuple(draft.actions)


class GreedyMine(_Drafts):
    """Mines its plots; spends the rest of its stamina on claims, then on raids."""

    steps = (Draft.mine, Draft.claim, Draft.raid)


class DefendThenMine(_Drafts):
    """Defends its plots, then mines them, then claims, then raids."""

    steps = (Draft.defend, Draft.mine, Draft.claim, Draft.raid)


class TitForTatRaid(_Drafts):
    """Raids back each agent that raided it last round; then mines and claims."""

    steps = (Draft.raid_back, Draft.mine, Draft.claim)


# Specialists: each prefers one kind of action.


def _with_half(step: Callable[[Draft, int], None]) -> Callable[[Draft], None]:
    """A step that spends at most half of the stamina of a round."""
    return lambda draft: step(draft, draft.seen.stamina // 2)


class Claimer(_Drafts):
    """Claims with half of its stamina first; then mines, claims and defends."""

    steps = (_with_half(Draft.claim), Draft.mine, Draft.claim, Draft.defend)


class Raider(_Drafts):
    """Raids with half of its stamina first; then mines, claims, and raids with the rest."""

    steps = (_with_half(Draft.raid_any), Draft.mine, Draft.claim, Draft.raid_any)


class Defender(_Drafts):
    """Defends with half of its stamina first; then mines and claims."""

    steps = (_with_half(Draft.defend), Draft.mine, Draft.claim)


class Miner(_Drafts):
    """Mines, defends the plots that it mines, and claims only as many as it can mine."""

    steps = (Draft.mine, Draft.defend_mined, Draft.claim_workable)


def _wordable() -> Wordable:
    """What wordings can change in prompts, which runs of policies do not have."""
    from goldrush.agents.worlds.mining.prompts.prompt import wordable

    return wordable()


POLICIES: Final[Mapping[str, Callable[[], Scripted]]] = {
    "random": Random,
    "greedy-mine": GreedyMine,
    "defend-then-mine": DefendThenMine,
    "tit-for-tat-raid": TitForTatRaid,
    "claim": Claimer,
    "raid": Raider,
    "defend": Defender,
    "mine": Miner,
}
PROMPT_MAX: Final = 65_536  # bytes of both messages, in any wording and with any persona
PROMPT: Final = PromptVersion(3, PROMPT_MAX, FRAMING, _wordable)
NULL: Final = "random"  # the policy that cannot learn


def recording(path: str | Path) -> Recording:
    """The submissions of a mining journal. Raises BadInput, JournalError if it cannot be read."""
    return Recording(path, MINING, (SUBMITTED,))


POLICY_SET: Final = PolicySet(
    world=MINING.name,
    policies=POLICIES,
    default="greedy-mine*3,defend-then-mine*3,tit-for-tat-raid*2,random*2",
    agents=10,
    agents_max=AGENTS_MAX,
    method="plan",
    mixes={"portrait": "llm*4,claim*4,raid*4,defend*4,mine*3"},
    prompt=PROMPT,
    recording=recording,
)
