"""The content of the top of the page of a run: its outcome, and the outcome over the units.

All of it is of the whole run, also where the page carries a part of the journal. It is computed
here: a reader sees it before the page has read and checked the journal.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from typing import Final

import attrs

from goldrush.kernel.measures import Value, mean
from goldrush.replay.data.measures import AgentMeasure
from goldrush.replay.data.spread import NO_SPREAD, Spread, spreads_of
from goldrush.replay.outcome import RunOutcome
from goldrush.replay.policies import agents_by_policy
from goldrush.replay.view.numbers import POLICIES_MAX, SINGLE_MAX, short

POINTS_MAX: Final = 240  # points of a line


@attrs.frozen
class OutcomeAt:
    """The outcome so far, at the end of a unit: by agent, and by group of agents; `agents` is empty
    above SINGLE_MAX agents.
    """

    agents: Sequence[Value]
    means: Mapping[str, Value]
    spreads: Mapping[str, Spread]

    @classmethod
    def of(cls, values: Sequence[Value], labels: Sequence[str]) -> OutcomeAt:
        """That of a unit after which the agents of these groups have so much; those that join
        later have none.
        """
        known = [*values[: len(labels)], *[None] * (len(labels) - len(values))]
        return cls(
            known if len(known) <= SINGLE_MAX else (),
            {
                label: mean([known[agent] for agent in agents])
                for label, agents in agents_by_policy(labels).items()
            },
            spreads_of(known, labels),
        )


@attrs.frozen
class RunFront:
    """The content of the front for one run; `outcome` is None where none can be told.

    Attributes:
        labels: the group of each agent: what it plays, of two runs also in which.
        points: the outcome over the units.
        whole: the same where it is of the run and not of its agents, as (unit, value).
        measures: of agents: name, title, definition and the value of each agent.
    """

    outcome: RunOutcome | None
    labels: Sequence[str]
    points: Sequence[tuple[int, OutcomeAt]]
    measures: Sequence[tuple[AgentMeasure, Sequence[Value]]]
    whole: Sequence[tuple[int, Value]] = ()

    @property
    def title(self) -> str:
        """The title of what is compared."""
        return "score" if self.outcome is None else self.outcome.measure.title

    @property
    def definition(self) -> str:
        """Its definition."""
        return "" if self.outcome is None else self.outcome.measure.definition

    def as_dict(self, *, by_mean: bool) -> dict[str, object]:
        """For the page's script; `by_mean`: the lines are means of policies, as for two runs."""
        return {
            "title": self.title,
            "definition": self.definition,
            "units": [unit for unit, _ in self.points or self.whole],
            "lines": self._lines(by_mean=by_mean),
            "labels": [(label, len(list(same))) for label, same in groupby(self.labels)],
            "measures": [
                {
                    "name": measure.name,
                    "title": measure.title,
                    "values": [short(value) for value in values],
                }
                for measure, values in self.measures
            ],
        }

    def _lines(self, *, by_mean: bool) -> list[dict[str, object]]:
        """An agent or a policy each; of policies those with the most agents."""
        rows = [point for _, point in self.points]
        if not rows:
            values = _short(value for _, value in self.whole)
            return [{"title": self.title, "values": values}] if values else []
        if rows[-1].agents and not by_mean:
            return [
                {
                    "agent": agent,
                    "policy": policy,
                    "values": _short(row.agents[agent] for row in rows),
                }
                for agent, policy in enumerate(self.labels)
            ]
        counts = Counter(self.labels)
        policies = sorted(rows[-1].means, key=lambda each: -counts[each])[:POLICIES_MAX]
        if by_mean:
            return [
                {"policy": policy, "values": _short(row.means.get(policy) for row in rows)}
                for policy in policies
            ]
        ends = {
            policy: list(zip(*(row.spreads.get(policy, NO_SPREAD) for row in rows), strict=True))
            for policy in policies
        }
        return [
            {
                "policy": policy, "count": counts[policy], "values": _short(median),
                "bands": [[_short(q1), _short(q3)], [_short(low), _short(high)]],
            }
            for policy, (low, q1, median, q3, high) in ends.items()
        ]  # fmt: skip


def any_of(values: Sequence[Value]) -> bool:
    """Whether there is a value."""
    return any(value is not None for value in values)


def _short(values: Iterable[Value]) -> list[Value]:
    return [short(value) for value in values]
