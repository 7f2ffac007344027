"""Consequences of a difference between two mining runs: owners, gold, counts, by round."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import zip_longest
from typing import Any

import attrs

from goldrush.kernel.journal import UNIT, Commit, JournalReader
from goldrush.kernel.worlds.mining import MINING
from goldrush.kernel.worlds.mining.events import RAID_RESOLVED, RULED, RaidOutcome, Remedy
from goldrush.kernel.worlds.mining.state import MiningState
from goldrush.replay.journal.diff import Diff
from goldrush.replay.journal.forged import reporting_forged
from goldrush.replay.journal.index import states_near
from goldrush.replay.tools import CountsOfAgents
from goldrush.replay.worlds.mining.summary import counted


@attrs.frozen
class RoundDifference:
    """The difference of two runs, a and b, after a round: the number of plots with different owners
    (None if the grids differ), the gold of all agents, the raids and the captures of the round.
    """

    round: int
    plots: int | None
    gold_a: float
    gold_b: float
    raids_a: int
    raids_b: int
    captures_a: int
    captures_b: int


@attrs.frozen
class MiningConsequences:
    """Two mining runs, a and b, compared after the last round of both.

    Attributes:
        since, round: the first round of the counts, and the last one of both.
        owners: (plot, owner in a, owner in b) where they differ; None if the grids differ.
        gold: (agent, gold in a, gold in b); None if a run has no such agent.
        counts_a, counts_b: counts of events (see `summary.counted`).
        rounds: the difference after each round, if requested.
    """

    since: int
    round: int
    owners: Sequence[tuple[int, int | None, int | None]] | None
    gold: Sequence[tuple[int, float | None, float | None]]
    counts_a: Mapping[str, float]
    counts_b: Mapping[str, float]
    rounds: Sequence[RoundDifference]

    def as_dict(self) -> dict[str, Any]:
        """The consequences for JSON."""
        return attrs.asdict(self)


def consequences(difference: Diff, *, by_round: bool = False) -> MiningConsequences | None:
    """The consequences of the first differing event of two mining runs, with `by_round` after each
    round; None if no event differs in a round that both runs closed.

    Raises MalformedEvents if events cannot be applied; JournalError if a journal cannot be read.
    """
    until = min(difference.a.rounds, difference.b.rounds)
    if difference.first is None or difference.first.round > until:
        return None
    since = difference.first.round
    counts: tuple[Counter[str], Counter[str]] = Counter(), Counter()
    rows: list[RoundDifference] = []
    with (
        reporting_forged(difference.a.path, difference.b.path),
        JournalReader(difference.a.path) as reader_a,
        JournalReader(difference.b.path) as reader_b,
    ):
        pairs = zip(_rounds(reader_a, since, until), _rounds(reader_b, since, until), strict=True)
        for (round, happened_a, one), (_, happened_b, two) in pairs:
            counts[0].update(happened_a)
            counts[1].update(happened_b)
            if by_round:
                rows.append(_difference(round, one, two, happened_a, happened_b))
    gold = [(agent, *pair) for agent, pair in enumerate(zip_longest(one.gold, two.gold))]
    owners = _owners(one, two)
    return MiningConsequences(since, until, owners, gold, dict(counts[0]), dict(counts[1]), rows)


def counts_of_agents(difference: Diff) -> CountsOfAgents:
    """How many plots each agent raided, captured and lost in two mining runs, captures that were
    undone left out, and the gold that it paid in fines, from the first event that differs to the
    last round of both.

    Raises JournalError if a journal cannot be read.
    """
    until = min(difference.a.rounds, difference.b.rounds)
    if difference.first is None or difference.first.round > until:
        return {}
    paths = difference.a.path, difference.b.path
    with reporting_forged(*paths):
        a, b = (_counts_of_agents(path, difference.first.round, until) for path in paths)
    return {title: (a[title], b[title]) for title in a}


def _counts_of_agents(path: str, since: int, until: int) -> Mapping[str, Mapping[int, float]]:
    raided, captured, lost = Counter[int](), Counter[int](), Counter[int]()
    fines: dict[int, float] = {}
    with JournalReader(path) as reader:
        for commit in reader:
            for block in commit.blocks[1::2] if commit.unit >= since else ():
                for _, owner, raiders, _, outcome, winner, _ in block.rows(RAID_RESOLVED):
                    raided.update(raiders)
                    if outcome == RaidOutcome.CAPTURED:
                        captured[winner] += 1
                        lost[owner] += 1
                for _, captor, victim, _, remedy, fine, _ in block.rows(RULED):
                    fines[captor] = fines.get(captor, 0.0) + fine
                    if remedy == Remedy.RESTORED:
                        captured[captor] -= 1
                        lost[victim] -= 1
            if commit.unit == until and commit.kind == UNIT and commit.digest is not None:
                break
    return {"raids": raided, "captures": captured, "plots lost": lost, "fines": fines}


def _rounds(
    reader: JournalReader, since: int, until: int
) -> Iterator[tuple[int, Counter[str], MiningState]]:
    """Every round from `since` to `until`, with the counts of its events and the state after it."""
    happened: Counter[str] = Counter()
    walk: Iterator[tuple[Commit, MiningState]] = states_near(MINING, reader, since)
    for commit, state in walk:
        if commit.kind != UNIT or commit.unit < since:
            continue
        happened.update(counted(commit))
        if commit.digest is not None:
            yield commit.unit, happened, state
            happened = Counter()
            if commit.unit == until:
                return


def _difference(
    round: int, one: MiningState, two: MiningState, a: Mapping[str, Any], b: Mapping[str, Any]
) -> RoundDifference:
    owners = _owners(one, two)
    return RoundDifference(
        round, None if owners is None else len(owners), math.fsum(one.gold), math.fsum(two.gold),
        a["raids"], b["raids"], a["captures"], b["captures"],
    )  # fmt: skip


def _owners(one: MiningState, two: MiningState) -> list[tuple[int, int | None, int | None]] | None:
    if (one.config.rows, one.config.cols) != (two.config.rows, two.config.cols):
        return None
    pairs = zip(one.owner, two.owner, strict=True)
    return [(plot, a, b) for plot, (a, b) in enumerate(pairs) if a != b]
