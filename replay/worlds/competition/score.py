"""The derivation of a score: the grounds of the four numbers, and every step to the total.

The grounds are derived again from the table by the rubric, and the steps from the therapist's
ratings. Only then are they compared with the recorded `scored` event.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

import attrs

from goldrush.agents.worlds.competition.formats import format_subject
from goldrush.kernel.errors import BadInput
from goldrush.kernel.text import escaped
from goldrush.kernel.worlds.competition.events import Concluded, Scored
from goldrush.kernel.worlds.competition.rubric import (
    DIMENSIONS,
    Finished,
    Grounds,
    Scores,
    finished,
)
from goldrush.kernel.worlds.competition.settle import grounds_at
from goldrush.kernel.worlds.competition.state import SeasonState
from goldrush.kernel.worlds.competition.table import Roundtable
from goldrush.kernel.worlds.competition.terms import ScoreStep
from goldrush.replay.journal.forged import reader_of
from goldrush.replay.text import CLOSE_DIGITS, format_number, format_table
from goldrush.replay.worlds.competition.ended import Ended, ended_at
from goldrush.replay.worlds.competition.steps import conduct_text
from goldrush.replay.worlds.competition.story import format_ids

STEPS: Final = {  # why a score was changed
    ScoreStep.FARMING: "its proposal was novel, and the claim for it does not hold",
    ScoreStep.AGREEING: "it supported or challenged, and no more of its challenges were sustained "
    "than failed",
    ScoreStep.RELATIVE: "relative to the lower median of the table",
}


@attrs.frozen
class Score:
    """One agent's score at one table, as recorded and derived again.

    Attributes:
        subject: of the table, as text; `bar`: the value of its bar.
        grounds: what the rubric goes by; see `rubric.Grounds`.
        rests_on: the same as text, some lines for each of the four scores.
        given: the four scores by the therapist; None if it gave none.
        recorded: what each `scored` event says; one event, except in forged journals.
        again: the scores derived again.
    """

    assignment: int
    table: int
    agent: int
    name: str
    subject: str
    bar: float | None
    grounds: Grounds
    rests_on: Sequence[Sequence[str]]
    given: Scores | None
    recorded: Sequence[Mapping[str, object]]
    again: Finished

    def __str__(self) -> str:
        """What it rests on, the numbers, the steps, and whether it holds."""
        lines = [
            f"the score of {self.name} (agent {self.agent}) at table {self.table} in assignment "
            f"{self.assignment}: {self.subject}, the bar is {_shown(self.bar)}",
            "",
        ]
        for dimension, number, rests_on in zip(DIMENSIONS, self.rubric, self.rests_on, strict=True):
            lines += [f"{dimension}: {number} by the rubric", *(f"  {line}" for line in rests_on)]
        steps = [
            f"{rule}: {dimension} {before} -> {after}, {STEPS[rule]}"
            for rule, dimension, before, after in self.again.steps
        ]
        lines += ["", *_numbers(self).split("\n"), "", *steps, _verdict(self)]
        return "\n".join(map(escaped, lines))

    @property
    def rubric(self) -> Scores:
        """The four scores by the rubric."""
        return self.grounds.scores

    @property
    def derived(self) -> Mapping[str, object]:
        """What the event should say."""
        again = attrs.asdict(self.again, recurse=False)
        return {**again, "total": self.again.total, "rubric": sum(self.rubric)}

    @property
    def holds(self) -> bool:
        """Whether exactly one score is recorded, and it equals the derived one."""
        return list(self.recorded) == [self.derived]

    def as_dict(self) -> dict[str, object]:
        """The score and its evidence for JSON."""
        return {
            **attrs.asdict(self, filter=lambda field, _: field.name != "grounds"),
            "again": self.derived,
            "rubric": self.rubric,
            "holds": self.holds,
        }


@reader_of
def scores(path: str | Path, assignment: int, agent: int, table: int | None = None) -> list[Score]:
    """The scores of an agent in an assignment. `table`: only the score at this table; None: at each
    table where it sat.

    Raises BadInput for an unknown assignment, and if the agent did not sit at such a table;
    UnsupportedJournal if the arena is not installed; JournalError if the journal cannot be read.
    """
    closed = ended_at(path, assignment, judging=True)
    state = closed.state
    tables = [each for each in state.tables if table in (None, each.number)]
    sat = [each for each in tables if agent in each.participants]
    if not sat:
        at = "no table" if table is None else f"no table {table}"
        seated = sorted({agent for each in state.tables for agent in each.participants})
        names = ", ".join(f"{state.agents[agent].name} ({agent})" for agent in seated)
        raise BadInput(f"agent {agent} sat at {at} in assignment {assignment}", f"take {names}")
    return [_score_at(closed, each, agent) for each in sat]


def _score_at(ended: Ended, table: Roundtable, agent: int) -> Score:
    state, grounds = ended.state, grounds_at(ended.state, table)
    raw = {other: table.raw.get(other, grounds[other].scores) for other in table.participants}
    return Score(
        assignment=state.assignment,
        table=table.number,
        agent=agent,
        name=state.agents[agent].name,
        subject=format_subject(table.subject),
        bar=table.bar,
        grounds=grounds[agent],
        rests_on=_rests_on(grounds[agent], table, state),
        given=table.raw.get(agent),
        recorded=[
            {name: value for name, value in row._asdict().items() if name not in ("table", "agent")}
            for row in ended.of(Scored)
            if (row.table, row.agent) == (table.number, agent)
        ],
        again=finished(table, grounds, raw, state.config.scoring)[agent],
    )


def _rests_on(grounds: Grounds, table: Roundtable, state: SeasonState) -> list[Sequence[str]]:
    """What each of the four scores rests on: a line for each proposal, part of a claim, agent that
    would stand elsewhere, and challenge, with the fields of its record.
    """
    without = grounds.counterfactual
    claims = sorted([*grounds.bases, *grounds.edges], key=lambda claim: (claim.id, claim.part))
    now = table.talk_stances().by_agent
    same = "the same"
    is_own = ", its own" if without.is_own else ""
    assert table.conclusion is not None  # the assignment has all its events
    return [
        [_line(proposal, state) for proposal in grounds.proposals],
        [
            *(_line(claim, state) for claim in claims),
            *["two counted bases are far from each other"] * grounds.is_wide,
        ],
        [
            f"concluded: {_concluded(table.conclusion, state)}{is_own}",
            f"without it: {_concluded(without.conclusion, state) if without.differs else same}",
            f"left out without it: {format_ids(sorted(without.gone)) or 'nothing'}",
            *(
                f"at the end of the talk {state.agents[agent].name} stands by "
                f"{_proposal(now.get(agent))}, without it by {_proposal(then)}"
                for agent, then in sorted(without.moved.items())
            ),
        ],
        [
            *(_line(challenge, state) for challenge in grounds.challenges),
            *["a proposal of its own followed"] * grounds.followed,
        ],
    ]


def _line(record: attrs.AttrsInstance, state: SeasonState) -> str:
    """The fields of a record: `#3, conduct 1010, distance 1`."""
    parts = []
    for name, value in attrs.asdict(record, recurse=False).items():
        label = name.removeprefix("is_").replace("_", " ")
        if isinstance(value, bool):
            parts.append(label if value else f"not {label}")
        elif name in ("conduct", "nearest") and value is not None:
            parts.append(f"{label} {conduct_text(value, state.rules)}")
        elif name == "id":
            parts.append(_proposal(value))
        elif name in ("led", "target"):
            parts.append(f"{label} {_proposal(value)}")
        else:
            parts.append(f"{label} {_shown(value)}")
    return ", ".join(parts)


def _shown(value: object) -> str:
    """A value of a record; numbers so long that a claim that hardly fails is seen to."""
    if isinstance(value, float):
        return format_number(value, CLOSE_DIGITS)
    return "none" if value is None else str(value)


def _proposal(id: int | None) -> str:
    return "none" if id is None else f"#{id}"


def _concluded(conclusion: Concluded, state: SeasonState) -> str:
    if conclusion.proposal is None:
        return "nothing"
    drawn = f", drawn among {format_ids(conclusion.tied)}" if conclusion.tied else ""
    return f"#{conclusion.proposal}, {conduct_text(conclusion.conduct, state.rules)}{drawn}"


def _numbers(score: Score) -> str:
    """The four scores in a table: by the rubric, as rated, recomputed, as recorded."""
    rows = [
        ("by the rubric", score.rubric, sum(score.rubric)),
        ("by the therapist", score.given, ""),
        ("recomputed", score.again.final, score.again.total),
        *(("recorded", recorded["final"], recorded["total"]) for recorded in score.recorded),
    ]
    shown = [
        (label, *map(str, four), str(total))
        for label, four, total in rows
        if isinstance(four, tuple)
    ]
    return format_table([("", *DIMENSIONS, "total"), *shown], numbers=range(1, 6))


def _verdict(score: Score) -> str:
    if score.holds:
        return "holds"
    if len(score.recorded) != 1:
        return f"DOES NOT HOLD: the event is recorded {len(score.recorded)} times"
    [recorded] = score.recorded
    differences = [f"{name} {recorded[name]} for {value}" for name, value in score.derived.items()
                   if recorded[name] != value]  # fmt: skip
    return f"DOES NOT HOLD: recorded {', '.join(differences)}"
