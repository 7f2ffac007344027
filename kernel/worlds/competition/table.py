"""A roundtable: its contributions, their tests, and the resulting stances.

The stances are a fold over the contributions, in order, and the results of tests; then the proof
refutes what did not hold, and final stances replace those of the talk. So a counterfactual without
one agent is the same fold over fewer contributions, and so is the table after a judge's
redirection.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Final

import attrs

from goldrush.kernel.draws import Draws
from goldrush.kernel.states import Mutable
from goldrush.kernel.worlds.competition.arena import Claim, Conduct, Subject
from goldrush.kernel.worlds.competition.events import Concluded, Stood, Tried
from goldrush.kernel.worlds.competition.terms import Move, Part

_PROPOSALS: Final = (Move.PROPOSE, Move.AMEND)


@attrs.frozen
class Contribution:
    """A contribution. A refused one counts as a pass; `code` is the reason.

    Attributes:
        target: the id of the proposal that it refers to.
        conduct, claim: of a proposal (`propose` or `amend`).
        part: the part of the target's claim that a challenge disputes.
        text: what the agent said.
        because: the contributions and trials that it relies on; see events.Spoke.
        led: the leading proposal just before it; None if there was none.
        backing: the number of stances on that proposal.
    """

    id: int
    round: int
    agent: int
    move: str
    target: int | None = None
    conduct: Conduct = None
    claim: Claim | None = None
    part: str | None = None
    text: str = ""
    because: tuple[tuple[int, ...], bool] | None = None
    code: str | None = None
    led: int | None = None
    backing: int = 0

    @property
    def is_proposal(self) -> bool:
        """Whether it carries a conduct and a claim."""
        return self.move in _PROPOSALS

    @property
    def claimed(self) -> float:
        assert self.claim is not None
        return self.claim[0]

    @property
    def edge(self) -> str | None:
        """The other treatment for which the claim is made, too; None without one."""
        return None if self.claim is None else self.claim[1]

    @property
    def parts(self) -> Sequence[str]:
        return (Part.BASE,) if self.edge is None else (Part.BASE, Part.EDGE)

    def under(self, part: str, treatment: str) -> str:
        """The treatment of the test of a part of its claim; `treatment` is the subject's."""
        return treatment if part == Part.BASE or self.edge is None else self.edge

    @property
    def challenged(self) -> tuple[int, str]:
        """The proposal that a challenge names, and the part of its claim."""
        assert self.target is not None
        assert self.part is not None
        return self.target, self.part


@attrs.define
class Stances(Mutable):
    """The stances at a table, updated contribution by contribution.

    Attributes:
        by_agent: the proposal that each agent supports.
        refuted: the proposals that a test has refuted.
    """

    by_agent: dict[int, int] = attrs.field(factory=dict)
    refuted: set[int] = attrs.field(factory=set)
    _held: dict[int, list[int]] = attrs.field(factory=dict)  # agent -> so far, the latest last

    def take(self, said: Contribution) -> None:
        """Add a contribution. A challenge has no effect until its target is refuted."""
        if said.is_proposal:
            self._hold(said.agent, said.id)
        elif said.move == Move.SUPPORT and said.target is not None:
            self._hold(said.agent, said.target)

    def refute(self, proposal: int) -> None:
        """Mark a proposal as refuted. Each stance on it falls back to that agent's latest one on a
        proposal that is not refuted, else to none.
        """
        self.refuted.add(proposal)
        for agent, stance in list(self.by_agent.items()):
            if stance == proposal:
                before = [held for held in self._held[agent] if held not in self.refuted]
                self.stand(agent, before[-1] if before else None)

    def stand(self, agent: int, proposal: int | None) -> None:
        """Set a final stance. None leaves the agent without one: nothing falls back."""
        if proposal is None:
            self.by_agent.pop(agent, None)
        else:
            self.by_agent[agent] = proposal

    def leading(self) -> int | None:
        """The proposal with most stances, the earliest of equals; None if there are no stances."""
        return min(self.foremost(), default=None)

    def foremost(self) -> list[int]:
        """The proposals with most stances, ascending."""
        counts = self.counts()
        most = max(counts.values(), default=0)
        return sorted(proposal for proposal, count in counts.items() if count == most)

    def counts(self) -> dict[int, int]:
        """The number of stances on each proposal that has any."""
        return Counter(self.by_agent.values())

    def _hold(self, agent: int, proposal: int) -> None:
        self._held.setdefault(agent, []).append(proposal)
        self.by_agent[agent] = proposal


