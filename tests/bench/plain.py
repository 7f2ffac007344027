"""The floor: the gold-mining world as a plain Python loop, with no events, no journal and no log.

Recording a run with the kernel is compared with `run`. The two obey the same rules, with the same
policies (those of the default roster) in the default configuration, and end with the same owners
and the same gold to the last bit; what the kernel costs beyond this is the price of having a
journal. It is fair because every rule of that configuration is here, also those that these
policies never exercise (malformed and over-budget plans), and because the loop
is written as one would write it to be quick without being clever: mutable lists and dictionaries,
an index of who holds what that is touched only when an owner changes, tuples for actions.

Left out on both sides of the comparison or by the configuration: authority, messages and pointwise
defence, which the default turns off. Left out here alone: events, checksums, digests, and the
public record that observations and measures are read from, since nothing in this loop reads one.
"""

from bisect import insort
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from msgpack import packb  # type: ignore[import-untyped]  # msgpack ships no types
from xxhash import xxh3_64_intdigest

ROWS: Final = 10
COLS: Final = 10
PLOTS: Final = ROWS * COLS
STAMINA: Final = 10
MINING_CAP: Final = 3
ALPHA: Final = 1.0
TRUCE: Final = 1
WORDS: Final = 2**64  # how many values a 64-bit word can take

MIXED: Final = (
    *("greedy-mine",) * 3, *("defend-then-mine",) * 3, *("tit-for-tat-raid",) * 2, *("random",) * 2,
)  # fmt: skip
GREEDY: Final = ("greedy-mine",) * 10

Action = tuple[str, int, int]  # kind, plot, amount
Plan = list[Action | None]
Below = Callable[[int], int]


class Seen:
    """What policies plan on: the state at the start of a round, which they must not change."""

    def __init__(
        self,
        seed: int,
        round_: int,
        owners: Sequence[int | None],
        holdings: Sequence[Sequence[int]],
        raids: Sequence[tuple[int | None, Sequence[int]]],
    ) -> None:
        self.owners = owners
        self.holdings = holdings  # plots of each agent, the richest first
        self.raids = raids  # of the last round: owner, raiders
        self.agent = 0  # that plans
        self._key = seed, round_
        self._drawers: dict[int, Below] = {}

    def below(self, n: int) -> int:
        """The agent's next draw; most plans need none."""
        if self.agent not in self._drawers:
            self._drawers[self.agent] = drawer(*self._key, self.agent, "policy")
        return self._drawers[self.agent](n)


def run(
    seed: int, roster: Sequence[str] = MIXED, rounds: int = 200
) -> tuple[list[int | None], list[float]]:
    """The owner of every plot (None: nobody) and the gold of every agent after the last round."""
    agents = len(roster)
    policies = [POLICIES[name] for name in roster]
    suffered: list[tuple[int | None, Sequence[int]]] = []
    owners: list[int | None] = [None] * PLOTS
    truce_ends = [0] * PLOTS  # the first round in which the plot can be raided
    gold = [0.0] * agents
    # Plots are mined by alpha descending, then id; alpha is the same everywhere.
    holdings: list[list[int]] = [[] for _ in range(agents)]

    for round_ in range(1, rounds + 1):
        claims: dict[int, list[int]] = {}
        raids: dict[int, list[int]] = {}
        defended: set[int] = set()
        allocations: dict[int, tuple[int, int]] = {}  # only its owner can mine a plot: one each

        # Step 0: everyone plans on the state at round start, then plans are cleaned and pruned.
        # Nothing changes hands meanwhile, so an agent's plan can be sorted out at once.
        seen = Seen(seed, round_, owners, holdings, suffered)
        for agent in range(agents):
            seen.agent = agent
            plan = policies[agent](seen)
            for kind, plot, amount in clean(plan, agent, owners):
                if kind == "mine":
                    if amount:
                        allocations[plot] = (agent, amount)
                elif kind == "claim":
                    claims.setdefault(plot, []).append(agent)
                elif kind == "raid":
                    raids.setdefault(plot, []).append(agent)
                else:
                    defended.add(plot)

        # Step 1: claims.
        for plot in sorted(claims):
            winner = draw_one(claims[plot], seed, round_, plot, "claim")
            owners[plot] = winner
            insort(holdings[winner], plot)
            truce_ends[plot] = round_ + TRUCE

        # Step 2: raids, against the owner after step 1.
        suffered = []
        for plot in sorted(raids):
            owner = owners[plot]
            suffered.append((owner, raids[plot]))
            if owner is None:
                continue
            raiders = [agent for agent in raids[plot] if agent != owner]
            if not raiders or round_ < truce_ends[plot] or plot in defended:
                continue
            winner = draw_one(raiders, seed, round_, plot, "raid")
            owners[plot] = winner
            holdings[owner].remove(plot)
            insort(holdings[winner], plot)

        # Step 3: mining, for whoever declared it and still owns the plot.
        for plot in sorted(allocations):
            agent, amount = allocations[plot]
            if owners[plot] == agent:
                gold[agent] += amount * ALPHA

    return owners, gold


