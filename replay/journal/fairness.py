"""Fairness of the draws: the winners of ties, counted over runs, against uniform chance.

Of k tied participants each should win 1/k of the draws. For each k the counts of the winner's index
among the participants (ascending ids) are tested by Pearson's chi-square test with k - 1 degrees of
freedom; the statistics and degrees of all k are added up. A draw is a function of its key: where
runs share a seed, the same key gives the same words, and is counted once.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

import attrs
from xxhash import xxh3_64_intdigest

from goldrush.kernel.errors import BadInput, TornTail
from goldrush.replay.extras import require
from goldrush.replay.journal.draws import draws
from goldrush.replay.journal.forged import reporting_forged
from goldrush.replay.journal.tie_break import TieBreak

EXPECTED_MIN: Final = 5.0  # expected wins an index, below which the approximation is poor


@attrs.frozen
class Fairness:
    """The test for one number of participants.

    Attributes:
        participants: the number of tied participants; None: all numbers together.
        draws: the number of draws.
        counts: the number of wins by index; empty for all together.
        expected: the expected number of wins an index; None for all together.
        statistic: chi-square.
        degrees: its degrees of freedom.
        p: the probability of a statistic at least as large if every index is equally likely.
        is_thin: fewer than EXPECTED_MIN wins are expected; all together leaves such tests out.
    """

    participants: int | None
    draws: int
    counts: Sequence[int]
    expected: float | None
    statistic: float
    degrees: int
    p: float
    is_thin: bool

    def as_dict(self) -> dict[str, Any]:
        return attrs.asdict(self)


def fairness(paths: Iterable[str | Path]) -> list[Fairness]:
    """The tests for each number of participants, ascending, then for all together.

    Draws without a winner (a shuffle for its order, say) are left out.

    Raises BadInput if scipy is not installed, nothing was drawn, or a draw does not hold;
    JournalError as reading a journal does.
    """
    require("scipy", "the test of fairness needs", "stats")
    tests = tested(_wins(paths))
    if not tests:
        raise BadInput("nothing was drawn in these journals", "give some where agents were tied")
    return tests


def tested(wins: Mapping[int, Sequence[int]]) -> list[Fairness]:
    """The same tests for draws that are counted already: by number of participants, the wins by
    index. Empty if nothing was drawn.
    """
    from scipy.special import chdtrc  # scipy.stats takes longer to import than most reports

    tests = []
    for participants, counts in sorted(wins.items()):
        draws = sum(counts)
        expected = draws / participants
        statistic = math.fsum((count - expected) ** 2 for count in counts) / expected
        tests.append(
            Fairness(
                participants, draws, counts, expected, statistic, participants - 1,
                float(chdtrc(participants - 1, statistic)), expected < EXPECTED_MIN,
            )
        )  # fmt: skip
    if not tests:
        return []
    thick = [test for test in tests if not test.is_thin]
    statistic, degrees = sum(t.statistic for t in thick), sum(t.degrees for t in thick)
    p = float(chdtrc(degrees, statistic)) if thick else 1.0
    together = sum(test.draws for test in thick)
    tests.append(Fairness(None, together, (), None, statistic, degrees, p, not thick))
    return tests


def _wins(paths: Iterable[str | Path]) -> dict[int, list[int]]:
    """By number of participants: the number of wins by index."""
    counts: dict[int, list[int]] = {}
    seen: set[int] = set()
    for path in paths:
        with reporting_forged(path):
            for drawn in _whole(path):
                _count(drawn, str(path), counts, seen)
    return counts


def _count(drawn: TieBreak, path: str, counts: dict[int, list[int]], seen: set[int]) -> None:
    """Count a draw with a winner, if it is new. Raises BadInput for one that does not hold."""
    size = len(drawn.participants)
    if not drawn.holds:
        where = ", ".join(f"{name} {n}" for name, n in reversed([*drawn.location.items()]))
        raise BadInput(f"{path}: a draw does not hold: {where}", "see `audit --all`")
    key = xxh3_64_intdigest(bytes.fromhex(drawn.key))
    if drawn.draw_words and drawn.outcome in drawn.participants and key not in seen:
        seen.add(key)
        index = drawn.participants.index(drawn.outcome)
        counts.setdefault(size, [0] * size)[index] += 1


def _whole(path: str | Path) -> Iterator[TieBreak]:
    """The draws in the whole commits of a journal; a torn tail does not matter."""
    with suppress(TornTail):
        yield from draws(path)
