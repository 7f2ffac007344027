"""A step of a game, as those see it who ask its agents."""

from __future__ import annotations

from collections.abc import Container
from contextlib import AbstractContextManager, nullcontext

import msgspec

from goldrush.kernel.game.records import State, Submission
from goldrush.kernel.game.watch import watched
from goldrush.kernel.world import EventType, Row


class StepView(msgspec.Struct, frozen=True):
    """What asking takes in one step.

    Attributes:
        asks: the type of the submissions.
        event: that of their events.
        prefix: the front of the keys of policies' draws.
        before: the state, packed, if mistakes are looked for; None: they are not.
        watched: the agents whose policies mistakes are looked for in.
        is_recorded_as_is: policies' submissions are not checked before they are recorded.
        hides: what agents see is not the state.
        together: the rows of agents that were asked together so far, by agent.
    """

    state: State
    asks: type[Submission]
    event: EventType
    prefix: tuple[int | str, ...]
    before: bytes | None
    watched: Container[int]
    is_recorded_as_is: bool
    hides: bool
    together: dict[int, Row] = {}

    def watching(self, what: str) -> AbstractContextManager[None]:
        """Within it, what asks an agent is watched, if mistakes are looked for; `what`: the part
        of the game. Raises BadInput as `watched`.
        """
        if self.before is None:
            return nullcontext()
        return watched(what, self.state, self.before)
