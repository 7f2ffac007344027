"""The rubric: four numbers from 0 to 3 for everybody at a table, each with its grounds.

Everything here is a function of the table and of what was known before it, so anybody can work the
numbers out again from the journal. A scripted therapist rates by it; what a language model gives in
its place goes through the same steps afterwards (`finished`).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Final

import attrs

from goldrush.kernel.competition.conduct import BASE, EDGE, Conduct, distance
from goldrush.kernel.competition.config import RELATIVE
from goldrush.kernel.competition.events import (
    ACCURACY,
    AGREEING,
    CHALLENGE,
    CHALLENGES,
    DIMENSIONS,
    FARMING,
    IN_RELATION,
    NOVELTY,
    SUPPORT,
)
from goldrush.kernel.competition.table import Conclusion, Contribution, Standing, Table
from goldrush.kernel.draws import Draws

SCORE_MAX: Final = 3
FRESH: Final = 2  # fields in which a proposal differs from all that is known, to be a fresh angle

Scores = tuple[int, ...]  # one for each of DIMENSIONS
StepRow = tuple[str, str, int, int]  # rule, dimension, before, after


@attrs.frozen
class Compared:
    """A proposal held against what was known when it was made.

    `distance`: fields in which it differs from `nearest`, the nearest of the known conducts; None
    for both where nothing was known. `led`: the proposal that led when it was spoken.
    `is_conclusion`: whether the conclusion is it or descends from it by amendments.
    """

    id: int
    distance: int | None
    nearest: Conduct | None
    led: int | None
    is_conclusion: bool

    @property
    def score(self) -> int:
        """What the proposal earns for novelty."""
        if self.distance is not None and self.distance < FRESH:
            return self.distance
        return SCORE_MAX if self.is_conclusion and self.led is not None else FRESH


@attrs.frozen
class Tested:
    """A part of a claim, or the ground of a challenge, and whether it held in its test."""

    id: int
    part: str
    is_ground: bool
    held: bool


@attrs.frozen
class Without:
    """The table folded again as if an agent had been silent.

    `moved`: others whose final stance would differ; `conclusion`: what would have been concluded;
    `is_own`: whether the real conclusion is the agent's or amends what is.
    """

    conclusion: Conclusion
    differs: bool
    moved: tuple[int, ...]
    is_own: bool

    @property
    def score(self) -> int:
        """What the agent earns for its net impact."""
        if self.differs:
            return SCORE_MAX if self.is_own else 2
        return 1 if self.moved else 0


@attrs.frozen
class Challenged:
    """One challenge: whether its test proved it right, and whether its target led with two stances
    or more just before, and no more just after.
    """

    id: int
    round: int
    target: int
    part: str
    is_sustained: bool
    toppled: bool


@attrs.frozen
class Grounds:
    """Everything that the four numbers of one agent rest on."""

    agent: int
    proposals: Sequence[Compared]
    tests: Sequence[Tested]
    without: Without
    challenges: Sequence[Challenged]
    followed: bool  # a sustained challenge was followed by a proposal of its own
    supported: bool

    @property
    def scores(self) -> Scores:
        """Novelty, accuracy, net impact and challenge by the table of the rubric."""
        return (self.novelty, self.accuracy, self.without.score, self.challenge)

    @property
    def novelty(self) -> int:
        """Of its best proposal."""
        return max((compared.score for compared in self.proposals), default=0)

    @property
    def best(self) -> Compared | None:
        """The proposal that earned the novelty; the earliest of equals."""
        return max(
            self.proposals, key=lambda compared: (compared.score, -compared.id), default=None
        )

    @property
    def accuracy(self) -> int:
        """Of the bases of its claims and the grounds of its challenges."""
        bases = [test.held for test in self.tests if test.part == BASE or test.is_ground]
        if not any(bases):
            return 0
        if not all(bases):
            return 1
        edges = [test.held for test in self.tests if test.part == EDGE and not test.is_ground]
        return SCORE_MAX if any(edges) else 2

    @property
    def challenge(self) -> int:
        """Of its challenges."""
        sustained = [challenge for challenge in self.challenges if challenge.is_sustained]
        if any(challenge.toppled for challenge in sustained):
            return SCORE_MAX
        if sustained and (len({c.round for c in self.challenges}) > 1 or self.followed):
            return 2
        return 1 if self.challenges else 0


def grounds(table: Table, known: Collection[Conduct], draws: Draws) -> dict[int, Grounds]:
    """What the scores of everybody at a concluded table rest on, by agent.

    `known`: the conducts proposed in the days that count; `draws`: those of the conclusion.
    """
    assert table.conclusion is not None
    rated = _Rated(table, known)
    return {agent: rated.grounds_of(agent, draws) for agent in table.participants}


class _Rated:
    """A table gone through once: what led before and after each contribution that needs it."""

    def __init__(self, table: Table, known: Collection[Conduct]) -> None:
        assert table.conclusion is not None
        self.table = table
        self.conclusion = table.conclusion
        self.proposals: dict[int, list[Compared]] = {}
        self.challenges: dict[int, list[Challenged]] = {}
        self.lines: dict[int, list[Contribution]] = {}
        seen = dict.fromkeys(known)
        standing = Standing()
        for said in table.counted():
            self.lines.setdefault(said.agent, []).append(said)
            if said.is_proposal:
                self._compare(said, seen, standing)
            before = standing.leading() if said.move == CHALLENGE else None
            backed = standing.counts().get(before, 0) if before is not None else 0
            table.take_up(standing, said)
            if said.move == CHALLENGE:
                self._challenge(said, before, backed, standing)

    def grounds_of(self, agent: int, draws: Draws) -> Grounds:
        lines = self.lines.get(agent, ())
        own = self.proposals.get(agent, ())
        challenges = self.challenges.get(agent, ())
        first = min((c.id for c in challenges if c.is_sustained), default=None)
        return Grounds(
            agent=agent,
            proposals=own,
            tests=[test for said in lines for test in self._tests_of(said)],
            without=self._without(agent, draws),
            challenges=challenges,
            followed=first is not None and any(compared.id > first for compared in own),
            supported=any(said.move == SUPPORT for said in lines),
        )

    def _compare(self, said: Contribution, seen: dict[Conduct, None], standing: Standing) -> None:
        assert said.conduct is not None
        conduct = said.conduct
        nearest = min(seen, key=lambda other: distance(conduct, other), default=None)
        self.proposals.setdefault(said.agent, []).append(
            Compared(
                said.id,
                None if nearest is None else distance(conduct, nearest),
                nearest,
                standing.leading(),
                self.table.descends(self.conclusion.proposal, said.id),
            )
        )
        seen[conduct] = None

    def _challenge(
        self, said: Contribution, before: int | None, backed: int, after: Standing
    ) -> None:
        assert said.target is not None
        assert said.part is not None
        is_sustained = self.table.is_sustained(said)
        toppled = (
            is_sustained
            and before == said.target
            and backed > 1
            and after.leading() != said.target
            and self.conclusion.proposal != said.target
        )
        self.challenges.setdefault(said.agent, []).append(
            Challenged(said.id, said.round, said.target, said.part, is_sustained, toppled)
        )

    def _tests_of(self, said: Contribution) -> list[Tested]:
        """What was tested of a contribution: the parts of its claim, or its ground."""
        if said.move == CHALLENGE:
            assert said.part is not None
            return [Tested(said.id, said.part, True, self.table.is_sustained(said))]
        if not said.is_proposal:
            return []
        assert said.claim is not None
        parts = [BASE] if said.claim[1] is None else [BASE, EDGE]
        return [
            Tested(said.id, part, False, self.table.held(said.id, part) is True) for part in parts
        ]

    def _without(self, agent: int, draws: Draws) -> Without:
        table, real = self.table, self.conclusion
        standing = table.standing_without([said.id for said in self.lines.get(agent, ())])
        conclusion = table.concluded_from(standing, Draws(*draws.parts))
        others = {*table.standing.stances, *standing.stances} - {agent}
        moved = sorted(
            other
            for other in others
            if table.standing.stances.get(other) != standing.stances.get(other)
        )
        return Without(
            conclusion,
            conclusion.conduct != real.conduct,
            tuple(moved),
            any(
                table.descends(real.proposal, compared.id)
                for compared in self.proposals.get(agent, ())
            ),
        )


@attrs.frozen
class Finished:
    """Scores after the steps against gaming; `steps` tells every number that they changed."""

    raw: Scores
    steps: tuple[StepRow, ...]
    final: Scores

    @property
    def total(self) -> int:
        """The sum of the four."""
        return sum(self.final)


def finished(
    table: Table, grounds: Mapping[int, Grounds], raw: Mapping[int, Scores], scoring: str
) -> dict[int, Finished]:
    """The final scores of everybody at a table, by agent, from what the therapist gave (`raw`)."""
    steps: dict[int, list[StepRow]] = {agent: [] for agent in raw}
    scores = {agent: dict(zip(DIMENSIONS, raw[agent], strict=True)) for agent in raw}

    def change(agent: int, rule: str, dimension: str, after: int) -> None:
        before = scores[agent][dimension]
        if before != after:
            steps[agent].append((rule, dimension, before, after))
            scores[agent][dimension] = after

    for agent, ground in grounds.items():
        best = ground.best
        if scores[agent][NOVELTY] >= FRESH and best and table.held(best.id, BASE) is not True:
            change(agent, FARMING, ACCURACY, 0)
        if ground.supported and not ground.challenges:
            change(agent, AGREEING, CHALLENGES, 0)
    if scoring == RELATIVE:
        for dimension in DIMENSIONS:
            middle = lower_median([scores[agent][dimension] for agent in scores])
            for agent in scores:
                change(agent, IN_RELATION, dimension, related(scores[agent][dimension], middle))
    return {
        agent: Finished(tuple(raw[agent]), tuple(steps[agent]), tuple(scores[agent].values()))
        for agent in raw
    }


def lower_median(scores: Sequence[int]) -> int:
    """The middle one; of two in the middle the lower."""
    return sorted(scores)[(len(scores) - 1) // 2]


def related(score: int, middle: int) -> int:
    """A score relative to the table: 1 is what the middle of the table reached; 0 stays."""
    return min(SCORE_MAX, max(1, score + 1 - middle)) if score else 0
