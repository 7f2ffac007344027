"""The same world and policy in Mesa 3.3, as somebody who models in Mesa would write it.

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

import mesa  # type: ignore[import-untyped]  # Mesa ships no types

from . import plain

Action = tuple[str, int, int]  # kind, plot, amount


def run(seed: int, rounds: int = 200, agents: int = 10) -> tuple[list[int | None], list[float]]:
    """The owner of every plot (None: nobody) and the gold of every agent after the last round."""
    world = GoldRush(seed, agents)
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

    def __init__(self, seed: int, miners: int) -> None:
        super().__init__(seed=seed)
        self.world_seed = seed
        self.plots = [Plot(number, plain.ALPHA) for number in range(plain.PLOTS)]
        self.captures = 0  # in this round
        Miner.create_agents(self, miners)
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
        for number in sorted(self.raids):
            plot = self.plots[number]
            owner = plot.owner
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
        for kind, number, amount in self.clean(self.plan()):
            if kind == "mine":
                if amount:
                    world.allocations[number] = (self, amount)
            elif kind == "claim":
                world.claims.setdefault(number, []).append(self)
            elif kind == "raid":
                world.raids.setdefault(number, []).append(self)
            else:
                world.defended.add(number)

    def plan(self) -> list[Action | None]:
        plan: list[Action | None] = []
        left = plain.STAMINA
        for number in self.holdings:
            if left <= plain.MINING_CAP:
                plan.append(("mine", number, left))
                return plan
            plan.append(("mine", number, plain.MINING_CAP))
            left -= plain.MINING_CAP
        world = self.model
        below = plain.drawer(world.world_seed, world.steps, self.number, "policy")
        unowned = [plot.number for plot in world.plots if plot.owner is None]
        plain.shuffle(unowned, below)
        plan += [("claim", number, 1) for number in unowned[:left]]
        left -= min(left, len(unowned))
        if left:
            others = [
                plot.number
                for plot in world.plots
                if plot.owner is not None and plot.owner is not self
            ]
            plain.shuffle(others, below)
            plan += [("raid", number, 1) for number in others[:left]]
        return plan

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
                if owner is None and plain.TRUCE >= 1:
                    allowed = False
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
