"""The same world and policies in Mesa 3.3, as somebody who models in Mesa would write it.

Recording a run with the kernel is compared with `run`: a model, an agent class, agents activated
through the model's AgentSet, and a DataCollector that keeps every round's totals and every agent's
gold and plots, which is what a Mesa study is analysed from. Mesa journals nothing, so it is the
cheaper task: whoever is as fast as it while keeping every event has lost nothing to the journal.

It is fair to Mesa in what it does not do. Plots are a list on the model and not agents or cells of
a grid, since nothing moves and no neighbourhood is asked for, and either would cost a lookup each.
Reporters are attribute names where the attribute exists, which Mesa's documentation says is
fastest, and else functions over the model's agents, as in its tutorial. The rules are written here
a second time and not called from `plain`, both because Mesa's place for them is on the model and
the agents, and so that two writings of them can be held against each other; only the keyed draws
are shared, as they are neither's own. Owners and gold at the end are equal to those of
`plain.run`, to the last bit.
"""

from bisect import insort
from collections.abc import Mapping, Sequence
from typing import Final

import mesa  # type: ignore[import-untyped]  # Mesa ships no types

from . import plain

Action = tuple[str, int, int]  # kind, plot, amount


def run(
    seed: int, roster: Sequence[str] = plain.MIXED, rounds: int = 200
) -> tuple[list[int | None], list[float]]:
    """The owner of every plot (None: nobody) and the gold of every agent after the last round."""
    world = GoldRush(seed, roster)
    for _ in range(rounds):
        world.step()
    owners = [None if plot.owner is None else plot.owner.number for plot in world.plots]
    return owners, [miner.gold for miner in world.agents]


def total_gold(world: "GoldRush") -> float:
    return float(sum(miner.gold for miner in world.agents))


def owned_plots(world: "GoldRush") -> int:
    return sum(len(miner.holdings) for miner in world.agents)


class Plot:
    """A piece of land: what it yields, whose it is, and until when it cannot be raided."""

    __slots__ = ("alpha", "number", "owner", "truce_ends")

    def __init__(self, number: int, alpha: float) -> None:
        self.number = number
        self.alpha = alpha
        self.owner: Miner | None = None
        self.truce_ends = 0


class GoldRush(mesa.Model):  # type: ignore[misc]  # Mesa ships no types
    """The grid, its miners, and the rules by which what they submitted is resolved."""

    def __init__(self, seed: int, roster: Sequence[str]) -> None:
        super().__init__(seed=seed)
        self.world_seed = seed
        self.plots = [Plot(number, plain.ALPHA) for number in range(plain.PLOTS)]
        self.captures = 0  # in this round
        self.suffered: list[tuple[Miner | None, list[Miner]]] = []  # raids of the last round
        for name in roster:
            MINERS[name](self)
        self.datacollector = mesa.DataCollector(
            model_reporters={
                "total_gold": total_gold,
                "owned_plots": owned_plots,
                "captures": "captures",
            },
            agent_reporters={"gold": "gold", "plots": lambda miner: len(miner.holdings)},
        )

    def step(self) -> None:
        """One round."""
        self.claims: dict[int, list[Miner]] = {}
        self.raids: dict[int, list[Miner]] = {}
        self.defended: set[int] = set()
        self.allocations: dict[int, tuple[Miner, int]] = {}
        self.agents.do("submit")
        self.settle_claims()
        self.settle_raids()
        self.settle_mining()
        self.datacollector.collect(self)

    def settle_claims(self) -> None:
        for number in sorted(self.claims):
            winner = self.draw(self.claims[number], number, "claim")
            plot = self.plots[number]
            winner.take(plot)
            plot.truce_ends = self.steps + plain.TRUCE

    def settle_raids(self) -> None:
        self.captures = 0
        self.suffered = []
        for number in sorted(self.raids):
            plot = self.plots[number]
            owner = plot.owner
            self.suffered.append((owner, self.raids[number]))
            if owner is None:
                continue
            raiders = [miner for miner in self.raids[number] if miner is not owner]
            if not raiders or self.steps < plot.truce_ends or number in self.defended:
                continue
            winner = self.draw(raiders, number, "raid")
            owner.holdings.remove(number)
            winner.take(plot)
            self.captures += 1

    def settle_mining(self) -> None:
        for number in sorted(self.allocations):
            miner, stamina = self.allocations[number]
            plot = self.plots[number]
            if plot.owner is miner:
                miner.gold += stamina * plot.alpha

    def draw(self, miners: list["Miner"], plot: int, kind: str) -> "Miner":
        """The winner; miners come in order of their numbers, for that is how they are activated."""
        if len(miners) == 1:
            return miners[0]
        return miners[plain.drawer(self.world_seed, self.steps, plot, kind)(len(miners))]


