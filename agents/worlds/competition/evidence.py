"""The evidence of a scripted worker: what it knows of each conduct, and its estimates.

Values are measured as margins: the distance beyond the bar, in the better direction. An estimate is
the weighted mean of the known margins from trials, tests, claims heard and memory, shrunk towards 0
by the weight IGNORANCE. Own trials weigh most, tests more than claims; claims of others count too,
so that a worker can support what it has not tried itself.
"""

from __future__ import annotations

import attrs

from goldrush.agents.worlds.competition.observation import SeasonObservation
from goldrush.kernel.worlds.competition.arena import UP, Conduct
from goldrush.kernel.worlds.competition.table import Contribution
from goldrush.kernel.worlds.competition.terms import Part

# The weight of a piece of evidence, by its source, and that of the prior at margin 0. A remembered
# fact is about this subject, about the last other one of its family, or about an OLDER one.
TRIAL, TEST, CLAIM, REMEMBERED, ELSEWHERE, OLDER, IGNORANCE = 5.0, 4.0, 3.0, 1.5, 0.75, 0.1, 1.0


@attrs.define
class ConductEvidence:
    """The evidence on one conduct: the weighted mean of the margins and the sum of the weights, the
    values of own trials in the assignment, and whether it is in the memory.
    """

    conduct: Conduct
    margin: float = 0.0
    weight: float = 0.0
    own: list[float] = attrs.field(factory=list)
    remembered: bool = False

    def add(self, margin: float, weight: float) -> None:
        """Add a piece of evidence."""
        total = self.weight + weight
        self.margin = (self.margin * self.weight + margin * weight) / total
        self.weight = total


class Evidence:
    """The evidence of one worker at its turn, by conduct."""

    def __init__(self, seen: SeasonObservation) -> None:
        self.seen = seen
        self.table = seen.table
        self.subject = seen.table.subject
        self.known: dict[Conduct, ConductEvidence] = {}
        for trial in self.table.trials:
            if trial.value is not None and self._is_here(trial.treatment):
                known = self._of(trial.conduct)
                known.add(self.margin(trial.value), TRIAL)
                known.own.append(trial.value)
        for proposal in self.table.proposals():
            self._hear(proposal)
        last = max((fact.assignment for fact in seen.memory), default=None)
        for fact in seen.memory:
            if fact.value is not None and fact.objective == self.subject.objective:
                known = self._of(fact.conduct)
                elsewhere = ELSEWHERE if fact.assignment == last else OLDER
                is_here = self._is_here(fact.treatment)
                known.add(self.margin(fact.value), REMEMBERED if is_here else elsewhere)
                known.remembered = True

    def _of(self, conduct: Conduct) -> ConductEvidence:
        return self.known.setdefault(conduct, ConductEvidence(conduct))

    def _hear(self, proposal: Contribution) -> None:
        """Add a proposal: its tested value or, if it is another's and not tested, its claim."""
        tested = self.table.base_value(proposal)
        if tested is not None:
            self._of(proposal.conduct).add(self.margin(tested), TEST)
        elif proposal.agent != self.seen.me.ordinal:
            self._of(proposal.conduct).add(self.margin(proposal.claimed), CLAIM)

    def margin(self, value: float) -> float:
        """The margin of a value: its distance beyond the bar, or beyond 0 without a bar."""
        base = self.table.bar or 0.0
        return value - base if self.subject.better == UP else base - value

    def value(self, margin: float) -> float:
        """The value with this margin: the inverse of `margin`."""
        base = self.table.bar or 0.0
        return base + margin if self.subject.better == UP else base - margin

    def estimate(self, conduct: Conduct) -> float:
        """The expected margin of a conduct; 0 for an unknown one."""
        known = self.known.get(conduct)
        return 0.0 if known is None else known.margin * known.weight / (known.weight + IGNORANCE)

    def best(self, *, own: bool = False) -> ConductEvidence | None:
        """The conduct with the greatest estimate, of all or of those in `own` trials."""
        tried = [known for known in self.known.values() if known.own or not own]
        return max(tried, key=lambda known: self.estimate(known.conduct), default=None)

    def best_margin(self) -> float | None:
        """The greatest margin in a trial, a test or the memory of the subject, or None."""
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
