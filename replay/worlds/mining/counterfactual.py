"""A mining round derived again with one plan replaced.

An explanation states its outcome as a fact ("would have held"), so it is derived as in a fork: the
replaced submission is validated like one from a file, and the world's own `decide` judges it with
the recorded ones.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import attrs

from goldrush.agents.llm.models import LLM
from goldrush.agents.people import HUMAN
from goldrush.kernel.errors import BadPlan
from goldrush.kernel.world import Batches, Block, Row
from goldrush.kernel.worlds.mining import MINING
from goldrush.kernel.worlds.mining.events import (
    CLAIM,
    CLAIM_DRAWN,
    DEFEND,
    MINE,
    PRUNED,
    RAID,
    RAID_RESOLVED,
    RESTORED,
    RULED,
    SUBMITTED,
    show_action,
)
from goldrush.kernel.worlds.mining.history import kept_actions
from goldrush.kernel.worlds.mining.state import MiningState, RoundRecord
from goldrush.kernel.worlds.mining.submit import resubmitted
from goldrush.replay.journal.why import PlanChange

Act = tuple[int, int, int]  # kind, plot, points

# What a plan gives up first for something new: gold, then what may come to nothing anyway, and at
# last a defence, with which another plot might go.
_GIVEN_UP: Final = {MINE: 0, CLAIM: 1, RAID: 1, DEFEND: 2}


class Outcome:
    """The derived events of a round: claims, raids and rulings by plot, removals by agent."""

    def __init__(self, batches: Batches) -> None:
        rows = dict(batches)
        self.claims, self.raids, self.rulings, self.removals = (
            {row[0]: row for row in rows.get(code, ())}
            for code in (CLAIM_DRAWN, RAID_RESOLVED, RULED, PRUNED)
        )

    def owner(self, plot: int, before: int | None) -> int | None:
        """The owner of a plot after the round; `before` is its owner before the round."""
        if plot in self.rulings and self.rulings[plot][4] == RESTORED:
            return int(self.rulings[plot][2])
        if plot in self.raids and self.raids[plot][5] is not None:
            return int(self.raids[plot][5])
        return self.claims[plot][2] if plot in self.claims else before


@attrs.frozen
class Swap:
    """A plan with one action replaced.

    Attributes:
        plan: the new plan.
        given: the actions given up for it.

    """

    plan: Sequence[Act]
    given: Sequence[Act]


class Round:
    """A recorded round: the state `before` it, its submissions, and the `outcome`."""

    def __init__(self, before: MiningState, record: RoundRecord) -> None:
        self.before = before
        self.config = before.config
        self.number = record.round
        self.outcome = Outcome(record.derived.batches)
        self.submitted: Sequence[Row] = record.rows(SUBMITTED)
        self._plans: list[list[Act]] = [[] for _ in self.submitted]
        for agent, action in kept_actions(record):
            self._plans[agent].append(action)

    def plan(self, agent: int) -> Sequence[Act]:
        """An agent's plan after pruning."""
        return self._plans[agent]

    def spent(self, agent: int) -> int:
        """The stamina of that plan."""
        return sum(points for _, _, points in self._plans[agent])

    def swapped(self, agent: int, wanted: Act) -> Swap | None:
        """An agent's plan with another action first.

        The action replaces the agent's own one of that kind on that plot, and as few other points
        as the agent's stamina requires. None if its stamina does not suffice.
        """
        kind, plot, points = wanted
        rest = [action for action in self._plans[agent] if action[:2] != (kind, plot)]
        over = points + sum(action[2] for action in rest) - self.before.staminas[agent]
        given: list[Act] = []
        for index in sorted(range(len(rest)), key=lambda i: (_GIVEN_UP[rest[i][0]], -i)):
            kind, plot, has = rest[index]
            if over > 0 and has:
                taken = min(over, has)
                rest[index] = (kind, plot, has - taken)
                given.append((kind, plot, taken))
                over -= taken
        if over > 0:
            return None
        emptied = {action[:2] for action in given}
        plan = [action for action in rest if action[2] or action[:2] not in emptied]
        return Swap((wanted, *plan), given)

    def without(self, agent: int, kind: int, plot: int) -> Sequence[Act]:
        """An agent's plan without an action."""
        return [action for action in self._plans[agent] if action[:2] != (kind, plot)]

    def again(self, agent: int, plan: Sequence[Act]) -> Outcome:
        """The outcome with another plan of one agent.

        Raises ValueError if the rest of its submission is not one that a recorder writes.
        """
        rows = list(self.submitted)
        try:
            rows[agent] = resubmitted(self._submission(agent, plan), self.config)
        except BadPlan as error:
            raise ValueError(str(error)) from None
        return Outcome(MINING.decide(self.before, Block([(SUBMITTED, rows)])))

    def change(self, agent: int, plan: Sequence[Act], says: str) -> PlanChange:
        """The fork in which an agent has another plan.

        Args:
            agent: the agent.
            plan: its plan.
            says: a description of the consequence.

        """
        replaced = [self._submission(agent, plan)]
        for entry in self.before.roster:
            if entry["agent"] != agent and entry["policy"] in (LLM, HUMAN):
                replaced.append(self._recorded(entry["agent"]))
        return PlanChange(says, agent, self.number, replaced)

    def _recorded(self, agent: int) -> dict[str, Any]:
        """The event of an agent's submission, in the form of an input of a fork."""
        _, actions, error, say, memo, _ = self.submitted[agent]
        said = {"error": error, "say": say, "memo": memo}
        return {
            "round": self.number,
            "agent": agent,
            "actions": [show_action(action) for action in actions],
            **{name: text for name, text in said.items() if text is not None},
        }

    def _submission(self, agent: int, plan: Sequence[Act]) -> dict[str, Any]:
        """The event of a submission with another plan, and the same message and memo."""
        again = {**self._recorded(agent), "actions": [show_action(action) for action in plan]}
        again.pop("error", None)
        return again
