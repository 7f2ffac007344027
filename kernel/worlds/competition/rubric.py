"""The rubric: four scores from 0 to 3 for every participant of a table, each with its grounds.

Everything here is a function of the table and of the conducts known before it, so scores can be
derived again from the journal. The scripted therapist rates by it; ratings of a language model go
through the same later steps (`finished`). Source: README, section 6.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from itertools import chain
from typing import Final

import attrs

from goldrush.kernel.draws import Draws
from goldrush.kernel.measures import Value
from goldrush.kernel.worlds.competition.arena import Conduct, Rules
from goldrush.kernel.worlds.competition.config import SeasonConfig
from goldrush.kernel.worlds.competition.events import Concluded
from goldrush.kernel.worlds.competition.table import Contribution, Roundtable
from goldrush.kernel.worlds.competition.terms import (
    Dimension,
    Move,
    Part,
    ScoreStep,
    Scoring,
    names_of,
)

SCORE_MAX: Final = 3
FAR: Final = 2  # the distance of conducts that are not neighbours
DIMENSIONS: Final = names_of(Dimension)

Scores = tuple[int, ...]  # one for each of DIMENSIONS
StepRow = tuple[str, str, int, int]  # rule, dimension, before, after


@attrs.frozen
class Compared:
    """A proposal compared with the conducts that were known when it was made.

    Attributes:
        id, round: the contribution.
        nearest: the nearest known conduct.
        distance: to that conduct (arena.Rules.distance); None if none was known.
        led: the leading proposal when it was made.
        is_conclusion: whether the conclusion is this proposal or amends it, at any depth.
        score: its novelty, 0 to 3.
    """

    id: int
    round: int
    conduct: Conduct
    nearest: Conduct
    distance: int | None
    led: int | None
    is_conclusion: bool
    score: int = attrs.field(init=False)

    @score.default
    def _novelty(self) -> int:
        if self.distance is not None and self.distance < FAR:
            return self.distance
        return SCORE_MAX if self.is_conclusion and self.led is not None else 2


@attrs.frozen
class Checked:
    """A part of a claim that was tested.

    Attributes:
        id: the proposal.
        is_sharp: whether it is a sharp base; see Subject.is_sharp.
        is_counted: whether it is a base whose conduct was neither the bar's, nor proposed or tested
            before at the table.
    """

    id: int
    part: str
    treatment: str
    claimed: float
    tested: Value
    held: bool
    is_sharp: bool = False
    is_counted: bool = False


@attrs.frozen
class Challenged:
    """A challenge.

    Attributes:
        id, round: the contribution.
        target, part: the disputed proposal and the part of its claim.
        is_sustained: whether that part did not hold.
        toppled: whether the target led with two stances or more just before, did not just after,
            and is not the conclusion.
    """

    id: int
    round: int
    target: int
    part: str
    is_sustained: bool
    toppled: bool


@attrs.frozen
class Counterfactual:
    """The table folded again without the contributions of one agent.

    Attributes:
        gone: the contributions that are left out (Roundtable.counterfactual).
        differs: whether the conduct of that conclusion differs from the real one's.
        moved: the other agents whose stance at the end of the talk differs, with that stance.
        is_own: whether the real conclusion is a proposal of the agent or amends one, at any depth.
    """

    gone: frozenset[int]
    conclusion: Concluded
    differs: bool
    moved: Mapping[int, int | None]
    is_own: bool

    @property
    def score(self) -> int:
        """The net impact of the agent, 0 to 3."""
        if self.differs:
            return SCORE_MAX if self.is_own else 2
        return 1 if self.moved else 0


@attrs.frozen
class Grounds:
    """The grounds of one agent's four scores.

    Attributes:
        proposals, bases, edges, challenges: its own.
        is_wide: whether its first counted base is FAR from another one, in an arena with one
            treatment, which has no edges.
        counterfactual: the table without the agent.
        followed: whether it made a proposal after a sustained challenge of its own.
        supported: whether it supported a proposal.
    """

    agent: int
    proposals: Sequence[Compared]
    bases: Sequence[Checked]
    edges: Sequence[Checked]
    is_wide: bool
    counterfactual: Counterfactual
    challenges: Sequence[Challenged]
    followed: bool
    supported: bool

    @property
    def scores(self) -> Scores:
        """The four scores by the rubric, in the order of DIMENSIONS."""
        return (self.novelty, self.accuracy, self.counterfactual.score, self.challenge)

    @property
    def novelty(self) -> int:
        """The score of its best proposal; 0 without one."""
        return max((compared.score for compared in self.proposals), default=0)

    @property
    def best(self) -> Compared | None:
        """The proposal with the highest novelty; the earliest of equals."""
        return max(
            self.proposals, key=lambda compared: (compared.score, -compared.id), default=None
        )

    @property
    def accuracy(self) -> int:
        """The score of its counted bases and of the grounds of its challenges."""
        counted = [base for base in self.bases if base.is_counted]
        checked = [base.held for base in counted] + [c.is_sustained for c in self.challenges]
        if not any(checked):
            return 0
        if not all(checked) or (counted and not any(base.is_sharp for base in counted)):
            return 1
        edges = [edge.held for edge in self.edges]
        is_broad = all(edges) and (any(edges) or self.is_wide)
        is_best = bool(counted) and all(base.is_sharp for base in counted) and is_broad
        return SCORE_MAX if is_best else 2

    @property
    def challenge(self) -> int:
        """The score of its challenges."""
        if not self.mostly_sustained:
            return 0
        sustained = [challenge for challenge in self.challenges if challenge.is_sustained]
        if any(challenge.toppled for challenge in sustained):
            return SCORE_MAX
        return 2 if len({c.round for c in sustained}) > 1 or self.followed else 1

    @property
    def mostly_sustained(self) -> bool:
        """Whether more of its challenges were sustained than failed."""
        return 2 * sum(c.is_sustained for c in self.challenges) > len(self.challenges)


def grounds(
    table: Roundtable, rules: Rules, config: SeasonConfig, known: Collection[Conduct], draws: Draws
) -> dict[int, Grounds]:
    """The grounds of the scores of every participant of a concluded table, by agent. `known`: the
    conducts known before the table.
    """
    rated = _proposals(table, rules, tuple(dict.fromkeys(known)), is_shared=config.table)
    talked = table.talk_stances().by_agent
    lines: dict[int, list[Contribution]] = {}
    for said in table.counted():
        lines.setdefault(said.agent, []).append(said)
    found: dict[int, Grounds] = {}
    for agent in table.participants:
        spoken = lines.get(agent, [])
        own = [compared for compared, _ in rated.get(agent, ())]
        bases = [base for _, base in rated.get(agent, ())]
        challenges = [_challenged(table, said) for said in spoken if said.move == Move.CHALLENGE]
        first = min((c.id for c in challenges if c.is_sustained), default=None)
        found[agent] = Grounds(
            agent=agent,
            proposals=own,
            bases=bases,
            edges=[_checked(table, said, Part.EDGE) for said in spoken if said.edge is not None],
            is_wide=len(rules.treatments) == 1 and _is_wide(table, rules, bases),
            counterfactual=_counterfactual(table, agent, own, talked, draws, config),
            challenges=challenges,
            followed=first is not None and any(compared.id > first for compared in own),
            supported=any(said.move == Move.SUPPORT for said in spoken),
        )
    return found


def _proposals(
    table: Roundtable, rules: Rules, known: Sequence[Conduct], *, is_shared: bool
) -> dict[int, list[tuple[Compared, Checked]]]:
    """The proposals that count, by author, each compared with the conducts known before it, and the
    base of its claim. `is_shared`: whether a proposal becomes known to the others.
    """
    assert table.conclusion is not None
    concluded, bar = table.conclusion.proposal, rules.bar(table.subject)
    rated: dict[int, list[tuple[Compared, Checked]]] = {}
    proposed: dict[int | None, dict[Conduct, None]] = {}
    tested: set[Conduct] = set()  # by challenges, whether these were redirected or not
    for said in table.contributions:
        if said.move == Move.CHALLENGE:
            tested.add(table.contributions[said.challenged[0]].conduct)
        if not said.is_proposal or said.id in table.removed:
            continue
        earlier = proposed.setdefault(None if is_shared else said.agent, {})
        distance: int | None = None
        nearest: Conduct = None
        for other in chain(known, earlier):
            away = rules.distance(said.conduct, other)
            if distance is None or away < distance:
                distance, nearest = away, other
        becomes = table.descends(concluded, said.id)
        compared = Compared(said.id, said.round, said.conduct, nearest, distance, said.led, becomes)
        is_new = said.conduct not in earlier and said.conduct not in tested
        is_counted = said.conduct != bar and is_new
        base = _checked(table, said, Part.BASE, table.is_sharp(said), is_counted)
        rated.setdefault(said.agent, []).append((compared, base))
        earlier[said.conduct] = None
    return rated


def _checked(table: Roundtable, said: Contribution, part: str, *of_base: bool) -> Checked:
    under, tested = said.under(part, table.treatment), table.tests.get((said.id, part))
    held = table.held(said.id, part) is True
    return Checked(said.id, part, under, said.claimed, tested, held, *of_base)


def _is_wide(table: Roundtable, rules: Rules, bases: Sequence[Checked]) -> bool:
    counted = [table.contributions[base.id].conduct for base in bases if base.is_counted]
    return any(rules.distance(counted[0], other) >= FAR for other in counted[1:])


def _challenged(table: Roundtable, said: Contribution) -> Challenged:
    assert table.conclusion is not None
    target, part = said.challenged
    is_sustained = table.is_sustained(said)
    toppled = (
        is_sustained
        and said.led == target
        and said.backing > 1
        and table.led_after.get(said.id) != target
        and table.conclusion.proposal != target
    )
    return Challenged(said.id, said.round, target, part, is_sustained, toppled)


def _counterfactual(
    table: Roundtable,
    agent: int,
    own: Sequence[Compared],
    now: Mapping[int, int],
    draws: Draws,
    config: SeasonConfig,
) -> Counterfactual:
    """The table without an agent, whose proposals are `own`. `now`: the stances of the talk."""
    real = table.conclusion
    assert real is not None
    gone, talked, final = table.counterfactual(agent, is_shared=config.table)
    stays = real.proposal in table.equals(final)
    conclusion = real if stays else table.concluded(final, Draws(*draws.parts))
    then = talked.by_agent
    others = sorted({*now, *then} - {agent})
    return Counterfactual(
        gone,
        conclusion,
        conclusion.conduct != real.conduct,
        {other: then.get(other) for other in others if now.get(other) != then.get(other)},
        any(compared.is_conclusion for compared in own),
    )


@attrs.frozen
class Finished:
    """An agent's scores as rated and after all steps; `steps`: each change, in order."""

    raw: Scores
    steps: tuple[StepRow, ...]
    final: Scores

    @property
    def total(self) -> int:
        """The sum of the four final scores."""
        return sum(self.final)


