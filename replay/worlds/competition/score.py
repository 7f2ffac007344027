"""The derivation of a score: the grounds of the four numbers, and every step to the total; as text
for `goldrush audit --score`.

The grounds are derived again from the table by the rubric, and the steps from the therapist's
ratings. Only then are they compared with the recorded `scored` event.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import attrs

from goldrush.agents.worlds.competition.formats import format_subject
from goldrush.kernel.errors import BadInput, format_value
from goldrush.kernel.journal import JournalReader
from goldrush.kernel.measures import Value
from goldrush.kernel.text import escaped
from goldrush.kernel.worlds.competition.arena import Rules, Subject
from goldrush.kernel.worlds.competition.events import CODES, Scored
from goldrush.kernel.worlds.competition.rubric import (
    DIMENSIONS,
    Checked,
    Finished,
    Grounds,
    Scores,
    finished,
    lower_median,
)
from goldrush.kernel.worlds.competition.settle import grounds_at
from goldrush.kernel.worlds.competition.state import SeasonState
from goldrush.kernel.worlds.competition.table import (
    Conclusion,
    FinalStance,
    Roundtable,
    Stances,
)
from goldrush.kernel.worlds.competition.terms import ScoreStep, Scoring
from goldrush.replay.journal.forged import reader_of
from goldrush.replay.journal.rebuild import walk_through
from goldrush.replay.text import format_table
from goldrush.replay.worlds.competition.steps import conduct_text, season_world
from goldrush.replay.worlds.competition.story import format_ids

LISTED_MAX = 12  # names that an error lists


@attrs.frozen
class Moved:
    """Another agent whose stance, a proposal or None, differs in the counterfactual without this
    agent.
    """

    agent: int
    name: str
    stance: int | None
    without: int | None


@attrs.frozen
class Score:
    """One agent's score at one table, as recorded and derived again.

    Attributes:
        bar: the value of the bar.
        grounds: what the rubric goes by; see `rubric.Grounds`.
        concluded: the conclusion of the table.
        moved: other agents whose stances at the end of the talk, before the proof, differ in the
            counterfactual: these earn Net Impact.
        went: other agents whose stances in the end differ there.
        stood: the agent's final stance as given; None if it gave no valid one.
        given: the four scores by the therapist; None if it gave none.
        middles: the lower median of each dimension, to which scores are relative; empty if scores
            are absolute.
        recorded: (scores, total, sum by the rubric) of each `scored` event; one, except in forged
            journals.
        again: the scores derived again.
    """

    assignment: int
    table: int
    agent: int
    name: str
    subject: Subject
    bar: Value
    grounds: Grounds
    concluded: Conclusion
    moved: Sequence[Moved]
    went: Sequence[Moved]
    stood: FinalStance | None
    given: Scores | None
    middles: Sequence[int]
    recorded: Sequence[tuple[Finished, int, int]]
    again: Finished
    rules: Rules = attrs.field(repr=False)

    def __str__(self) -> str:
        return format_score(self)

    @property
    def claims(self) -> Sequence[Checked]:
        """The parts of its claims, by id, base before edge."""
        parts = [*self.grounds.bases, *self.grounds.edges]
        return sorted(parts, key=lambda claim: (claim.id, claim.part))

    @property
    def rubric(self) -> Scores:
        """The four scores by the rubric."""
        return self.grounds.scores

    @property
    def gone(self) -> Sequence[int]:
        """The contributions that the counterfactual leaves out."""
        return sorted(self.grounds.counterfactual.stances.gone)

    @property
    def holds(self) -> bool:
        """Whether exactly one score is recorded, and it equals the derived one."""
        return list(self.recorded) == [(self.again, self.again.total, sum(self.rubric))]

    def as_dict(self) -> dict[str, object]:
        """The score and its evidence for JSON."""
        grounds, without = self.grounds, self.grounds.counterfactual
        return {
            **attrs.asdict(self, filter=lambda field, _: field.name in _PLAIN),
            "proposals": [attrs.asdict(proposal) for proposal in grounds.proposals],
            "claims": [attrs.asdict(claim) for claim in self.claims],
            "is_wide": grounds.is_wide,
            "concluded": _as_dict(self.concluded),
            "without": _as_dict(without.conclusion),
            "equals": without.equals,
            "differs": without.differs,
            "is_own": without.is_own,
            "gone": self.gone,
            "challenges": [attrs.asdict(challenge) for challenge in grounds.challenges],
            "followed": grounds.followed,
            "supported": grounds.supported,
            "rubric": self.rubric,
            "recorded": [_finished(*score) for score in self.recorded],
            "again": self._again(),
            "holds": self.holds,
        }

    def _again(self) -> dict[str, Any]:
        return _finished(self.again, self.again.total, sum(self.rubric))


_PLAIN: Final = (
    "assignment", "table", "agent", "name", "subject", "bar", "moved", "went", "stood", "given",
    "middles",
)  # fmt: skip


def _as_dict(conclusion: Conclusion) -> dict[str, Any]:
    fields = attrs.asdict(conclusion)
    return {**fields, "words": [f"{word:016x}" for word in fields.pop("draw_words")]}


def _finished(score: Finished, total: int, rubric: int) -> dict[str, Any]:
    return {**attrs.asdict(score), "total": total, "rubric": rubric}


@reader_of
def scores(path: str | Path, assignment: int, agent: int, table: int | None = None) -> list[Score]:
    """The scores of an agent in an assignment. `table`: only the score at this table; None: at each
    table where it sat.

    Raises BadInput for an unknown assignment, agent or table, and if the agent did not sit there;
    UnsupportedJournal if the arena is not installed; JournalError if the journal cannot be read.
    """
    scored: list[Scored] = []
    with JournalReader(path) as reader:
        world = season_world(reader, judging=True)
        walk = walk_through(world, reader, assignment)
        for _, step, _ in walk.steps():
            if step is not None:
                scored += (Scored(*row) for row in step.derived.rows(CODES[Scored]))
                if world.unit_done(walk.state):
                    break  # before it closes, and its tables are dropped
    state = walk.state
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
    return [score_at(state, at, agent, grounds_at(state, at), scored) for at in sat]


def _listed(state: SeasonState, agents: Sequence[int]) -> str:
    names = [f"{state.agents[agent].name} ({agent})" for agent in agents[:LISTED_MAX]]
    return ", ".join(names) + (", ..." if len(agents) > LISTED_MAX else "")


def score_at(
    state: SeasonState,
    table: Roundtable,
    agent: int,
    grounds: Mapping[int, Grounds],
    scored: Sequence[Scored] = (),
) -> Score:
    """The score of an agent at a table, by the grounds of all participants and the `scored` events
    of the assignment.
    """
    raw = {other: table.raw.get(other, grounds[other].scores) for other in table.participants}
    again = finished(table, grounds, raw, state.config.scoring)
    without, conclusion = grounds[agent].counterfactual.stances, table.conclusion
    assert conclusion is not None
    return Score(
        assignment=state.assignment,
        table=table.number,
        agent=agent,
        name=state.agents[agent].name,
        subject=table.subject,
        bar=table.bar,
        grounds=grounds[agent],
        concluded=conclusion,
        moved=_moves(state, agent, table.talk_stances(), without.talked),
        went=_moves(state, agent, table.stances, without.final),
        stood=table.stood.get(agent),
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


def _moves(state: SeasonState, agent: int, stances: Stances, without: Stances) -> list[Moved]:
    """The agents, other than this one, that stand elsewhere without it."""
    now, then = stances.by_agent, without.by_agent
    return [
        Moved(each, state.agents[each].name, now.get(each), then.get(each))
        for each in sorted({*now, *then} - {agent})
        if now.get(each) != then.get(each)
    ]


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


STEPS: Final = {  # why a score was changed
    ScoreStep.FARMING: "its proposal was novel, and the claim for it does not hold",
    ScoreStep.AGREEING: "it supported or challenged, and no more of its challenges were sustained "
    "than failed",
    ScoreStep.RELATIVE: "relative to the lower median of the table",
}


def format_score(score: Score) -> str:
    """A score as text: what it rests on, the numbers, the steps, and whether it holds."""
    lines = [
        f"the score of {score.name} (agent {score.agent}) at table {score.table} in assignment "
        f"{score.assignment}: {format_subject(score.subject)}, the bar is {_shown(score.bar)}",
        "",
    ]
    for dimension, number, grounds in zip(DIMENSIONS, score.rubric, grounds_of(score), strict=True):
        lines += [f"{dimension}: {number} by the rubric", *(f"  {line}" for line in grounds)]
    steps = [
        f"{rule}: {dimension} {before} -> {after}, {STEPS[rule]}"
        for rule, dimension, before, after in score.again.steps
    ]
    lines += ["", *_numbers(score).split("\n"), "", *steps, _verdict(score)]
    return "\n".join(map(escaped, lines))


def grounds_of(score: Score) -> list[Sequence[str]]:
    """What each of the four scores rests on: a line for each proposal, part of a claim, agent that
    would stand elsewhere, and challenge, with the fields of its record.
    """
    own, without = score.grounds, score.grounds.counterfactual
    stood = "none given" if score.stood is None else _proposal(score.stood.target)
    return [
        [_line(proposal, score) for proposal in own.proposals],
        [
            *(_line(claim, score) for claim in score.claims),
            *["two counted bases are far from each other"] * own.is_wide,
        ],
        [
            f"concluded: {_concluded(score, score.concluded)}{', its own' * without.is_own}",
            f"without it: {_concluded(score, without.conclusion) if without.differs else _SAME}",
            f"its final stance: {stood}",
            f"left out without it: {format_ids(score.gone) or 'nothing'}",
            *(f"at the end of the talk: {_line(moved, score)}" for moved in score.moved),
            *(f"in the end: {_line(moved, score)}" for moved in score.went),
        ],
        [
            *(_line(challenge, score) for challenge in own.challenges),
            *["a proposal of its own followed"] * own.followed,
        ],
    ]


_SAME: Final = "the same"


def _line(record: attrs.AttrsInstance, score: Score) -> str:
    """The fields of a record: `#3, conduct 1010, distance 1`."""
    parts = []
    for name, value in attrs.asdict(record, recurse=False).items():
        named = name.removeprefix("is_").replace("_", " ")
        if isinstance(value, bool):
            parts.append(named if value else f"not {named}")
        elif name in ("conduct", "nearest") and value is not None:
            parts.append(f"{named} {conduct_text(value, score.rules)}")
        elif name == "id":
            parts.append(_proposal(value))
        elif name in ("stance", "without", "led", "target"):
            parts.append(f"{named} {_proposal(value)}")
        else:
            parts.append(f"{named} {_shown(value)}")
    return ", ".join(parts)


def _shown(value: object) -> str:
    """A value of a record; numbers so long that a claim that hardly fails is seen to."""
    if isinstance(value, float):
        return f"{value:.6g}"
    return "none" if value is None else str(value)


def _proposal(id: int | None) -> str:
    return "none" if id is None else f"#{id}"


def _concluded(score: Score, concluded: Conclusion) -> str:
    if concluded.proposal is None:
        return "nothing"
    drawn = f", drawn among {format_ids(concluded.tied)}" if concluded.tied else ""
    return f"#{concluded.proposal}, {conduct_text(concluded.conduct, score.rules)}{drawn}"


def _numbers(score: Score) -> str:
    """The four scores in a table: by the rubric, as rated, recomputed, as recorded."""
    rows = [
        ("by the rubric", score.rubric, sum(score.rubric)),
        ("by the therapist", score.given, ""),
        ("median of the table", score.middles, ""),
        ("recomputed", score.again.final, score.again.total),
        *(("recorded", recorded.final, total) for recorded, total, _ in score.recorded),
    ]
    shown = [(says, *map(str, four), str(total)) for says, four, total in rows if four]
    return format_table([("", *DIMENSIONS, "total"), *shown], numbers=range(1, 6))


def _verdict(score: Score) -> str:
    if score.holds:
        return "holds"
    if len(score.recorded) != 1:
        return f"DOES NOT HOLD: the event is recorded {len(score.recorded)} times"
    [recorded], again = (_finished(*each) for each in score.recorded), score._again()
    differences = [f"{name} {recorded[name]} for {again[name]}" for name in again
                   if recorded[name] != again[name]]  # fmt: skip
    return f"DOES NOT HOLD: recorded {', '.join(differences)}"
