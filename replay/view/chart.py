"""The numbers of charts: their digits, and what the lines of a chart of agents stand for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import msgspec

from goldrush.kernel.measures import Value, mean
from goldrush.kernel.shape import amount
from goldrush.replay.policies import agents_by_policy
from goldrush.replay.text import CLOSE_DIGITS

SINGLE_MAX: Final = 20  # agents with a line each; of more, policies have one
POLICIES_MAX: Final = 16  # policies with a line each


def short(value: float | None, digits: int = CLOSE_DIGITS) -> float | None:
    """A number with the digits that it has in a page; whole numbers as integers."""
    return None if value is None else amount(float(f"{value:.{digits}g}"))


class Lines(msgspec.Struct, frozen=True):
    """The lines of a chart of agents: an agent each, or the mean of the agents of a policy.

    Attributes:
        titles: the number of the agent, or the policy.
        members: the agents of each line.
    """

    titles: Sequence[int | str]
    members: Sequence[Sequence[int]]

    @classmethod
    def of(cls, labels: Sequence[str], *, by_policy: bool = False) -> Lines:
        """Those of agents in these groups; `by_policy`: of few agents, too. Of more than
        POLICIES_MAX policies those with the most agents.
        """
        if len(labels) <= SINGLE_MAX and not by_policy:
            return cls(range(len(labels)), [[agent] for agent in range(len(labels))])
        agents = agents_by_policy(labels)
        titles = sorted(agents, key=lambda label: -len(agents[label]))[:POLICIES_MAX]
        return cls(titles, [agents[label] for label in titles])

    def row(self, values: Sequence[Value]) -> list[Value]:
        """The point of each line where the agents have these values; agents that join later have
        none.
        """
        return [
            short(mean([values[agent] for agent in agents if agent < len(values)]))
            for agents in self.members
        ]
