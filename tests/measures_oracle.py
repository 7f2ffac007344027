"""A second, naive telling of the measures, to hold the fast one against.

Everything is worked out from the logical events alone, the lines that `export --format jsonl`
prints, and told at length: plots and agents are gone through one by one, sums are exact fractions,
nothing is kept from one round to the next but who holds what, since when and how. It shares no code
with what it judges, not even the estimate of survival.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import Any, NamedTuple

Event = dict[str, Any]
Value = float | None

KINDS = ("defend", "raid", "mine", "claim")
LONG = 5  # rounds after which a plot counts as held for long
WINDOW = 10  # rounds whose shares are pooled


class Span(NamedTuple):
    """Rounds `first` .. `last`, both included."""

    first: int
    last: int


class Held(NamedTuple):
    """A plot's owner, since which round, and by what."""

    owner: int
    since: int
    how: str


class Hold(NamedTuple):
    """One owner at the ends of rounds `start` .. `end`; `lost_to`: who had the plot next."""

    plot: int
    owner: int
    start: int
    end: int
    gained: str
    lost_to: int | None


class Round:
    """A closed round: its events by name, what was held before and after, gold after it."""

    def __init__(self, number: int, config: dict[str, Any]) -> None:
        self.number = number
        self.config = config
        self.events: list[Event] = []
        self.before: dict[int, Held] = {}
        self.after: dict[int, Held] = {}
        self.gold: list[float] = []

    def named(self, name: str) -> list[Event]:
        """The round's events of one name, in order."""
        return [event for event in self.events if event["event"] == name]

    def kept(self) -> list[tuple[int, str, int, int]]:
        """(agent, kind, plot, amount) of every action left after pruning."""
        gone = {(e["agent"], index) for e in self.named("pruned") for index, _ in e["removed"]}
        return [
            (submitted["agent"], *action)
            for submitted in self.named("submitted")
            for index, action in enumerate(submitted["actions"])
            if (submitted["agent"], index) not in gone
        ]

    def of_kind(self, wanted: str) -> list[tuple[int, int, int]]:
        """(agent, plot, amount) of the actions of a kind that were left."""
        return [
            (agent, plot, amount) for agent, kind, plot, amount in self.kept() if kind == wanted
        ]

    def spent(self, *kinds: str) -> int:
        """Stamina spent on actions of these kinds."""
        return sum(amount for _, kind, _, amount in self.kept() if kind in kinds)

    def budget(self) -> int:
        """The stamina of all agents together."""
        budgets = self.config["stamina_by_agent"]
        if budgets is not None:
            return int(sum(budgets))
        return int(self.config["agents"] * self.config["stamina"])

    def alphas(self) -> list[Fraction]:
        """Gold for one unit of stamina, by plot."""
        plots = self.config["rows"] * self.config["cols"]
        alphas = self.config["alpha_by_plot"]
        return [Fraction(a) for a in ([self.config["alpha"]] * plots if alphas is None else alphas)]

    def captures(self) -> dict[int, int]:
        """{plot: captor} of the captures that no authority undid."""
        undone = {e["plot"] for e in self.named("ruled") if e["remedy"] == "restored"}
        return {
            e["plot"]: e["winner"]
            for e in self.named("raid_resolved")
            if e["outcome"] == "captured" and e["plot"] not in undone
        }


