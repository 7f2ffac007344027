"""Given what happened, when these plans come in, then these events follow.

A scenario is a small map told by facts: `given(cols=4).claimed({0: 1})` is a world in which agent 1
claimed plot 0 in round 1. `when` plays one round by the world's own functions; what it did can then
be asked for. Defaults: five plots in a row, three agents, and the settings of a default run.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Self

import attrs

from goldrush.agents.roster import Entry
from goldrush.kernel.fold import block_events, fold
from goldrush.kernel.shape import amount
from goldrush.kernel.world import Batch, Block, Row, advance
from goldrush.kernel.worlds.mining import MINING
from goldrush.kernel.worlds.mining.config import config_of
from goldrush.kernel.worlds.mining.events import (
    CLAIM_DRAWN,
    KINDS,
    MINING_SETTLED,
    SUBMITTED,
    Action,
)
from goldrush.kernel.worlds.mining.observe import MiningObservation
from goldrush.kernel.worlds.mining.submit import Plan, submitted

Item = tuple[Any, ...] | None  # (kind, plot) or (kind, plot, amount)


@attrs.frozen
class Submission:
    """A whole submission in the journal's form: codes of kinds, None for an item that is none."""

    actions: Sequence[Action]
    error: str | None = None
    say: str | None = None
    memo: str | None = None
    source: dict[str, Any] | None = None

    def row(self, agent: int) -> Row:
        """The row of the `submitted` event."""
        return (agent, self.actions, self.error, self.say, self.memo, self.source)


Plans = Mapping[int, Sequence[Item] | Plan | Submission]


def given(**settings: Any) -> Scenario:
    """A map on which nothing has happened yet."""
    return Scenario({"rows": 1, "cols": 5, "agents": 3} | settings)


class Scenario:
    """A state, and the round that led to it."""

    def __init__(self, settings: Mapping[str, Any]) -> None:
        self.config = config_of(settings)
        roster = [Entry(agent, "greedy-mine").as_dict() for agent in range(self.config.agents)]
        self.state = MINING.initial({"config": self.config.as_dict(), "roster": roster})
        self.derived = Block([])

    # Given: rounds of the past, as facts.

    def claimed(self, owners: Mapping[int, int]) -> Self:
        """A round in which each plot was claimed by its agent, `{plot: agent}`."""
        rows = [(plot, (agent,), agent, ()) for plot, agent in sorted(owners.items())]
        return self._happened((CLAIM_DRAWN, rows))

    def earned(self, gold: Mapping[int, float]) -> Self:
        """A round in which agents were paid this much, wherever they mined it."""
        rows = [(agent, agent, 1, amount(paid)) for agent, paid in gold.items()]
        return self._happened((MINING_SETTLED, rows))

    def passed(self, rounds: int) -> Self:
        """So many rounds in which nobody did anything."""
        for _ in range(rounds):
            self._happened()
        return self

    # When: a round of plans.

    def when(self, plans: Plans) -> Self:
        """Play a round; agents without a plan submit an empty one."""
        rows = [self._row(agent, plans.get(agent, ())) for agent in range(self.config.agents)]
        inputs = Block([(SUBMITTED, rows)])
        self.state, self.derived, _ = advance(MINING, MINING.copy(self.state), inputs)
        return self

    # Then: what came of it.

    def events(self, name: str | None = None) -> list[dict[str, Any]]:
        """The derived events of the last round (of one type) in their logical form."""
        events = block_events(MINING, self.state.round, self.derived)
        return [event.as_dict() for event in events if name in (None, event.name)]

    def pruned(self, agent: int = 0) -> list[list[Any]]:
        """`[index, reason]` of what was removed from an agent's plan in the last round."""
        rows = [event for event in self.events("pruned") if event["agent"] == agent]
        return rows[0]["removed"] if rows else []

    @property
    def owners(self) -> list[int | None]:
        return self.state.owner

    @property
    def gold(self) -> list[float]:
        return self.state.gold

    # What an agent is shown.

    def seen(self, agent: int = 0) -> MiningObservation:
        """What an agent is shown at the start of the next round."""
        return MiningObservation(self.state, agent)

    def _row(self, agent: int, plan: Sequence[Item] | Plan | Submission) -> Row:
        if isinstance(plan, Submission):
            return plan.row(agent)
        if isinstance(plan, Plan):
            return submitted(agent, plan, self.config)
        items = [item if item is None or len(item) == 3 else (*item, 1) for item in plan]
        coded = [item and (KINDS.index(item[0]), item[1], item[2]) for item in items]
        return Submission(coded).row(agent)

    def _happened(self, *derived: Batch) -> Self:
        nothing = [(agent, (), None, None, None, None) for agent in range(self.config.agents)]
        blocks = [Block([(SUBMITTED, nothing)]), Block(derived)]
        self.state = MINING.close(fold(MINING, self.state, blocks))
        return self
