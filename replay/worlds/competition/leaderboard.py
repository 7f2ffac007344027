"""The leaderboard as it was posted in an assignment, and all scores up to it.

Ranks and sums are as posted; status, class and sparks of an agent as when the assignment closed. So
an agent that was deleted in that assignment is still listed, with its status `gone`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import attrs

from goldrush.kernel.errors import BadInput, MalformedEvents
from goldrush.kernel.journal import UNIT, JournalReader
from goldrush.kernel.measures import mean
from goldrush.kernel.walk import DIGESTS, Walk
from goldrush.kernel.worlds.competition import VOCABULARY
from goldrush.kernel.worlds.competition.events import CODES, Scored
from goldrush.kernel.worlds.competition.state import SeasonState
from goldrush.replay.journal.forged import reader_of
from goldrush.replay.worlds.competition.steps import season_world


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
    """A season after an assignment: its state, and by agent all scores so far, each with the number
    of its assignment.
    """

    assignment: int
    state: SeasonState
    scores: Mapping[int, Sequence[tuple[int, Scored]]]

    @property
    def leaderboard(self) -> Leaderboard:
        config = self.state.config
        rows = [self._line(*row) for row in self.state.leaderboard]
        return Leaderboard(self.assignment, config.day(self.assignment), config.rolling_days, rows)

    def _line(self, rank: int, ordinal: int, rolling: int, all_time: int) -> Line:
        agent = self.state.agents[ordinal]
        return Line(
            rank, ordinal, agent.name, agent.class_, agent.status, rolling, all_time, agent.sparks,
            agent.served, len(self.scores.get(ordinal, ())), self.mean_total(ordinal),
        )  # fmt: skip

    def mean_total(self, agent: int) -> float | None:
        """The mean of an agent's totals; None if it has none."""
        return mean([score.total for _, score in self.scores.get(agent, ())])


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
    scores: dict[int, list[tuple[int, Scored]]] = {}
    scored: list[Scored] = []  # in the open assignment
    closed = 0
    with JournalReader(path) as reader:
        walk = Walk(season_world(reader), reader, DIGESTS)
        for commit, step, _ in walk.steps():
            if step is not None:
                scored += (Scored(*row) for row in step.derived.rows(CODES[Scored]))
            elif commit.kind == UNIT and commit.digest is not None:
                closed = commit.unit
                for score in scored:
                    scores.setdefault(score.agent, []).append((VOCABULARY.number(closed), score))
                scored.clear()
                if last is not None and closed >= max(1, last):
                    break
    if closed == 0:
        raise BadInput(f"no assignment of {path} is closed", "continue it with `goldrush resume`")
    if last is not None and not 1 <= last <= closed:
        to = f"to {VOCABULARY.number(closed)}" if last > 0 else "on"
        raise BadInput(f"{path} has no assignment {assignment}", f"give one from 0 {to}")
    state = walk.state
    for _, agent, _, _ in state.leaderboard:
        if agent not in state.agents:
            says = f"the leaderboard ranks agent {agent}, and there is none"
            raise MalformedEvents(str(path), VOCABULARY.format_unit(closed), says)
    return SeasonAt(VOCABULARY.number(closed), state, scores)
