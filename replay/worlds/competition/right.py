"""Who was right at a table, by the tests: whose claims and challenges held, which proposal tested
best, what the table chose, and what it should have chosen. As sentences.

A refuted proposal cannot be chosen, however good its test: it promised more than that. So a table
should have chosen the best tested of the proposals that hold.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Final

from goldrush.agents.worlds.competition.formats import format_apart, format_number
from goldrush.kernel.journal import JournalReader
from goldrush.kernel.text import escaped, format_count
from goldrush.kernel.walk import ROWS, Walk
from goldrush.kernel.worlds.competition.arena import UP
from goldrush.kernel.worlds.competition.terms import Part
from goldrush.replay.journal.forged import reader_of
from goldrush.replay.journal.why import Explanation
from goldrush.replay.worlds.competition.proof import Challenge, Proof, Proven, proof_at
from goldrush.replay.worlds.competition.quality import Quality
from goldrush.replay.worlds.competition.steps import season_world
from goldrush.replay.worlds.competition.story import format_ids, names_in

NAMES_MAX: Final = 6  # of agents, in a sentence
CHALLENGES_MAX: Final = 12  # of a table that have a sentence each
_SHARE_MAX: Final = 0.999  # a share that is not shown as all

Naming = Callable[[int], str]  # an agent as text


def best_of(proof: Proof) -> Proven | None:
    """The proposal that a table should have chosen: of those that hold the best tested, the first
    of equals; None if none holds.
    """
    sign = 1 if proof.subject[1] == UP else -1
    holding = [each for each in proof.proposals if each.held]
    return max(holding, key=lambda each: (sign * (each.tested or 0.0), -each.id), default=None)


def format_right(proof: Proof, name: Naming) -> str:
    """How many claims of each agent held when they were tested."""
    held: dict[int, list[bool]] = {}
    for each in proof.proposals:
        held.setdefault(each.agent, []).append(each.held)
    if not held:
        return "Nobody was right or wrong: no proposal counts."
    counts = [f"{name(agent)} {sum(claims)} of {len(claims)}" for agent, claims in held.items()]
    more = f" and {len(counts) - NAMES_MAX} more workers" if len(counts) > NAMES_MAX else ""
    return f"Claims that held when tested: {', '.join(counts[:NAMES_MAX])}{more}."


def format_best(proof: Proof, name: Naming) -> str:
    """What a table should have chosen by the tests, beside what it did choose."""
    best = best_of(proof)
    if best is None:
        return "By the tests there was nothing to choose: no claim held."
    chosen = next((each for each in proof.proposals if each.id == proof.conclusion), None)
    if chosen is not None and chosen.tested == best.tested:
        return "By the tests that was the best choice."
    tested, _ = format_apart(best.tested, None if chosen is None else chosen.tested)
    return f"By the tests it should have chosen #{best.id} of {name(best.agent)}, at {tested}."


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


def format_proven(proof: Proof) -> str:
    """How many claims held."""
    bases = [each.held for each in proof.proposals]
    edges = [each.edge_held for each in proof.proposals if each.edge_held is not None]
    tested = f"the proof: {sum(bases)} of {format_count(len(bases), 'claim')} held when tested"
    if edges:
        tested += f", and {sum(edges)} of {len(edges)} under another treatment (the edge)"
    return tested


def format_choice(proof: Proof) -> str:
    """How many gave a final stance, and changed sides."""
    given = sum(side.stood is not None for side in proof.sides)
    if not given:
        return "no final stances: everybody stands where the proof left it"
    changed = sum(side.changed for side in proof.sides)
    return (
        f"the choice: {given} of {len(proof.sides)} gave a final stance; {changed} changed "
        "sides since the end of the talk"
    )


def format_conclusion(proof: Proof, name: Naming) -> str:
    """The conclusion, and why it is that."""
    if proof.conclusion is None:
        return "no conclusion: nobody stands by a proposal in the end"
    chosen = next(each for each in proof.proposals if each.id == proof.conclusion)
    counts = Counter(side.final for side in proof.sides if side.final is not None)
    most = counts[chosen.id]
    foremost = sorted(proposal for proposal, count in counts.items() if count == most)
    why = ""
    if proof.tied:
        why = f", as by the others of {format_ids(proof.tied)}, among which it was drawn"
    elif len(foremost) > 1:
        why = f", as by the others of {format_ids(foremost)}, and it has the best test"
    tested, bar = format_apart(chosen.tested, proof.bar)
    return (
        f"concluded on #{chosen.id} of {name(chosen.agent)}, tested {tested} where the "
        f"bar is {bar}: {most} of {len(proof.sides)} stand by it{why}"
    )


@reader_of
def explained(
    path: str | Path, first: int | None = None, last: int | None = None
) -> Iterator[Explanation]:
    """Why each table of the assignments `first` to `last` (None: from the start, to the end)
    concluded what it did. Raises JournalError where the journal cannot be read.
    """
    names: dict[int, str] = {}

    def name(agent: int) -> str:
        return escaped(names[agent])

    with JournalReader(path) as reader:
        world = season_world(reader)
        for _, step, state in Walk(world, reader, ROWS).steps():
            if step is None or not world.unit_done(state):
                continue
            names = names or names_in(path)  # reads the journal, which may be forged
            if last is not None and state.assignment > last:
                return
            if first is None or state.assignment >= first:
                for table in state.tables:
                    yield _explained(proof_at(state, table), state.assignment, name)


def _participants(proof: Proof) -> list[int]:
    return sorted(side.agent for side in proof.sides)


def _explained(proof: Proof, assignment: int, name: Naming) -> Explanation:
    objective, better, treatment = proof.subject
    front = (
        f"table {proof.table} of assignment {assignment}: {escaped(objective)} "
        f"({'more' if better == UP else 'less'} is better) under {escaped(treatment)}, the bar is "
        f"{format_apart(proof.bar)[0]}"
    )
    account = [front, "nobody proposed anything that counts, so nothing is concluded"]
    if proof.proposals:
        challenges = (format_challenge(each, proof, name) for each in challenges_of(proof))
        account = [
            front, format_right(proof, name), *challenges, format_proven(proof),
            format_choice(proof), format_conclusion(proof, name), format_best(proof, name),
        ]  # fmt: skip
    return Explanation("conclusion", assignment, proof.table, _participants(proof), account)
