"""The course of a run: measures of its agents by policy, at some of its units."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import msgspec

from goldrush.kernel.measures import Value, mean
from goldrush.replay.data.sampling import Sampling
from goldrush.replay.policies import agents_by_policy

COURSE_MAX: Final = 60  # units of a course, as of `Sampling`

ByAgent = Mapping[str, Sequence[Value]]  # by name of a measure of agents, a value for each agent


class Course(msgspec.Struct, frozen=True):
    """Measures of agents at equally spaced units, and at the last one.

    Attributes:
        units: the number of closed units at each sample.
        means: by name of a measure of agents and by policy, the mean over its agents at each
            sample; None where it is undefined for all of them.
    """

    units: tuple[int, ...] = ()
    means: Mapping[str, Mapping[str, tuple[Value, ...]]] = {}


def course_of(
    sampling: Sampling[ByAgent], units: int, last: ByAgent, roster: Sequence[str]
) -> Course:
    """The course of a run of so many units, with the values and the policies of its agents at the
    end. Samples with another number of agents, which a fork changed, are left out.
    """
    sizes = {name: len(values) for name, values in last.items()}
    same = [
        (unit, values)
        for unit, values in sampling.samples(units, last)
        if sizes == {name: len(of_agents) for name, of_agents in values.items()}
    ]
    means = {
        name: {
            policy: tuple(mean([values[name][at] for at in agents]) for _, values in same)
            for policy, agents in agents_by_policy(roster).items()
        }
        for name, size in sizes.items()
        if size == len(roster)
    }
    return Course(tuple(unit for unit, _ in same), means)
