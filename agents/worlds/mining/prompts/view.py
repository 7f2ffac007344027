"""What the agents of one round are shown, with the prompts of each version."""

from __future__ import annotations

from functools import cached_property

from goldrush.agents.llm.wording_rosters import framed_in
from goldrush.agents.worlds.mining.prompts import v1, v2
from goldrush.kernel.worlds.mining.observe import SharedView


class PlanPrompts:
    """The shared observation of a round, with the prompts of models; each part is made once, when
    it is needed.
    """

    def __init__(self, shown: SharedView) -> None:
        self.shown = shown

    @cached_property
    def v1(self) -> v1.Prompts:
        """The prompts of version 1."""
        return v1.Prompts(self.shown)

    @cached_property
    def v2(self) -> v2.Prompts:
        """The prompts of version 2."""
        state = self.shown.state
        return v2.Prompts(self.shown, framed_in(state.roster, state.config.seed, v2.wordable()))