class Miner(mesa.Agent):  # type: ignore[misc]  # Mesa ships no types
    """An agent that mines what it owns, claims with what is left, and raids with what is left."""

    model: GoldRush

    def __init__(self, model: GoldRush) -> None:
        super().__init__(model)
        self.number: int = self.unique_id - 1  # Mesa counts from one
        self.gold = 0.0
        self.holdings: list[int] = []  # alpha is the same everywhere, so by id is richest first

    def submit(self) -> None:
        """Plan the round and enter what the rules leave of the plan."""
        world = self.model
        self.drawer: plain.Below | None = None
        for kind, number, amount in self.clean(self.plan(plain.STAMINA)):
            if kind == "mine":
                if amount:
                    world.allocations[number] = (self, amount)
            elif kind == "claim":
                world.claims.setdefault(number, []).append(self)
            elif kind == "raid":
                world.raids.setdefault(number, []).append(self)
            else:
                world.defended.add(number)

    def plan(self, left: int) -> list[Action | None]:
        plan, left = self.mine(left)
        if left:
            claims = plain.sample(self.unowned(), left, self.below)
            plan += [("claim", number, 1) for number in claims]
            left -= len(claims)
        if left:
            raids = plain.sample(self.others(), left, self.below)
            plan += [("raid", number, 1) for number in raids]
        return plan

    def mine(self, left: int) -> tuple[list[Action | None], int]:
        """Mines own plots; and what stamina is left."""
        plan: list[Action | None] = []
        for number in self.holdings:
            if left <= plain.MINING_CAP:
                return [*plan, ("mine", number, left)] if left else plan, 0
            plan.append(("mine", number, plain.MINING_CAP))
            left -= plain.MINING_CAP
        return plan, left

    def below(self, n: int) -> int:
        """The next draw of this round; most plans need none."""
        if self.drawer is None:
            key = self.model.world_seed, self.model.steps, self.number
            self.drawer = plain.drawer(*key, "policy")
        return self.drawer(n)

    def unowned(self) -> list[int]:
        return [plot.number for plot in self.model.plots if plot.owner is None]

    def others(self) -> list[int]:
        plots = self.model.plots
        return [p.number for p in plots if p.owner is not None and p.owner is not self]

    def clean(self, plan: list[Action | None]) -> list[Action]:
        """What the rules allow of a plan, cut from the tail down to what stamina pays for."""
        plots = self.model.plots
        kept: list[Action] = []
        seen: set[tuple[str, int]] = set()
        cost = 0
        for action in plan:
            if action is None:
                continue
            kind, number, amount = action
            if not 0 <= number < plain.PLOTS:
                continue
            owner = plots[number].owner
            if kind == "mine":
                allowed = owner is self and 0 <= amount <= plain.MINING_CAP
            elif kind == "claim":
                allowed = owner is None and amount == 1
            elif kind == "raid":
                allowed = owner is not self and amount == 1
                allowed = allowed and (owner is not None or plain.TRUCE < 1)
            else:
                allowed = owner is self and amount == 1
            target = (kind, number)
            if not allowed or target in seen:
                continue
            seen.add(target)
            kept.append(action)
            cost += amount
        while cost > plain.STAMINA:
            cost -= kept.pop()[2]
        return kept

    def take(self, plot: Plot) -> None:
        plot.owner = self
        insort(self.holdings, plot.number)


class Defender(Miner):
    """A miner that defends its plots first."""

    def plan(self, left: int) -> list[Action | None]:
        defended: list[Action | None] = [("defend", number, 1) for number in self.holdings[:left]]
        return defended + super().plan(left - len(defended))


class Avenger(Miner):
    """A miner that raids those back that raided it in the last round, and nobody else."""

    def plan(self, left: int) -> list[Action | None]:
        raided: list[int] = []
        for owner, raiders in self.model.suffered:
            for raider in raiders if owner is self else ():
                if raider is not self and len(raided) < left:
                    theirs = [number for number in raider.holdings if number not in raided]
                    raided += plain.sample(theirs, 1, self.below)
        raids: list[Action | None] = [("raid", number, 1) for number in raided]
        mined, left = self.mine(left - len(raids))
        claims = plain.sample(self.unowned(), left, self.below) if left else []
        return [*raids, *mined, *(("claim", number, 1) for number in claims)]


class Anything(Miner):
    """A miner that spends each point on a random kind of action and a random target of it."""

    def plan(self, left: int) -> list[Action | None]:
        free = {
            "defend": self.holdings.copy(),
            "mine": self.holdings.copy(),
            "claim": self.unowned(),
            "raid": self.others(),
        }
        points: dict[tuple[str, int], int] = {}
        while left and (possible := [kind for kind, plots in free.items() if plots]):
            kind = possible[self.below(len(possible))]
            at = self.below(len(free[kind]))
            action = kind, free[kind][at]
            points[action] = points.get(action, 0) + 1
            if kind != "mine" or points[action] == plain.MINING_CAP:
                del free[kind][at]
            left -= 1
        return [(kind, number, amount) for (kind, number), amount in points.items()]


MINERS: Final[Mapping[str, type[Miner]]] = {
    "greedy-mine": Miner, "defend-then-mine": Defender, "tit-for-tat-raid": Avenger,
    "random": Anything,
}  # fmt: skip
