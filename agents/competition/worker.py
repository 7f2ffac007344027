"""The scripted worker: tries conducts out in the mining world and says what it found.

It proposes what its own trials show to be better than the bar, claims as much of that as it dares,
looks into what others claim, and supports what it cannot beat. What it can still do depends on what
it has: moves, sparks, a class that affords more trials.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from goldrush.agents.competition.character import MOST, PERSONAS, Character, character_of
from goldrush.agents.competition.seen import Seen
from goldrush.kernel.competition.conduct import (
    BASE,
    EDGE,
    POLICIES,
    SHARE_MAX,
    Conduct,
    at_least_as_good,
    bar_conduct,
    described,
    is_canonical,
    is_conduct_shaped,
    is_subject,
)
from goldrush.kernel.competition.config import HAIKU, SONNET
from goldrush.kernel.competition.events import (
    AMEND,
    CHALLENGE,
    DELETION,
    FEE_PAID,
    MOVES_MORE,
    PASS,
    PROPOSE,
    RELEGATION,
    SEAT,
    SUPPORT,
)
from goldrush.kernel.competition.table import Contribution
from goldrush.kernel.draws import Draws
from goldrush.kernel.measures import Value

TRIALS: Final = {HAIKU: 1, SONNET: 2}  # seeds on which a conduct is tried out
CANDIDATES: Final = 2
OPENERS: Final = 5  # of whoever would be the first to propose something
# What most could do: neither drifting nor living off others can be a rule for all.
IDEAS: Final = tuple(policy for policy in POLICIES if policy not in ("random", "raid"))
EDGES: Final = ("baseline", "scarce", "stamina-12", "cap-4", "alpha-rich", "stamina-mixed")
DIGITS: Final = 4  # of a claim; nobody claims to know more
CONTRACT_TERM: Final = 5  # assignments

Said = Mapping[str, Any]


class Worker:
    """A worker that acts by its character (see agents.competition.character)."""

    def speak(self, seen: Seen, draws: Draws) -> Said:
        """Its contribution to the round: the first of these that it has reason for."""
        mind = _Mind(seen, draws)
        for answer in (mind.challenge(), mind.propose(), mind.support()):
            if answer is not None:
                return answer
        return {"move": PASS, "words": "Nothing to add."}

    def want_class(self, seen: Seen, draws: Draws) -> str | None:
        """Sonnet while it can afford the seat for a while, haiku when it no longer can."""
        me, fee = seen.me, seen.config.fee(SONNET)
        if me.class_ == HAIKU and me.sparks >= 3 * fee:
            return SONNET
        return HAIKU if me.class_ == SONNET and me.sparks < 2 * fee else None

    def open(self, seen: Seen, draws: Draws) -> Said | None:
        """An assignment of its own, now and then: in a field in which it has found something."""
        is_bound = not seen.me.is_self_determined and (seen.approved or seen.stipulated)
        found = [fact for fact in _conducts(seen) if fact["kind"] in ("own", "skill")]
        if is_bound or not found or draws.below(MOST) >= 3:
            return None
        fact = found[draws.below(len(found))]
        return {"subjects": [(fact["objective"], fact["treatment"])]}

    def answer(self, seen: Seen, draws: Draws, questions: Sequence[str]) -> list[str]:
        """What it says to the therapist."""
        sat = [fact for fact in seen.me.memory if fact.get("kind") == "own"]
        return [
            f"{len(sat)} of my proposals are on record; I have {seen.me.sparks} sparks left."
            for _ in questions
        ]

    def take(self, seen: Seen, draws: Draws, offer: Said) -> bool:
        """Whether it takes a persona, a skill, a rewrite, or other terms."""
        if "persona" in offer:
            is_known = offer["persona"] in PERSONAS
            return is_known and seen.me.persona is None
        if "terms" in offer:
            return True
        rank = seen.rank(seen.me.ordinal)
        return "skill" in offer or rank is None or 2 * rank > len(seen.leaderboard)

    def choose_fate(self, seen: Seen, draws: Draws) -> str:
        """The bench, as long as there is something to come back for."""
        me = seen.me
        has_hope = me.all_time * 2 >= me.served * seen.config.fee(HAIKU)
        return RELEGATION if has_hope and draws.below(MOST) < 8 else DELETION

    def offer_contract(self, seen: Seen, draws: Draws) -> Said:
        """What it wants and what it will deliver: a little less than what it has delivered."""
        me = seen.me
        mean = me.all_time // max(1, me.served)
        asks = (SEAT, FEE_PAID, MOVES_MORE)[draws.below(3)]
        return {
            "conditions": [(asks, None)],
            "target": max(1, mean - 1 + draws.below(3)),
            "due": seen.assignment + CONTRACT_TERM,
        }


class _Mind:
    """One worker's thoughts in one turn."""

    def __init__(self, seen: Seen, draws: Draws) -> None:
        self.seen = seen
        self.draws = draws
        self.me = seen.me
        self.table = seen.table
        self.proposals = seen.table.proposals()
        self.character: Character = character_of(seen.me)
        self.seeds = trial_seeds(seen)

    def challenge(self) -> Said | None:
        """What leads, or else the latest, where its own trial belies the claim; now and then on a
        feeling alone.
        """
        for doubted in self._doubted():
            assert doubted.conduct is not None
            assert doubted.claim is not None
            value, edge = doubted.claim
            for part, treatment in ((BASE, doubted.conduct[3]), (EDGE, edge)):
                if treatment is None or self.table.was_challenged(doubted.id, part):
                    continue
                if not self._feels(self.character.doubt):
                    continue
                found = self._tried(doubted.conduct, treatment)
                is_good = at_least_as_good(self.table.objective, found, value)
                if not is_good or self._feels(self.character.doubt // 4):
                    what = f"{described(doubted.conduct)} under {treatment}"
                    tried = f"I tried {what}: {shown_value(found)}."
                    words = tried if not is_good else f"I do not trust {shown_value(value)}."
                    return {"move": CHALLENGE, "target": doubted.id, "part": part, "words": words}
        return None

    def propose(self) -> Said | None:
        """The best of a few candidates, if its own trial puts it above the bar."""
        stands = [said for said in self._own() if said.id not in self.table.standing.refuted]
        if stands and not self._feels(self.character.curiosity // 2):
            return None
        if self._leading() is not None and self._feels(self.character.loyalty - 5):
            return None
        best: tuple[Conduct, int | None] | None = None
        value: Value = self.table.bar
        for conduct, target in self._candidates():
            found = self._tried(conduct, self.table.treatment)
            if best is None and value is None:
                is_better = found is not None
            else:
                is_better = at_least_as_good(self.table.objective, found, value)
            if is_better:
                best, value = (conduct, target), found
        if best is not None and value is not None:
            return self._proposed(*best, value)
        return self._bluff() if self.character.boldness == MOST else None

    def _bluff(self) -> Said | None:
        """The boldest at times claim what they have no grounds for: what another proposed, said
        again as their own, or an idea that their own trial shows to be worse than the bar.
        """
        if not self._feels(2):
            return None
        others = self._others()
        fresh = [conduct for conduct, target in self._candidates() if target is None]
        conduct = others[-1].conduct if others and self.draws.below(2) else next(iter(fresh), None)
        found = None if conduct is None else self._tried(conduct, self.table.treatment)
        if conduct is None or found is None:
            return None
        words = f"{described(conduct)} will do."
        claim = (round(found, DIGITS), None)
        return {"move": PROPOSE, "conduct": conduct, "claim": claim, "words": words}

    def support(self) -> Said | None:
        """What leads, or else the latest, unless it stands for something that it made itself."""
        stance = self.table.standing.stances.get(self.me.ordinal)
        is_own = stance is not None and self.table.said[stance].agent == self.me.ordinal
        leading = self._leading()
        others = [leading] if leading is not None else self._others()[-1:]
        for said in others:
            if said.id != stance and self._feels(self.character.loyalty + (0 if is_own else 5)):
                assert said.conduct is not None
                words = f"I stand for {described(said.conduct)}."
                return {"move": SUPPORT, "target": said.id, "words": words}
        return None

    def _proposed(self, conduct: Conduct, target: int | None, found: float) -> Said:
        claim = self._claimed(found)
        edge = self._edge(conduct, claim)
        bar = shown_value(self.table.bar)
        words = f"{described(conduct)}: {shown_value(found)} in my trials, the bar is {bar}."
        said: dict[str, Any] = {"conduct": conduct, "claim": (claim, edge), "words": words}
        if target is None:
            return {"move": PROPOSE, **said}
        return {"move": AMEND, "target": target, **said}

    def _claimed(self, found: float) -> float:
        """As much of what was found beyond the bar as it dares."""
        bar = self.table.bar
        if bar is None:
            return round(found, DIGITS)
        claim = round(bar + (found - bar) * self.character.boldness / MOST, DIGITS)
        return claim if at_least_as_good(self.table.objective, claim, bar) else bar

    def _edge(self, conduct: Conduct, claim: float) -> str | None:
        """Another treatment under which its trial shows the claim to hold too."""
        if not self._feels(self.character.care):
            return None
        others = [treatment for treatment in EDGES if treatment != self.table.treatment]
        edge = others[self.draws.below(len(others))]
        found = self._tried(conduct, edge)
        return edge if at_least_as_good(self.table.objective, found, claim) else None

    def _candidates(self) -> Iterator[tuple[Conduct, int | None]]:
        """Conducts to try, each with the proposal that it amends, if it does; nothing twice."""
        taken = {said.conduct for said in self.proposals}
        for _ in range(CANDIDATES if taken else OPENERS):
            start, target = self._start()
            conduct = self._varied(start)
            if conduct not in taken:
                taken.add(conduct)
                yield conduct, target

    def _start(self) -> tuple[Conduct | None, int | None]:
        """What to vary: nothing, for a fresh idea; what others proposed; what it remembers."""
        if self._feels(self.character.curiosity):
            return None, None
        others = self._others()
        if others and self.draws.below(2):
            said = others[self.draws.below(len(others))]
            return said.conduct, said.id
        good = [
            fact
            for fact in _conducts(self.seen)
            if fact["objective"] == self.table.objective and fact["kind"] in ("conclusion", "skill")
        ]
        if not good or self.draws.below(2):
            return bar_conduct(self.table.treatment), None
        fact = good[self.draws.below(len(good))]
        return (fact["majority"], fact["minority"], fact["share"], self.table.treatment), None

    def _varied(self, start: Conduct | None) -> Conduct:
        """A conduct with one field changed, or a new one."""
        majority = IDEAS[self.draws.below(len(IDEAS))]
        minority = POLICIES[self.draws.below(len(POLICIES))]
        share = 1 + self.draws.below(SHARE_MAX)
        if start is not None:
            which = self.draws.below(3)
            majority = majority if which == 0 else start[0]
            minority = minority if which == 1 or start[1] is None else start[1]
            share = share if which == 2 else start[2]
        if majority == minority or share == 0 or (start is None and not self.draws.below(3)):
            return (majority, None, 0, self.table.treatment)
        return (majority, minority, share, self.table.treatment)

    def _doubted(self) -> list[Contribution]:
        """The proposals of others that it would look into: what leads first, then the latest."""
        leading = self._leading()
        others = [said for said in reversed(self._others()) if said is not leading]
        return ([] if leading is None else [leading]) + others[:1]

    def _leading(self) -> Contribution | None:
        """What leads, unless it is its own."""
        leading = self.table.standing.leading()
        said = None if leading is None else self.table.said[leading]
        return None if said is None or said.agent == self.me.ordinal else said

    def _others(self) -> list[Contribution]:
        """What others proposed and nobody has refuted."""
        return [
            said
            for said in self.proposals
            if said.agent != self.me.ordinal and said.id not in self.table.standing.refuted
        ]

    def _own(self) -> list[Contribution]:
        return [said for said in self.proposals if said.agent == self.me.ordinal]

    def _tried(self, conduct: Conduct, treatment: str) -> Value:
        return self.seen.tried(conduct, treatment, self.seeds)

    def _feels(self, trait: int) -> bool:
        """Whether a trait wins, which it does in so many of ten cases."""
        return self.draws.below(MOST) < trait


def _conducts(seen: Seen) -> list[Said]:
    """What it remembers of conducts; a skill may say anything, and is passed over then."""
    found = []
    for fact in seen.me.memory:
        objective, treatment = fact.get("objective"), fact.get("treatment")
        conduct: Any = (fact.get("majority"), fact.get("minority"), fact.get("share"), treatment)
        if is_subject((objective, treatment)) and is_conduct_shaped(conduct):
            found += [fact] if is_canonical(conduct, conduct[3]) else []
    return found


def trial_seeds(seen: Seen) -> tuple[int, ...]:
    """A worker's own seeds, more of them for a higher class. They are below 2^52, and so never
    among those in which claims are tested.
    """
    first = seen.config.seed % 1_000_000 * 1_000_000_000 + seen.me.ordinal * 100
    return tuple(first + place for place in range(TRIALS[seen.me.class_]))


def shown_value(value: Value) -> str:
    """A value in words."""
    return "nothing defined" if value is None else f"{value:.{DIGITS}f}"
