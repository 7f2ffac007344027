"""The spread of a value over the agents of each policy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import quantiles
from typing import Final

from goldrush.kernel.measures import Value

SINGLE_MAX: Final = 20  # agents with a line and a number each; of more, policies are shown
POLICIES_MAX: Final = 16  # policies with a line each

Spread = tuple[Value, Value, Value, Value, Value]  # lowest, quartiles, highest
NO_SPREAD: Final[Spread] = (None, None, None, None, None)


def by_policy(values: Sequence[Value], policies: Sequence[str]) -> dict[str, list[Value]]:
    """The values of agents by the policy that each plays."""
    members: dict[str, list[Value]] = {}
    for value, policy in zip(values, policies, strict=False):
        members.setdefault(policy, []).append(value)
    return members


def spreads_of(values: Sequence[Value], policies: Sequence[str]) -> Mapping[str, Spread]:
    """The spread of each policy."""
    return {policy: spread_of(some) for policy, some in by_policy(values, policies).items()}


def spread_of(values: Sequence[Value]) -> Spread:
    """The lowest value, the quartiles (linear between the two nearest values) and the highest; None
    without a value.
    """
    known = sorted(value for value in values if value is not None)
    if len(known) < 2:
        return (known[0],) * 5 if known else NO_SPREAD
    low, middle, high = quantiles([value / 4 for value in known], method="inclusive")
    return (known[0], 4 * low, 4 * middle, 4 * high, known[-1])  # sums of quarters are finite
