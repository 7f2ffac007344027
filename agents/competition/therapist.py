"""The scripted therapist: rates by the rubric, says what it saw, and helps whoever is last.

What it may do beyond that grows with its stage: personas, then rewrites and skills that a worker
takes or leaves, then rewrites without asking.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from goldrush.agents.competition.character import MOST, instructions_of
from goldrush.agents.competition.seen import Seen
from goldrush.agents.competition.worker import CONTRACT_TERM
from goldrush.kernel.competition.acts import TEAM_MIN
from goldrush.kernel.competition.conduct import at_least_as_good, described
from goldrush.kernel.competition.events import (
    ACCURACY,
    CHALLENGES,
    DIMENSIONS,
    IMPACT,
    NOVELTY,
    OBJECTIVE,
)
from goldrush.kernel.competition.rubric import Grounds
from goldrush.kernel.draws import Draws

Said = Mapping[str, Any]

# What a rewrite changes in whoever is weak in a dimension, and the persona for it.
REMEDIES: Final = {
    NOVELTY: ("curiosity", +2, "explorer"),
    ACCURACY: ("boldness", -2, "craftsman"),
    IMPACT: ("loyalty", -2, "host"),
    CHALLENGES: ("doubt", +2, "examiner"),
}


class Therapist:
    """Debriefs everybody after a table."""

    def debrief(self, seen: Seen, draws: Draws, agent: int, extra: bool) -> list[str]:
        """What it asks one participant."""
        name = seen.people[agent].name
        if extra:
            return [f"{name}, you were last. What would you do differently?"]
        return [f"{name}, what did you bring to the table?"]

    def rate(self, seen: Seen, draws: Draws, agent: int, table: int) -> Said:
        """Four numbers by the rubric, each with its reason."""
        ground = seen.grounds(table)[agent]
        return {"raw": list(ground.scores), "reasons": reasons(ground)}

    def trait(self, seen: Seen, draws: Draws, agent: int, table: int) -> Said | None:
        """What stood out in somebody, and in which contributions."""
        ground = seen.grounds(table)[agent]
        if any(c.is_sustained for c in ground.challenges):
            return {"trait": "sees through claims", "from": [c.id for c in ground.challenges]}
        if ground.proposals and ground.accuracy == 0:
            return {"trait": "claims too much", "from": [c.id for c in ground.proposals]}
        if ground.novelty > 2:
            return {"trait": "turns the table", "from": [c.id for c in ground.proposals]}
        return None

    def persona(self, seen: Seen, draws: Draws, agent: int, table: int) -> str | None:
        """A persona for somebody who did nothing of one kind."""
        scores = seen.grounds(table)[agent].scores
        if seen.people[agent].persona is not None or draws.below(MOST) >= 3:
            return None
        return REMEDIES[_weakest(scores)][2]

    def skill(self, seen: Seen, draws: Draws, agent: int, table: int) -> Said | None:
        """What was concluded and held, for somebody to build on."""
        at = seen.tables[table]
        conclusion = at.conclusion
        if conclusion is None or conclusion.proposal is None or conclusion.conduct is None:
            return None
        value = at.tests[conclusion.proposal, "base"]
        if at_least_as_good(at.objective, at.bar, value) or draws.below(MOST) >= 2:
            return None
        majority, minority, share, treatment = conclusion.conduct
        return {
            "objective": at.objective, "treatment": treatment, "majority": majority,
            "minority": minority, "share": share, "value": value,
        }  # fmt: skip

    def rewrite(self, seen: Seen, draws: Draws, agent: int, table: int) -> Said | None:
        """Other instructions for somebody who is weak in something; now and then."""
        return self.improve(seen, draws, agent, table) if draws.below(MOST) < 2 else None

    def improve(self, seen: Seen, draws: Draws, agent: int, table: int) -> Said | None:
        """Other instructions for whoever was last: less of what failed, more of what lacked."""
        worker = seen.people[agent]
        trait, by, _ = REMEDIES[_weakest(seen.grounds(table)[agent].scores)]
        before = instructions_of(worker)
        after = {**before, trait: max(0, min(MOST, before[trait] + by))}
        return None if after == before else after

    def recommend_team(self, seen: Seen, draws: Draws) -> list[int] | None:
        """The next table without whoever is last on the leaderboard."""
        active, ranks = seen.active, [who for _, who, _, _ in seen.leaderboard]
        last = [agent for agent in ranks if agent in active][-1:]
        team = [agent for agent in active if agent not in last]
        return team if len(team) >= TEAM_MIN and draws.below(MOST) < 3 else None

    def interview(self, seen: Seen, draws: Draws, agent: int) -> list[str]:
        """What it asks before a contract."""
        return ["What do you want?", "What will you deliver?"]

    def answer(self, seen: Seen, draws: Draws, questions: Sequence[str]) -> list[str]:
        """What it says in its own interview."""
        return [f"I have debriefed {seen.me.served} assignments." for _ in questions]

    def offer_contract(self, seen: Seen, draws: Draws) -> Said:
        """A mean total for the active roster."""
        due = seen.assignment + CONTRACT_TERM
        return {"conditions": [(OBJECTIVE, "efficiency")], "target": 4, "due": due}

    def take(self, seen: Seen, draws: Draws, offer: Said) -> bool:
        """Whether it takes other terms."""
        return True


def _weakest(scores: Sequence[int]) -> str:
    """The dimension with the lowest score, the first of equals."""
    return DIMENSIONS[min(range(len(scores)), key=lambda place: scores[place])]


def reasons(ground: Grounds) -> list[str]:
    """Why the four numbers are what they are, a line each, in the order of DIMENSIONS."""
    return [_of_novelty(ground), _of_accuracy(ground), _of_impact(ground), _of_challenge(ground)]


def _of_novelty(ground: Grounds) -> str:
    best = ground.best
    if best is None:
        return "No proposal."
    if best.nearest is None:
        return f"Proposal {best.id}: nothing like it was known."
    far = f"{best.distance} field{'' if best.distance == 1 else 's'} from {described(best.nearest)}"
    turned = ", and the conclusion comes of it while another led" if best.score > 2 else ""
    return f"Proposal {best.id}: {far}{turned}."


def _of_accuracy(ground: Grounds) -> str:
    if not ground.tests:
        return "Nothing claimed."
    held = sum(test.held for test in ground.tests)
    return f"{held} of {len(ground.tests)} tested held."


def _of_impact(ground: Grounds) -> str:
    without = ground.without
    if without.differs:
        other = without.conclusion.conduct
        says = "no conclusion" if other is None else described(other)
        return f"Without it: {says}."
    count = len(without.moved)
    return f"Without it the same conclusion; {count} other stance{'' if count == 1 else 's'} moved."


def _of_challenge(ground: Grounds) -> str:
    sustained = sum(challenge.is_sustained for challenge in ground.challenges)
    return f"{len(ground.challenges)} made, {sustained} sustained."
