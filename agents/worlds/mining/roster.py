"""The scripted policies of mining, which do not learn, and what rosters can name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

from goldrush.agents.llm.model import FRAMING, SAMPLING
from goldrush.agents.llm.versions import PromptVersion
from goldrush.agents.recorded import Recording
from goldrush.agents.seats import PolicySet
from goldrush.agents.worlds.mining.draft import Draft, Pool
from goldrush.agents.worlds.mining.policy import Scripted
from goldrush.agents.worlds.mining.prompts.v2 import wordable
from goldrush.kernel.draws import Draws
from goldrush.kernel.worlds.mining import MINING
from goldrush.kernel.worlds.mining.config import AGENTS_MAX
from goldrush.kernel.worlds.mining.events import MINE, SUBMITTED, Actions
from goldrush.kernel.worlds.mining.observe import Observation


class Random:
    """Spends each stamina point on a random action on a random plot: the null policy."""

    def plan(self, seen: Observation, draws: Draws) -> Actions:
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
            if kind != MINE:
                actions.append((kind, pool.pop(n), 1))
            else:
                index = pool.index(n)
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


class GreedyMine:
    """Mines its plots; spends the rest of its stamina on claims, then on raids."""

    def plan(self, seen: Observation, draws: Draws) -> Actions:
        draft = Draft(seen, draws)
        draft.mine()
        draft.claim()
        draft.raid()
        return tuple(draft.actions)


class DefendThenMine:
    """Defends its plots, then mines them, then claims, then raids."""

    def plan(self, seen: Observation, draws: Draws) -> Actions:
        draft = Draft(seen, draws)
        draft.defend(seen.own)
        draft.mine()
        draft.claim()
        draft.raid()
        return tuple(draft.actions)


class TitForTatRaid:
    """Raids back each agent that raided it last round; then mines and claims."""

    def plan(self, seen: Observation, draws: Draws) -> Actions:
        draft = Draft(seen, draws)
        for raid in seen.suffered:
            for raider in raid.raiders:
                if raider != seen.agent:
                    draft.raid_back(raider)
        draft.mine()
        draft.claim()
        return tuple(draft.actions)


# Specialists: each prefers one kind of action.


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
        draft.defend(sorted(action[1] for action in draft.actions if action))
        workable = -(-seen.stamina // seen.mining_cap)
        draft.claim(max(0, workable - len(seen.own)))
        return tuple(draft.actions)


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
PROMPTS: Final = (PromptVersion(1), PromptVersion(2, (*SAMPLING, *FRAMING), wordable))
NULL: Final = "random"  # the policy that cannot learn
AGENTS_DEFAULT: Final = 10
ROSTER_DEFAULT: Final = "greedy-mine*3,defend-then-mine*3,tit-for-tat-raid*2,random*2"
MIXES: Final = {"portrait": "llm*4,claim*4,raid*4,defend*4,mine*3"}


def recording(path: str | Path) -> Recording:
    """The submissions of a mining journal. Raises BadInput, JournalError if it cannot be read."""
    return Recording(path, MINING, (SUBMITTED,))


POLICY_SET: Final = PolicySet(
    world=MINING.name,
    policies=POLICIES,
    default=ROSTER_DEFAULT,
    agents=AGENTS_DEFAULT,
    agents_max=AGENTS_MAX,
    method="plan",
    mixes=MIXES,
    prompts=PROMPTS,
    recording=recording,
)
