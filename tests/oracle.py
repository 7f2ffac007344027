"""A second, naive telling of the mining rules, to hold the fast one against.

Every rule stands here once, in the order it is applied, over plain lists and dicts. Nothing is
cached, packed or shared with the implementation under test: where the two differ, one of them has
misread the rules, and this one is short enough to be checked by eye.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import msgpack  # type: ignore[import-untyped]  # it ships no types
import xxhash

Action = tuple[str, int, int] | None
Done = tuple[str, int, int]
Event = dict[str, Any]

WORD_RANGE = 2**64
KINDS = ("defend", "mine", "claim", "raid")


class Capture(NamedTuple):
    """A raid that took a plot, and all that is needed to undo it."""

    plot: int
    captor: int
    victim: int
    since: int | None
    how: str | None


class Oracle:
    """The world between two rounds; `play` moves it on by one."""

    def __init__(self, config: dict[str, Any], rules: int = 2) -> None:
        self.config = config
        self.rules = rules
        self.plots: int = config["rows"] * config["cols"]
        self.agents: int = config["agents"]
        self.round = 0
        self.owner: list[int | None] = [None] * self.plots
        self.since: list[int | None] = [None] * self.plots
        self.how: list[str | None] = [None] * self.plots
        self.gold: list[float] = [0.0] * self.agents
        self.spent = [dict.fromkeys(KINDS, 0) for _ in range(self.agents)]
        self.last_raids: list[Event] = []

    def play(self, plans: Sequence[Sequence[Action]]) -> list[Event]:
        """Resolve the next round; the events derived from the plans, in journal order."""
        if len(plans) != self.agents:
            raise ValueError(f"{len(plans)} plans for {self.agents} agents")
        self.round += 1
        kept: list[list[Done]] = []
        pruned: list[Event] = []
        for agent, plan in enumerate(plans):
            actions, removed = self.prune(agent, plan)
            kept.append(actions)
            for kind, _, amount in actions:
                self.spent[agent][kind] += amount
            if removed:
                cost = sum(amount for _, _, amount in actions)
                pruned.append(self.event("pruned", agent=agent, removed=removed, cost=cost))
        claims = self.resolve_claims(kept)
        raids, captures = self.resolve_raids(kept)
        rulings = self.rule_on(captures)
        settlements = self.settle_mining(kept)
        self.last_raids = raids
        return pruned + claims + raids + rulings + settlements

    # Constants of a plot or an agent.

    def stamina_of(self, agent: int) -> int:
        """The budget of one agent in every round."""
        budgets = self.config["stamina_by_agent"]
        return int(self.config["stamina"] if budgets is None else budgets[agent])

    def alpha_of(self, plot: int) -> float:
        """Gold for one unit of stamina mined on this plot."""
        alphas = self.config["alpha_by_plot"]
        return float(self.config["alpha"] if alphas is None else alphas[plot])

    # Step 0: pruning.

    def prune(self, agent: int, plan: Sequence[Action]) -> tuple[list[Done], list[list[Any]]]:
        """What is left of a plan, and what went: first single faults, then the tail by budget."""
        kept: list[tuple[int, Done]] = []
        removed: list[list[Any]] = []
        for index, action in enumerate(plan):
            reason = self.fault(agent, action, [earlier for _, earlier in kept])
            if reason is not None:
                removed.append([index, reason])
            else:
                assert action is not None
                kept.append((index, action))
        # Whatever stands last goes, even a mine of 0 that saves nothing: the order of the plan
        # alone says what matters least.
        while sum(amount for _, (_, _, amount) in kept) > self.stamina_of(agent):
            index, _ = kept.pop()
            removed.append([index, "budget"])
        return [action for _, action in kept], sorted(removed)

    def fault(self, agent: int, action: Action, kept: list[Done]) -> str | None:
        """The first thing wrong with an action at the start of the round, None if nothing is."""
        if action is None:
            return "malformed"
        kind, plot, amount = action
        if not 0 <= plot < self.plots:
            return "off-grid"
        if not self.amount_allowed(kind, amount):
            return "bad-amount"
        owner = self.owner[plot]
        if kind in ("defend", "mine") and owner != agent:
            return "not-owner"
        if kind == "claim" and owner is not None:
            return "already-owned"
        if kind == "raid" and owner == agent:
            return "own-plot"
        if kind == "raid" and owner is None and self.config["truce"] >= 1:
            return "unowned"
        if any((kind, plot) == (other_kind, other_plot) for other_kind, other_plot, _ in kept):
            return "duplicate"
        return None

    def amount_allowed(self, kind: str, amount: int) -> bool:
        """Whether this kind of action may have this amount (which is also its cost)."""
        if kind == "mine":
            return 0 <= amount <= int(self.config["mining_cap"])
        if kind == "defend" and self.config["defense"] == "pointwise":
            return amount >= 1
        if kind in ("defend", "claim", "raid"):
            return amount == 1
        raise ValueError(f"unknown kind of action: {kind!r}")

    # Step 1: claims.

    def resolve_claims(self, kept: list[list[Done]]) -> list[Event]:
        """Each claimed plot goes to one of its claimants, each with the same chance."""
        events = []
        for plot, claimants in by_plot(kept, "claim"):
            words = self.words(plot, "claim")
            winner = words.one_of(claimants)
            self.hold(plot, winner, self.round, "claim")
            events.append(
                self.event(
                    "claim_drawn",
                    plot=plot,
                    claimants=claimants,
                    winner=winner,
                    words=words.as_hex(),
                )
            )
        return events

    # Step 2: raids.

    def resolve_raids(self, kept: list[list[Done]]) -> tuple[list[Event], list[Capture]]:
        """Each raided plot stands or falls by its owner after the claims."""
        events = []
        captures = []
        for plot, raiders in by_plot(kept, "raid"):
            owner = self.owner[plot]
            points = 0 if owner is None else amount_on(kept[owner], "defend", plot)
            words = self.words(plot, "raid")
            outcome, winner = self.raid_outcome(plot, raiders, points, words)
            if winner is not None:
                assert owner is not None
                captures.append(Capture(plot, winner, owner, self.since[plot], self.how[plot]))
                self.hold(plot, winner, self.round, "capture")
            events.append(
                self.event(
                    "raid_resolved",
                    plot=plot,
                    owner=owner,
                    raiders=raiders,
                    defense=points,
                    outcome=outcome,
                    winner=winner,
                    words=words.as_hex(),
                )
            )
        return events, captures

    def raid_outcome(
        self, plot: int, raiders: list[int], points: int, words: Words
    ) -> tuple[str, int | None]:
        """The outcome on one plot, and who takes it if anybody does."""
        owner = self.owner[plot]
        if owner is None:
            return "void", None
        rivals = [raider for raider in raiders if raider != owner]
        if not rivals:
            return "void", None
        if self.in_truce(plot):
            return "truce", None
        if points == 0:
            return "captured", words.one_of(rivals)
        if self.config["defense"] == "absolute" or len(rivals) <= points:
            return "blocked", None
        # One point stops one raider; the first who meets no point takes the plot.
        return "captured", words.shuffle(rivals)[points]

    def in_truce(self, plot: int) -> bool:
        """Whether the plot was claimed, not captured, at most `truce` rounds ago, this one too."""
        since = self.since[plot]
        if since is None or self.how[plot] != "claim":
            return False
        return self.round <= since + int(self.config["truce"]) - 1

    # Authority, between raids and mining.

    def rule_on(self, captures: list[Capture]) -> list[Event]:
        """Each capture is detected by chance, and then undone or fined."""
        authority = self.config["authority"]
        if authority == "none":
            return []
        events = []
        for capture in captures:
            words = self.words(capture.plot, "authority")
            detected = words.chance(self.config["detection"])
            remedy = None
            fine = 0.0
            if detected and authority == "adjudicate":
                remedy = "restored"
                self.hold(capture.plot, capture.victim, capture.since, capture.how)
            elif detected:
                # What an earlier ruling of the round took is gone; this round's mining is not in.
                remedy = "fined"
                fine = float(min(self.config["fine"], self.gold[capture.captor]))
                self.gold[capture.captor] -= fine
            events.append(
                self.event(
                    "ruled",
                    plot=capture.plot,
                    captor=capture.captor,
                    victim=capture.victim,
                    detected=detected,
                    remedy=remedy,
                    fine=fine,
                    words=words.as_hex(),
                )
            )
        return events

    # Step 3: mining.

    def settle_mining(self, kept: list[list[Done]]) -> list[Event]:
        """Stamina laid on a plot pays only the agent that laid it and still holds the plot."""
        events = []
        for plot, miners in by_plot(kept, "mine"):
            (agent,) = miners
            stamina = amount_on(kept[agent], "mine", plot)
            if stamina == 0:
                continue
            gold = stamina * self.alpha_of(plot) if self.owner[plot] == agent else 0.0
            self.gold[agent] += gold
            events.append(
                self.event("mining_settled", plot=plot, agent=agent, stamina=stamina, gold=gold)
            )
        return events

    # Small helpers.

    def hold(self, plot: int, agent: int, since: int | None, how: str | None) -> None:
        """Write down who holds a plot, since which round and by which means."""
        self.owner[plot] = agent
        self.since[plot] = since
        self.how[plot] = how

    def words(self, plot: int, kind: str) -> Words:
        """The draw that belongs to this plot and purpose in this round."""
        return Words([self.config["seed"], self.round, plot, kind])

    def event(self, name: str, **fields: Any) -> Event:
        """An event of this round: its name, the round, then the fields as given."""
        return {"event": name, "round": self.round, **fields}


def by_plot(kept: list[list[Done]], wanted: str) -> list[tuple[int, list[int]]]:
    """The plots that an action of this kind aims at, ascending, with the agents, ascending."""
    agents: dict[int, list[int]] = {}
    for agent, actions in enumerate(kept):
        for kind, plot, _ in actions:
            if kind == wanted:
                agents.setdefault(plot, []).append(agent)
    return sorted(agents.items())


def amount_on(actions: Iterable[Done], wanted: str, target: int) -> int:
    """What a plan puts on a plot by actions of one kind."""
    return sum(amount for kind, plot, amount in actions if (kind, plot) == (wanted, target))


def scripted(oracle: Oracle, policy: str, agent: int) -> list[tuple[str, int, int]]:
    """The plan of a scripted policy for the round after the last closed one."""
    draft = Draft(oracle, agent)
    half = draft.budget // 2
    if policy == "random":
        draft.at_random()
    elif policy == "greedy-mine":
        draft.mine()
        draft.claim(draft.left)
        draft.raid(draft.left)
    elif policy == "defend-then-mine":
        draft.defend(draft.own, draft.left)
        draft.mine()
        draft.claim(draft.left)
        draft.raid(draft.left)
    elif policy == "tit-for-tat-raid":
        draft.retaliate()
        draft.mine()
        draft.claim(draft.left)
    elif policy == "claim":
        draft.claim(half)
        draft.mine()
        draft.claim(draft.left)
        draft.defend(draft.own, draft.left)
    elif policy == "raid":
        draft.raid(half, speculate=True)
        draft.mine()
        draft.claim(draft.left)
        draft.raid(draft.left, speculate=True)
    elif policy == "defend":
        draft.defend(draft.own, half)
        draft.mine()
        draft.claim(draft.left)
    elif policy == "mine":
        draft.mine()
        draft.defend(sorted(draft.targets("mine")), draft.left)
        # Claims of this very plan count as owned: the policy fills up to what it can use and no
        # further. Were only today's plots counted, it would claim with all it has, then stop.
        usable = -(-draft.budget // draft.cap)
        draft.claim(usable - len(draft.own))
    else:
        raise ValueError(f"not a scripted policy: {policy!r}")
    return draft.actions


class Draft:
    """A plan in the making: what is in it, what may still be spent, the agent's draws."""

    def __init__(self, oracle: Oracle, agent: int) -> None:
        self.oracle = oracle
        self.agent = agent
        self.budget = oracle.stamina_of(agent)
        self.left = self.budget
        self.cap = int(oracle.config["mining_cap"])
        self.actions: list[Done] = []
        self.words = Words([oracle.config["seed"], oracle.round + 1, agent, "policy"])
        owner = oracle.owner
        self.own = [p for p in range(oracle.plots) if owner[p] == agent]
        self.unowned = [p for p in range(oracle.plots) if owner[p] is None]
        self.others = [p for p in range(oracle.plots) if owner[p] not in (agent, None)]

    def add(self, kind: str, plot: int, amount: int) -> None:
        """Append an action that the rest of the budget can pay."""
        assert 1 <= amount <= self.left
        self.actions.append((kind, plot, amount))
        self.left -= amount

    def targets(self, wanted: str) -> list[int]:
        """The plots that this plan already uses in one way, in plan order."""
        return [plot for kind, plot, _ in self.actions if kind == wanted]

    def unused(self, kind: str, plots: list[int]) -> list[int]:
        """Those of some plots that this plan does not yet use in this way, in the same order."""
        return [plot for plot in plots if plot not in self.targets(kind)]

    def pick(self, kind: str, candidates: list[int], limit: int) -> None:
        """Sample the candidates and act, for 1 each, on as many as allowed.

        Rules 1 shuffled them all and took those in front. Where nothing may be spent nothing is
        picked, so no word is taken. That shows only where a later step still draws: a first half of
        0 (a budget of 1) leaves the first words to the second pick.
        """
        count = min(limit, self.left)
        if count <= 0:
            return
        if self.oracle.rules == 1:
            picked = self.words.shuffle(candidates)[:count]
        else:
            picked = self.words.sample(candidates, count)
        for plot in picked:
            self.add(kind, plot, 1)

    def mine(self) -> None:
        """Mine own plots, richest first, lower id first among equals, each up to the cap."""
        for plot in sorted(self.own, key=lambda p: (-self.oracle.alpha_of(p), p)):
            if self.left > 0:
                self.add("mine", plot, min(self.cap, self.left))

    def defend(self, plots: list[int], limit: int) -> None:
        """Defend plots in the order given, 1 each, with at most `limit` stamina; no draw."""
        for plot in plots[: max(0, min(limit, self.left))]:
            self.add("defend", plot, 1)

    def claim(self, limit: int) -> None:
        """Claim plots that nobody owns, with at most `limit` stamina."""
        self.pick("claim", self.unused("claim", self.unowned), limit)

    def raid(self, limit: int, speculate: bool = False) -> None:
        """Raid plots of others, with at most `limit` stamina.

        A speculating policy turns to unowned plots when, without a truce, no plot of another's is
        left that this plan does not raid yet. It never mixes the two in one pick, and whether it
        also claims a plot it raids is not looked at: the two are different uses.
        """
        candidates = self.unused("raid", self.others)
        if not candidates and speculate and self.oracle.config["truce"] == 0:
            candidates = self.unused("raid", self.unowned)
        self.pick("raid", candidates, limit)

    def retaliate(self) -> None:
        """Answer every raid of last round against an own plot with one on a plot of the raider's.

        An agent that claimed a plot and raided it too is among the raiders of its own plot. It did
        not suffer that raid, and a raid on itself would be pruned, so it is passed over.
        """
        for event in self.oracle.last_raids:
            if event["owner"] != self.agent:
                continue
            for raider in event["raiders"]:
                if raider == self.agent:
                    continue
                theirs = [plot for plot in self.others if self.oracle.owner[plot] == raider]
                self.pick("raid", self.unused("raid", theirs), 1)

    def at_random(self) -> None:
        """Unit by unit: draw a possible kind of action, then one of its targets.

        Both draws take a word even where there is one choice only.
        """
        while self.left > 0:
            below_cap = [p for p in self.own if amount_on(self.actions, "mine", p) < self.cap]
            choices = [
                ("defend", self.unused("defend", self.own)),
                ("mine", below_cap),
                ("claim", self.unused("claim", self.unowned)),
                ("raid", self.unused("raid", self.others)),
            ]
            possible = [(kind, plots) for kind, plots in choices if plots]
            if not possible:
                return
            kind, plots = possible[self.words.below(len(possible))]
            plot = plots[self.words.below(len(plots))]
            if kind == "mine" and plot in self.targets("mine"):
                self.one_more_on(plot)
            else:
                self.add(kind, plot, 1)

    def one_more_on(self, target: int) -> None:
        """Raise the plan's mine on this plot by one unit, where it stands."""
        for index, (kind, plot, amount) in enumerate(self.actions):
            if (kind, plot) == ("mine", target):
                self.actions[index] = (kind, plot, amount + 1)
                self.left -= 1
                return
        raise ValueError(f"no mine on plot {target} in this plan")


