"""How good a conclusion is, apart from what anybody at the table could know of it.

A value is that of an atlas (agents/competition/atlas.py), which has every conduct: exact for `nk`,
under seeds of its own for `mining`. Where there is none, nothing is said of the optimum.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence

import attrs

from goldrush.agents.competition.arenas import bench_of
from goldrush.agents.competition.bench import Bench
from goldrush.kernel.competition.arena import UP, Arena, Conduct, Subject
from goldrush.kernel.competition.table import Table
from goldrush.kernel.errors import BadInput
from goldrush.kernel.measures import Value

_WORST = float("-inf")  # of a conduct without a value: any other is better


@attrs.frozen
class Quality:
    """What a table found. `percentile`: the share of all conducts that what it concluded on is
    better than, those as good as it counted half. `regret`: how far its value is from the optimum:
    by `discovery` what the table tested is, and by `selection` what it concluded on from that;
    None where one of the values is undefined.
    """

    percentile: float
    regret: Value
    discovery: Value
    selection: Value


class Atlases:
    """The atlases of an arena, by subject, as far as it has them."""

    def __init__(self, arena: Arena) -> None:
        self._known: dict[Subject, _Ranks | None] = {}
        self._bench: Bench | None
        try:
            self._bench = bench_of(arena)
        except BadInput:  # it is not here, or tested by a program
            self._bench = None

    def of_table(self, table: Table, bar: Conduct) -> Quality | None:
        """How good a table that has ended was; `bar`: the conduct that set its bar."""
        conclusion, best = table.conclusion, table.best_tested()
        concluded = bar
        if conclusion is not None and conclusion.proposal is not None:
            concluded = conclusion.conduct
        return self.quality(table.subject, concluded, bar if best is None else best[0])

    def quality(self, subject: Subject, concluded: Conduct, best: Conduct) -> Quality | None:
        """How good it is to conclude so, where `best` did best in the tests of the table; None
        where there is no atlas of the subject. A table without a conclusion, or without proposals,
        has the bar's conduct in its place.
        """
        ranks = self._ranks(subject)
        if ranks is None:
            return None
        value, tested = ranks.values.get(concluded), ranks.values.get(best)
        return Quality(
            ranks.percentile(value),
            _minus(ranks.optimum, value),
            _minus(ranks.optimum, tested),
            _minus(tested, value),
        )

    def _ranks(self, subject: Subject) -> _Ranks | None:
        if subject not in self._known:
            self._known[subject] = None
            conducts = self._bench and self._bench.conducts(subject.treatment)
            values = self._bench and self._bench.atlas(*subject.key)
            if conducts and values:
                sign = 1 if subject.better == UP else -1
                signed = [None if value is None else sign * value for value in values]
                self._known[subject] = _Ranks(dict(zip(conducts, signed, strict=True)))
        return self._known[subject]


class _Ranks:
    """Values by conduct, more being better."""

    def __init__(self, values: Mapping[Conduct, Value]) -> None:
        self.values = values
        self._ascending = sorted(_WORST if value is None else value for value in values.values())

    @property
    def optimum(self) -> Value:
        """The value of the best."""
        best = self._ascending[-1]
        return None if best == _WORST else best

    def percentile(self, value: Value) -> float:
        """The share of all that a value is better than; half of those as good."""
        return percentile(_WORST if value is None else value, self._ascending)


def percentile(value: float, ascending: Sequence[float]) -> float:
    """The share of these values that one is above: the mean of strictly and of at least."""
    below, up_to = bisect_left(ascending, value), bisect_right(ascending, value)
    return (below + up_to) / 2 / len(ascending)


def _minus(one: Value, other: Value) -> Value:
    return None if one is None or other is None else one - other
