"""A roundtable: what was said, and where everybody stands because of it.

Where everybody stands is a fold over the contributions, in order, and over nothing else but the
results of tests. So "what if this one had been silent" is the same fold over fewer contributions,
and so is "as if that had not been said", which is what a judge's redirection means.
"""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

import attrs

from goldrush.kernel.competition.conduct import (
    BASE,
    EDGE,
    Claim,
    Conduct,
    Subject,
    at_least_as_good,
)
from goldrush.kernel.competition.events import AMEND, CHALLENGE, PASS, PROPOSE, SUPPORT
from goldrush.kernel.draws import Draws

Tests = Mapping[tuple[int, str], float | None]  # (proposal, part) -> tested value


@attrs.frozen
class Contribution:
    """What one participant said in its turn. A refused contribution is a pass; `code` says why.

    `target`: the proposal that it refers to; `conduct` and `claim` of a proposal; `part` of the
    target's claim that a challenge holds to be false.
    """

    id: int
    round: int
    agent: int
    move: str
    target: int | None = None
    conduct: Conduct | None = None
    claim: Claim | None = None
    part: str | None = None
    words: str = ""
    code: str | None = None

    @property
    def is_proposal(self) -> bool:
        """Whether it puts a conduct and a claim on the table."""
        return self.move in (PROPOSE, AMEND)