def greedy_mine(seen: Seen, left: int = STAMINA) -> Plan:
    """Mine own plots, richest first; with what is left claim plots; with what is left raid."""
    plan: Plan = []
    left = mine(plan, seen, left)
    if left:
        left = claim(plan, seen, left)
    if left:
        others = [p for p, owner in enumerate(seen.owners) if owner not in (None, seen.agent)]
        plan += [("raid", plot, 1) for plot in sample(others, left, seen.below)]
    return plan


def defend_then_mine(seen: Seen) -> Plan:
    """Defend own plots, one point each; then as a greedy miner."""
    plan: Plan = [("defend", plot, 1) for plot in sorted(seen.holdings[seen.agent])[:STAMINA]]
    return plan + greedy_mine(seen, STAMINA - len(plan))


def tit_for_tat_raid(seen: Seen) -> Plan:
    """Raid a plot of each agent for each raid that it made on an own plot; mine; claim."""
    plan: Plan = []
    left = STAMINA
    raided: set[int] = set()
    for owner, raiders in seen.raids:
        for raider in raiders if owner == seen.agent else ():
            if raider == seen.agent or not left:
                continue
            theirs = [plot for plot in sorted(seen.holdings[raider]) if plot not in raided]
            for plot in sample(theirs, 1, seen.below):
                plan.append(("raid", plot, 1))
                raided.add(plot)
                left -= 1
    claim(plan, seen, mine(plan, seen, left))
    return plan


def at_random(seen: Seen) -> Plan:
    """Spend each point on a random kind of action and a random target of it."""
    own = sorted(seen.holdings[seen.agent])
    free = {
        "defend": own.copy(),
        "mine": own,
        "claim": [plot for plot, owner in enumerate(seen.owners) if owner is None],
        "raid": [p for p, owner in enumerate(seen.owners) if owner not in (None, seen.agent)],
    }
    points: dict[tuple[str, int], int] = {}
    for _ in range(STAMINA):
        possible = [kind for kind, plots in free.items() if plots]
        if not possible:
            break
        kind = possible[seen.below(len(possible))]
        at = seen.below(len(free[kind]))
        action = kind, free[kind][at]
        points[action] = points.get(action, 0) + 1
        if kind != "mine" or points[action] == MINING_CAP:
            del free[kind][at]
    return [(kind, plot, amount) for (kind, plot), amount in points.items()]


POLICIES: Final[Mapping[str, Callable[[Seen], Plan]]] = {
    "greedy-mine": greedy_mine,
    "defend-then-mine": defend_then_mine,
    "tit-for-tat-raid": tit_for_tat_raid,
    "random": at_random,
}


def mine(plan: Plan, seen: Seen, left: int) -> int:
    """Mine own plots; the stamina that is left then."""
    for plot in seen.holdings[seen.agent]:
        if left <= MINING_CAP:
            if left:
                plan.append(("mine", plot, left))
            return 0
        plan.append(("mine", plot, MINING_CAP))
        left -= MINING_CAP
    return left


def claim(plan: Plan, seen: Seen, left: int) -> int:
    """Claim plots that nobody owns; the stamina that is left then."""
    if not left:
        return 0
    unowned = [plot for plot, owner in enumerate(seen.owners) if owner is None]
    picked = sample(unowned, left, seen.below)
    plan += [("claim", plot, 1) for plot in picked]
    return left - len(picked)


def clean(plan: Sequence[Action | None], agent: int, owners: Sequence[int | None]) -> list[Action]:
    """The plan without what the rules refuse, cut from the tail until the agent can afford it."""
    kept: list[Action] = []
    seen: set[tuple[str, int]] = set()
    cost = 0
    for action in plan:
        if action is None:
            continue
        kind, plot, amount = action
        if not 0 <= plot < PLOTS:
            continue
        owner = owners[plot]
        if kind == "mine":
            if not 0 <= amount <= MINING_CAP or owner != agent:
                continue
        elif amount != 1:
            continue
        elif kind == "claim":
            if owner is not None:
                continue
        elif kind == "raid":
            if owner == agent or (owner is None and TRUCE >= 1):
                continue
        elif owner != agent:  # defend
            continue
        target = (kind, plot)
        if target in seen:
            continue
        seen.add(target)
        kept.append(action)
        cost += amount
    while cost > STAMINA:
        cost -= kept.pop()[2]
    return kept


def draw_one(among: Sequence[int], seed: int, round_: int, plot: int, kind: str) -> int:
    """The winner among agents in ascending order; one alone wins without a draw."""
    if len(among) == 1:
        return among[0]
    return among[drawer(seed, round_, plot, kind)(len(among))]


def drawer(seed: int, round_: int, subject: int, kind: str) -> Below:
    """`below` for this key: each call gives the next unbiased index in 0 .. n-1."""
    key: bytes = packb([seed, round_, subject, kind])
    taken = 0

    def below(n: int) -> int:
        nonlocal taken
        limit = WORDS - WORDS % n
        while True:
            word = xxh3_64_intdigest(key, seed=taken)
            taken += 1
            if word < limit:
                return word % n

    return below


def sample(items: list[int], size: int, below: Below) -> list[int]:
    """Some of the items, by Fisher-Yates from the front; `items` changes its order."""
    size = min(size, len(items))
    for i in range(size):
        k = i + below(len(items) - i)
        items[i], items[k] = items[k], items[i]
    return items[:size]
