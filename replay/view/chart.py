"""The numbers of charts: their digits, and what the lines of a chart of agents stand for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from goldrush.kernel.measures import Value, mean
from goldrush.kernel.shape import amount
from goldrush.replay.policies import agents_by_policy
from goldrush.replay.text import CLOSE_DIGITS

SINGLE_MAX: Final = 20  # agents with a line each; of more, policies have one
POLICIES_MAX: Final = 16  # policies with a line each

# By title, the number of the agent or the policy, the agents of each line.
Lines = Mapping[int | str, Sequence[int]]


def short(value: float | None) -> float | None:
    """A number with the digits that it has in a page; whole numbers as integers."""
    return None if value is None else amount(float(f"{value:.{CLOSE_DIGITS}g}"))


def lines_of(labels: Sequence[str], *, by_policy: bool = False) -> Lines:
    """The lines of a chart of agents in these groups: one for each agent, or of many agents, or
    `by_policy`, one for the mean of each policy. Of more than POLICIES_MAX policies those with the
    most agents.
    """
    if len(labels) <= SINGLE_MAX and not by_policy:
        return {agent: [agent] for agent in range(len(labels))}
    agents = agents_by_policy(labels)
    titles = sorted(agents, key=lambda label: -len(agents[label]))[:POLICIES_MAX]
    return {title: agents[title] for title in titles}


def points_of(lines: Lines, values: Sequence[Value]) -> list[Value]:
    """The point of each line where the agents have these values; none of those that join later."""
    return [
        short(mean([values[agent] for agent in agents if agent < len(values)]))
        for agents in lines.values()
    ]