def finished(
    table: Roundtable, grounds: Mapping[int, Grounds], raw: Mapping[int, Scores], scoring: str
) -> dict[int, Finished]:
    """The final scores of every participant of a table, by agent. `raw`: the scores that the
    therapist gave.
    """
    steps: dict[int, list[StepRow]] = {agent: [] for agent in raw}
    scores = {agent: dict(zip(DIMENSIONS, raw[agent], strict=True)) for agent in raw}

    def change(agent: int, rule: str, dimension: str, after: int) -> None:
        before = scores[agent][dimension]
        if before != after:
            steps[agent].append((rule, dimension, before, after))
            scores[agent][dimension] = after

    for agent, ground in grounds.items():
        best = ground.best
        if (
            scores[agent][Dimension.NOVELTY] >= 2
            and best
            and table.held(best.id, Part.BASE) is not True
        ):
            change(agent, ScoreStep.FARMING, Dimension.ACCURACY, 0)
        is_agreeing = ground.supported or ground.challenges
        if is_agreeing and not ground.mostly_sustained:
            change(agent, ScoreStep.AGREEING, Dimension.CHALLENGE, 0)
    if scoring == Scoring.RELATIVE:
        for dimension in DIMENSIONS:
            middle = lower_median([scores[agent][dimension] for agent in scores])
            for agent in scores:
                change(
                    agent, ScoreStep.RELATIVE, dimension, related(scores[agent][dimension], middle)
                )
    return {
        agent: Finished(tuple(raw[agent]), tuple(steps[agent]), tuple(scores[agent].values()))
        for agent in raw
    }


def lower_median(scores: Sequence[int]) -> int:
    """The median; of an even number of scores the lower of the two in the middle."""
    return sorted(scores)[(len(scores) - 1) // 2]


def related(score: int, middle: int) -> int:
    """A score relative to the median of the table, which becomes 1; 0 stays 0."""
    return min(SCORE_MAX, max(1, score + 1 - middle)) if score else 0
