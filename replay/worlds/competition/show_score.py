"""A score with its grounds and rule steps as text, for `goldrush audit --score`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from goldrush.agents.worlds.competition.formats import AWAY, format_apart, format_subject
from goldrush.kernel.measures import Value
from goldrush.kernel.text import escaped
from goldrush.kernel.worlds.competition.rubric import DIMENSIONS, Challenged, Finished
from goldrush.kernel.worlds.competition.table import Conclusion
from goldrush.kernel.worlds.competition.terms import Part, ScoreStep
from goldrush.replay.text import format_table
from goldrush.replay.worlds.competition.score import Checked, Moved, Proposal, Score
from goldrush.replay.worlds.competition.steps import conduct_text

_RULES: Final = {
    ScoreStep.FARMING: "its proposal was novel, and the claim for it does not hold",
    ScoreStep.AGREEING: "it supported others and challenged nobody",
    ScoreStep.RELATIVE: "relative to the lower median of the table",
}


def format_score(score: Score) -> str:
    """A score as text."""
    head = (
        f"the score of {score.name} (agent {score.agent}) at table {score.table} in assignment "
        f"{score.assignment}: {format_subject(score.subject)}, the bar is {_bar(score)}"
    )
    novelty, accuracy, impact, challenge = score.rubric
    proposals = [_proposal(score, proposal) for proposal in score.proposals]
    lines = [
        head,
        "",
        *_part("novelty", novelty, proposals, "no proposal"),
        *_part("accuracy", accuracy, _accuracy(score), "nothing was tested"),
        *_part("impact", impact, _impact(score), ""),
        *_part("challenge", challenge, _challenges(score), "challenged nobody"),
        "",
        *_numbers(score).split("\n"),
        "",
        *_steps(score),
        _verdict(score),
    ]
    return "\n".join(map(escaped, lines))


def _part(dimension: str, score: int, lines: Sequence[str], none: str) -> list[str]:
    return [f"{dimension}: {score} by the rubric", *(f"  {line}" for line in lines or [none])]


def _proposal(score: Score, proposal: Proposal) -> str:
    known = "nothing like it was known"
    if proposal.distance is not None:
        nearest = conduct_text(proposal.nearest, score.rules)
        known = f"{AWAY[proposal.distance]} {nearest}, the nearest known"
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
        says += ["not counted: its conduct was known at the table"] * (not claim.is_counted)
    return f"#{claim.id}, the {claim.part} under {claim.treatment}: {', '.join(says)}"


def _impact(score: Score) -> list[str]:
    own = ", which is its own or amends it" if score.is_own else ""
    without = "the same"
    if score.differs:
        among = f", drawn among {_ids(score.equals)}" if len(score.equals) > 1 else ""
        without = f"{_concluded(score, score.without)}{among}"
    tied = score.concluded.tied
    drawn = f", drawn among {_ids(tied)}" if tied else ""
    return [
        f"concluded: {_concluded(score, score.concluded)}{drawn}{own}",
        f"without it: {without}",
        *map(_moved, score.moved),
    ]


def _ids(ids: Sequence[int]) -> str:
    return ", ".join(f"#{id}" for id in ids)


def _concluded(score: Score, concluded: Conclusion) -> str:
    if concluded.proposal is None:
        return "nothing"
    return f"#{concluded.proposal}, {conduct_text(concluded.conduct, score.rules)}"


def _moved(moved: Moved) -> str:
    now = "no proposal" if moved.stance is None else f"#{moved.stance}"
    without = "none" if moved.without is None else f"#{moved.without}"
    return f"{moved.name} (agent {moved.agent}) stands for {now}, without it for {without}"


def _challenges(score: Score) -> list[str]:
    lines = [_challenge(challenge) for challenge in score.challenges]
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
        f"{rule}: {dimension} {before} -> {after}, {_RULES[rule]}"
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