@attrs.frozen
class Conclusion:
    """What a table ended with: the proposal with most stances (None: nobody held one), its
    conduct, the proposals that were tied and the words of the draw between them.
    """

    proposal: int | None = None
    conduct: Conduct | None = None
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
        elif said.move == SUPPORT and said.target is not None:
            self._hold(said.agent, said.target)

    def refute(self, proposal: int) -> None:
        """A claim was shown to be false: who stood for it falls back to what it held before."""
        self.refuted.add(proposal)
        for agent, stance in list(self.stances.items()):
            if stance == proposal:
                self._fall_back(agent)

    def leading(self) -> int | None:
        """The proposal with most stances, the earliest of equals; None without stances."""
        counts = self.counts()
        return min(counts, key=lambda proposal: (-counts[proposal], proposal), default=None)

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

    `bar`: the tested value that a claim must reach (None: there is none). `order`: who speaks, in
    which order; `moves`: contributions left. `said`: everything, passes included, by id;
    `removed`: what was redirected and whatever refers to it. `tests`: values by (proposal, part).
    `turn`: whose turn it is, as a place in `order`; `signal`: the judge's in this round. `raw` and
    `totals`: scores by agent; `bottom`: the bottom scorer.
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
    round: int = 0
    turn: int = 0
    said: list[Contribution] = attrs.field(factory=list)
    removed: frozenset[int] = frozenset()
    tests: dict[tuple[int, str], float | None] = attrs.field(factory=dict)
    standing: Standing = attrs.field(factory=Standing)
    signal: str | None = None
    was_weak: bool = False
    conclusion: Conclusion | None = None
    is_digested: bool = False
    is_rejected: bool = False
    is_adopted: bool | None = None
    raw: dict[int, tuple[int, ...]] = attrs.field(factory=dict)
    totals: dict[int, int] = attrs.field(factory=dict)
    bottom: int | None = None

    def copy(self) -> Table:
        """The same, sharing nothing that changes."""
        return attrs.evolve(
            self,
            moves=dict(self.moves),
            said=list(self.said),
            tests=dict(self.tests),
            standing=self.standing.copy(),
            raw=dict(self.raw),
            totals=dict(self.totals),
        )

    @property
    def objective(self) -> str:
        """What the table is about."""
        return self.subject[0]

    @property
    def treatment(self) -> str:
        """Under which treatment."""
        return self.subject[1]

    def counted(self) -> Iterator[Contribution]:
        """The contributions that count: neither passes nor redirected."""
        return (c for c in self.said if c.move != PASS and c.id not in self.removed)

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
        claim = self.said[proposal].claim
        assert claim is not None
        return at_least_as_good(self.objective, self.tests[proposal, part], claim[0])

    def is_sustained(self, challenge: Contribution) -> bool:
        """Whether a challenge was right."""
        assert challenge.target is not None
        assert challenge.part is not None
        return self.held(challenge.target, challenge.part) is False

    def was_challenged(self, proposal: int, part: str) -> bool:
        """Whether somebody has challenged a part of a proposal's claim."""
        return any(
            said.move == CHALLENGE and (said.target, said.part) == (proposal, part)
            for said in self.counted()
        )

    def untested(self) -> list[tuple[int, str]]:
        """The parts of claims that still have to be tested, in order."""
        return [
            (said.id, part)
            for said in self.proposals()
            for part in parts_of(said)
            if (said.id, part) not in self.tests
        ]

    def challenge_to_test(self) -> Contribution | None:
        """The challenge spoken last, if its test has not come yet."""
        last = self.said[-1] if self.said else None
        if last is None or last.move != CHALLENGE or last.target is None or last.part is None:
            return None
        return None if (last.target, last.part) in self.tests else last

    def say(self, said: Contribution) -> None:
        """A contribution is added, and costs a move unless it is a pass."""
        self.said.append(said)
        if said.move == PASS:
            return
        self.moves[said.agent] -= 1
        self.standing.take(said)
        if said.move == CHALLENGE and said.part == BASE and self.is_sustained(said):
            self.standing.refute(_target(said))

    def test(self, proposal: int, part: str, value: float | None) -> None:
        """A test came in. A base that was challenged and does not hold refutes its proposal."""
        self.tests[proposal, part] = value
        if part == BASE and self.held(proposal, part) is False:
            challenges = (c for c in self.counted() if c.move == CHALLENGE and c.part == BASE)
            if any(challenge.target == proposal for challenge in challenges):
                self.standing.refute(proposal)

    def redirect(self, ids: Iterable[int]) -> None:
        """From now on these, and what refers to them, were not said."""
        self.removed = self.with_followers({*self.removed, *ids})
        self.standing = self.standing_without(())

    def with_followers(self, ids: Collection[int]) -> frozenset[int]:
        """These contributions and, transitively, those that refer to them."""
        found = set(ids)
        for said in self.said:
            if said.target is not None and said.target in found:
                found.add(said.id)
        return frozenset(found)

    def standing_without(self, ids: Collection[int]) -> Standing:
        """Where everybody stands as if these contributions, and what refers to them, were not
        made. Tests stay as they are.
        """
        gone = self.with_followers({*self.removed, *ids})
        standing = Standing()
        for said in self.said:
            if said.move != PASS and said.id not in gone:
                self.take_up(standing, said)
        return standing

    def take_up(self, standing: Standing, said: Contribution) -> None:
        """Add one contribution to a standing, with what its test showed."""
        standing.take(said)
        if said.move == CHALLENGE and said.part == BASE and self.is_sustained(said):
            standing.refute(_target(said))

    def concluded_from(self, standing: Standing, draws: Draws) -> Conclusion:
        """The proposal with most stances; a tie is drawn among ids in ascending order."""
        counts = standing.counts()
        if not counts:
            return Conclusion()
        most = max(counts.values())
        tied = tuple(sorted(proposal for proposal, count in counts.items() if count == most))
        proposal = tied[draws.below(len(tied))] if len(tied) > 1 else tied[0]
        return Conclusion(
            proposal,
            self.said[proposal].conduct,
            tied if len(tied) > 1 else (),
            draws.words(),
        )

    def descends(self, proposal: int | None, ancestor: int) -> bool:
        """Whether a proposal is another one or amends it, at any depth."""
        while proposal is not None and proposal != ancestor:
            said = self.said[proposal]
            proposal = said.target if said.move == AMEND else None
        return proposal is not None

    def lines_of(self, agent: int) -> frozenset[int]:
        """The ids of everything that an agent contributed."""
        return frozenset(said.id for said in self.counted() if said.agent == agent)


def parts_of(proposal: Contribution) -> Sequence[str]:
    """The parts of a proposal's claim."""
    assert proposal.claim is not None
    return (BASE,) if proposal.claim[1] is None else (BASE, EDGE)


def _target(challenge: Contribution) -> int:
    assert challenge.target is not None
    return challenge.target
