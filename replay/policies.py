"""The agents of a run, grouped by the policies that they play."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby, zip_longest
from typing import Final

from goldrush.kernel.grouping import grouped

TURN: Final = " → "  # between the policies that an agent plays one after the other
BESIDE: Final = " | "  # between what it plays in two runs, neither of which is a fork of the other


def agents_by_policy(policies: Sequence[str]) -> dict[str, list[int]]:
    """The numbers of the agents of each policy, in order of first agents; `policies`: the label of
    each agent's policy.
    """
    return grouped(range(len(policies)), policies.__getitem__)


def played(rosters: Iterable[Sequence[str]]) -> Sequence[str]:
    """By agent of the last roster what it plays in a run: `greedy`, or, where a fork changes it,
    `greedy → raid`. `rosters`: by agent, the label of its policy; the first roster first.
    """
    *before, last = [*rosters] or [[]]
    if not before:
        return last
    each = zip_longest(*(roster[: len(last)] for roster in before), last)
    return [TURN.join(label for label, _ in groupby(filter(None, labels))) for labels in each]


def last_of(label: str) -> str:
    """The last policy in a label of `played`; a label of two policies in two runs (`beside`) as it
    is.
    """
    return label if BESIDE in label else label.rpartition(TURN)[2]


def beside(a: Sequence[str], b: Sequence[str]) -> tuple[Sequence[str], Sequence[str]]:
    """The labels by which the agents of two runs are compared, for those of either run; arguments:
    as `played` gives them.

    The same agents are compared, whatever they play in either run. Of runs with different numbers
    of agents, those of a policy are, however many they are.
    """
    if len(a) != len(b):
        return a, b
    labels = [_beside(*both) for both in zip(a, b, strict=True)]
    return labels, labels


def _beside(a: str, b: str) -> str:
    if a == b or b.startswith(a + TURN):
        return b
    return a if a.startswith(b + TURN) else f"{a}{BESIDE}{b}"