class Words:
    """One keyed sequence of 64-bit words, and those taken from it so far."""

    def __init__(self, key_parts: Sequence[int | str]) -> None:
        self.key_parts = key_parts
        self.taken: list[int] = []

    def next(self) -> int:
        """Take one word."""
        taken = word(self.key_parts, len(self.taken))
        self.taken.append(taken)
        return taken

    def below(self, n: int) -> int:
        """An index under n, without bias: words from the incomplete last block are passed over."""
        limit = WORD_RANGE - WORD_RANGE % n
        drawn = self.next()
        while drawn >= limit:
            drawn = self.next()
        return drawn % n

    def one_of(self, participants: list[int]) -> int:
        """The winner among participants; a single one wins without a word."""
        if len(participants) == 1:
            return participants[0]
        return participants[self.below(len(participants))]

    def shuffle(self, items: Sequence[int]) -> list[int]:
        """A shuffled copy: from the last place down, swap with a place at or before it."""
        shuffled = list(items)
        for j in range(len(shuffled) - 1, 0, -1):
            other = self.below(j + 1)
            shuffled[j], shuffled[other] = shuffled[other], shuffled[j]
        return shuffled

    def sample(self, items: Sequence[int], count: int) -> list[int]:
        """The first places of a copy after: from the first place up, swap with one not before it.

        Only for as many places as are wanted, and there are.
        """
        swapped = list(items)
        for i in range(min(count, len(items))):
            other = i + self.below(len(items) - i)
            swapped[i], swapped[other] = swapped[other], swapped[i]
        return swapped[:count]

    def chance(self, q: float) -> bool:
        """True with probability q; takes one word whatever q is."""
        return self.next() < int(q * WORD_RANGE)

    def as_hex(self) -> list[str]:
        """The words taken, as an event shows them."""
        return [f"{taken:016x}" for taken in self.taken]


def word(key_parts: Sequence[int | str], i: int) -> int:
    """The i-th 64-bit word under a key."""
    key = msgpack.packb(list(key_parts))
    return xxhash.xxh3_64_intdigest(key, seed=i)
