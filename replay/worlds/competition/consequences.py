"""The consequences of a difference between two seasons: conclusions and scores by assignment, and
the workers at the end.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import zip_longest
from typing import Any

import attrs

from goldrush.kernel.journal import UNIT, JournalReader
from goldrush.kernel.world import Block
from goldrush.kernel.worlds.competition import VOCABULARY
from goldrush.kernel.worlds.competition.arena import Rules
from goldrush.kernel.worlds.competition.events import CODES, Concluded, Scored
from goldrush.kernel.worlds.competition.rubric import Scores
from goldrush.kernel.worlds.competition.state import SeasonState
from goldrush.kernel.worlds.competition.terms import Status
from goldrush.replay.journal.diff import Diff
from goldrush.replay.journal.forged import reporting_forged
from goldrush.replay.journal.index import states_near
from goldrush.replay.worlds.competition.steps import conduct_text, season_world


@attrs.frozen
class AssignmentResults:
    """The results of an assignment by table: the conduct concluded on (None: no conclusion) and
    the four final scores of each agent.
    """

    conclusions: Sequence[str | None]
    scores: Sequence[Mapping[int, Scores]]

    @property
    def mean_total(self) -> float | None:
        """The mean total of everybody at its tables."""
        totals = [sum(scores) for table in self.scores for scores in table.values()]
        return sum(totals) / len(totals) if totals else None


@attrs.frozen
class Differing:
    """An assignment in which two seasons differ; None where one of them does not have it."""

    assignment: int
    a: AssignmentResults | None
    b: AssignmentResults | None


@attrs.frozen
class WorkerEnd:
    """A worker at the end of what both seasons have: status, sparks and all-time sum in each."""

    agent: int
    name: str
    a: tuple[str, int, int] | None
    b: tuple[str, int, int] | None


@attrs.frozen
class SeasonConsequences:
    """Two seasons, a and b, compared from the unit of the first difference to the last of both.

    Attributes:
        assignments: those with different results.
        standings: the workers that differ at the end.
        names: of agents by ordinal, in a if it has that agent.
    """

    since: int
    until: int
    assignments: Sequence[Differing]
    standings: Sequence[WorkerEnd]
    names: Mapping[int, str]

    def as_dict(self) -> dict[str, Any]:
        """The consequences for JSON."""
        return attrs.asdict(self)


def consequences(difference: Diff, *, by_round: bool = False) -> SeasonConsequences | None:
    """The consequences of a difference; None if there is none, or no common assignment. All
    assignments are compared, whatever `by_round` is. Raises JournalError.
    """
    if difference.same or difference.world is None:
        return None
    common = min(difference.a.rounds, difference.b.rounds)
    since = max((cause.round for cause in difference.causes), default=0)
    if difference.first is not None:
        since = difference.first.round
    unit = max(1, VOCABULARY.unit_of(since))
    if common < unit:
        return None
    with reporting_forged(difference.a.path, difference.b.path):
        sides = [_followed(side.path, unit, common) for side in (difference.a, difference.b)]
    (came_a, end_a), (came_b, end_b) = sides
    number = VOCABULARY.number
    apart = [
        Differing(number(unit + place), a, b)
        for place, (a, b) in enumerate(zip_longest(came_a, came_b))
        if a != b
    ]
    names = {**end_b.names, **end_a.names}
    return SeasonConsequences(
        number(unit), number(common), apart, list(_standings(end_a, end_b)), names
    )


def _followed(path: str, first: int, last: int) -> tuple[list[AssignmentResults], SeasonState]:
    """The results of the units `first` to `last`, and the state after the last."""
    came = []
    with JournalReader(path) as reader:
        blocks: list[Block] = []
        for commit, state in states_near(season_world(reader), reader, first):
            if commit.kind == UNIT and commit.unit >= first:
                blocks += commit.blocks
                if commit.digest is not None:
                    came.append(_came(blocks, state.rules))
                    blocks = []
            if commit.unit == last and commit.digest is not None:
                return came, state.copy()
    raise AssertionError(f"{path} has no assignment {last} any more")


def _came(blocks: Sequence[Block], rules: Rules | None) -> AssignmentResults:
    conclusions: list[str | None] = []
    scores: list[dict[int, Scores]] = []
    for block in blocks:
        for row in block.rows(CODES[Concluded]):
            conduct = Concluded(*row).conduct
            conclusions.append(None if conduct is None else conduct_text(conduct, rules))
            scores.append({})
        for row in block.rows(CODES[Scored]):
            scored = Scored(*row)
            scores[scored.table][scored.agent] = scored.final
    return AssignmentResults(conclusions, scores)


def _standings(a: SeasonState, b: SeasonState) -> Iterator[WorkerEnd]:
    """The workers whose status, sparks or all-time sum differ."""
    for ordinal in sorted({*a.agents, *b.agents}):
        one, two = (_standing(state, ordinal) for state in (a, b))
        if one != two:
            agent = a.agents.get(ordinal) or b.agents[ordinal]
            yield WorkerEnd(ordinal, agent.name, one, two)


def _standing(state: SeasonState, ordinal: int) -> tuple[str, int, int] | None:
    agent = state.agents.get(ordinal)
    if agent is None or not agent.is_worker:
        return None
    return agent.status, 0 if agent.status == Status.GONE else agent.sparks, agent.all_time