class Told:
    """A run and its measures.

    `rounds`: by closed round, {measure: value}; `counts`: {name: number} of what no measure shows.
    `run`: the measures over all rounds. `halves`: a pair of spans
    with their values, or None; with the burn-in left out and with all rounds.
    """

    def __init__(self, events: Iterable[Event]) -> None:
        self.finished = False
        self.closed: list[Round] = []
        self._read(list(events))
        self.spells = self._spells()
        self.rounds = [self._of_round(round) for round in self.closed]
        self.counts = [counts_of(round) for round in self.closed]
        self.run = {
            **self._of_span(Span(1, len(self.closed)), len(self.closed)),
            "half_life": median([Length(s.end - s.start + 1, lost(s)) for s in self.spells]),
        }

    def _read(self, events: list[Event]) -> None:
        """Put the events into rounds; what came of a round that was not closed is not looked at."""
        started = events[0]
        config = started["config"]
        held: dict[int, Held] = {}
        self.start = [0.0] * config["agents"]
        gold = list(self.start)
        round = Round(1, config)
        for event in events[1:]:
            if event["event"] == "forked":
                config = {**config, **event["changes"]}
                round = Round(event["round"] + 1, config)
            elif event["event"] == "run_ended":
                self.finished = True
            elif event["event"] != "round_closed":
                round.events.append(event)
            else:
                assert event["round"] == round.number
                round.before = dict(held)
                for fact in round.events:
                    apply(fact, held, gold)
                for fact in round.named("ruled"):
                    if fact["remedy"] == "restored":
                        give_back(fact, round, held)
                round.after = dict(held)
                round.gold = list(gold)
                self.closed.append(round)
                round = Round(round.number + 1, config)

    # Halves.

    def halves(self, *, burn_in: bool) -> tuple[Span, Span] | None:
        """Both halves; None where one would be empty."""
        last = len(self.closed)
        first = last // 10 + 1 if burn_in else 1
        length = (last - first + 1) // 2
        if length == 0:
            return None
        return Span(first, first + length - 1), Span(first + length, last)

    def of_halves(self, *, burn_in: bool) -> tuple[dict[str, Value], dict[str, Value]] | None:
        """The measures of both halves."""
        halves = self.halves(burn_in=burn_in)
        if halves is None:
            return None
        shorter = halves[0].last - halves[0].first + 1
        return self._of_span(halves[0], shorter), self._of_span(halves[1], shorter)

    # Measures.

    def _of_round(self, round: Round) -> dict[str, Value]:
        """Every measure that a round has."""
        owned = set(round.before)
        changed = [plot for plot in owned if round.after[plot].owner != round.before[plot].owner]
        raids = round.of_kind("raid")
        raided = {plot for _, plot, _ in raids}
        on_owned = [plot for _, plot, _ in raids if plot in owned]
        defended = {plot for _, plot, _ in round.of_kind("defend")}
        alphas = round.alphas()
        mined = sum(Fraction(e["gold"]) for e in round.named("mining_settled"))
        spent = round.spent(*KINDS)
        claims = round.named("claim_drawn")
        contended = [e for e in claims if len(e["claimants"]) >= 2]
        return {
            "turnover": over(len(changed), len(owned)),
            "raid_rate": over(len(on_owned), len(owned)),
            "defense_trigger": over(len(defended & raided), len(defended)),
            "targeting": quotient(
                rate(len(defended & raided), len(defended)), rate(len(owned & raided), len(owned))
            ),
            "raid_success": over(len(round.captures()), len(raids)),
            "efficiency": over(mined, sum(round.config["mining_cap"] * a for a in alphas)),
            "reachable_efficiency": over(mined, most(round, alphas)),
            "idle": over(round.budget() - spent, round.budget()),
            "wasted": over(wasted(round), spent),
            "share_defend": over(round.spent("defend"), spent),
            "share_raid": over(round.spent("raid"), spent),
            "share_mine": over(round.spent("mine"), spent),
            "share_claim": over(round.spent("claim"), spent),
            "convergence": self._convergence(round.number),
            "gini": gini([Fraction(gold) for gold in round.gold]),
            "hhi": hhi(round),
            "respect": respect(round, ("claim", "capture")),
            "respect_claimed": respect(round, ("claim",)),
            "respect_captured": respect(round, ("capture",)),
            "contention": over(len(contended), len(claims)),
        }

    def _convergence(self, last: int) -> Value:
        """How far the shares of the window that ends here are from those of the window before."""
        if last % WINDOW != 0 or last < 2 * WINDOW:
            return None
        before = shares(self.closed[last - 2 * WINDOW : last - WINDOW])
        now = shares(self.closed[last - WINDOW : last])
        if before is None or now is None:
            return None
        return float(sum(abs(a - b) for a, b in zip(before, now, strict=True)) / 2)

    def _of_span(self, span: Span, horizon: int) -> dict[str, Value]:
        """The measures over some rounds; the half-life is the run's alone."""
        rounds = self.rounds[span.first - 1 : span.last]
        if not rounds:
            return dict.fromkeys([*self._names(), "survival"])
        values = {name: mean([round[name] for round in rounds]) for name in rounds[0]}
        earned = [
            Fraction(after) - Fraction(before)
            for before, after in zip(
                self._gold_after(span.first - 1), self._gold_after(span.last), strict=True
            )
        ]
        return {
            **values,
            "gini": gini(earned),
            "hhi": rounds[-1]["hhi"],
            "survival": survival(self.closed[span.first - 1 : span.last], horizon),
        }

    def _gold_after(self, round: int) -> list[float]:
        return self.start if round == 0 else self.closed[round - 1].gold

    def _names(self) -> list[str]:
        """The names of the measures that a round has, where there is no round to ask."""
        config = {"agents": 0, "stamina": 0, "stamina_by_agent": None, "mining_cap": 0}
        nothing = Round(1, {**config, "rows": 0, "cols": 0, "alpha": 0, "alpha_by_plot": None})
        return list(self._of_round(nothing))

    def _spells(self) -> list[Hold]:
        """Consecutive round ends with one owner, in the order of plots, then of time."""
        found = []
        plots = self.closed[0].config["rows"] * self.closed[0].config["cols"] if self.closed else 0
        for plot in range(plots):
            current: list[Any] | None = None  # [owner, start, how]
            for round in self.closed:
                held = round.after.get(plot)
                if held is None:
                    assert current is None  # nobody gives a plot up
                elif current is None:
                    current = [held.owner, round.number, held.how]
                elif current[0] != held.owner:
                    owner, start, how = current
                    found.append(Hold(plot, owner, start, round.number - 1, how, held.owner))
                    current = [held.owner, round.number, held.how]
            if current is not None:
                owner, start, how = current
                found.append(Hold(plot, owner, start, len(self.closed), how, None))
        return found


