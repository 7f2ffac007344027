"""What came of a difference between two mining runs: owners, gold, counts, round by round."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import zip_longest
from typing import Any

import attrs

from goldrush.kernel.journal import UNIT, Commit, JournalReader
from goldrush.kernel.mining import MINING
from goldrush.kernel.mining.state import MiningState
from goldrush.replay.diff import Diff
from goldrush.replay.forged import reporting_forged
from goldrush.replay.index import states_near
from goldrush.replay.mining.summary import counted


@attrs.frozen
class RoundApart:
    """How far apart two runs are after a round.

    `plots` with different owners (None where the grids differ), and of each run the gold of all
    agents and the raids and captures of the round.
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
class Consequences:
    """Two mining runs compared after the last round that both have.

    `since`: the first round that was counted. `owners`: (plot, owner in a, owner in b) where they
    differ, None where the grids do. `gold`: (agent, in a, in b), None where there is no such agent.
    `counts_a`, `counts_b`: what happened in the rounds counted (see `summary.counted`).
    """

    since: int
    round: int
    owners: Sequence[tuple[int, int | None, int | None]] | None
    gold: Sequence[tuple[int, float | None, float | None]]
    counts_a: Mapping[str, float]
    counts_b: Mapping[str, float]
    rounds: Sequence[RoundApart]

    def as_dict(self) -> dict[str, Any]:
        """The consequences for JSON."""
        return attrs.asdict(self)


def consequences(found: Diff, *, by_round: bool = False) -> Consequences | None:
    """What came of the first event in which two mining runs differ, as far as both go.

    `by_round` keeps a row for each round. None where no event of a round
    that both closed differs. Raises MalformedEvents for
    events that cannot be applied, and what opening a journal raises.
    """
    until = min(found.a.rounds, found.b.rounds)
    if found.first is None or found.first.round > until:
        return None
    since = found.first.round
    counts: tuple[Counter[str], Counter[str]] = Counter(), Counter()
    rows: list[RoundApart] = []
    with (
        reporting_forged(found.a.path, found.b.path),
        JournalReader(found.a.path) as reader_a,
        JournalReader(found.b.path) as reader_b,
    ):
        pairs = zip(_rounds(reader_a, since, until), _rounds(reader_b, since, until), strict=True)
        for (round, happened_a, one), (_, happened_b, two) in pairs:
            counts[0].update(happened_a)
            counts[1].update(happened_b)
            if by_round:
                rows.append(_apart(round, one, two, happened_a, happened_b))
    return Consequences(
        since,
        until,
        _owners(one, two),
        [(agent, *pair) for agent, pair in enumerate(zip_longest(one.gold, two.gold))],
        dict(counts[0]),
        dict(counts[1]),
        rows,
    )


def _rounds(
    reader: JournalReader, since: int, until: int
) -> Iterator[tuple[int, Counter[str], MiningState]]:
    """Every round from `since` to `until`: what happened in it and the state after it."""
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


def _apart(
    round: int, one: MiningState, two: MiningState, a: Mapping[str, Any], b: Mapping[str, Any]
) -> RoundApart:
    owners = _owners(one, two)
    return RoundApart(
        round,
        None if owners is None else len(owners),
        math.fsum(one.gold),
        math.fsum(two.gold),
        a["raids"],
        b["raids"],
        a["captures"],
        b["captures"],
    )


def _owners(one: MiningState, two: MiningState) -> list[tuple[int, int | None, int | None]] | None:
    if (one.config.rows, one.config.cols) != (two.config.rows, two.config.cols):
        return None
    pairs = zip(one.owner, two.owner, strict=True)
    return [(plot, a, b) for plot, (a, b) in enumerate(pairs) if a != b]
