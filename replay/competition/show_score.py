"""How `goldrush audit --score` lays a score open: what each number rests on, and the steps."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from goldrush.kernel.competition.conduct import Conduct, aimed, described
from goldrush.kernel.competition.events import AGREEING, DIMENSIONS, FARMING, IN_RELATION
from goldrush.kernel.competition.rubric import Challenged, Finished
from goldrush.kernel.text import escaped
from goldrush.replay.competition.score import Checked, Concluded, Moved, Proposal, Score
from goldrush.replay.text import table

_RULES: Final = {
    FARMING: "its proposal was novel, and the claim for it does not hold",
    AGREEING: "it supported others and challenged nobody",
    IN_RELATION: "relative to the lower median of the table",
}


def format_score(score: Score) -> str:
    """A score as text."""
    objective, treatment = score.subject
    head = (
        f"the score of {score.name} (agent {score.agent}) at table {score.table} in assignment "
        f"{score.assignment}: {aimed(objective)} under {treatment}, the bar is {_value(score.bar)}"
    )
    novelty, accuracy, impact, challenge = score.rubric
    lines = [
        head,
        "",
        *_part("novelty", novelty, [_proposal(p) for p in score.proposals], "no proposal"),
        *_part("accuracy", accuracy, [_checked(c) for c in score.tests], "nothing was tested"),
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


def _proposal(proposal: Proposal) -> str:
    if proposal.nearest is None:
        known = "nothing like it was known"
    else:
        fields = f"{proposal.distance} field{'' if proposal.distance == 1 else 's'}"
        known = f"{fields} from {_conduct(proposal.nearest, under=True)}, the nearest known"
    led = "nothing led" if proposal.led is None else f"proposal {proposal.led} led"
    became = "; it became the conclusion" if proposal.is_conclusion else ""
    conduct = _conduct(proposal.conduct)
    return f"proposal {proposal.id}, {conduct}: {known}; {led}{became}: {proposal.score}"


def _checked(checked: Checked) -> str:
    claimed, tested = _apart(checked.claimed, checked.tested)
    says = f"claimed {claimed}, tested {tested}"
    part = f"the {checked.part} under {checked.treatment}"
    if checked.is_ground:
        verdict = "rightly challenged" if checked.held else "wrongly challenged"
        return f"challenge {checked.id} of proposal {checked.proposal}, {part}: {says}: {verdict}"
    verdict = "holds" if checked.held else "does not hold"
    bar = f", bar {_value(checked.bar)}" if checked.part == "base" else ""
    return f"proposal {checked.id}, {part}: {says}{bar}: {verdict}"


def _impact(score: Score) -> list[str]:
    own = ", which is its own or amends it" if score.is_own else ""
    lines = [
        f"concluded: {_concluded(score.concluded)}{own}",
        f"without it: {_concluded(score.without)}" if score.differs else "without it: the same",
    ]
    return [*lines, *map(_moved, score.moved)]


def _concluded(concluded: Concluded) -> str:
    if concluded.proposal is None or concluded.conduct is None:
        return "nothing"
    tied = f", drawn among {', '.join(map(str, concluded.tied))}" if concluded.tied else ""
    return f"proposal {concluded.proposal}, {_conduct(concluded.conduct)}{tied}"


def _moved(moved: Moved) -> str:
    now = "no proposal" if moved.stance is None else f"proposal {moved.stance}"
    without = "none" if moved.without is None else f"proposal {moved.without}"
    return f"{moved.name} (agent {moved.agent}) stands for {now}, without it for {without}"


def _challenges(score: Score) -> list[str]:
    lines = [_challenge(challenge) for challenge in score.challenges]
    return [*lines, "a proposal of its own followed"] if score.followed else lines


def _challenge(challenge: Challenged) -> str:
    verdict = "sustained" if challenge.is_sustained else "not sustained"
    toppled = ", and what it was aimed at led no more" if challenge.toppled else ""
    aimed = f"the {challenge.part} of proposal {challenge.target}"
    return f"challenge {challenge.id} in round {challenge.round}, {aimed}: {verdict}{toppled}"


def _numbers(score: Score) -> str:
    """The four numbers, from the rubric to what is recorded."""
    rows: list[Sequence[str]] = [("", *DIMENSIONS, "total")]
    rows.append(("by the rubric", *map(str, score.rubric), ""))
    if score.given is not None:
        rows.append(("by the therapist", *map(str, score.given), ""))
    if score.middles:
        rows.append(("median of the table", *map(str, score.middles), ""))
    rows.append(_final("worked out anew", score.again, score.again.total))
    rows += [_final("recorded", recorded, total) for recorded, total in score.recorded]
    return table(rows, numbers=range(1, 6))


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
        return f"DOES NOT HOLD: the event stands there {len(score.recorded)} times"
    return "DOES NOT HOLD: recorded " + ", ".join(_differences(score))


def _differences(score: Score) -> list[str]:
    """In what the recorded score is another."""
    [(recorded, total)] = score.recorded
    again = score.again
    pairs = [
        ("raw scores", recorded.raw, again.raw),
        ("steps", recorded.steps, again.steps),
        ("final scores", recorded.final, again.final),
        ("total", total, again.total),
    ]
    return [f"{what} {_plain(one)} for {_plain(two)}" for what, one, two in pairs if one != two]


def _plain(value: object) -> str:
    if not isinstance(value, tuple):
        return str(value)
    return "(" + ", ".join(map(_plain, value)) + ")"


def _conduct(conduct: Conduct, *, under: bool = False) -> str:
    return f"{described(conduct)} under {conduct[3]}" if under else described(conduct)


def _apart(one: float, other: float | None) -> tuple[str, str]:
    """Two values as text: as many digits as tell them apart."""
    if other is not None and one != other and _value(one) == _value(other):
        return repr(one), repr(other)
    return _value(one), _value(other)


def _value(value: float | None) -> str:
    return "none" if value is None else f"{value:.4f}"
