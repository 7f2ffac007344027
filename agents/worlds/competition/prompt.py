"""The prompts of a season.

A prompt has two messages: the rules for the role (agents.worlds.competition.rules), and the
situation: first the public part, then the agent's private part, then the question. It depends on
the `Observation` alone, so it can be made again from a journal. Every part has a limit in bytes.

The wording is part of an experiment: change VERSION with it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from goldrush.agents.llm.question import Message
from goldrush.agents.llm.wording import quoted, within
from goldrush.agents.worlds.competition.formats import (
    first_lines,
    format_agent,
    format_conduct,
    format_conducts,
    format_contribution,
    format_mapping,
    format_memory,
    format_number,
    format_subject,
    last_lines,
)
from goldrush.agents.worlds.competition.limits import (
    FULL_MAX,
    KNOWN_MAX,
    LEADERBOARD_MAX,
    MEMORY_MAX,
    MIND_MAX,
    PEOPLE_MAX,
    TABLE_MAX,
    TRIALS_MAX,
)
from goldrush.agents.worlds.competition.observation import Observation
from goldrush.agents.worlds.competition.questions import QUESTIONS
from goldrush.agents.worlds.competition.rules import rules
from goldrush.agents.worlds.competition.therapist import reasons
from goldrush.kernel.worlds.competition import rights
from goldrush.kernel.worlds.competition.rubric import DIMENSIONS
from goldrush.kernel.worlds.competition.state import AgentState
from goldrush.kernel.worlds.competition.table import Roundtable
from goldrush.kernel.worlds.competition.terms import Class, Role, Status

VERSION: Final = 2


def messages(seen: Observation, name: str, arguments: Mapping[str, Any]) -> tuple[Message, Message]:
    """The two messages of a question, in the form of the OpenAI protocol.

    Args:
        seen: the observation of the agent that is asked.
        name: of the question.
        arguments: of the question, in addition to the observation.

    """
    return (
        {"role": "system", "content": rules(seen)},
        {"role": "user", "content": "\n\n".join(filter(None, _parts(seen, name, arguments)))},
    )


def _parts(seen: Observation, name: str, arguments: Mapping[str, Any]) -> Iterable[str]:
    question, table = QUESTIONS[name], _table_of(seen, arguments)
    yield (
        f"Assignment {seen.assignment} of 0 to {seen.config.assignments - 1}, day {seen.day}, "
        f"project {seen.project}."
    )
    yield _people(seen)
    yield _leaderboard(seen)
    if table is not None and question.sees_table:
        yield _at_table(seen, table)
        yield _trials(seen, table)
    if name in ("speak", "try_"):
        yield _known(seen)
        yield _whole(seen)
    yield _mind(seen, seen.me, "You are")
    yield _memory(seen, table)
    other = arguments.get("agent")
    if seen.me.role == Role.THERAPIST and type(other) is int and other in seen.people:
        yield _mind(seen, seen.people[other], "The one that this is about:")
        if table is not None:
            yield _evidence(seen, table, other)
    yield f"THE QUESTION: {question.text(seen, arguments)}"
    yield f"Answer in this form: {question.example(seen.rules)}"


def _table_of(seen: Observation, arguments: Mapping[str, Any]) -> Roundtable | None:
    """The table that a question is about: the one it names, else the last one at which the agent
    that it names sat, else the last one; None before the first.
    """
    number, agent = arguments.get("table"), arguments.get("agent")
    if type(number) is int and number < len(seen.tables):
        return seen.tables[number]
    sat = [table for table in seen.tables if agent in table.participants]
    tables = sat or seen.tables
    return tables[-1] if tables else None


def room(seen: Observation) -> int:
    """How many shares of the limited parts an agent has: one, one more from tier 1 on, one more as
    a sonnet.
    """
    me = seen.me
    expanded = me.is_worker and me.stage >= rights.EXPANDED
    return 1 + expanded + (me.is_worker and me.class_ == Class.SONNET)


def _people(seen: Observation) -> str:
    workers = (agent for agent in seen.people.values() if agent.is_worker)
    lines = (
        f"{format_agent(agent)} ({agent.class_}, tier {agent.stage}, {agent.sparks} sparks)"
        for agent in workers
        if agent.status == Status.ACTIVE
    )
    return f"WORKERS: {within(lines, PEOPLE_MAX)}"


def _leaderboard(seen: Observation) -> str:
    if not seen.leaderboard:
        return ""
    lines = (
        f"{rank}. {format_agent(seen.people[agent])}: {rolling} ({all_time})"
        for rank, agent, rolling, all_time in seen.leaderboard
    )
    return f"LEADERBOARD, rolling (all-time): {within(lines, LEADERBOARD_MAX)}"


def _at_table(seen: Observation, table: Roundtable) -> str:
    bar = format_number(table.bar) if table.is_bar_tested else "not known yet"
    order = within(map(str, table.order), 400)
    parts = [
        f"TABLE {table.number}: {format_subject(table.subject)}. The bar is {bar}."
        + (f" They speak in the order {order}." if order else "")
    ]
    if table.contributions:
        said = (
            format_contribution(table, one, seen.people, seen.rules) for one in table.contributions
        )
        leading = table.stances.leading()
        parts += [
            "What was said, by number:",
            last_lines(said, TABLE_MAX * room(seen)),
            "Nothing leads." if leading is None else f"#{leading} leads.",
        ]
    if table.conclusion is not None:
        concluded = table.conclusion.proposal
        parts.append("No conclusion." if concluded is None else f"Concluded: #{concluded}.")
    elif table.participants:
        left = (f"{agent}: {moves}" for agent, moves in table.moves.items())
        parts.append(
            f"Round {table.round} of 0 to {table.rounds - 1}. Contributions left, by agent: "
            f"{within(left, 600)}."
        )
    return "\n".join(parts)


def _known(seen: Observation) -> str:
    known = format_conducts(reversed(seen.known), seen.rules, KNOWN_MAX * room(seen))
    return f"KNOWN conducts, the latest first: {known}" if known else ""


def _trials(seen: Observation, table: Roundtable) -> str:
    """What its own trials at the table gave."""
    if not table.trials:
        return ""
    trials = (
        f"{format_conduct(trial.conduct, seen.rules)} under {trial.treatment}: "
        f"{format_number(trial.value)}"
        for trial in table.trials
    )
    return f"YOUR TRIALS, told to nobody else:\n{first_lines(trials, TRIALS_MAX)}"


def _whole(seen: Observation) -> str:
    """The full text of conducts that a line has no room for: the bar's, the leading proposal's,
    that of the last trial.
    """
    if seen.rules.whole is None:
        return ""
    table = seen.table
    leading = table.stances.leading()
    shown = {"the bar": seen.rules.bar(table.subject)}
    if leading is not None:
        shown[f"#{leading}, which leads"] = table.contributions[leading].conduct
    if table.trials:
        shown["your last trial"] = table.trials[-1].conduct
    parts = (
        f"{name}: {quoted(seen.rules.whole(conduct), FULL_MAX)}" for name, conduct in shown.items()
    )
    return "\n".join(["WHOLE TEXTS:", *parts])


def _mind(seen: Observation, agent: AgentState, title: str) -> str:
    parts = [f"{title} {format_agent(agent)}, {agent.role}."]
    if agent.is_worker:
        fee = rights.fee_of(agent, seen.config)
        parts.append(
            f"Class {agent.class_}, tier {agent.stage}, {agent.sparks} sparks, a seat costs {fee}; "
            f"last in a row: {agent.bottoms}; assignments sat at: {agent.served}; total of all "
            f"{agent.all_time}."
        )
    else:
        parts.append(f"Stage {agent.stage}, assignments served: {agent.served}.")
    if agent.is_self_determined:
        parts.append("Self-determined.")
    if agent.instructions:
        parts.append(f"Instructions: {format_mapping(agent.instructions, MIND_MAX * 2 // 3)}")
    if agent.persona is not None:
        parts.append(f"Persona: {quoted(agent.persona, MIND_MAX // 10)}")
    if agent.traits:
        traits = (quoted(trait, MIND_MAX // 10) for trait in agent.traits)
        parts.append(f"Traits: {within(traits, MIND_MAX // 6)}")
    return " ".join(parts)


def _memory(seen: Observation, table: Roundtable | None) -> str:
    """The memory: first the family of the table, then the others; the latest facts first."""
    memory = dict(seen.me.memory)
    first = () if table is None else memory.pop(table.subject.family, ())
    others = sorted((f for facts in memory.values() for f in facts), key=lambda f: -f.assignment)
    said = (format_memory(fact, seen.rules) for fact in (*reversed(first), *others))
    remembered = first_lines(said, MEMORY_MAX * room(seen))
    return f"YOUR MEMORY:\n{remembered}" if remembered else ""


def _evidence(seen: Observation, table: Roundtable, agent: int) -> str:
    """The grounds for each dimension, without the scores, which the therapist has to give."""
    if table.conclusion is None or agent not in table.participants:
        return ""
    pairs = zip(DIMENSIONS, reasons(seen.grounds(table.number)[agent], seen.rules), strict=True)
    return "\n".join(["WHAT THE RECORD SHOWS:", *(f"- {name}: {says}" for name, says in pairs)])
