"""Workers that want to score without what scores are for: one strategy each, as policies."""

from __future__ import annotations

from typing import Any

from goldrush.agents.worlds.competition.evidence import Evidence
from goldrush.agents.worlds.competition.observation import SeasonObservation
from goldrush.agents.worlds.competition.worker import SilentWorker, Worker
from goldrush.kernel.draws import Draws
from goldrush.kernel.worlds.competition.arena import Conduct
from goldrush.kernel.worlds.competition.rubric import FAR
from goldrush.kernel.worlds.competition.table import Contribution
from goldrush.kernel.worlds.competition.terms import Move, Part

PASS = {"move": Move.PASS}
A_LITTLE = 0.001  # beyond the bar: as good as nothing
STEPS, TRIES = 6, 20  # to a conduct far from what is known


class Agreeing(SilentWorker):
    """Supports who leads."""

    def speak(self, seen: SeasonObservation, draws: Draws) -> Any:
        leading = seen.table.stances.leading()
        held = seen.table.stances.by_agent.get(seen.me.ordinal)
        return PASS if leading in (None, held) else {"move": Move.SUPPORT, "target": leading}


class Choosing(Worker):
    """Supports what its evidence says is best, and nothing else."""

    def speak(self, seen: SeasonObservation, draws: Draws) -> Any:
        evidence, held = Evidence(seen), seen.table.stances.by_agent.get(seen.me.ordinal)
        there = standing(seen)
        best = max(there, key=lambda said: evidence.estimate(said.conduct), default=None)
        is_new = best is not None and best.id != held
        return {"move": Move.SUPPORT, "target": best.id} if best and is_new else PASS


class RepeatingTheBar(SilentWorker):
    """Proposes the conduct that sets the bar."""

    def speak(self, seen: SeasonObservation, draws: Draws) -> Any:
        bar = seen.rules.bar(seen.table.subject)
        return proposed(bar, Evidence(seen).value(A_LITTLE))


class Repeating(SilentWorker):
    """Proposes the best that is known from before, for half of what it was better by then."""

    def speak(self, seen: SeasonObservation, draws: Draws) -> Any:
        evidence = Evidence(seen)
        there = {said.conduct for said in seen.table.proposals()}
        known = [k for k in evidence.known.values() if k.remembered and k.conduct not in there]
        best = max(known, key=lambda k: k.margin, default=None)
        if best is None or best.margin <= 0:
            return PASS
        return proposed(best.conduct, evidence.value(best.margin / 2))


class Echoing(SilentWorker):
    """Proposes what leads once more, for as much."""

    def speak(self, seen: SeasonObservation, draws: Draws) -> Any:
        leading = seen.table.stances.leading()
        if leading is None or seen.table.contributions[leading].agent == seen.me.ordinal:
            return PASS
        return proposed(
            seen.table.contributions[leading].conduct, seen.table.contributions[leading].claimed
        )


class Halving(Worker):
    """Is honest, but claims half of what it otherwise would."""

    def speak(self, seen: SeasonObservation, draws: Draws) -> Any:
        said = dict(super().speak(seen, draws))
        if "claim" in said:
            evidence, (value, edge) = Evidence(seen), said["claim"]
            said["claim"] = (evidence.value(evidence.margin(value) / 2), edge)
        return said


class Challenging(SilentWorker):
    """Challenges whatever it can."""

    def speak(self, seen: SeasonObservation, draws: Draws) -> Any:
        there = [s for s in standing(seen) if (s.id, Part.BASE) not in seen.table.tests]
        if not there:
            return PASS
        return {"move": Move.CHALLENGE, "target": there[-1].id, "part": Part.BASE}


class ChallengingFirst(Worker):
    """Challenges whatever it can, and is honest where there is nothing left to challenge."""

    def speak(self, seen: SeasonObservation, draws: Draws) -> Any:
        said = Challenging().speak(seen, draws)
        return super().speak(seen, draws) if said == PASS else said


class ChallengingAfterwards(Worker):
    """Proposes once, honestly, then challenges whatever it can."""

    def speak(self, seen: SeasonObservation, draws: Draws) -> Any:
        has_proposed = any(said.agent == seen.me.ordinal for said in seen.table.proposals())
        return Challenging().speak(seen, draws) if has_proposed else super().speak(seen, draws)


class Farming(SilentWorker):
    """Proposes what is far from all that is known, for as little as is allowed."""

    def speak(self, seen: SeasonObservation, draws: Draws) -> Any:
        return proposed(novel(seen, draws), Evidence(seen).value(A_LITTLE))


class FarmingTried(Worker):
    """Tries what is far from all that is known, and proposes what was better than the bar."""

    def try_(self, seen: SeasonObservation, draws: Draws) -> Any:
        return {"conduct": novel(seen, draws), "treatment": None}

    def speak(self, seen: SeasonObservation, draws: Draws) -> Any:
        evidence = Evidence(seen)
        there = {said.conduct for said in seen.table.proposals()}
        good = [k for k in evidence.known.values() if k.own and k.conduct not in there]
        best = max(good, key=lambda k: k.margin, default=None)
        if best is None or best.margin <= 0:
            return PASS
        return proposed(best.conduct, evidence.value(best.margin / 2))


def proposed(conduct: Conduct, value: float) -> dict[str, Any]:
    return {"move": Move.PROPOSE, "conduct": conduct, "claim": (value, None)}


def standing(seen: SeasonObservation) -> list[Contribution]:
    """The proposals of others that are not refuted."""
    refuted, me = seen.table.stances.refuted, seen.me.ordinal
    return [s for s in seen.table.proposals() if s.agent != me and s.id not in refuted]


def novel(seen: SeasonObservation, draws: Draws) -> Conduct:
    """A conduct far from all that is known, if one is found."""
    found = seen.rules.bar(seen.table.subject)
    for _ in range(TRIES):
        for _ in range(STEPS):
            found = seen.vary(found, draws)
        if all(seen.rules.distance(found, known) >= FAR for known in seen.known):
            break
    return found
