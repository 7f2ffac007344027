"""Why a score is what it is: what the four numbers rest on, and every step to the total.

Nothing is taken from the `scored` event but what it says in the end. The table, as it stood when
the debrief was judged, is gone through by the rubric again; what the therapist gave goes through
the steps again; and both are held against what is recorded.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import attrs

from goldrush.kernel.competition.conduct import Conduct, Subject, is_conduct_shaped, tested_under
from goldrush.kernel.competition.config import RELATIVE
from goldrush.kernel.competition.events import DIMENSIONS, IN_RELATION
from goldrush.kernel.competition.rubric import (
    Challenged,
    Finished,
    Grounds,
    Scores,
    StepRow,
    Tested,
    finished,
    lower_median,
)
from goldrush.kernel.competition.settle import grounds_at
from goldrush.kernel.competition.state import SeasonState
from goldrush.kernel.competition.table import Table
from goldrush.kernel.errors import BadInput, shown
from goldrush.kernel.world import Row
from goldrush.replay.competition.steps import state_before_scores
from goldrush.replay.forged import reader_of

LISTED_MAX = 12  # names that an error lists


@attrs.frozen
class Proposal:
    """A proposal held against what was known; see `goldrush.kernel.competition.rubric.Compared`."""

    id: int
    round: int
    conduct: Conduct
    nearest: Conduct | None
    distance: int | None
    led: int | None
    is_conclusion: bool
    score: int


@attrs.frozen
class Checked:
    """A part of a claim that was tested, or (`is_ground`) of one that was challenged.

    `proposal`: whose claim it is. `claimed` and `tested` are values, `bar` what a claim had to
    reach. `held`: of one's own claim that it holds, of a ground that the claim does not.
    """

    id: int
    part: str
    is_ground: bool
    proposal: int
    treatment: str
    claimed: float
    tested: float | None
    bar: float | None
    held: bool


@attrs.frozen
class Concluded:
    """A conclusion, real or not: the proposal, its conduct, what was tied, the words drawn."""

    proposal: int | None
    conduct: Conduct | None
    tied: Sequence[int]
    words: Sequence[str]


@attrs.frozen
class Moved:
    """Somebody else whose final stance would differ: what it was, and what it would have been."""

    agent: int
    name: str
    stance: int | None
    without: int | None


@attrs.frozen
class Score:
    """One agent's score at one table, recorded and worked out anew.

    `concluded` and `without`: what the table concluded, and what it would have without the agent.
    `followed`: a sustained challenge was followed by a proposal of its own. `rubric`: the four
    numbers by the rubric; `given`: by the therapist (None: it gave none, the rubric's stand).
    `middles`: the lower median of each dimension at the table, to which scores are relative; empty
    where they are absolute. `recorded`: raw, steps and final scores of the events (one, or
    somebody forged them), with their totals; `again`: worked out anew.
    """

    assignment: int
    table: int
    agent: int
    name: str
    subject: Subject
    bar: float | None
    proposals: Sequence[Proposal]
    tests: Sequence[Checked]
    concluded: Concluded
    without: Concluded
    differs: bool
    is_own: bool
    moved: Sequence[Moved]
    challenges: Sequence[Challenged]
    followed: bool
    supported: bool
    rubric: Scores
    given: Scores | None
    middles: Sequence[int]
    recorded: Sequence[tuple[Finished, int]]
    again: Finished

    @property
    def holds(self) -> bool:
        """Whether there is one score in the journal, and it is the one worked out anew."""
        return list(self.recorded) == [(self.again, self.again.total)]

    def as_dict(self) -> dict[str, Any]:
        """The score for JSON."""
        evidence = attrs.asdict(self)
        for name in ("recorded", "again"):
            del evidence[name]
        recorded = [_finished(score, total) for score, total in self.recorded]
        return {
            **evidence,
            "recorded": recorded,
            "again": _finished(self.again, self.again.total),
            "holds": self.holds,
        }


def _finished(score: Finished, total: int) -> dict[str, Any]:
    return {"raw": score.raw, "steps": score.steps, "final": score.final, "total": total}


@reader_of
def scores(
    path: str | Path, assignment: int, agent: str | int, table: int | None = None
) -> list[Score]:
    """The scores of an agent, by its name or ordinal, in an assignment: one for each table that it
    sat at, or for one of them.

    Raises BadInput for an assignment or agent that there is not, and where it did not sit; and
    what reading a journal raises.
    """
    judged = state_before_scores(path, assignment)
    state = judged.state
    ordinal = _ordinal(state, agent)
    if table is not None and not 0 <= table < len(state.tables):
        raise BadInput(
            f"there is no table {table} in assignment {assignment}",
            f"give one from 0 to {len(state.tables) - 1}",
        )
    sat = [at for at in state.tables if ordinal in at.participants and table in (None, at.number)]
    if not sat:
        at = "no table" if table is None else f"another table than {table}, or at none,"
        there = (a for t in state.tables if table in (None, t.number) for a in t.participants)
        raise BadInput(
            f"{shown(state.agents[ordinal].name)} sat at {at} in assignment {assignment}",
            f"give one of {_listed(state, sorted(set(there)))}",
        )
    return [_score(state, at, ordinal, judged.scored) for at in sat]


def _ordinal(state: SeasonState, agent: str | int) -> int:
    """Whom a name or an ordinal means."""
    for known in state.agents.values():
        if agent in (known.name, known.ordinal):
            return known.ordinal
    ordinal = int(agent) if isinstance(agent, str) and re.fullmatch(r"[0-9]{1,9}", agent) else None
    if ordinal is not None and ordinal in state.agents:
        return ordinal
    raise BadInput(
        f"there is no agent {shown(agent)}",
        f"give a name or an ordinal: {_listed(state, list(state.agents))}",
    )


def _listed(state: SeasonState, agents: Sequence[int]) -> str:
    names = [f"{state.agents[agent].name} ({agent})" for agent in agents[:LISTED_MAX]]
    return ", ".join(names) + (", ..." if len(agents) > LISTED_MAX else "")


def _score(state: SeasonState, table: Table, agent: int, scored: Sequence[Row]) -> Score:
    grounds = grounds_at(state, table)
    raw = {other: table.raw.get(other, grounds[other].scores) for other in table.participants}
    again = finished(table, grounds, raw, state.config.scoring)
    own = grounds[agent]
    return Score(
        assignment=state.assignment,
        table=table.number,
        agent=agent,
        name=state.agents[agent].name,
        subject=table.subject,
        bar=table.bar,
        proposals=_proposals(table, own),
        tests=[_checked(table, test) for test in own.tests],
        concluded=_concluded(table.conclusion),
        without=_concluded(own.without.conclusion),
        differs=own.without.differs,
        is_own=own.without.is_own,
        moved=_moved(state, table, own),
        challenges=list(own.challenges),
        followed=own.followed,
        supported=own.supported,
        rubric=own.scores,
        given=table.raw.get(agent),
        middles=_middles(again) if state.config.scoring == RELATIVE else (),
        recorded=[
            (Finished(row[2], row[3], row[4]), row[5])
            for row in scored
            if row[:2] == (table.number, agent)
        ],
        again=again[agent],
    )


def _proposals(table: Table, grounds: Grounds) -> list[Proposal]:
    found = []
    for compared in grounds.proposals:
        said = table.said[compared.id]
        assert said.conduct is not None
        found.append(
            Proposal(
                compared.id, said.round, said.conduct, compared.nearest, compared.distance,
                compared.led, compared.is_conclusion, compared.score,
            )
        )  # fmt: skip
    return found


def _checked(table: Table, test: Tested) -> Checked:
    said = table.said[test.id]
    proposal = said.target if test.is_ground else said.id
    assert proposal is not None
    conduct, claim = table.said[proposal].conduct, table.said[proposal].claim
    assert conduct is not None
    assert claim is not None
    return Checked(
        test.id, test.part, test.is_ground, proposal, tested_under(conduct, claim, test.part),
        claim[0], table.tests.get((proposal, test.part)), table.bar, test.held,
    )  # fmt: skip


def _concluded(conclusion: Any) -> Concluded:
    """Raises ValueError for a conclusion whose conduct is none: it is taken from its event."""
    if conclusion.conduct is not None and not is_conduct_shaped(conclusion.conduct):
        raise ValueError(f"the conduct concluded on is {shown(conclusion.conduct)}")
    words = tuple(f"{word:016x}" for word in conclusion.words)
    return Concluded(conclusion.proposal, conclusion.conduct, conclusion.tied, words)


def _moved(state: SeasonState, table: Table, grounds: Grounds) -> list[Moved]:
    without = table.standing_without(table.lines_of(grounds.agent)).stances
    now: Mapping[int, int] = table.standing.stances
    return [
        Moved(other, state.agents[other].name, now.get(other), without.get(other))
        for other in grounds.without.moved
    ]


def _middles(scores: Mapping[int, Finished]) -> list[int]:
    """The lower median of each dimension, after the steps that do not look at others."""
    return [
        lower_median([_before(score, place) for score in scores.values()])
        for place in range(len(DIMENSIONS))
    ]


def _before(score: Finished, place: int) -> int:
    """A score in a dimension before it was made relative to the table."""
    steps: list[StepRow] = [
        step for step in score.steps if step[:2] == (IN_RELATION, DIMENSIONS[place])
    ]
    return steps[0][2] if steps else score.final[place]
