"""Why something came out as it did, whatever the world: who did what, and what would have changed
it.

A world says it (`Toolkit.why`). It says "would have" only of what it has derived again: from the
state before the unit and the recorded inputs, with the one submission replaced.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import attrs

from goldrush.kernel.text import quoted, quoted_path


@attrs.frozen
class Change:
    """One plan replaced, with which it would have come out otherwise.

    `says`: a sentence. `agent`: whose plan. `unit`: the number of the unit as people count.
    `submissions`: what a fork puts in by hand, in the form of the world's events: the plan that is
    replaced first; behind it, as they are recorded, those of who would be asked anew and might not
    answer the same (language models, people).
    """

    text: str
    agent: int
    unit: int
    submissions: Sequence[Mapping[str, Any]]

    def command(self, journal: str, program: str = "goldrush") -> str:
        """The line for a shell that plays the journal at a path on from there."""
        lines = " ".join(quoted(json.dumps(submission)) for submission in self.submissions)
        return (
            f"printf '%s\\n' {lines} | {program} fork {quoted_path(journal)} --at {self.unit - 1} "
            "--replace-submission -"
        )

    def as_dict(self) -> dict[str, Any]:
        """It for JSON; the command needs the name of a journal."""
        return {"says": self.text, "agent": self.agent, "submissions": list(self.submissions)}


@attrs.frozen
class Explanation:
    """Why one thing in a unit came out as it did.

    `kind`: a short name ("capture"). `unit`: its number as people count. `place`: where, by the
    number of a place (a plot), or None. `agents`: those involved, ascending. `account`: lines that
    say who did what. `plan`: the agent whose plan is listed behind them, and the listing, or None.
    `snippet`: lines of Python that redo the draws, given msgpack and xxhash;
    empty where nothing was drawn. `change`: the plan of one agent that would have changed it; None
    where there is none to tell of, and `account` then ends with the reason.
    """

    kind: str
    unit: int
    location: int | None
    agents: Sequence[int]
    account: Sequence[str]
    plan: tuple[int, str] | None = None
    snippet: str = ""
    change: Change | None = None

    def __str__(self) -> str:
        plan = [] if self.plan is None else ["agent {}'s plan: {}".format(*self.plan)]
        change = [] if self.change is None else [self.change.text]
        return "\n".join([*self.account, *plan, *change])

    def as_dict(self) -> dict[str, Any]:
        """It for JSON."""
        return {
            "kind": self.kind,
            "unit": self.unit,
            "place": self.location,
            "agents": list(self.agents),
            "account": list(self.account),
            "plan": None if self.plan is None else {"agent": self.plan[0], "says": self.plan[1]},
            "snippet": self.snippet,
            "change": None if self.change is None else self.change.as_dict(),
        }
