"""What a scripted worker knows of conducts, weighed: its trials, tests, claims heard, its memory.

Everything is measured as a margin: how far a value is beyond the bar, in the better direction.
An estimate is the weighted mean of the margins known, pulled towards 0 by what is not known. Its
own trials count most, tests at the table more than claims, a claim heard at a discount, so that
what was not tried by oneself can still be supported.
"""

from __future__ import annotations

import attrs

from goldrush.agents.competition.seen import Seen
from goldrush.kernel.competition.arena import UP, Conduct
from goldrush.kernel.competition.table import Contribution
from goldrush.kernel.competition.terms import Part

# What one piece of evidence weighs, and the ignorance that it is weighed against.
TRIAL, TEST, CLAIM, REMEMBERED, ELSEWHERE, IGNORANCE = 5.0, 4.0, 3.0, 1.5, 0.75, 1.0


@attrs.define
class Known:
    """What is known of one conduct: its mean `margin`, what that weighs, its values in `own` trials
    of the assignment, whether it is `remembered`.
    """

    conduct: Conduct
    margin: float = 0.0
    weight: float = 0.0
    own: list[float] = attrs.field(factory=list)
    remembered: bool = False

    def add(self, margin: float, weight: float) -> None:
        """One more piece of evidence."""
        total = self.weight + weight
        self.margin = (self.margin * self.weight + margin * weight) / total
        self.weight = total


class Evidence:
    """What one worker knows at one moment, by conduct."""

    def __init__(self, seen: Seen) -> None:
        self.seen = seen
        self.table = seen.table
        self.subject = seen.table.subject
        self.known: dict[Conduct, Known] = {}
        for trial in self.table.trials:
            if trial.value is not None and self._is_here(trial.treatment):
                known = self._of(trial.conduct)
                known.add(self.margin(trial.value), TRIAL)
                known.own.append(trial.value)
        for said in self.table.proposals():
            self._hear(said)
        for fact in seen.memory:
            if fact.value is not None and fact.objective == self.subject.objective:
                known = self._of(fact.conduct)
                is_here = self._is_here(fact.treatment)
                known.add(self.margin(fact.value), REMEMBERED if is_here else ELSEWHERE)
                known.remembered = True

    def _of(self, conduct: Conduct) -> Known:
        known = self.known.get(conduct)
        if known is None:
            known = self.known[conduct] = Known(conduct)
        return known

    def _hear(self, said: Contribution) -> None:
        """A proposal: what its test showed, or else, if it is another's, what it claims."""
        is_own = said.agent == self.seen.me.ordinal
        tested = self.table.tests.get((said.id, Part.BASE))
        if tested is None and is_own:
            return
        known = self._of(said.conduct)
        if tested is not None:
            known.add(self.margin(tested), TEST)
        else:
            known.add(self.margin(said.claimed), CLAIM)

    def margin(self, value: float) -> float:
        """How far a value is beyond the bar; beyond 0 where there is none."""
        base = self.table.bar or 0.0
        return value - base if self.subject.better == UP else base - value

    def value(self, margin: float) -> float:
        """The value that has this margin."""
        base = self.table.bar or 0.0
        return base + margin if self.subject.better == UP else base - margin

    def estimate(self, conduct: Conduct) -> float:
        """The margin to be expected of a conduct; 0 of one of which nothing is known."""
        known = self.known.get(conduct)
        return 0.0 if known is None else known.margin * known.weight / (known.weight + IGNORANCE)

    def best(self, *, own: bool = False) -> Known | None:
        """The conduct of which most is to be expected, of all or of those tried by oneself."""
        found = [known for known in self.known.values() if known.own or not own]
        return max(found, key=lambda known: self.estimate(known.conduct), default=None)

    def most(self) -> float | None:
        """The greatest margin that was ever seen for the subject, in a trial or a test."""
        seen = [
            self.margin(value)
            for value in (
                *(trial.value for trial in self.table.trials if self._is_here(trial.treatment)),
                *(value for (_, part), value in self.table.tests.items() if part == Part.BASE),
                *(fact.value for fact in self.seen.memory if self._is_here(fact.treatment)),
            )
            if value is not None
        ]
        return max(seen, default=None)

    def _is_here(self, treatment: str) -> bool:
        return treatment == self.subject.treatment