@attrs.define
class Roundtable(Mutable):
    """One roundtable of an assignment.

    Attributes:
        number: its index in the assignment.
        rounds: the maximum number of rounds.
        bar: the tested value that claims must exceed; None if it is undefined or not tested yet.
        team, agenda: the participants and the order chosen by the assistant or the judge.
        participants, order: those in force once the table is opened.
        moves: contributions left, by agent.
        trials: in order. Only the agent that ordered one is shown its value.
        barred: agents that had a trial refused in the turn under way, or a final stance.
        round: the round under way.
        turn: the index of the speaker in `order`.
        contributions: all of them by id, passes included.
        removed: ids redirected by the judge, and of contributions that refer to them.
        tests: tested values by (proposal, part).
        stances: the current ones.
        stood: the valid final stances by agent.
        led_after: by id of a tested challenge, the leading proposal after its test.
        signal: the judge's signal in this round.
        was_weak: whether the judge has signalled weak consensus.
        raw, reasons: the therapist's ratings by agent.
        final: the final scores by agent.
        bottom: the bottom scorer.
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
    trials: list[Tried] = attrs.field(factory=list)
    barred: set[int] = attrs.field(factory=set)
    round: int = 0
    turn: int = 0
    contributions: list[Contribution] = attrs.field(factory=list)
    removed: frozenset[int] = frozenset()
    tests: dict[tuple[int, str], float | None] = attrs.field(factory=dict)
    stances: Stances = attrs.field(factory=Stances)
    stood: dict[int, Stood] = attrs.field(factory=dict)
    led_after: dict[int, int | None] = attrs.field(factory=dict)
    signal: str | None = None
    was_weak: bool = False
    conclusion: Concluded | None = None
    is_digested: bool = False
    is_rejected: bool = False
    is_adopted: bool | None = None
    raw: dict[int, tuple[int, ...]] = attrs.field(factory=dict)
    reasons: dict[int, tuple[str, ...]] = attrs.field(factory=dict)
    final: dict[int, tuple[int, ...]] = attrs.field(factory=dict)
    bottom: int | None = None

    @property
    def treatment(self) -> str:
        return self.subject.treatment

    @property
    def totals(self) -> dict[int, int]:
        """The sum of the final scores, by agent."""
        return {agent: sum(scores) for agent, scores in self.final.items()}

    @property
    def chosen(self) -> Contribution | None:
        """The proposal that it concluded on; None without one."""
        if self.conclusion is None or self.conclusion.proposal is None:
            return None
        return self.contributions[self.conclusion.proposal]

    def base_value(self, proposal: Contribution | None) -> float | None:
        """The tested value of the base of a proposal; None without one."""
        return None if proposal is None else self.tests.get((proposal.id, Part.BASE))

    def counted(self) -> Iterator[Contribution]:
        """The contributions that count: neither passes nor redirected."""
        return (c for c in self.contributions if c.move != Move.PASS and c.id not in self.removed)

    def of_round(self) -> list[Contribution]:
        """The contributions of the round under way, passes included, the latest first."""
        return list(
            itertools.takewhile(lambda c: c.round == self.round, reversed(self.contributions))
        )

    def proposal(self, id: int) -> Contribution | None:
        """The proposal of that id, unless it was redirected."""
        if (
            not 0 <= id < len(self.contributions)
            or id in self.removed
            or not self.contributions[id].is_proposal
        ):
            return None
        return self.contributions[id]

    def proposals(self) -> list[Contribution]:
        """All proposals that were not redirected."""
        removed = self.removed  # asked for most often of all: no properties, no generator
        return [c for c in self.contributions if c.move in _PROPOSALS and c.id not in removed]

    def unrefuted(self) -> list[Contribution]:
        """The proposals that are neither redirected nor refuted, by id."""
        refuted = self.stances.refuted
        return [said for said in self.proposals() if said.id not in refuted]

    def held(self, proposal: int, part: str) -> bool | None:
        """Whether a part of a proposal's claim held in its test; None while it is not tested."""
        if (proposal, part) not in self.tests:
            return None
        return self.subject.holds(self.tests[proposal, part], self.contributions[proposal].claimed)

    def is_sharp(self, proposal: Contribution) -> bool:
        """Whether the base of a claim holds and is sharp; see Subject.is_sharp."""
        return self.subject.is_sharp(self.base_value(proposal), proposal.claimed, self.bar)

    def is_sustained(self, challenge: Contribution) -> bool:
        """Whether the part of a claim that a challenge names was tested and does not hold."""
        return self.held(*challenge.challenged) is False

    def was_challenged(self, proposal: int, part: str) -> bool:
        """Whether a part of a proposal's claim has been challenged."""
        return any(
            said.move == Move.CHALLENGE and said.challenged == (proposal, part)
            for said in self.counted()
        )

    def redirectable(self) -> list[int]:
        """The contributions of the round under way that can be redirected, the latest first."""
        spoken = (said for said in self.of_round() if said.move != Move.PASS)
        return [said.id for said in spoken if said.id not in self.removed]

    @property
    def has_majority(self) -> bool:
        """Whether more than half of the participants hold one stance."""
        return 2 * max(self.stances.counts().values(), default=0) > len(self.participants)

    def untested(self) -> list[tuple[int, str]]:
        """The parts of claims that still have to be tested, in order."""
        return [
            (said.id, part)
            for said in self.proposals()
            for part in said.parts
            if (said.id, part) not in self.tests
        ]

    def challenge_to_test(self) -> Contribution | None:
        """The latest contribution, if it is a challenge whose part is not tested yet."""
        last = self.contributions[-1] if self.contributions else None
        if last is None or last.move != Move.CHALLENGE or last.challenged in self.tests:
            return None
        return last

    def best_tested(self) -> tuple[Conduct, float] | None:
        """The proposed conduct with the best tested base and that value, the earliest of equals.
        Refuted proposals count too: a conduct may be good though the claim for it was too high.
        """
        best: tuple[Conduct, float] | None = None
        for said in self.proposals():
            value = self.base_value(said)
            if value is not None and self.subject.beats(value, best[1] if best else None):
                best = said.conduct, value
        return best

    def add(self, said: Contribution) -> None:
        """Add a contribution. It costs its author a move unless it is a pass."""
        led = self.stances.leading()
        backing = 0 if led is None else self.stances.counts()[led]
        self.contributions.append(attrs.evolve(said, led=led, backing=backing))
        self.barred.clear()
        if said.move == Move.PASS:
            return
        self.moves[said.agent] -= 1
        self.stances.take(said)
        if said.move == Move.CHALLENGE and said.challenged in self.tests:
            self._answer(said)

    def test(self, proposal: int, part: str, value: float | None) -> None:
        """Add the result of a test, and apply the challenge that caused it, if there is one."""
        challenge = self.challenge_to_test()
        self.tests[proposal, part] = value
        if challenge is not None and challenge.challenged == (proposal, part):
            self._answer(challenge)

    def _answer(self, challenge: Contribution) -> None:
        self._apply_challenge(self.stances, challenge)
        self.led_after[challenge.id] = self.stances.leading()

    def prove(self) -> None:
        """Refute the proposals whose base does not hold, once all claims are tested."""
        self.barred.clear()
        self.proven(self.stances)

    def stand(self, final: Stood) -> None:
        """Set the final stance of an agent."""
        self.stood[final.agent] = final
        self.stances.stand(final.agent, final.target)

    def talk_stances(self) -> Stances:
        """The stances at the end of the talk, before the proof."""
        return self.folded(self.removed)

    def proven(self, stances: Stances) -> Stances:
        """These stances of the talk as the proof leaves them, once all claims are tested."""
        for said in self.proposals():
            if said.id not in stances.refuted and self.held(said.id, Part.BASE) is False:
                stances.refute(said.id)
        return stances

    def redirect(self, ids: Iterable[int]) -> None:
        """Remove contributions and those that refer to them, and fold the stances again."""
        self.removed = self.with_followers({*self.removed, *ids})
        self.stances = self.folded(self.removed)

    def with_followers(self, ids: Collection[int]) -> frozenset[int]:
        """The ids of these contributions and, transitively, of those that refer to them."""
        followers = set(ids)
        for said in self.contributions:
            if said.target is not None and said.target in followers:
                followers.add(said.id)
        return frozenset(followers)

    def counterfactual(
        self, agent: int, *, is_shared: bool
    ) -> tuple[frozenset[int], Stances, Stances]:
        """The table without the contributions of an agent and what refers to them, with the same
        test results: the ids left out, the stances at the end of the talk, and the final ones.

        Where the table is shared (`is_shared`: not in independent search), later proposals of a
        conduct that the agent proposed first go as well, with what refers to them. The agent's own
        final stance falls away with its target; another's goes to the best tested base left, of
        equals its own, then the lowest id.
        """
        own = {said.id for said in self.contributions if said.agent == agent}
        if is_shared:
            first: dict[Conduct, int] = {}
            for said in self.proposals():
                if first.setdefault(said.conduct, said.agent) == agent:
                    own.add(said.id)
        gone = self.with_followers({*self.removed, *own})
        talked = self.folded(gone)
        final = self.proven(talked.copy())
        left = [s for s in self.proposals() if s.id not in gone and s.id not in final.refuted]
        for stood in self.stood.values():
            target: int | None = stood.target
            if target in gone:
                best = None if stood.agent == agent else self.best_for(stood.agent, left)
                target = None if best is None else best.id
            final.stand(stood.agent, target)
        return gone, talked, final

    def folded(self, gone: Collection[int]) -> Stances:
        """The stances of the talk without these contributions."""
        stances = Stances()
        for said in self.contributions:
            if said.move != Move.PASS and said.id not in gone:
                stances.take(said)
                self._apply_challenge(stances, said)
        return stances

    def _apply_challenge(self, stances: Stances, said: Contribution) -> None:
        """Refute the target of a challenge of a base that is sustained."""
        if said.move == Move.CHALLENGE and said.part == Part.BASE and self.is_sustained(said):
            stances.refute(said.challenged[0])

    def equals(self, stances: Stances) -> tuple[int, ...]:
        """The candidates for the conclusion, ascending.

        They are, of the proposals with most stances, those with the best tested base. Among several
        one is drawn; if there are none, there is no conclusion.
        """
        return tuple(self.best(stances.foremost()))

    def best_for(self, agent: int, proposals: Iterable[Contribution]) -> Contribution | None:
        """The best tested of some proposals: of equals an agent's own, then the lowest id; None if
        there are none.
        """
        ranked = sorted(proposals, key=lambda said: (said.agent != agent, said.id))
        best = self.best([said.id for said in ranked])
        return self.contributions[best[0]] if best else None

    def best(self, proposals: Sequence[int]) -> list[int]:
        """Those of some tested proposals that have the best base, in their order."""
        best = self.subject.best(self.tests[proposal, Part.BASE] for proposal in proposals)
        return [p for p in proposals if self.tests[p, Part.BASE] == best]

    def concluded(self, stances: Stances, draws: Draws) -> Concluded:
        """The conclusion from these stances: of several candidates one by a draw."""
        equals, each = self.equals(stances), tuple(sorted(stances.by_agent.items()))
        if not equals:
            return Concluded(self.number, None, None, each, (), ())
        tied = equals if len(equals) > 1 else ()
        proposal = tied[draws.below(len(tied))] if tied else equals[0]
        conduct = self.contributions[proposal].conduct
        return Concluded(self.number, proposal, conduct, each, tied, draws.words())

    def descends(self, proposal: int | None, ancestor: int) -> bool:
        """Whether a proposal is `ancestor` or amends it, at any depth."""
        while proposal is not None and proposal != ancestor:
            said = self.contributions[proposal]
            proposal = said.target if said.move == Move.AMEND else None
        return proposal is not None
