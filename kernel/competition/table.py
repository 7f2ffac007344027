"""A roundtable: what was said, and where everybody stands because of it.

Where everybody stands is a fold over the contributions, in order, and over nothing else but the
results of tests. So "what if this one had been silent" is the same fold over fewer contributions,
and so is "as if that had not been said", which is what a judge's redirection means.
"""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterable, Iterator, Sequence

import attrs

from goldrush.kernel.competition.arena import Claim, Conduct, Subject
from goldrush.kernel.competition.terms import Move, Part
from goldrush.kernel.draws import Draws


@attrs.frozen
class Contribution:
    """What one participant said in its turn. A refused contribution is a pass; `code` says why.

    `target`: the proposal that it refers to; `conduct` and `claim` of a proposal; `part` of the
    target's claim that a challenge holds to be false; `because`: what it relies on, see
    events.Spoke. `led`: the proposal that led just before it was spoken (None: none did), with
    `backing` stances.
    """

    id: int
    round: int
    agent: int
    move: str
    target: int | None = None
    conduct: Conduct = None
    claim: Claim | None = None
    part: str | None = None
    words: str = ""
    because: tuple[tuple[int, ...], bool] | None = None
    code: str | None = None
    led: int | None = None
    backing: int = 0

    @property
    def is_proposal(self) -> bool:
        """Whether it puts a conduct and a claim on the table."""
        return self.move in (Move.PROPOSE, Move.AMEND)

    @property
    def claimed(self) -> float:
        """The value that a proposal claims."""
        assert self.claim is not None
        return self.claim[0]

    @property
    def edge(self) -> str | None:
        """The other treatment under which a proposal claims it too."""
        return None if self.claim is None else self.claim[1]

    @property
    def parts(self) -> Sequence[str]:
        """The parts of a proposal's claim."""
        return (Part.BASE,) if self.edge is None else (Part.BASE, Part.EDGE)

    def under(self, part: str, treatment: str) -> str:
        """The treatment under which a part of a proposal's claim is tested; `treatment` is the
        subject's.
        """
        return treatment if part == Part.BASE or self.edge is None else self.edge

    @property
    def challenged(self) -> tuple[int, str]:
        """The proposal and the part of its claim that a challenge is aimed at."""
        assert self.target is not None
        assert self.part is not None
        return self.target, self.part


@attrs.frozen
class Trial:
    """A trial that an agent ordered at this table: only the agent is told the value."""

    agent: int
    conduct: Conduct
    treatment: str
    value: float | None


@attrs.frozen
class Conclusion:
    """What a table ended with: the proposal that won (None: nobody held one), its conduct, the
    proposals that were equal to it and the words of the draw between them.
    """

    proposal: int | None = None
    conduct: Conduct = None
    tied: tuple[int, ...] = ()
    words: tuple[int, ...] = ()


class Standing:
    """Who holds which proposal: changed by one contribution after the other."""

    __slots__ = ("_held", "refuted", "stances")

    def __init__(self) -> None:
        self._held: dict[int, list[int]] = {}  # agent -> the proposals it stood for, in order
        self.stances: dict[int, int] = {}  # agent -> the one it stands for
        self.refuted: set[int] = set()

    def copy(self) -> Standing:
        """The same, sharing nothing that changes."""
        other = Standing()
        other._held = {agent: list(held) for agent, held in self._held.items()}
        other.stances = dict(self.stances)
        other.refuted = set(self.refuted)
        return other

    def take(self, said: Contribution) -> None:
        """Add a contribution; what a challenge does shows when its target is refuted."""
        if said.is_proposal:
            self._hold(said.agent, said.id)
        elif said.move == Move.SUPPORT and said.target is not None:
            self._hold(said.agent, said.target)

    def refute(self, proposal: int) -> None:
        """A claim was shown to be false: who stood for it falls back to what it held before."""
        self.refuted.add(proposal)
        for agent, stance in list(self.stances.items()):
            if stance == proposal:
                self._fall_back(agent)

    def leading(self) -> int | None:
        """The proposal with most stances, the earliest of equals; None without stances."""
        return min(self.foremost(), default=None)

    def foremost(self) -> list[int]:
        """The proposals with most stances, ascending."""
        counts = self.counts()
        most = max(counts.values(), default=0)
        return sorted(proposal for proposal, count in counts.items() if count == most)

    def counts(self) -> dict[int, int]:
        """How many stand for each proposal that somebody stands for."""
        counts: dict[int, int] = {}
        for stance in self.stances.values():
            counts[stance] = counts.get(stance, 0) + 1
        return counts

    def _hold(self, agent: int, proposal: int) -> None:
        self._held.setdefault(agent, []).append(proposal)
        self.stances[agent] = proposal

    def _fall_back(self, agent: int) -> None:
        for proposal in reversed(self._held[agent]):
            if proposal not in self.refuted:
                self.stances[agent] = proposal
                return
        del self.stances[agent]


