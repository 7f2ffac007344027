"""The course of a run: measures of its agents by policy, at some of its units."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import attrs

from goldrush.kernel.measures import Value, mean

SAMPLES_MAX: Final = 60  # units of a course; a run of more units has those of one in 2, 4, 8 ...

ByAgent = Mapping[str, Sequence[Value]]  # by name of a measure of agents, a value for each agent


@attrs.frozen
class Course:
    """Measures of agents at equally spaced units, and at the last one.

    Attributes:
        units: the number of closed units at each sample.
        means: by name of a measure of agents and by policy, the mean over its agents at each
            sample; None where it is undefined for all of them.
    """

    units: Sequence[int] = ()
    means: Mapping[str, Mapping[str, Sequence[Value]]] = attrs.field(factory=dict)


class Sampling:
    """Measures of agents as they are sampled while a run is read."""

    def __init__(self) -> None:
        self._every = 1
        self._samples: list[tuple[int, ByAgent]] = []

    def wants(self, unit: int) -> bool:
        """Whether the unit that has closed is sampled."""
        return unit % self._every == 0

    def add(self, unit: int, by_agent: ByAgent) -> None:
        """Add the values of a unit that is wanted."""
        self._samples.append((unit, by_agent))
        if len(self._samples) > SAMPLES_MAX:
            self._every *= 2
            self._samples = [sample for sample in self._samples if self.wants(sample[0])]

    def course(self, units: int, last: ByAgent, roster: Sequence[str]) -> Course:
        """The course of a run of so many units, with the values and the policies of its agents at
        the end. Samples with another number of agents, which a fork changed, are left out.
        """
        samples = self._samples
        if units and (not samples or samples[-1][0] != units):
            samples = [*samples, (units, last)]
        sizes = {name: len(values) for name, values in last.items()}
        same = [
            (unit, values)
            for unit, values in samples
            if sizes == {name: len(of_agents) for name, of_agents in values.items()}
        ]
        members: dict[str, list[int]] = {}
        for agent, policy in enumerate(roster):
            members.setdefault(policy, []).append(agent)
        means = {
            name: {
                policy: tuple(mean([values[name][at] for at in agents]) for _, values in same)
                for policy, agents in members.items()
            }
            for name, size in sizes.items()
            if size == len(roster)
        }
        return Course(tuple(unit for unit, _ in same), means)
