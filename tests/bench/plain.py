"""The floor: the gold-mining world as a plain Python loop, with no events, no journal and no log.

Recording a run with the kernel is compared with `run`. The two obey the same rules, with the same
policy (`greedy-mine` for every agent) in the default configuration, and end with the same owners
and the same gold to the last bit; what the kernel costs beyond this is the price of having a
journal. It is fair because every rule of that configuration is here, also those that greedy
miners never exercise (defence, malformed and over-budget plans, a truce), and because the loop
is written as one would write it to be quick without being clever: mutable lists and dictionaries,
an index of who holds what that is touched only when an owner changes, tuples for actions.

Left out on both sides of the comparison or by the configuration: authority, messages and pointwise
defence, which the default turns off. Left out here alone: events, checksums, digests, and the
public record that observations and measures are read from, since nothing in this loop reads one.
"""

from bisect import insort
from collections.abc import Callable, Sequence
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

Action = tuple[str, int, int]  # kind, plot, amount


def run(seed: int, rounds: int = 200, agents: int = 10) -> tuple[list[int | None], list[float]]:
    """The owner of every plot (None: nobody) and the gold of every agent after the last round."""
    owners: list[int | None] = [None] * PLOTS
    truce_ends = [0] * PLOTS  # the first round in which the plot can be raided
    gold = [0.0] * agents
    alpha = [ALPHA] * PLOTS
    # Plots are mined by alpha descending, then id; holdings are kept in that order.
    richest_first = sorted(range(PLOTS), key=lambda plot: (-alpha[plot], plot))
    rank = [0] * PLOTS
    for position, plot in enumerate(richest_first):
        rank[plot] = position
    rank_of = rank.__getitem__
    holdings: list[list[int]] = [[] for _ in range(agents)]

    for round_ in range(1, rounds + 1):
        claims: dict[int, list[int]] = {}
        raids: dict[int, list[int]] = {}
        defended: set[int] = set()
        allocations: dict[int, tuple[int, int]] = {}  # only its owner can mine a plot: one each

        # Step 0: everyone plans on the state at round start, then plans are cleaned and pruned.
        # Nothing changes hands meanwhile, so an agent's plan can be sorted out at once.
        for agent in range(agents):
            plan = greedy_mine(seed, round_, agent, owners, holdings[agent])
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
            insort(holdings[winner], plot, key=rank_of)
            truce_ends[plot] = round_ + TRUCE

        # Step 2: raids, against the owner after step 1.
        for plot in sorted(raids):
            owner = owners[plot]
            if owner is None:
                continue
            raiders = [agent for agent in raids[plot] if agent != owner]
            if not raiders or round_ < truce_ends[plot] or plot in defended:
                continue
            winner = draw_one(raiders, seed, round_, plot, "raid")
            owners[plot] = winner
            holdings[owner].remove(plot)
            insort(holdings[winner], plot, key=rank_of)

        # Step 3: mining, for whoever declared it and still owns the plot.
        for plot in sorted(allocations):
            agent, amount = allocations[plot]
            if owners[plot] == agent:
                gold[agent] += amount * alpha[plot]

    return owners, gold


def greedy_mine(
    seed: int, round_: int, agent: int, owners: Sequence[int | None], own: Sequence[int]
) -> list[Action | None]:
    """Mine own plots, richest first; with what is left claim plots; with what is left raid."""
    plan: list[Action | None] = []
    left = STAMINA
    for plot in own:
        if left <= MINING_CAP:
            plan.append(("mine", plot, left))
            return plan
        plan.append(("mine", plot, MINING_CAP))
        left -= MINING_CAP
    below = drawer(seed, round_, agent, "policy")
    unowned = [plot for plot, owner in enumerate(owners) if owner is None]
    shuffle(unowned, below)
    plan += [("claim", plot, 1) for plot in unowned[:left]]
    left -= min(left, len(unowned))
    if left:
        others = [plot for plot, owner in enumerate(owners) if owner is not None and owner != agent]
        shuffle(others, below)
        plan += [("raid", plot, 1) for plot in others[:left]]
    return plan


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


def drawer(seed: int, round_: int, subject: int, kind: str) -> Callable[[int], int]:
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


def shuffle(items: list[int], below: Callable[[int], int]) -> None:
    """Fisher-Yates from the top, in place."""
    for j in range(len(items) - 1, 0, -1):
        k = below(j + 1)
        items[j], items[k] = items[k], items[j]
