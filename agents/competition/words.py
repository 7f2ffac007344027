"""Pieces of prompts: names, values and contributions in words, each with a limit in bytes.

Names and whatever somebody wrote are quoted as JSON: they can neither end their quotation nor pose
as a part of the prompt.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any, Final

from goldrush.agents.competition.limits import NAME_MAX, WORDS_MAX
from goldrush.agents.llm.wording import quoted, within
from goldrush.kernel.competition.conduct import BASE, Conduct, described
from goldrush.kernel.competition.events import AMEND, CHALLENGE, PASS, PROPOSE, SUPPORT
from goldrush.kernel.competition.state import Agent
from goldrush.kernel.competition.table import Contribution, Table, parts_of

DEPTH_MAX: Final = 5  # other terms of a contract: offer, terms, conditions, each one, its choice
ITEMS_MAX: Final = 20
INTEGER_MAX: Final = 1 << 64


def called(agent: Agent) -> str:
    """An agent by number and name: `5 "ada"`."""
    return f"{agent.ordinal} {quoted(agent.name, NAME_MAX)}"


def value(of: Any, most: int = WORDS_MAX, depth: int = DEPTH_MAX) -> str:
    """A plain value, whoever it comes from: text quoted, the rest as JSON has it."""
    if type(of) is str:
        return quoted(of, most)
    if isinstance(of, (list, tuple)) and depth:
        return f"[{within((value(item, most, depth - 1) for item in of[:ITEMS_MAX]), most)}]"
    if isinstance(of, Mapping) and depth:
        return "{" + facts(of, most, depth - 1) + "}"
    is_number = type(of) in (bool, float) or (type(of) is int and abs(of) <= INTEGER_MAX)
    return json.dumps(of) if is_number else "null"


def facts(of: Mapping[Any, Any], most: int, depth: int = DEPTH_MAX) -> str:
    """A map's names and values."""
    pairs = list(of.items())[:ITEMS_MAX]
    told = (f"{value(name, NAME_MAX, 0)}: {value(item, most, depth)}" for name, item in pairs)
    return within(told, most)


def lines(of: Iterable[str], most: int) -> str:
    """Lines, as many as fit from the first on, and how many do not."""
    return within(of, most, "\n")


def latest(of: Iterable[str], most: int) -> str:
    """Lines, as many as fit from the last on, in their order."""
    kept = within(list(of)[::-1], most, "\n").split("\n")
    return "\n".join(reversed(kept))


def subject(table: Table) -> str:
    """What a table is about."""
    return f"{table.objective} under {table.treatment}"


def contribution(table: Table, said: Contribution, people: Mapping[int, Agent]) -> str:
    """What was said, by whom, and what became of it, in one line."""
    parts = [f"#{said.id} round {said.round}, {called(people[said.agent])} {_moved(said)}"]
    if said.move == PASS and said.code is not None:
        parts.append(f"refused: {said.code}")
    if said.id in table.removed:
        parts.append("redirected by the judge, does not count")
    elif said.is_proposal:
        parts += _tests(table, said)
        parts += ["refuted"] * (said.id in table.standing.refuted)
        held = [str(who) for who, what in table.standing.stances.items() if what == said.id]
        parts += [f"held by {within(held, 200)}"] * bool(held)
    elif said.move == CHALLENGE and table.held(said.target or 0, said.part or "") is not None:
        parts.append("sustained" if table.is_sustained(said) else "not sustained")
    if said.words:
        parts.append(quoted(said.words, WORDS_MAX))
    return "; ".join(parts)


def _moved(said: Contribution) -> str:
    if said.move == SUPPORT:
        return f"supports #{said.target}"
    if said.move == CHALLENGE:
        return f"challenges the {said.part} of #{said.target}"
    if said.conduct is None or said.claim is None:
        return "passes"
    verb = {PROPOSE: "proposes", AMEND: f"amends #{said.target} to"}[said.move]
    claimed, edge = said.claim
    also = "" if edge is None else f", also under {edge}"
    return f"{verb} {described(said.conduct)}, claims {value(claimed)}{also}"


def _tests(table: Table, said: Contribution) -> Iterable[str]:
    for part in parts_of(said):
        held = table.held(said.id, part)
        if held is not None:
            tested = value(table.tests[said.id, part])
            yield f"{part} tested: {tested}, {'holds' if held else 'does not hold'}"
        elif part != BASE:
            yield f"{part} not tested yet"


def conducts(of: Iterable[Conduct], most: int) -> str:
    """Conducts with their treatments, each once."""
    return within((f"{described(c)} under {c[3]}" for c in dict.fromkeys(of)), most, "; ")
