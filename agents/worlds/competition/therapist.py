"""The scripted therapist: rates by the rubric, and rewrites the instructions of bottom scorers.

Its stage adds personas, then rewrites and skills that a worker may decline, then both without
asking. Methods answer the questions of the same name (agents/worlds/competition/questions/).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from goldrush.agents.llm.messages import plural
from goldrush.agents.worlds.competition.character import MOST, instructions_of
from goldrush.agents.worlds.competition.formats import AWAY
from goldrush.agents.worlds.competition.observation import SeasonObservation
from goldrush.agents.worlds.competition.offices import (
    consent,
    interview,
    interviewed,
    objective_asked,
)
from goldrush.agents.worlds.competition.sentences import speech
from goldrush.agents.worlds.competition.worker import Answer, offered
from goldrush.kernel.draws import Draws
from goldrush.kernel.worlds.competition.acts.act import TEAM_MIN
from goldrush.kernel.worlds.competition.arena import Rules
from goldrush.kernel.worlds.competition.rubric import DIMENSIONS, SCORE_MAX, Grounds
from goldrush.kernel.worlds.competition.terms import Dimension

# By the weakest dimension of a worker: the trait that a rewrite changes, by how much; a persona.
REMEDIES: Final = {
    Dimension.NOVELTY: ("curiosity", +2, "explorer"),
    Dimension.ACCURACY: ("boldness", -2, "craftsman"),
    Dimension.IMPACT: ("loyalty", -2, "host"),
    Dimension.CHALLENGE: ("doubt", +2, "examiner"),
}


class Therapist:
    """Debriefs and rates every participant of a table."""

    def debrief(
        self, seen: SeasonObservation, draws: Draws, agent: int, extra: bool, table: int
    ) -> list[str]:
        """Its question to one participant."""
        name = seen.people[agent].name
        return [speech("debrief_last" if extra else "debrief", name=name)]

    def rate(self, seen: SeasonObservation, draws: Draws, agent: int, table: int) -> Answer:
        """The four scores by the rubric, each with its reason."""
        ground = seen.grounds(table)[agent]
        return {"raw": list(ground.scores), "reasons": reasons(ground, seen.rules)}

    def trait(self, seen: SeasonObservation, draws: Draws, agent: int, table: int) -> Answer | None:
        """A trait, if a challenge was sustained, all claims failed, or novelty is 3; else None."""
        ground = seen.grounds(table)[agent]
        if any(c.is_sustained for c in ground.challenges):
            return {"trait": "sees through claims", "from": [c.id for c in ground.challenges]}
        if ground.proposals and ground.accuracy == 0:
            return {"trait": "claims too much", "from": [c.id for c in ground.proposals]}
        if ground.novelty > 2:
            return {"trait": "turns the table", "from": [c.id for c in ground.proposals]}
        return None

    def persona(self, seen: SeasonObservation, draws: Draws, agent: int, table: int) -> str | None:
        """In 3 of 10 cases a persona for the weakest dimension of a worker without one."""
        scores = seen.grounds(table)[agent].scores
        if seen.people[agent].persona is not None or draws.below(MOST) >= 3:
            return None
        return REMEDIES[_weakest(scores)][2]

    def skill(
        self, seen: SeasonObservation, draws: Draws, agent: int, table: int
    ) -> tuple[Any, ...] | None:
        """In 2 of 10 cases the conclusion, if its tested value is better than the bar."""
        at = seen.tables[table]
        value = at.base_value(at.chosen)
        if at.chosen is None or not at.subject.beats(value, at.bar) or draws.below(MOST) >= 2:
            return None
        return (*at.subject.key, at.chosen.conduct, value)

    def rewrite(
        self, seen: SeasonObservation, draws: Draws, agent: int, table: int
    ) -> Answer | None:
        """In 2 of 10 cases the result of `improve`."""
        return self.improve(seen, draws, agent, table) if draws.below(MOST) < 2 else None

    def improve(
        self, seen: SeasonObservation, draws: Draws, agent: int, table: int
    ) -> Answer | None:
        """Instructions with the trait changed that fits the worker's weakest dimension."""
        worker = seen.people[agent]
        trait, by, _ = REMEDIES[_weakest(seen.grounds(table)[agent].scores)]
        before = instructions_of(worker)
        after = {**before, trait: max(0, min(MOST, before[trait] + by))}
        return None if after == before else after

    def recommend_team(self, seen: SeasonObservation, draws: Draws) -> list[int] | None:
        """In 3 of 10 cases the active roster without its lowest rank."""
        active, ranks = seen.active, [who for _, who, _, _ in seen.leaderboard]
        last = [agent for agent in ranks if agent in active][-1:]
        team = [agent for agent in active if agent not in last]
        return team if len(team) >= TEAM_MIN and draws.below(MOST) < 3 else None

    def offer_contract(self, seen: SeasonObservation, draws: Draws) -> Answer:
        """Offers a mean total by the rubric of 3 or 4."""
        return offered(seen, objective_asked(seen, draws), 3 + draws.below(2))

    take, answer, interview = consent, interviewed, interview


def _weakest(scores: Sequence[int]) -> str:
    """The dimension with the lowest score, the first of equals."""
    return DIMENSIONS[min(range(len(scores)), key=lambda place: scores[place])]


def reasons(ground: Grounds, rules: Rules) -> list[str]:
    """The grounds of the four scores, a line each, in the order of DIMENSIONS."""
    return [
        _of_novelty(ground, rules),
        _of_accuracy(ground),
        _of_impact(ground, rules),
        speech("challenges", count=len(ground.challenges), sustained=_sustained(ground)),
    ]


def _of_novelty(ground: Grounds, rules: Rules) -> str:
    best = ground.best
    if best is None:
        return speech("novelty_none")
    if best.distance is None:
        return speech("novelty_first", best)
    return speech(
        "novelty",
        best,
        away=AWAY[best.distance],
        nearest=rules.describe(best.nearest),
        turned=speech("novelty_turned") if best.score == SCORE_MAX else "",
    )


def _of_accuracy(ground: Grounds) -> str:
    bases = [base for base in ground.bases if base.is_counted]
    if not bases and not ground.challenges:
        return speech("accuracy_none")
    parts = []
    if bases:
        held, sharp = sum(base.held for base in bases), sum(base.is_sharp for base in bases)
        parts.append(speech("accuracy_bases", held=held, count=len(bases), sharp=sharp))
    if ground.challenges:
        right = _sustained(ground)
        parts.append(speech("accuracy_challenges", sustained=right, count=len(ground.challenges)))
    if ground.edges:
        held = sum(edge.held for edge in ground.edges)
        parts.append(speech("accuracy_edges", held=held, count=len(ground.edges)))
    return "; ".join(parts) + "."


def _of_impact(ground: Grounds, rules: Rules) -> str:
    without = ground.counterfactual
    if not without.differs:
        return speech(plural("impact_same", len(without.moved)), count=len(without.moved))
    other = without.conclusion
    is_none = other.proposal is None
    conclusion = speech("impact_none") if is_none else rules.describe(other.conduct)
    return speech("impact", conclusion=conclusion)


def _sustained(ground: Grounds) -> int:
    return sum(challenge.is_sustained for challenge in ground.challenges)
