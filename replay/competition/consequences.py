"""What came of a difference between two seasons: conclusions and scores, assignment by assignment,
and where everybody stands in the end.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import zip_longest
from typing import Any

import attrs

from goldrush.kernel.competition import COMPETITION
from goldrush.kernel.competition.conduct import described
from goldrush.kernel.competition.events import CONCLUDED, SCORED
from goldrush.kernel.competition.state import GONE, WORKER, SeasonState
from goldrush.kernel.journal import UNIT, JournalReader
from goldrush.replay.diff import Diff
from goldrush.replay.forged import reporting_forged
from goldrush.replay.index import states_near

Scores = Mapping[int, tuple[int, ...]]  # agent -> the four final scores


@attrs.frozen
class Came:
    """What an assignment came to in one season: for each table the conduct concluded on (None: no
    conclusion) and the final scores by agent.
    """

    conclusions: Sequence[str | None]
    scores: Sequence[Scores]

    @property
    def mean_total(self) -> float | None:
        """The mean total of everybody at its tables."""
        totals = [sum(scores) for table in self.scores for scores in table.values()]
        return sum(totals) / len(totals) if totals else None


@attrs.frozen
class Apart:
    """An assignment in which two seasons differ; None where one of them does not have it."""

    assignment: int
    a: Came | None
    b: Came | None


@attrs.frozen
class Standing:
    """A worker at the end of what both seasons have: status, sparks and all-time sum in each."""

    agent: int
    name: str
    a: tuple[str, int, int] | None
    b: tuple[str, int, int] | None


@attrs.frozen
class Consequences:
    """Two seasons compared from the first difference (`since`) to the last assignment (`until`)
    that both have: the assignments that came out otherwise, and the workers that stand otherwise.
    `names`: what agents are called, by ordinal, in a where both seasons have one of that ordinal.
    """

    since: int
    until: int
    assignments: Sequence[Apart]
    standings: Sequence[Standing]
    names: Mapping[int, str]

    def as_dict(self) -> dict[str, Any]:
        """The consequences for JSON."""
        return attrs.asdict(self)


def consequences(found: Diff, *, by_round: bool = False) -> Consequences | None:
    """What came of a difference; None where nothing can have, or no assignment is in both.

    Every assignment is followed, `by_round` or not: it costs nothing more.

    Raises what reading the journals raises.
    """
    if found.same or found.world is None:
        return None
    common = min(found.a.rounds, found.b.rounds)
    since = max((cause.round for cause in found.causes), default=0)
    if found.first is not None:
        since = found.first.round
    unit = max(1, COMPETITION.vocabulary.unit_of(since))
    if common < unit:
        return None
    with reporting_forged(found.a.path, found.b.path):
        sides = [_followed(side.path, unit, common) for side in (found.a, found.b)]
    (came_a, end_a), (came_b, end_b) = sides
    number = COMPETITION.vocabulary.number
    apart = [
        Apart(number(unit + place), a, b)
        for place, (a, b) in enumerate(zip_longest(came_a, came_b))
        if a != b
    ]
    names = {**_names(end_b), **_names(end_a)}
    return Consequences(number(unit), number(common), apart, list(_standings(end_a, end_b)), names)


def _followed(path: str, first: int, last: int) -> tuple[list[Came], SeasonState]:
    """What the assignments from one to another (as numbered in the file) came to, and the state
    after the last.
    """
    came = []
    with JournalReader(path) as reader:
        blocks: list[Any] = []
        for commit, state in states_near(COMPETITION, reader, first):
            if commit.kind == UNIT and commit.unit >= first:
                blocks += commit.blocks
                if commit.digest is not None:
                    came.append(_came(blocks))
                    blocks = []
            if commit.unit == last and commit.digest is not None:
                return came, COMPETITION.copy(state)
    raise AssertionError(f"{path} was seen to have assignment {last}")


def _came(blocks: Sequence[Any]) -> Came:
    rows = [(code, row) for block in blocks for code, batch in block for row in batch]
    conclusions = [
        None if row[2] is None else described(row[2]) for code, row in rows if code == CONCLUDED
    ]
    scores: list[dict[int, tuple[int, ...]]] = [{} for _ in conclusions]
    for code, row in rows:
        if code == SCORED:
            scores[row[0]][row[1]] = row[4]
    return Came(conclusions, scores)


def _names(state: SeasonState) -> dict[int, str]:
    return {agent.ordinal: agent.name for agent in state.agents.values()}


def _standings(a: SeasonState, b: SeasonState) -> Iterator[Standing]:
    """The workers that do not stand the same."""
    for ordinal in sorted({*a.agents, *b.agents}):
        one, two = (_standing(state, ordinal) for state in (a, b))
        if one != two:
            agent = a.agents.get(ordinal) or b.agents[ordinal]
            yield Standing(ordinal, agent.name, one, two)


def _standing(state: SeasonState, ordinal: int) -> tuple[str, int, int] | None:
    agent = state.agents.get(ordinal)
    if agent is None or agent.role != WORKER:
        return None
    return agent.status, 0 if agent.status == GONE else agent.sparks, agent.all_time
