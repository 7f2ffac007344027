"""The derivation of a score: the grounds of the four numbers, and every step to the total.

The grounds are derived again from the table by the rubric, and the steps from the therapist's
ratings. Only then are they compared with the recorded `scored` event.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import attrs

from goldrush.kernel.errors import BadInput, format_value
from goldrush.kernel.measures import Value
from goldrush.kernel.worlds.competition.arena import Conduct, Rules, Subject
from goldrush.kernel.worlds.competition.events import Scored
from goldrush.kernel.worlds.competition.rubric import (
    DIMENSIONS,
    Challenged,
    Finished,
    Grounds,
    Scores,
    finished,
    lower_median,
)
from goldrush.kernel.worlds.competition.settle import grounds_at
from goldrush.kernel.worlds.competition.state import SeasonState
from goldrush.kernel.worlds.competition.table import Conclusion, Roundtable
from goldrush.kernel.worlds.competition.terms import Part, ScoreStep, Scoring
from goldrush.replay.journal.forged import reader_of
from goldrush.replay.worlds.competition.steps import state_before_scores

LISTED_MAX = 12  # names that an error lists


@attrs.frozen
class Proposal:
    """A proposal compared with known ones; see
    `goldrush.kernel.worlds.competition.rubric.Compared`.
    """

    id: int
    round: int
    conduct: Conduct
    nearest: Conduct
    distance: int | None
    led: int | None
    is_conclusion: bool
    score: int


@attrs.frozen
class Checked:
    """A part of a claim that was tested. `claimed` and `tested` are values; `is_sharp` and
    `is_counted` of a base, see `goldrush.kernel.worlds.competition.rubric.Base`.
    """

    id: int
    part: str
    treatment: str
    claimed: float
    tested: Value
    held: bool
    is_sharp: bool = False
    is_counted: bool = False


@attrs.frozen
class Moved:
    """Another agent whose final stance differs in the counterfactual without this agent.

    Attributes:
        agent: the other agent.
        name: its name.
        stance: the proposal of its final stance.
        without: the same in the counterfactual.

    """

    agent: int
    name: str
    stance: int | None
    without: int | None


@attrs.frozen
class Score:
    """One agent's score at one table, as recorded and derived again.

    Attributes:
        assignment: the assignment, from 0.
        table: the table, from 0.
        agent: the agent.
        name: its name.
        subject: the subject of the table.
        bar: the value of the bar.
        proposals: the agent's proposals, compared with known ones.
        claims: of its proposals, by id, base before edge.
        is_wide: see `rubric.Grounds`.
        concluded: the conclusion of the table.
        without: the conclusion in the counterfactual without the agent.
        equals: the candidates for that conclusion.
        differs: whether the two conclusions differ.
        is_own: whether the conclusion is a proposal of the agent, or amends one.
        moved: other agents whose final stances differ in the counterfactual.
        challenges: see `rubric.Grounds`.
        followed: see `rubric.Grounds`.
        supported: see `rubric.Grounds`.
        rubric: the four scores by the rubric.
        given: the four scores by the therapist; None if it gave none.
        middles: the lower median of each dimension, to which scores are relative; empty if scores
            are absolute.
        recorded: (scores, total, sum by the rubric) of each `scored` event; one, except in forged
            journals.
        again: the scores derived again.
        rules: the rules of the arena.

    """

    assignment: int
    table: int
    agent: int
    name: str
    subject: Subject
    bar: Value
    proposals: Sequence[Proposal]
    claims: Sequence[Checked]
    is_wide: bool
    concluded: Conclusion
    without: Conclusion
    equals: Sequence[int]
    differs: bool
    is_own: bool
    moved: Sequence[Moved]
    challenges: Sequence[Challenged]
    followed: bool
    supported: bool
    rubric: Scores
    given: Scores | None
    middles: Sequence[int]
    recorded: Sequence[tuple[Finished, int, int]]
    again: Finished
    rules: Rules = attrs.field(repr=False)

    @property
    def holds(self) -> bool:
        """Whether exactly one score is recorded, and it equals the derived one."""
        return list(self.recorded) == [(self.again, self.again.total, sum(self.rubric))]

    def as_dict(self) -> dict[str, Any]:
        """The score for JSON."""
        evidence = attrs.asdict(self, filter=lambda field, _: field.name not in _NOT_EVIDENCE)
        for name in ("concluded", "without"):
            evidence[name]["words"] = [f"{word:016x}" for word in evidence[name].pop("draw_words")]
        return {
            **evidence,
            "recorded": [_finished(*score) for score in self.recorded],
            "again": _finished(self.again, self.again.total, sum(self.rubric)),
            "holds": self.holds,
        }


_NOT_EVIDENCE = ("recorded", "again", "rules")


def _finished(score: Finished, total: int, rubric: int) -> dict[str, Any]:
    return {**attrs.asdict(score), "total": total, "rubric": rubric}


@reader_of
def scores(path: str | Path, assignment: int, agent: int, table: int | None = None) -> list[Score]:
    """The scores of an agent in an assignment.

    Args:
        path: the season's journal.
        assignment: the assignment, from 0.
        agent: the agent.
        table: only the score at this table; None: at each table where it sat.

    Raises:
        BadInput: for an unknown assignment, agent or table, and if the agent did not sit there.
        UnsupportedJournal: if the arena is not installed.
        JournalError: if the journal cannot be read.

    """
    judged = state_before_scores(path, assignment)
    state = judged.state
    if agent not in state.agents:
        raise BadInput(f"there is no agent {agent}", f"give {_listed(state, list(state.agents))}")
    if table is not None and not 0 <= table < len(state.tables):
        raise BadInput(
            f"there is no table {table} in assignment {assignment}",
            f"give one from 0 to {len(state.tables) - 1}",
        )
    sat = [at for at in state.tables if agent in at.participants and table in (None, at.number)]
    if not sat:
        at = "no table" if table is None else f"another table than {table}, or at none,"
        there = (a for t in state.tables if table in (None, t.number) for a in t.participants)
        raise BadInput(
            f"{format_value(state.agents[agent].name)} sat at {at} in assignment {assignment}",
            f"give one of {_listed(state, sorted(set(there)))}",
        )
    return [_score(state, at, agent, judged.scored) for at in sat]


def _listed(state: SeasonState, agents: Sequence[int]) -> str:
    names = [f"{state.agents[agent].name} ({agent})" for agent in agents[:LISTED_MAX]]
    return ", ".join(names) + (", ..." if len(agents) > LISTED_MAX else "")


def _score(state: SeasonState, table: Roundtable, agent: int, scored: Sequence[Scored]) -> Score:
    grounds = grounds_at(state, table)
    raw = {other: table.raw.get(other, grounds[other].scores) for other in table.participants}
    again = finished(table, grounds, raw, state.config.scoring)
    own, conclusion = grounds[agent], table.conclusion
    assert conclusion is not None
    return Score(
        assignment=state.assignment,
        table=table.number,
        agent=agent,
        name=state.agents[agent].name,
        subject=table.subject,
        bar=table.bar,
        proposals=_proposals(table, own),
        claims=sorted(_claims(table, own), key=lambda claim: (claim.id, claim.part)),
        is_wide=own.is_wide,
        concluded=conclusion,
        without=own.counterfactual.conclusion,
        equals=own.counterfactual.equals,
        differs=own.counterfactual.differs,
        is_own=own.counterfactual.is_own,
        moved=[
            Moved(other, state.agents[other].name, table.stances.by_agent.get(other), then)
            for other, then in own.counterfactual.moved.items()
        ],
        challenges=own.challenges,
        followed=own.followed,
        supported=own.supported,
        rubric=own.scores,
        given=table.raw.get(agent),
        middles=_middles(again) if state.config.scoring == Scoring.RELATIVE else (),
        recorded=[
            (Finished(row.raw, row.steps, row.final), row.total, row.rubric)
            for row in scored
            if (row.table, row.agent) == (table.number, agent)
        ],
        again=again[agent],
        rules=state.arena_rules,
    )


def _proposals(table: Roundtable, grounds: Grounds) -> list[Proposal]:
    return [
        Proposal(
            one.id, table.contributions[one.id].round, table.contributions[one.id].conduct,
            one.nearest, one.distance, one.led, one.is_conclusion, one.score,
        )
        for one in grounds.proposals
    ]  # fmt: skip


def _claims(table: Roundtable, grounds: Grounds) -> list[Checked]:
    def checked(id: int, part: str, *verdict: bool) -> Checked:
        said = table.contributions[id]
        under = said.under(part, table.treatment)
        return Checked(id, part, under, said.claimed, table.tests[id, part], *verdict)

    bases = [
        checked(base.id, Part.BASE, base.held, base.is_sharp, base.is_counted)
        for base in grounds.bases
    ]
    return bases + [checked(edge.id, Part.EDGE, edge.held) for edge in grounds.edges]


def _middles(scores: Mapping[int, Finished]) -> list[int]:
    """The lower median of each dimension, before scores were made relative to it."""
    return [
        lower_median([_before(score, place) for score in scores.values()])
        for place in range(len(DIMENSIONS))
    ]


def _before(score: Finished, place: int) -> int:
    """A score in a dimension before it was made relative to the table."""
    steps = [step for step in score.steps if step[:2] == (ScoreStep.RELATIVE, DIMENSIONS[place])]
    return steps[0][2] if steps else score.final[place]
