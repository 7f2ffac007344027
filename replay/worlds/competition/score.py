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

from goldrush.agents.worlds.competition.formats import AWAY, format_apart, format_subject
from goldrush.kernel.errors import BadInput, format_value
from goldrush.kernel.measures import Value
from goldrush.kernel.text import escaped
from goldrush.kernel.worlds.competition.arena import Rules, Subject
from goldrush.kernel.worlds.competition.events import Scored
from goldrush.kernel.worlds.competition.rubric import (
    DIMENSIONS,
    Challenged,
    Checked,
    Compared,
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
from goldrush.kernel.worlds.competition.terms import Part, ScoreStep, Scoring
from goldrush.replay.journal.forged import reader_of
from goldrush.replay.text import format_table
from goldrush.replay.worlds.competition.steps import conduct_text, state_before_scores
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
    """One agent's score at one table, as recorded and derived again; see `rubric.Grounds`.

    Attributes:
        bar: the value of the bar.
        claims: of its proposals, by id, base before edge.
        concluded: the conclusion of the table.
        without: the conclusion in the counterfactual without the agent.
        equals: the candidates for that conclusion.
        differs: whether the two conclusions differ.
        is_own: whether the conclusion is a proposal of the agent, or amends one.
        moved: other agents whose stances at the end of the talk, before the proof, differ in the
            counterfactual: these earn Net Impact.
        went: other agents whose stances in the end differ there.
        gone: the contributions that the counterfactual leaves out.
        stood: the agent's final stance as given; None if it gave no valid one.
        rubric, given: the four scores by the rubric, and by the therapist; None if it gave none.
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
    proposals: Sequence[Compared]
    claims: Sequence[Checked]
    is_wide: bool
    concluded: Conclusion
    without: Conclusion
    equals: Sequence[int]
    differs: bool
    is_own: bool
    moved: Sequence[Moved]
    went: Sequence[Moved]
    gone: Sequence[int]
    stood: FinalStance | None
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
    """The scores of an agent in an assignment. `table`: only the score at this table; None: at each
    table where it sat.

    Raises BadInput for an unknown assignment, agent or table, and if the agent did not sit there;
    UnsupportedJournal if the arena is not installed; JournalError if the journal cannot be read.
    """
    state, scored = state_before_scores(path, assignment)
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
    own, conclusion = grounds[agent], table.conclusion
    assert conclusion is not None
    without = own.counterfactual.stances
    return Score(
        assignment=state.assignment,
        table=table.number,
        agent=agent,
        name=state.agents[agent].name,
        subject=table.subject,
        bar=table.bar,
        proposals=own.proposals,
        claims=sorted([*own.bases, *own.edges], key=lambda claim: (claim.id, claim.part)),
        is_wide=own.is_wide,
        concluded=conclusion,
        without=own.counterfactual.conclusion,
        equals=own.counterfactual.equals,
        differs=own.counterfactual.differs,
        is_own=own.counterfactual.is_own,
        moved=_moves(state, agent, table.talk_stances(), without.talked),
        went=_moves(state, agent, table.stances, without.final),
        gone=sorted(without.gone),
        stood=table.stood.get(agent),
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
    head = (
        f"the score of {score.name} (agent {score.agent}) at table {score.table} in assignment "
        f"{score.assignment}: {format_subject(score.subject)}, the bar is {_bar(score)}"
    )
    lines = [head, ""]
    for dimension, number, grounds in zip(DIMENSIONS, score.rubric, grounds_of(score), strict=True):
        lines += [f"{dimension}: {number} by the rubric", *(f"  {line}" for line in grounds)]
    lines += [
        "",
        *_numbers(score).split("\n"),
        "",
        *_steps(score),
        _verdict(score),
    ]
    return "\n".join(map(escaped, lines))


def grounds_of(score: Score) -> list[Sequence[str]]:
    """What a score rests on, as lines for each dimension."""
    proposals = [_proposal(score, proposal) for proposal in score.proposals]
    return [
        proposals or ["no proposal"],
        _accuracy(score) or ["nothing was tested"],
        _impact(score),
        _challenges(score) or ["challenged nobody"],
    ]


def _proposal(score: Score, proposal: Compared) -> str:
    known = "nothing like it was known"
    if proposal.distance is not None:
        nearest = conduct_text(proposal.nearest, score.rules)
        known = f"{AWAY[proposal.distance]} {nearest}, the nearest known"
        if not proposal.distance:
            known = "it was known already"
    led = "nothing led" if proposal.led is None else f"#{proposal.led} led"
    became = "; it became the conclusion" if proposal.is_conclusion else ""
    conduct = conduct_text(proposal.conduct, score.rules)
    return f"#{proposal.id}, {conduct}: {known}; {led}{became}: {proposal.score}"


def _accuracy(score: Score) -> list[str]:
    lines = [_checked(claim, score.bar) for claim in score.claims]
    lines += [
        f"challenge #{c.id} of #{c.target}: {'has' if c.is_sustained else 'has no'} grounds"
        for c in score.challenges
    ]
    return [*lines, "two counted bases are far from each other"] if score.is_wide else lines


def _bar(score: Score) -> str:
    beside = (value for claim in score.claims for value in (claim.claimed, claim.tested))
    return format_apart(score.bar, *beside)[0]


def _checked(claim: Checked, bar: Value) -> str:
    claimed, tested, _ = format_apart(claim.claimed, claim.tested, bar)
    says = [f"claimed {claimed}, tested {tested}", "holds" if claim.held else "does not hold"]
    if claim.part == Part.BASE:
        says += ["sharp" if claim.is_sharp else "not sharp"] * claim.held
        says += ["not counted: its conduct sets the bar, or was proposed or tested before"] * (
            not claim.is_counted
        )
    return f"#{claim.id}, the {claim.part} under {claim.treatment}: {', '.join(says)}"


def _impact(score: Score) -> list[str]:
    own = ", which is its own or amends it" if score.is_own else ""
    without = "the same"
    if score.differs:
        among = f", drawn among {format_ids(score.equals)}" if len(score.equals) > 1 else ""
        without = f"{_concluded(score, score.without)}{among}"
    tied = score.concluded.tied
    drawn = f", drawn among {format_ids(tied)}" if tied else ""
    return [
        f"concluded: {_concluded(score, score.concluded)}{drawn}{own}",
        f"its final stance: {_final_stance(score)}",
        f"without it: {without}",
        f"left out then: {format_ids(score.gone) or 'nothing'} (what it said and what refers to "
        "that, conducts that it proposed first, what was redirected)",
        *(f"at the end of the talk {_moved(moved, 'stood')}" for moved in score.moved),
        *(f"in the end {_moved(moved, 'stands')}" for moved in score.went),
    ]


def _final_stance(score: Score) -> str:
    if score.stood is None:
        return "none was given"
    return "for no proposal" if score.stood.target is None else f"#{score.stood.target}"


def _concluded(score: Score, concluded: Conclusion) -> str:
    if concluded.proposal is None:
        return "nothing"
    return f"#{concluded.proposal}, {conduct_text(concluded.conduct, score.rules)}"


def _moved(moved: Moved, stands: str) -> str:
    now = "no proposal" if moved.stance is None else f"#{moved.stance}"
    without = "none" if moved.without is None else f"#{moved.without}"
    return f"{moved.name} (agent {moved.agent}) {stands} for {now}, without it for {without}"


def _challenges(score: Score) -> list[str]:
    lines = [_challenge(challenge) for challenge in score.challenges]
    if score.challenges:
        sustained = sum(challenge.is_sustained for challenge in score.challenges)
        failed = len(score.challenges) - sustained
        more = "more than" if sustained > failed else "no more than"
        lines.append(f"{sustained} sustained, {more} the {failed} that failed")
    return [*lines, "a proposal of its own followed"] if score.followed else lines


def _challenge(challenge: Challenged) -> str:
    verdict = "sustained" if challenge.is_sustained else "not sustained"
    toppled = ", after which its target no longer led" if challenge.toppled else ""
    aimed = f"the {challenge.part} of #{challenge.target}"
    return f"#{challenge.id} in round {challenge.round}, {aimed}: {verdict}{toppled}"


def _numbers(score: Score) -> str:
    """The four scores in a table: by the rubric, as rated, recomputed, as recorded."""
    rows: list[Sequence[str]] = [("", *DIMENSIONS, "total")]
    rows.append(("by the rubric", *map(str, score.rubric), str(sum(score.rubric))))
    if score.given is not None:
        rows.append(("by the therapist", *map(str, score.given), ""))
    if score.middles:
        rows.append(("median of the table", *map(str, score.middles), ""))
    rows.append(_final("recomputed", score.again, score.again.total))
    rows += [_final("recorded", recorded, total) for recorded, total, _ in score.recorded]
    return format_table(rows, numbers=range(1, 6))


def _final(says: str, score: Finished, total: int) -> Sequence[str]:
    return (says, *map(str, score.final), str(total))


def _steps(score: Score) -> list[str]:
    lines = [
        f"{rule}: {dimension} {before} -> {after}, {STEPS[rule]}"
        for rule, dimension, before, after in score.again.steps
    ]
    if score.given is None:
        return ["the therapist gave no numbers: those of the rubric stand", *lines]
    if score.given != score.rubric:
        return ["the therapist judged otherwise than the rubric, and has the final say", *lines]
    return lines


def _verdict(score: Score) -> str:
    if score.holds:
        return "holds"
    if len(score.recorded) != 1:
        return f"DOES NOT HOLD: the event is recorded {len(score.recorded)} times"
    return "DOES NOT HOLD: recorded " + ", ".join(_differences(score))


def _differences(score: Score) -> list[str]:
    """The differences between the recorded score and the recomputed one."""
    [(recorded, total, rubric)] = score.recorded
    again = score.again
    pairs = [
        ("raw scores", recorded.raw, again.raw),
        ("steps", recorded.steps, again.steps),
        ("final scores", recorded.final, again.final),
        ("total", total, again.total),
        ("sum by the rubric", rubric, sum(score.rubric)),
    ]
    return [f"{what} {_plain(one)} for {_plain(two)}" for what, one, two in pairs if one != two]


def _plain(value: object) -> str:
    if not isinstance(value, tuple):
        return str(value)
    return "(" + ", ".join(map(_plain, value)) + ")"