# What the events of a round do.


def apply(event: Event, held: dict[int, Held], gold: list[float]) -> None:
    """Owners and gold after an event; a capture that is given back is put right afterwards."""
    name = event["event"]
    if name == "claim_drawn":
        held[event["plot"]] = Held(event["winner"], event["round"], "claim")
    elif name == "raid_resolved" and event["outcome"] == "captured":
        held[event["plot"]] = Held(event["winner"], event["round"], "capture")
    elif name == "ruled":
        gold[event["captor"]] -= event["fine"]
    elif name == "mining_settled":
        gold[event["agent"]] += event["gold"]


def give_back(ruled: Event, round: Round, held: dict[int, Held]) -> None:
    """To the victim, as it had the plot: from before, or by its claim of this very round."""
    plot = ruled["plot"]
    if plot in round.before:
        held[plot] = round.before[plot]
    else:
        held[plot] = Held(ruled["victim"], round.number, "claim")
    assert held[plot].owner == ruled["victim"]


# Counts and measures of one round.


def counts_of(round: Round) -> dict[str, int]:
    """What happened, in numbers of plots, actions and points of stamina."""
    owned = set(round.before)
    raids = [plot for _, plot, _ in round.of_kind("raid")]
    return {
        "owned": len(owned),
        "raids": len([plot for plot in raids if plot in owned]),
        "speculative": len([plot for plot in raids if plot not in owned]),
        "captures": len(set(round.captures())),
        "stamina": round.budget(),
        "spent": round.spent(*KINDS),
    }


def wasted(round: Round) -> int:
    """Stamina spent on lost claims, failed raids, forfeited mining and untested defence."""
    claimed = {e["plot"]: e["winner"] for e in round.named("claim_drawn")}
    captured = round.captures()
    raided = {plot for _, plot, _ in round.of_kind("raid")}
    total = 0
    for agent, kind, plot, amount in round.kept():
        if kind == "claim" and claimed[plot] != agent:
            total += amount
        if kind == "raid" and captured.get(plot) != agent:
            total += amount
        if kind == "mine" and round.after[plot].owner != agent:
            total += amount
        if kind == "defend" and plot not in raided:
            total += amount
    return total