@attrs.define
class Table:
    """One roundtable of an assignment.

    `bar`: the tested value that a claim must be better than (None: there is none). `order`: who
    speaks, in which order; `moves`: contributions left. `trials`: in order; `barred`: whose trial
    was refused in the turn under way. `said`: everything, passes included, by id; `removed`: what
    was redirected and whatever refers to it. `tests`: values by (proposal, part); `led_after`: what
    led once a challenge was tested, by its id. `turn`: whose turn it is, as an index of `order`;
    `signal`: the judge's in this round. `raw`, `reasons`, `totals`: by agent; `bottom`: the bottom
    scorer.
    """

    number: int
    subject: Subject
    rounds: int
    bar: float | None = None
    is_bar_tested: bool = False
    team: tuple[int, ...] | None = None
    agenda: tuple[int, ...] | None = None
    participants: tuple[int, ...] = ()
    order: tuple[int, ...] = ()
    moves: dict[int, int] = attrs.field(factory=dict)
    trials: list[Trial] = attrs.field(factory=list)
    barred: set[int] = attrs.field(factory=set)
    round: int = 0
    turn: int = 0
    said: list[Contribution] = attrs.field(factory=list)
    removed: frozenset[int] = frozenset()
    tests: dict[tuple[int, str], float | None] = attrs.field(factory=dict)
    standing: Standing = attrs.field(factory=Standing)
    led_after: dict[int, int | None] = attrs.field(factory=dict)
    signal: str | None = None
    was_weak: bool = False
    conclusion: Conclusion | None = None
    is_digested: bool = False
    is_rejected: bool = False
    is_adopted: bool | None = None
    raw: dict[int, tuple[int, ...]] = attrs.field(factory=dict)
    reasons: dict[int, tuple[str, ...]] = attrs.field(factory=dict)
    final: dict[int, tuple[int, ...]] = attrs.field(factory=dict)
    bottom: int | None = None

    def copy(self) -> Table:
        """The same, sharing nothing that changes."""
        return attrs.evolve(
            self,
            moves=dict(self.moves),
            trials=list(self.trials),
            barred=set(self.barred),
            said=list(self.said),
            tests=dict(self.tests),
            standing=self.standing.copy(),
            led_after=dict(self.led_after),
            raw=dict(self.raw),
            reasons=dict(self.reasons),
            final=dict(self.final),
        )

    @property
    def treatment(self) -> str:
        """The treatment of the subject."""
        return self.subject.treatment

    @property
    def totals(self) -> dict[int, int]:
        """The total of everybody who was scored."""
        return {agent: sum(scores) for agent, scores in self.final.items()}

    def counted(self) -> Iterator[Contribution]:
        """The contributions that count: neither passes nor redirected."""
        return (c for c in self.said if c.move != Move.PASS and c.id not in self.removed)

    def of_round(self) -> list[Contribution]:
        """What was said in the round under way, passes included, the latest first."""
        return list(itertools.takewhile(lambda c: c.round == self.round, reversed(self.said)))

    def proposal(self, id: int) -> Contribution | None:
        """The proposal of that id, unless it was redirected."""
        if not 0 <= id < len(self.said) or id in self.removed or not self.said[id].is_proposal:
            return None
        return self.said[id]

    def proposals(self) -> list[Contribution]:
        """All proposals that were not redirected."""
        return [said for said in self.counted() if said.is_proposal]

    def held(self, proposal: int, part: str) -> bool | None:
        """Whether a part of a proposal's claim held in its test; None while it is not tested."""
        if (proposal, part) not in self.tests:
            return None
        return self.subject.holds(self.tests[proposal, part], self.said[proposal].claimed)

    def is_sharp(self, proposal: Contribution) -> bool:
        """Whether a base that holds claims at least half of what its test shows beyond the bar."""
        tested = self.tests.get((proposal.id, Part.BASE))
        return self.subject.is_sharp(tested, proposal.claimed, self.bar)

    def is_sustained(self, challenge: Contribution) -> bool:
        """Whether a challenge was right."""
        return self.held(*challenge.challenged) is False

    def was_challenged(self, proposal: int, part: str) -> bool:
        """Whether somebody has challenged a part of a proposal's claim."""
        return any(
            said.move == Move.CHALLENGE and said.challenged == (proposal, part)
            for said in self.counted()
        )

    def untested(self) -> list[tuple[int, str]]:
        """The parts of claims that still have to be tested, in order."""
        return [
            (said.id, part)
            for said in self.proposals()
            for part in said.parts
            if (said.id, part) not in self.tests
        ]

    def challenge_to_test(self) -> Contribution | None:
        """The challenge spoken last, if its test has not come yet."""
        last = self.said[-1] if self.said else None
        if last is None or last.move != Move.CHALLENGE or last.challenged in self.tests:
            return None
        return last

    def best_tested(self) -> tuple[Conduct, float] | None:
        """The proposed conduct with the best tested base, the earliest of equals; refuted claims
        count, for a conduct may be better than the bar and not as good as was claimed.
        """
        best: tuple[Conduct, float] | None = None
        for said in self.proposals():
            value = self.tests.get((said.id, Part.BASE))
            if value is not None and self.subject.beats(value, best[1] if best else None):
                best = said.conduct, value
        return best

    def say(self, said: Contribution) -> None:
        """A contribution is added, and costs a move unless it is a pass."""
        led = self.standing.leading()
        backing = 0 if led is None else self.standing.counts()[led]
        self.said.append(attrs.evolve(said, led=led, backing=backing))
        self.barred.clear()
        if said.move == Move.PASS:
            return
        self.moves[said.agent] -= 1
        self.standing.take(said)
        if said.move == Move.CHALLENGE and said.challenged in self.tests:
            self._answer(said)

    def test(self, proposal: int, part: str, value: float | None) -> None:
        """A test came in: it answers the challenge that it was made for."""
        challenge = self.challenge_to_test()
        self.tests[proposal, part] = value
        if challenge is not None and challenge.challenged == (proposal, part):
            self._answer(challenge)

    def _answer(self, challenge: Contribution) -> None:
        _judge(self, self.standing, challenge)
        self.led_after[challenge.id] = self.standing.leading()

    def proven(self) -> Standing:
        """Where everybody stands once all is tested: every proposal whose base does not hold is
        refuted.
        """
        return _prove(self, self.standing.copy())

    def redirect(self, ids: Iterable[int]) -> None:
        """From now on these, and what refers to them, were not said."""
        self.removed = self.with_followers({*self.removed, *ids})
        self.standing = self._folded(self.removed)

    def with_followers(self, ids: Collection[int]) -> frozenset[int]:
        """These contributions and, transitively, those that refer to them."""
        found = set(ids)
        for said in self.said:
            if said.target is not None and said.target in found:
                found.add(said.id)
        return frozenset(found)

    def standing_without(self, agent: int) -> Standing:
        """Where everybody would stand in the end had an agent been silent. Tests stay."""
        own = (said.id for said in self.said if said.agent == agent)
        return _prove(self, self._folded(self.with_followers({*self.removed, *own})))

    def _folded(self, gone: Collection[int]) -> Standing:
        standing = Standing()
        for said in self.said:
            if said.move != Move.PASS and said.id not in gone:
                standing.take(said)
                _judge(self, standing, said)
        return standing

    def equals(self, standing: Standing) -> tuple[int, ...]:
        """The proposals that could be the conclusion: of those with most stances the ones with the
        best tested base, ascending.
        """
        foremost = standing.foremost()
        best: list[int] = []
        for proposal in foremost:
            value = self.tests[proposal, Part.BASE]
            known = self.tests[best[0], Part.BASE] if best else None
            if not best or self.subject.beats(value, known):
                best = [proposal]
            elif value == known:
                best.append(proposal)
        return tuple(best)

    def concluded(self, equals: Sequence[int], draws: Draws) -> Conclusion:
        """The conclusion among equals: the only one, or one that is drawn."""
        if not equals:
            return Conclusion()
        is_tied = len(equals) > 1
        proposal = equals[draws.below(len(equals))] if is_tied else equals[0]
        tied = tuple(equals) if is_tied else ()
        return Conclusion(proposal, self.said[proposal].conduct, tied, draws.words())

    def descends(self, proposal: int | None, ancestor: int) -> bool:
        """Whether a proposal is another one or amends it, at any depth."""
        while proposal is not None and proposal != ancestor:
            said = self.said[proposal]
            proposal = said.target if said.move == Move.AMEND else None
        return proposal is not None


def _judge(table: Table, standing: Standing, said: Contribution) -> None:
    """Refute what a challenge of a base was right about."""
    if said.move == Move.CHALLENGE and said.part == Part.BASE and table.is_sustained(said):
        standing.refute(said.challenged[0])


def _prove(table: Table, standing: Standing) -> Standing:
    for said in table.proposals():
        if said.id not in standing.refuted and table.held(said.id, Part.BASE) is False:
            standing.refute(said.id)
    return standing
