"""Names, values and contributions as text of a prompt, each with a limit in bytes.

Names and text by agents are quoted as JSON, so that they cannot look like a part of the prompt.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any, Final

from goldrush.agents.llm.messages import Messages
from goldrush.agents.llm.parts import quoted, within
from goldrush.agents.worlds.competition.limits import CONDUCT_MAX, NAME_MAX, WORDS_MAX
from goldrush.kernel.worlds.competition.arena import UP, Conduct, Rules, Subject
from goldrush.kernel.worlds.competition.config import CLASSES, SeasonConfig
from goldrush.kernel.worlds.competition.memory import Remembered
from goldrush.kernel.worlds.competition.rubric import DIMENSIONS
from goldrush.kernel.worlds.competition.state import AgentState
from goldrush.kernel.worlds.competition.table import Contribution, Roundtable
from goldrush.kernel.worlds.competition.terms import Fact, Move, Part

DEPTH_MAX: Final = 5  # the depth of other terms of a contract, in an offer
ITEMS_MAX: Final = 20
INTEGER_MAX: Final = 1 << 64
DIGITS: Final = 4  # decimals of a value
DIGITS_MAX: Final = 18  # beyond it, a value is shown as Python writes it
AWAY: Final = ("equal to", "next to", "far from")  # by the distance of two conducts


def format_agent(agent: AgentState) -> str:
    """An agent by number and name: `5 "ada"`."""
    return f"{agent.ordinal} {quoted(agent.name, NAME_MAX)}"


def class_values(config: SeasonConfig) -> dict[str, int]:
    """The fee and the trials of each class, as fields of messages."""
    fees = {f"{name}_fee": config.fee(name) for name in CLASSES}
    return fees | {f"{name}_trials": config.trials_of(name) for name in CLASSES}


def format_number(value: float | None, digits: int = DIGITS) -> str:
    """A tested value as text, with at most so many decimals."""
    return "no value" if value is None else f"{value:.{digits}f}".rstrip("0").rstrip(".")


def format_apart(*values: float | None) -> list[str]:
    """Values beside each other as text, with the decimals that unequal ones take to differ; prompts
    have DIGITS decimals.
    """
    for digits in range(DIGITS, DIGITS_MAX):
        texts = [format_number(value, digits) for value in values]
        if len(set(texts)) >= len(set(values)):
            return texts
    return ["no value" if value is None else repr(value) for value in values]


def format_plain(value: Any, size_max: int = WORDS_MAX, depth: int = DEPTH_MAX) -> str:
    """A plain value as text of at most `size_max` bytes: strings quoted, others as JSON."""
    if type(value) is str:
        return quoted(value, size_max)
    if isinstance(value, (list, tuple)) and depth:
        items = (format_plain(item, size_max, depth - 1) for item in value[:ITEMS_MAX])
        return f"[{within(items, size_max)}]"
    if isinstance(value, Mapping) and depth:
        return "{" + format_mapping(value, size_max, depth - 1) + "}"
    is_number = type(value) in (bool, float) or (type(value) is int and abs(value) <= INTEGER_MAX)
    return json.dumps(value) if is_number else "null"


def format_mapping(mapping: Mapping[Any, Any], size_max: int, depth: int = DEPTH_MAX) -> str:
    """The names and values of a map as text of at most `size_max` bytes."""
    lines = (
        f"{format_plain(name, NAME_MAX, 0)}: {format_plain(item, size_max, depth)}"
        for name, item in list(mapping.items())[:ITEMS_MAX]
    )
    return within(lines, size_max)


def format_subject(subject: Subject) -> str:
    """A subject as text."""
    better = "more" if subject.better == UP else "less"
    return f"{subject.objective} ({better} is better) under {subject.treatment}"


def format_conduct(conduct: Conduct, rules: Rules) -> str:
    """A conduct as text, without its treatment; quoted unless it is plain and short."""
    text = rules.describe(conduct)
    is_plain = text.isascii() and text.isprintable() and not set(text) & set('"<>[]{}|`#\\')
    return text if is_plain and len(text) <= CONDUCT_MAX else quoted(text, CONDUCT_MAX)


def format_contribution(
    table: Roundtable, spoken: Contribution, people: Mapping[int, AgentState], rules: Rules
) -> str:
    """A contribution with its author, tests and stances, on one line."""
    author = format_agent(people[spoken.agent])
    parts = [f"#{spoken.id} round {spoken.round}, {author} {_moved(spoken, rules)}"]
    if spoken.move == Move.PASS and spoken.code is not None:
        parts.append(f"refused: {spoken.code}")
    if spoken.id in table.removed:
        parts.append("redirected by the judge, does not count")
    elif spoken.is_proposal:
        parts += _tests(table, spoken)
        parts += ["refuted"] * (spoken.id in table.stances.refuted)
    elif spoken.move == Move.CHALLENGE and table.held(*spoken.challenged) is not None:
        parts.append("sustained" if table.is_sustained(spoken) else "not sustained")
    if spoken.text:
        parts.append(quoted(spoken.text, WORDS_MAX))
    return "; ".join(parts)


def _moved(spoken: Contribution, rules: Rules) -> str:
    if spoken.move == Move.SUPPORT:
        return f"supports #{spoken.target}"
    if spoken.move == Move.CHALLENGE:
        return f"challenges the {spoken.part} of #{spoken.target}"
    if spoken.claim is None:
        return "passes"
    verb = "proposes" if spoken.move == Move.PROPOSE else f"amends #{spoken.target} to"
    also = "" if spoken.edge is None else f", also under {spoken.edge}"
    claimed = format_number(spoken.claimed)
    return f"{verb} {format_conduct(spoken.conduct, rules)}, claims {claimed}{also}"


def _tests(table: Roundtable, spoken: Contribution) -> Iterable[str]:
    for part in spoken.parts:
        held = table.held(spoken.id, part)
        if held is not None:
            tested = format_number(table.tests[spoken.id, part])
            yield f"{part} tested: {tested}, {'holds' if held else 'does not hold'}"
        elif part != Part.BASE:
            yield f"{part} not tested yet"


def format_memory(fact: Remembered, rules: Rules) -> str:
    """One fact of an agent's memory, as a sentence."""
    where = f"Assignment {fact.assignment}, {fact.objective} under {fact.treatment}"
    if fact.kind == Fact.SCORES:
        scores = ", ".join(f"{n} {s}" for n, s in zip(DIMENSIONS, fact.scores, strict=False))
        reasons = " ".join(quoted(reason, WORDS_MAX // 4) for reason in fact.reasons)
        return f"{where}: I scored {scores}.{f' Reasons: {reasons}' if reasons else ''}"
    what, value = format_conduct(fact.conduct, rules), format_number(fact.value)
    if fact.kind == Fact.CLAIM:
        verdict = "held" if fact.held else "did not hold"
        claimed = format_number(fact.claimed)
        return f"{where}: I claimed {claimed} for {what}; tested {value}, it {verdict}."
    says = {
        Fact.TRIAL: f"I tried {what}: {value}",
        Fact.CONCLUSION: f"we concluded on {what}: {value}",
        Fact.LESSON: f"the best tested was {what}: {value}",
        Fact.SKILL: f"I was advised {what}: {value}",
    }
    return f"{where}: {says.get(fact.kind, what)}."


# The reason of a refusal, by its code.
REFUSALS: Final = Messages("goldrush.agents.worlds.competition", "refusals.toml")