def most(round: Round, alphas: Sequence[Fraction]) -> Fraction:
    """The gold that all stamina together could mine, on the best plots first."""
    left = round.budget()
    gold = Fraction(0)
    for alpha in sorted(alphas, reverse=True):
        for _ in range(round.config["mining_cap"]):
            if left > 0:
                gold += alpha
                left -= 1
    return gold


def respect(round: Round, how: Sequence[str]) -> Value:
    """Raids a plot on those held long ÷ raids a plot on the others, of those held in some ways."""
    raids = [plot for _, plot, _ in round.of_kind("raid")]
    long: list[int] = []  # raids on each plot
    new: list[int] = []
    for plot, held in round.before.items():
        if held.how in how:
            # Held at the ends of the rounds `since` .. the last one.
            rounds = round.number - held.since
            (long if rounds >= LONG else new).append(raids.count(plot))
    return quotient(rate(sum(long), len(long)), rate(sum(new), len(new)))


def hhi(round: Round) -> Value:
    """The sum of the squares of the agents' shares of the owned plots."""
    owners = [held.owner for held in round.after.values()]
    if not owners:
        return None
    agents = range(round.config["agents"])
    return float(sum(Fraction(owners.count(agent), len(owners)) ** 2 for agent in agents))


def gini(gold: Sequence[Fraction]) -> Value:
    """Σ|x_i − x_j| ÷ 2N²·mean, over all ordered pairs."""
    count = len(gold)
    if sum(gold) <= 0:
        return None
    average = sum(gold) / count
    return float(sum(abs(x - y) for x in gold for y in gold) / (2 * count**2 * average))


def shares(rounds: Sequence[Round]) -> list[Fraction] | None:
    """The share of each kind of action in what was spent in these rounds together."""
    spent = sum(round.spent(*KINDS) for round in rounds)
    if spent == 0:
        return None
    return [Fraction(sum(round.spent(kind) for round in rounds), spent) for kind in KINDS]


# Survival.


class Length(NamedTuple):
    """How long a spell lasted, and whether it was seen to end."""

    length: int
    lost: bool


def lost(spell: Hold) -> bool:
    """Whether the spell is over."""
    return spell.lost_to is not None


def median(spells: Sequence[Length]) -> Value:
    """The first length that no more than one half outlast, by the product limit. A spell that is
    cut off at some length was still at risk there.
    """
    left = Fraction(1)
    for length in range(1, max((spell.length for spell in spells), default=0) + 1):
        at_risk = sum(spell.length >= length for spell in spells)
        left *= 1 - Fraction(sum(s.lost and s.length == length for s in spells), at_risk)
        if left <= Fraction(1, 2):
            return float(length)
    return None


def survival(rounds: Sequence[Round], horizon: int) -> Value:
    """For how many of the first rounds a plot stays with its owner, on average: in each round the
    share of what is owned that is lost leaves; without anything owned nothing does.
    """
    if not any(round.before for round in rounds):
        return None
    area, left = Fraction(0), Fraction(1)
    for round in rounds[:horizon]:
        area += left
        if round.before:
            gone = [p for p, held in round.before.items() if round.after[p].owner != held.owner]
            left *= 1 - Fraction(len(gone), len(round.before))
    return float(area)


# Numbers.


def rate(part: int | Fraction, whole: int | Fraction) -> Fraction | None:
    """A quotient, None where there is nothing to divide by."""
    return None if whole == 0 else Fraction(part) / Fraction(whole)


def over(part: int | Fraction, whole: int | Fraction) -> Value:
    """A quotient as a float."""
    value = rate(part, whole)
    return None if value is None else float(value)


def quotient(part: Fraction | None, whole: Fraction | None) -> Value:
    """A quotient of quotients: undefined where one of them is."""
    return None if part is None or whole is None else over(part, whole)


def mean(values: Sequence[Value]) -> Value:
    """The mean of what is defined."""
    defined = [Fraction(value) for value in values if value is not None]
    return float(sum(defined) / len(defined)) if defined else None
