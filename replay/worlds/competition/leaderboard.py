"""The leaderboard as it was posted in an assignment, and all scores up to it.

Ranks and sums are as posted; status, class and sparks of an agent as when the assignment closed. So
an agent that was deleted in that assignment is still listed, with its status `gone`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import attrs

from goldrush.kernel import fold
from goldrush.kernel.errors import BadInput, MalformedEvents
from goldrush.kernel.journal import UNIT, Commit, JournalReader
from goldrush.kernel.worlds.competition import VOCABULARY, events
from goldrush.kernel.worlds.competition.events import CODES
from goldrush.kernel.worlds.competition.rubric import Scores, StepRow
from goldrush.kernel.worlds.competition.state import SeasonState
from goldrush.replay.journal.forged import reader_of
from goldrush.replay.journal.rebuild import rebuild
from goldrush.replay.worlds.competition.steps import season_world


@attrs.frozen
class RecordedScore:
    """A recorded score.

    Attributes:
        assignment, table: from 0.
        raw, final: the four scores before and after the rules.
        steps: (rule, dimension, before, after) of each rule applied.
        rubric: the sum of the four scores by the rubric alone.
    """

    assignment: int
    table: int
    raw: Scores
    steps: Sequence[StepRow]
    final: Scores
    total: int
    rubric: int


@attrs.frozen
class Line:
    """One line of the leaderboard.

    `served`: assignments in which it had a seat; `tables`: tables at which it was scored, of which
    an assignment may have several; `mean_total`: the mean of these scores.
    """

    rank: int
    agent: int
    name: str
    class_: str
    status: str
    rolling: int
    all_time: int
    sparks: int
    served: int
    tables: int
    mean_total: float | None

    def as_dict(self) -> dict[str, Any]:
        return {name.rstrip("_"): value for name, value in attrs.asdict(self).items()}


@attrs.frozen
class Leaderboard:
    """The leaderboard after an assignment; sums roll over `rolling_days` days."""

    assignment: int
    day: int
    rolling_days: int
    rows: Sequence[Line]

    def as_dict(self) -> dict[str, Any]:
        rows = [row.as_dict() for row in self.rows]
        return {**attrs.asdict(self, recurse=False), "rows": rows}


@attrs.frozen
class SeasonAt:
    """A season after an assignment: its state, and all scores so far by agent."""

    assignment: int
    state: SeasonState
    scores: Mapping[int, Sequence[RecordedScore]]

    @property
    def leaderboard(self) -> Leaderboard:
        config = self.state.config
        day = config.day(self.assignment)
        rows = [self._place(*row) for row in self.state.leaderboard]
        return Leaderboard(self.assignment, day, config.rolling_days, rows)

    def _place(self, rank: int, ordinal: int, rolling: int, all_time: int) -> Line:
        agent = self.state.agents[ordinal]
        return Line(
            rank, ordinal, agent.name, agent.class_, agent.status, rolling, all_time, agent.sparks,
            agent.served, len(self.scores.get(ordinal, ())), self.mean_total(ordinal),
        )  # fmt: skip

    def mean_total(self, agent: int) -> float | None:
        """The mean of an agent's totals; None if it has none."""
        totals = [score.total for score in self.scores.get(agent, ())]
        return sum(totals) / len(totals) if totals else None


@reader_of
def leaderboard(path: str | Path, assignment: int | None = None) -> Leaderboard:
    """The leaderboard posted after an assignment. Raises as `season_at` does."""
    return season_at(path, assignment).leaderboard


@reader_of
def season_at(path: str | Path, assignment: int | None = None) -> SeasonAt:
    """A season after an assignment, by default the last closed one.

    Raises BadInput for an unknown assignment, and what reading a journal, up to that assignment,
    raises.
    """
    last = None if assignment is None else VOCABULARY.unit_of(assignment)
    scores = ScoresSoFar()
    with JournalReader(path) as reader:
        world = season_world(reader)
        for commit in fold.checked(world, reader):
            scores.add(commit)
            if last is not None and scores.closed >= max(1, last):
                break
    if scores.closed == 0:
        raise BadInput(f"no assignment of {path} is closed", "continue it with `goldrush resume`")
    if last is not None and not 1 <= last <= scores.closed:
        to = f"to {VOCABULARY.number(scores.closed)}" if last > 0 else "on"
        raise BadInput(f"{path} has no assignment {assignment}", f"give one from 0 {to}")
    number = VOCABULARY.number(scores.closed)
    state: SeasonState = rebuild(path, number, world=world).state
    for _, agent, _, _ in state.leaderboard:
        if agent not in state.agents:
            says = f"the leaderboard ranks agent {agent}, and there is none"
            raise MalformedEvents(str(path), VOCABULARY.format_unit(scores.closed), says)
    return SeasonAt(number, state, scores.by_agent)


class ScoresSoFar:
    """Collects the scores of a season, commit by commit. `closed`: the last closed unit;
    `by_agent`: the scores up to it.
    """

    def __init__(self) -> None:
        self.closed = 0
        self.by_agent: dict[int, list[RecordedScore]] = {}
        self._open: list[tuple[int, RecordedScore]] = []

    def add(self, commit: Commit) -> None:
        """Add a commit, whose rows were checked."""
        if commit.kind != UNIT:
            return
        number = VOCABULARY.number(commit.unit)
        for block in commit.blocks[1::2]:
            for row in block.rows(CODES[events.Scored]):
                table, agent, *fields = row
                self._open.append((agent, RecordedScore(number, table, *fields)))
        if commit.digest is not None:
            self.closed = commit.unit
            for agent, score in self._open:
                self.by_agent.setdefault(agent, []).append(score)
            self._open = []
