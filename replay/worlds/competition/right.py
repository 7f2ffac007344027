"""Who was right at a table, by the tests: whose claims and challenges held, which proposal tested
best, what the table chose, and what it should have chosen. As sentences.

A refuted proposal cannot be chosen, however good its test: it promised more than that. So a table
should have chosen the best tested of the proposals that hold.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from goldrush.agents.worlds.competition.formats import format_apart, format_number
from goldrush.kernel.worlds.competition.arena import UP
from goldrush.kernel.worlds.competition.terms import Part
from goldrush.replay.worlds.competition.proof import Challenge, Proof, Proven
from goldrush.replay.worlds.competition.quality import Quality

NAMES_MAX: Final = 6  # of agents, in a sentence
CHALLENGES_MAX: Final = 12  # of a table that have a sentence each
_SHARE_MAX: Final = 0.999  # a share that is not shown as all

Naming = Callable[[int], str]  # an agent as text


def best_of(proof: Proof) -> Proven | None:
    """The proposal that a table should have chosen: of those that hold the best tested, the first
    of equals; None if none holds.
    """
    return _best(proof, [each for each in proof.proposals if each.held])


def _best(proof: Proof, proposals: Sequence[Proven]) -> Proven | None:
    sign = 1 if proof.subject[1] == UP else -1
    tested = [each for each in proposals if each.tested is not None]
    return max(tested, key=lambda each: (sign * (each.tested or 0.0), -each.id), default=None)


def format_right(proof: Proof, name: Naming) -> str:
    """Whose claims held when they were tested, and whose did not."""
    held: dict[int, list[bool]] = {}
    for each in proof.proposals:
        held.setdefault(each.agent, []).append(each.held)
    if not held:
        return "Nobody was right or wrong: no proposal counts."
    right = [agent for agent, claims in held.items() if all(claims)]
    wrong = [agent for agent, claims in held.items() if not any(claims)]
    partly = [agent for agent in held if agent not in right and agent not in wrong]
    parts = []
    if right:
        verb, whose = ("was", "its") if len(right) == 1 else ("were", "their")
        claims = "claim" if len(right) == len(held[right[0]]) == 1 else "claims"
        parts.append(f"{_names(right, name)} {verb} right: {whose} {claims} held when tested.")
    if partly:
        counts = (
            f"{name(agent)} with {sum(held[agent])} of {len(held[agent])} claims"
            for agent in partly[:NAMES_MAX]
        )
        parts.append(f"Partly right: {', '.join(counts)}{_more(partly)}.")
    if wrong:
        parts.append(f"{_names(wrong, name)} claimed more than the tests showed.")
    return " ".join(parts)


def format_best(proof: Proof, name: Naming) -> str:
    """What a table should have chosen by the tests, beside what it did choose."""
    best = best_of(proof)
    if best is None:
        return "By the tests there was nothing to choose: no claim held."
    chosen = next((each for each in proof.proposals if each.id == proof.conclusion), None)
    if chosen is not None and chosen.tested == best.tested:
        text = "By the tests that was the best choice."
    else:
        tested, _ = format_apart(best.tested, None if chosen is None else chosen.tested)
        text = f"By the tests it should have chosen #{best.id} of {name(best.agent)}, at {tested}"
        if chosen is not None:
            missed = abs((best.tested or 0.0) - (chosen.tested or 0.0))
            text += f": better by {format_number(missed)}"
        text += "."
    first = _best(proof, proof.proposals)
    if first is not None and not first.held and first.tested != best.tested:
        claimed, tested = format_apart(first.claimed, first.tested)
        text += (
            f" #{first.id} of {name(first.agent)} tested better, {tested}, but claimed {claimed}: "
            "what is refuted cannot be chosen."
        )
    return text


def format_quality(proof: Proof, quality: Quality | None) -> str:
    """How good the conclusion is among all conducts, as far as that is known."""
    if quality is None:
        return "How good it is among all possible conducts is not known in this arena."
    what = "The conclusion" if proof.conclusion is not None else "The bar's conduct, which stays,"
    share = format_number(100 * min(quality.percentile, _SHARE_MAX), 1)
    better = "more than " * (quality.percentile > _SHARE_MAX)
    text = f"{what} is better than {better}{share}% of all conducts, apart from the noise of tests"
    if quality.regret:
        return f"{text}; the best of all is better by {format_number(quality.regret)}."
    return f"{text}; no conduct is better." if quality.regret == 0 else f"{text}."


def challenges_of(proof: Proof) -> Sequence[Challenge]:
    """The challenges that have a sentence: the first CHALLENGES_MAX."""
    return proof.challenges[:CHALLENGES_MAX]


def format_challenge(challenge: Challenge, proof: Proof, name: Naming) -> str:
    """Who challenged what, and whether rightly."""
    target = next(each for each in proof.proposals if each.id == challenge.target)
    claimed, tested = format_apart(target.claimed, challenge.tested)
    verdict = "rightly" if challenge.is_sustained else "wrongly"
    part = "" if challenge.part == Part.BASE else f"the {challenge.part} of "
    return (
        f"{name(challenge.agent)} challenged {part}#{target.id} of {name(target.agent)}, "
        f"{verdict}: claimed {claimed}, tested {tested}."
    )


def _names(agents: Sequence[int], name: Naming) -> str:
    *first, last = map(name, agents[:NAMES_MAX])
    rest = _more(agents)
    if rest or not first:
        return ", ".join([*first, last]) + rest
    return f"{', '.join(first)} and {last}"


def _more(agents: Sequence[int]) -> str:
    more = len(agents) - NAMES_MAX
    return f" and {more} more" if more > 0 else ""
