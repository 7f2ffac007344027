"""Who was right at a table, by the tests: whose claims and challenges held, where everybody stood,
what the table chose, and what it should have chosen. As sentences.

A refuted proposal cannot be chosen, however good its test: it promised more than that. So a table
should have chosen the best tested of the proposals that hold.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

import attrs

from goldrush.agents.worlds.competition.formats import format_apart, format_number, format_subject
from goldrush.kernel.text import escaped
from goldrush.kernel.walk import ROWS, Walk
from goldrush.kernel.worlds.competition.state import SeasonState
from goldrush.kernel.worlds.competition.table import Contribution, Roundtable
from goldrush.kernel.worlds.competition.terms import Move, Part
from goldrush.replay.journal.forged import reading
from goldrush.replay.journal.why import Explanation
from goldrush.replay.worlds.competition.ended import ended
from goldrush.replay.worlds.competition.steps import season_world
from goldrush.replay.worlds.competition.story import format_ids

CHALLENGES_MAX: Final = 12  # of a table that have a sentence each

Naming = Callable[[int], str]  # an agent as text


@attrs.frozen
class Side:
    """Where a participant stood at the end of the talk, as the proof left it and in the end: by a
    proposal, or None for no stance.
    """

    agent: int
    talked: int | None
    proven: int | None
    final: int | None

    @property
    def changed(self) -> bool:
        """Whether it stands elsewhere in the end than at the end of the talk."""
        return self.final != self.talked


def sides(table: Roundtable) -> list[Side]:
    """The sides of the participants of a concluded table, in the order of speaking."""
    folds = (table.talk_stances(), table.proven(table.talk_stances()), table.stances)
    talked, proven, final = (stances.by_agent for stances in folds)
    return [
        Side(agent, talked.get(agent), proven.get(agent), final.get(agent)) for agent in table.order
    ]


def challenges_of(table: Roundtable) -> list[Contribution]:
    """The challenges that were not redirected."""
    return [said for said in table.counted() if said.move == Move.CHALLENGE]


def best_of(table: Roundtable) -> Contribution | None:
    """The proposal that a table should have chosen: of those that hold the best tested, the first
    of equals; None if none holds.
    """
    holding = [said.id for said in table.proposals() if table.held(said.id, Part.BASE)]
    return table.contributions[table.best(holding)[0]] if holding else None


def chose_best(table: Roundtable) -> bool:
    """Whether a table concluded on that proposal, or on one with an equal test."""
    chosen, best = table.chosen, best_of(table)
    return None not in (chosen, best) and table.base_value(chosen) == table.base_value(best)


def account_of(table: Roundtable, name: Naming) -> list[str]:
    """Who was right at a concluded table, who changed sides, and what was concluded, as
    sentences.
    """
    if not table.proposals():
        return ["Nobody proposed anything that counts, so nothing is concluded."]
    challenges = challenges_of(table)[:CHALLENGES_MAX]
    return [
        _claims(table, name),
        *(_challenge(said, table, name) for said in challenges),
        _choice(table),
        _conclusion(table, name),
        _best(table, name),
    ]


def _claims(table: Roundtable, name: Naming) -> str:
    """How many claims of each agent held when they were tested."""
    held: dict[int, list[bool]] = {}
    for said in table.proposals():
        held.setdefault(said.agent, []).append(table.held(said.id, Part.BASE) is True)
    counts = [f"{name(agent)} {sum(claims)} of {len(claims)}" for agent, claims in held.items()]
    return f"Claims that held when tested: {', '.join(counts)}."


def _challenge(challenge: Contribution, table: Roundtable, name: Naming) -> str:
    """Who challenged what, and whether rightly."""
    id, part = challenge.challenged
    target = table.contributions[id]
    claim, test = format_apart(target.claimed, table.tests.get((id, part)))
    verdict = "rightly" if table.is_sustained(challenge) else "wrongly"
    of_part = "" if part == Part.BASE else f"the {part} of "
    return (
        f"{name(challenge.agent)} challenged {of_part}#{id} of {name(target.agent)}, "
        f"{verdict}: claimed {claim}, tested {test}."
    )


def _choice(table: Roundtable) -> str:
    """How many gave a final stance, and changed sides."""
    if not table.stood:
        return "No final stances: everybody stands where the proof left it."
    changed = sum(side.changed for side in sides(table))
    return (
        f"{len(table.stood)} of {len(table.order)} gave a final stance; {changed} changed sides "
        "since the end of the talk."
    )


def _conclusion(table: Roundtable, name: Naming) -> str:
    """The conclusion, and why it is that."""
    chosen, counts = table.chosen, table.stances.counts()
    if chosen is None or table.conclusion is None:
        return "No conclusion: nobody stands by a proposal in the end."
    foremost, why = table.stances.foremost(), ""
    if table.conclusion.tied:
        tied = format_ids(table.conclusion.tied)
        why = f", as by the others of {tied}, among which it was drawn"
    elif len(foremost) > 1:
        why = f", as by the others of {format_ids(foremost)}, and it has the best test"
    test, bar = format_apart(table.base_value(chosen), table.bar)
    return (
        f"Concluded on #{chosen.id} of {name(chosen.agent)}, tested {test} where the bar is {bar}: "
        f"{counts[chosen.id]} of {len(table.order)} stand by it{why}."
    )


def _best(table: Roundtable, name: Naming) -> str:
    """What a table should have chosen by the tests, beside what it did choose."""
    best = best_of(table)
    if best is None:
        return "By the tests there was nothing to choose: no claim held."
    if chose_best(table):
        return "By the tests that was the best choice."
    test, _ = format_apart(table.base_value(best), table.base_value(table.chosen))
    return f"By the tests it should have chosen #{best.id} of {name(best.agent)}, at {test}."


def explained(
    path: str | Path, first: int | None = None, last: int | None = None
) -> Iterator[Explanation]:
    """Why each table of the assignments `first` to `last` (None: from the start, to the end)
    concluded what it did. Raises JournalError where the journal cannot be read.
    """
    with reading(path) as reader:
        world = season_world(reader)
        for each in ended(world, Walk(world, reader, ROWS)):
            number = each.state.assignment
            if last is not None and number > last:
                return
            if first is None or number >= first:
                yield from (_explained(table, each.state) for table in each.state.tables)


def _explained(table: Roundtable, state: SeasonState) -> Explanation:
    subject, assignment = escaped(format_subject(table.subject)), state.assignment
    bar = format_number(table.bar)
    front = f"table {table.number} of assignment {assignment}: {subject}, the bar is {bar}"
    account = [front, *account_of(table, lambda agent: escaped(state.agents[agent].name))]
    return Explanation("conclusion", assignment, table.number, sorted(table.participants), account)
