"""The agents of a run, grouped by the policies that they play."""

from __future__ import annotations

from collections.abc import Sequence


def agents_by_policy(policies: Sequence[str]) -> dict[str, list[int]]:
    """The numbers of the agents of each policy, in order of first agents; `policies`: the label of
    each agent's policy.
    """
    agents: dict[str, list[int]] = {}
    for agent, policy in enumerate(policies):
        agents.setdefault(policy, []).append(agent)
    return agents
