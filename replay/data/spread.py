"""The spread of a value over the agents of each policy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import quantiles
from typing import Final

from goldrush.kernel.measures import Value
from goldrush.replay.policies import agents_by_policy

Spread = tuple[Value, Value, Value, Value, Value]  # lowest, quartiles, highest
NO_SPREAD: Final[Spread] = (None, None, None, None, None)


def spreads_of(values: Sequence[Value], policies: Sequence[str]) -> Mapping[str, Spread]:
    """The spread of each policy, which agents play."""
    return {
        policy: spread_of([values[agent] for agent in agents])
        for policy, agents in agents_by_policy(policies).items()
    }


def spread_of(values: Sequence[Value]) -> Spread:
    """The lowest value, the quartiles (linear between the two nearest values) and the highest; None
    without a value.
    """
    known = sorted(value for value in values if value is not None)
    if len(known) < 2:
        return (known[0],) * 5 if known else NO_SPREAD
    low, middle, high = quantiles([value / 4 for value in known], method="inclusive")
    return (known[0], 4 * low, 4 * middle, 4 * high, known[-1])  # sums of quarters are finite
