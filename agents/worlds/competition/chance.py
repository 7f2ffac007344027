"""Two null policies of workers: one acts at random within the rules, one is silent."""

from __future__ import annotations

from typing import Final

from goldrush.agents.worlds.competition.formats import DIGITS, format_number
from goldrush.agents.worlds.competition.observation import SeasonObservation
from goldrush.agents.worlds.competition.worker import Answer, Worker
from goldrush.kernel.draws import Draws
from goldrush.kernel.worlds.competition.arena import UP, Conduct
from goldrush.kernel.worlds.competition.terms import Move, Part

STEPS_MAX: Final = 6  # from the bar's conduct to one that is tried or proposed
SPREAD: Final = 0.2  # of the bar's value (1 where it is 0): the most that is claimed beyond it


class RandomWorker(Worker):
    """Acts at random at tables; answers all other questions like the scripted worker."""

    def try_(self, seen: SeasonObservation, draws: Draws) -> Answer | None:
        """A conduct, each with an equal chance."""
        return {"conduct": _any_conduct(seen, draws), "treatment": None}

    def speak(self, seen: SeasonObservation, draws: Draws) -> Answer:
        """A legal move, each with an equal chance."""
        table, me = seen.table, seen.me.ordinal
        others = [proposal for proposal in table.proposals() if proposal.agent != me]
        held = table.stances.by_agent.get(me)
        support = [s.id for s in others if s.id not in table.stances.refuted and s.id != held]
        challenge = [s.id for s in others if not table.was_challenged(s.id, Part.BASE)]
        moves = [Move.PROPOSE, Move.PASS]
        moves += [Move.SUPPORT] * bool(support)
        moves += [Move.CHALLENGE] * bool(challenge and seen.config.challenges)
        move = moves[draws.below(len(moves))]
        if move == Move.SUPPORT:
            target = support[draws.below(len(support))]
            return {"move": move, "target": target, "words": f"Why not #{target}."}
        if move == Move.CHALLENGE:
            target = challenge[draws.below(len(challenge))]
            return {"move": move, "target": target, "part": Part.BASE, "words": f"Why #{target}?"}
        if move == Move.PROPOSE:
            conduct, value = _any_conduct(seen, draws), _any_claim(seen, draws)
            words = f"{seen.rules.describe(conduct)}, say {format_number(value)}."
            return {"move": move, "conduct": conduct, "claim": (value, None), "words": words}
        return {"move": Move.PASS, "words": ""}

    def stand(self, seen: SeasonObservation, draws: Draws) -> Answer | None:
        """A proposal that is not refuted, or none, each with an equal chance."""
        targets = [None, *(proposal.id for proposal in seen.table.unrefuted())]
        return {"target": targets[draws.below(len(targets))], "words": ""}


class SilentWorker(Worker):
    """Tries nothing and says nothing at tables: the lower end of any measure of merit."""

    def try_(self, seen: SeasonObservation, draws: Draws) -> None:
        """No trial."""

    def speak(self, seen: SeasonObservation, draws: Draws) -> Answer:
        """A pass."""
        return {"move": Move.PASS, "words": ""}

    def stand(self, seen: SeasonObservation, draws: Draws) -> None:
        """No final stance: what the proof leaves stays."""


def _any_conduct(seen: SeasonObservation, draws: Draws) -> Conduct:
    conduct = seen.rules.bar(seen.table.subject)
    for _ in range(1 + draws.below(STEPS_MAX)):
        conduct = seen.vary(conduct, draws)
    return conduct


def _any_claim(seen: SeasonObservation, draws: Draws) -> float:
    """A value strictly better than the bar, rounded unless that makes it no better."""
    bar = seen.table.bar or 0.0
    beyond = (abs(bar) or 1.0) * SPREAD * (1 + draws.below(1000)) / 1000
    value = bar + beyond if seen.table.subject.better == UP else bar - beyond
    rounded = round(value, DIGITS)
    return rounded if seen.table.subject.beats(rounded, bar) else value
