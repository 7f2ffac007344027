"""The quality of conclusions, by values that no agent at the table knows.

The values are those of an atlas (agents/worlds/competition/benches/mining.py), which has every
conduct: exact for `nk`, estimated with separate seeds for `mining`. Without an atlas the quality is
undefined.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Final

import attrs

from goldrush.agents.worlds.competition.arenas import bench_of
from goldrush.kernel.errors import BadInput
from goldrush.kernel.measures import Value, mean, ratio
from goldrush.kernel.worlds.competition.arena import UP, Arena, Conduct, Subject
from goldrush.kernel.worlds.competition.state import SeasonState
from goldrush.kernel.worlds.competition.table import Roundtable

ATLASES_MAX: Final = 256  # subjects whose atlases are kept in memory
_WORST: Final = float("-inf")  # the rank of undefined values: below all others


@attrs.frozen
class Quality:
    """The quality of a table's conclusion. Differences are in the unit of the objective, and None
    if one of their values is undefined.

    Attributes:
        percentile: the share of all conducts, from 0 to 1, that are worse than the concluded one;
            equal ones count half.
        optimum_share: (the concluded value − the mean value of all conducts) ÷ (the optimum − that
            mean), at most 1; None where all values are the same.
        regret: the optimum minus the concluded value: `discovery` + `selection`.
        discovery: the optimum minus the value of the best tested conduct.
        selection: the value of the best tested conduct minus the concluded value.
    """

    percentile: float
    optimum_share: Value
    regret: Value
    discovery: Value
    selection: Value


def quality_of(table: Roundtable, state: SeasonState) -> Quality | None:
    """The quality of an ended table's conclusion; None without an atlas of its subject, or the
    rules of the arena. The bar's conduct replaces a missing conclusion or best test.
    """
    if state.rules is None:
        return None
    best, bar = table.best_tested(), state.rules.bar(table.subject)
    conduct = bar if table.chosen is None else table.chosen.conduct
    return quality(state.arena, table.subject, conduct, bar if best is None else best[0])


def quality(arena: Arena, subject: Subject, concluded: Conduct, best: Conduct) -> Quality | None:
    """The quality of a conclusion, against the conduct with the best test at the table; None
    without an atlas of the subject.
    """
    known = _atlas(arena, subject)
    if known is None:
        return None
    values, ascending, optimum, middle = known
    value, tested = values.get(concluded), values.get(best)
    above, most = _minus(value, middle), _minus(optimum, middle)
    return Quality(
        percentile(_WORST if value is None else value, ascending),
        None if above is None or most is None else ratio(above, most),
        _minus(optimum, value),
        _minus(optimum, tested),
        _minus(tested, value),
    )


@lru_cache(ATLASES_MAX)
def _atlas(
    arena: Arena, subject: Subject
) -> tuple[Mapping[Conduct, Value], Sequence[float], Value, Value] | None:
    """The values of a subject by conduct, the same sorted, the best, and the mean of those that are
    defined; more is better. None if the arena has no atlas.
    """
    try:
        bench = bench_of(arena)
    except BadInput:  # not installed, or tested by an external program
        return None
    conducts, values = bench.conducts(subject.treatment), bench.atlas(*subject.key)
    if not conducts or not values:
        return None
    sign = 1 if subject.better == UP else -1
    signed = [None if value is None else sign * value for value in values]
    ascending = sorted(_WORST if value is None else value for value in signed)
    best = None if ascending[-1] == _WORST else ascending[-1]
    return dict(zip(conducts, signed, strict=True)), ascending, best, mean(signed)


def percentile(value: float, ascending: Sequence[float]) -> float:
    """The share, from 0 to 1, of values below this one among others, sorted and not empty; equal
    ones count half.
    """
    below, up_to = bisect_left(ascending, value), bisect_right(ascending, value)
    return (below + up_to) / 2 / len(ascending)


def _minus(a: Value, b: Value) -> Value:
    return None if a is None or b is None else a - b
