"""Explanations of results, in any world: who did what, and what would have changed the result.

A world makes them (`Tools.explain`). It claims "would have" only of what it has derived again:
from the state before the unit and the recorded inputs, with one submission replaced.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import attrs
import msgspec

from goldrush.kernel.text import quoted, quoted_path


@attrs.frozen
class PlanChange:
    """The replacement of one plan that leads to another result.

    Attributes:
        text: a sentence.
        agent: the agent whose plan is replaced.
        unit: the public number of the unit.
        submissions: the submissions for a fork, in the form of the world's events: the replaced
            plan first, then, as recorded, those of players who would be asked anew and might answer
            otherwise (language models, people).
        is_playable: False where no fork can play it: an agent was asked with another version of the
            prompt.
    """

    text: str
    agent: int
    unit: int
    submissions: Sequence[Mapping[str, Any]]
    is_playable: bool = True

    def command(self, journal: str, program: str = "goldrush") -> str | None:
        """The shell command that forks the journal at a path with this change; None: none can."""
        if not self.is_playable:
            return None
        lines = " ".join(quoted(json.dumps(submission)) for submission in self.submissions)
        return (
            f"printf '%s\\n' {lines} | {program} fork {quoted_path(journal)} --at {self.unit - 1} "
            "--replace-submission -"
        )

    def as_dict(self) -> dict[str, Any]:
        """The change for JSON, without the command, which needs the name of a journal."""
        return {"says": self.text, "agent": self.agent, "submissions": list(self.submissions)}


class Explanation(msgspec.Struct, frozen=True):
    """Why one result in a unit came about.

    Attributes:
        kind: a short name ("capture").
        unit: the public number of the unit.
        location: the number of the location (a plot), or None.
        agents: those involved, ascending.
        account: sentences about the actions of the agents; the first is that of the event.
        change: the change of one agent's plan that leads to another result; None if there is none.
    """

    kind: str
    unit: int
    location: int | None = msgspec.field(name="place")  # so it is called in JSON
    agents: Sequence[int]
    account: Sequence[str]
    change: PlanChange | None = None

    def __str__(self) -> str:
        change = [] if self.change is None else [self.change.text]
        return "\n".join([*self.account, *change])

    def as_dict(self) -> dict[str, Any]:
        change = None if self.change is None else self.change.as_dict()
        return {**msgspec.to_builtins(self), "change": change}
