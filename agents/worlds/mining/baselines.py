"""The four baseline policies, which do not learn."""

from __future__ import annotations

from goldrush.agents.worlds.mining.draft import Draft
from goldrush.kernel.draws import Draws
from goldrush.kernel.worlds.mining.events import CLAIM, DEFEND, MINE, RAID, Actions
from goldrush.kernel.worlds.mining.observe import Observation


class Random:
    """Spends each stamina point on a random action on a random plot: the null policy."""

    def plan(self, seen: Observation, draws: Draws) -> Actions:
        actions: dict[tuple[int, int], int] = {}
        free = {
            DEFEND: list(seen.own),
            MINE: list(seen.own),
            CLAIM: list(seen.unowned),
            RAID: list(seen.others),
        }
        possible = [kind for kind, plots in free.items() if plots]
        cap, below = seen.mining_cap, draws.below
        for _ in range(seen.stamina):
            if not possible:
                break
            kind = possible[below(len(possible))]
            plots = free[kind]
            index = below(len(plots))
            action = kind, plots[index]
            points = actions[action] = actions.get(action, 0) + 1
            if kind != MINE or points == cap:
                del plots[index]
                if not plots:
                    possible.remove(kind)
        return tuple([(kind, plot, points) for (kind, plot), points in actions.items()])


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
        for raid in seen.last.raids if seen.last else ():
            if raid.owner == seen.agent:
                for raider in raid.raiders:
                    if raider != seen.agent:
                        draft.raid_one(seen.plots_of(raider))
        draft.mine()
        draft.claim()
        return tuple(draft.actions)
