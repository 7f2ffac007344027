"""The summary of a mining run: counts over its whole journal."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import attrs

from goldrush.agents.seats import policy_label
from goldrush.agents.trust import LLM
from goldrush.agents.worlds.mining.roster import PROMPTS
from goldrush.kernel import fold
from goldrush.kernel.journal import FORK, UNIT, Commit, JournalReader
from goldrush.kernel.walk import Walk
from goldrush.kernel.world import Event
from goldrush.kernel.worlds.mining import MINING
from goldrush.kernel.worlds.mining.events import (
    CLAIM_DRAWN,
    KINDS,
    MINING_SETTLED,
    RAID_RESOLVED,
    RULED,
    SUBMITTED,
    RaidOutcome,
    Remedy,
)
from goldrush.kernel.worlds.mining.state import MiningState
from goldrush.replay.journal.forged import reader_of
from goldrush.replay.journal.usage import Taken, usage

COUNTED: Final = ("claims", "contested", "raids", "captures", "undone")


@attrs.frozen
class PolicySummary:
    """The agents of one policy: their number, their gold and the number of their plots at the end
    of the journal, and the stamina points that they spent, by kind of action.
    """

    policy: str
    agents: int
    gold: float
    plots: int
    spent: Mapping[str, int]


@attrs.frozen
class RunSummary:
    """Counts over the whole run.

    Attributes:
        bytes: the journal's size.
        rounds: the number of closed rounds.
        pressure: the number of plots that the agents could use ÷ the number of plots.
        claims: the number of claimed plots, added over the rounds, as all counts of events.
        contested: claims with two claimants or more.
        raids: raided plots.
        captures: captures that were not undone.
        undone: captures that an authority has undone.
        owned: plots with an owner at the end of the journal.
        mined: mined gold, before fines.
        waiting: the number of submissions in the open round.
        models: usage of language models; None if none plays.
    """

    path: str
    bytes: int
    rounds: int
    finished: bool
    config: Mapping[str, Any]
    pressure: float
    claims: int
    contested: int
    raids: int
    captures: int
    undone: int
    owned: int
    mined: float
    policies: Sequence[PolicySummary]
    forks: Sequence[Event]
    waiting: int = 0
    models: Taken | None = None

    def as_dict(self) -> dict[str, Any]:
        """The summary for JSON."""
        forks = [event.as_dict() for event in self.forks]
        return {**attrs.asdict(self), "forks": forks}


@reader_of
def summarise(path: str | Path) -> RunSummary:
    """The summary of a mining journal. Raises JournalError if it cannot be read."""
    counts: Counter[str] = Counter()
    mined: list[float] = []
    rounds = waiting = 0
    forks: list[Event] = []
    with JournalReader(path) as reader:
        walk = Walk(MINING, reader)
        for commit, _ in walk:
            if commit.digest is not None:
                rounds, waiting = commit.unit, 0
            elif commit.kind == UNIT:
                waiting += sum(len(block.rows(SUBMITTED)) for block in commit.blocks[::2])
            if commit.kind == FORK:
                forks.append(fold.setup_event(MINING, reader, commit))
            happened = counted(commit)
            mined.append(happened.pop("mined"))
            counts.update(happened)
        size, finished = reader.size, reader.ended
    state = walk.state
    took = usage(path) if any(entry["policy"] == LLM for entry in state.roster) else None
    return RunSummary(
        path=str(path),
        bytes=size,
        rounds=rounds,
        finished=finished,
        config=state.config.as_dict(),
        pressure=state.config.pressure,
        **{name: counts[name] for name in COUNTED},
        owned=sum(map(len, state.plots_of)),
        mined=math.fsum(mined),
        policies=_by_policy(state),
        forks=forks,
        waiting=waiting,
        models=took.total if took else None,
    )


def counted(commit: Commit) -> dict[str, Any]:
    """Counts of the events in a commit, by the attributes of `RunSummary` with the same names."""
    happened: dict[str, Any] = dict.fromkeys(COUNTED, 0)
    mined: list[float] = []
    for block in commit.blocks[1::2]:
        claims = block.rows(CLAIM_DRAWN)
        raids = block.rows(RAID_RESOLVED)
        happened["claims"] += len(claims)
        happened["contested"] += sum(len(row[1]) > 1 for row in claims)
        happened["raids"] += len(raids)
        undone = sum(row[4] == Remedy.RESTORED for row in block.rows(RULED))
        happened["captures"] += sum(row[4] == RaidOutcome.CAPTURED for row in raids) - undone
        happened["undone"] += undone
        mined += (row[3] for row in block.rows(MINING_SETTLED))
    return {**happened, "mined": math.fsum(mined)}


def _by_policy(state: MiningState) -> list[PolicySummary]:
    members: dict[str, list[int]] = {}
    for entry in state.roster:
        members.setdefault(policy_label(entry, PROMPTS), []).append(entry["agent"])
    return [
        PolicySummary(
            policy,
            len(agents),
            math.fsum(state.gold[agent] for agent in agents),
            sum(len(state.plots_of[agent]) for agent in agents),
            {
                name: sum(state.spent[agent][kind] for agent in agents)
                for kind, name in enumerate(KINDS)
            },
        )
        for policy, agents in members.items()
    ]
