"""What a scripted worker knows of conducts, weighed: its trials, tests, claims heard, its memory.

Everything is measured as a margin: how far a value is beyond the bar, in the better direction.
An estimate is the weighted mean of the margins known, pulled towards 0 by what is not known. Its
own trials count most, tests at the table more than claims, a claim heard at a discount, so that
what was not tried by oneself can still be supported (SPEC-competition 12).
"""

from __future__ import annotations

from collections.abc import Iterator

import attrs

from goldrush.agents.competition.seen import Seen
from goldrush.kernel.competition.arena import UP, Conduct
from goldrush.kernel.competition.table import Contribution
from goldrush.kernel.competition.terms import Part

# What one piece of evidence weighs, and the ignorance that it is weighed against.
TRIAL, TEST, CLAIM, REMEMBERED, ELSEWHERE, IGNORANCE = 5.0, 4.0, 3.0, 1.5, 0.75, 1.0


@attrs.frozen
class Known:
    """What is known of one conduct: its estimated `margin`, what that weighs, and whence:
    `own` trials of the assignment (their values), the `heard` proposals, whether it is
    `remembered`.
    """

    conduct: Conduct
    margin: float
    weight: float
    own: tuple[float, ...] = ()
    heard: tuple[int, ...] = ()
    remembered: bool = False


class Evidence:
    """What one worker knows at one moment."""

    def __init__(self, seen: Seen) -> None:
        self.seen = seen
        self.table = seen.table
        self.subject = seen.table.subject
        self.known: dict[Conduct, Known] = {}
        for conduct, margin, weight, more in self._pieces():
            known = self.known.get(conduct) or Known(conduct, 0.0, 0.0)
            total = known.weight + weight
            mean = (known.margin * known.weight + margin * weight) / total
            self.known[conduct] = attrs.evolve(
                known,
                margin=mean,
                weight=total,
                own=(*known.own, *more.own),
                heard=(*known.heard, *more.heard),
                remembered=known.remembered or more.remembered,
            )

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

    def best(self, *, heard: bool = False, own: bool = False) -> Known | None:
        """The conduct of which most is to be expected: of those `heard` from others, tried by
        oneself (`own`), or of all.
        """
        found = [
            known
            for known in self.known.values()
            if (not heard or known.heard) and (not own or known.own)
        ]
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

    def _pieces(self) -> Iterator[tuple[Conduct, float, float, Known]]:
        """(conduct, margin, weight, where it is from) of every piece of evidence."""
        table = self.table
        for trial in table.trials:
            if trial.value is not None and self._is_here(trial.treatment):
                more = Known(trial.conduct, 0, 0, own=(trial.value,))
                yield trial.conduct, self.margin(trial.value), TRIAL, more
        for said in table.proposals():
            yield from self._heard(said)
        for fact in self.seen.memory:
            if fact.value is not None and fact.objective == self.subject.objective:
                weight = REMEMBERED if self._is_here(fact.treatment) else ELSEWHERE
                more = Known(fact.conduct, 0, 0, remembered=True)
                yield fact.conduct, self.margin(fact.value), weight, more

    def _heard(self, said: Contribution) -> Iterator[tuple[Conduct, float, float, Known]]:
        is_own = said.agent == self.seen.me.ordinal
        more = Known(said.conduct, 0, 0, heard=() if is_own else (said.id,))
        tested = self.table.tests.get((said.id, Part.BASE))
        if tested is not None:
            yield said.conduct, self.margin(tested), TEST, more
        elif not is_own:
            yield said.conduct, self.margin(said.claimed), CLAIM, more
