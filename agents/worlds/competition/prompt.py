"""The prompts of a season.

A prompt has two messages. The first has the protocol as configured, with the arena's rules, for
workers and the therapist the full rubric, the warning that quoted text was written by agents, and
last the agent's role. The second has the situation: what stays the same in an assignment, then the
table, then the question, because servers charge less for a known beginning. It depends on the
`SeasonObservation` alone, so it can be made again from a journal. Every part has a limit in bytes.

The prose is in wording.toml and arenas.toml. It is part of an experiment: versions.py has its
version.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from goldrush.agents.llm.options import FIELD
from goldrush.agents.llm.parts import quoted, within
from goldrush.agents.llm.question import Message
from goldrush.agents.worlds.competition.character import has_traits
from goldrush.agents.worlds.competition.formats import (
    class_values,
    format_agent,
    format_conduct,
    format_contribution,
    format_mapping,
    format_memory,
    format_number,
    format_subject,
)
from goldrush.agents.worlds.competition.limits import (
    ARENA_MAX,
    FULL_MAX,
    KNOWN_MAX,
    LIST_MAX,
    MEMORY_MAX,
    MIND_MAX,
    TABLE_MAX,
)
from goldrush.agents.worlds.competition.observation import SeasonObservation
from goldrush.agents.worlds.competition.questions import QUESTIONS
from goldrush.agents.worlds.competition.therapist import reasons
from goldrush.kernel.worlds.competition import rights
from goldrush.kernel.worlds.competition.rubric import DIMENSIONS
from goldrush.kernel.worlds.competition.state import AgentState
from goldrush.kernel.worlds.competition.table import Roundtable
from goldrush.kernel.worlds.competition.terms import Class, Role, Scoring, Status


def messages(
    seen: SeasonObservation, name: str, arguments: Mapping[str, Any]
) -> tuple[Message, Message]:
    """The two messages of a question, in the form of the OpenAI protocol."""
    return (
        {"role": "system", "content": rules(seen)},
        {"role": "user", "content": "\n\n".join(filter(None, _parts(seen, name, arguments)))},
    )


def _parts(seen: SeasonObservation, name: str, arguments: Mapping[str, Any]) -> Iterable[str]:
    question, table = QUESTIONS[name], _table_of(seen, arguments)
    yield seen.wording("situation", seen, last=seen.config.assignments - 1)
    yield _people(seen)
    yield _leaderboard(seen)
    yield _mind(seen, seen.me, "you")
    yield _memory(seen, table)
    if table is not None and question.sees_table:
        yield _at_table(seen, table)
        yield _trials(seen, table)
    if name in ("speak", "try_"):
        yield _known(seen)
    if name in ("speak", "try_", "stand"):
        yield _whole(seen)
    other = arguments.get("agent")
    is_told = seen.me.role in (Role.THERAPIST, Role.ADMIN)  # the admin has full access
    if is_told and type(other) is int and other in seen.people:
        yield _mind(seen, seen.people[other], "about")
        if table is not None and seen.me.role == Role.THERAPIST:
            yield _evidence(seen, table, other)
    form = question.example(seen.rules, reasoning=seen.framed.reasoning == FIELD)
    yield seen.wording("question", question=question.text(seen, arguments), form=form)


def _table_of(seen: SeasonObservation, arguments: Mapping[str, Any]) -> Roundtable | None:
    """The table that a question names, else the last one of the agent it names, else the last."""
    number, agent = arguments.get("table"), arguments.get("agent")
    if type(number) is int and number < len(seen.tables):
        return seen.tables[number]
    sat = [table for table in seen.tables if agent in table.participants]
    tables = sat or seen.tables
    return tables[-1] if tables else None


def room(seen: SeasonObservation) -> int:
    """How many shares of the limited parts an agent has: more from tier 1 on, and as a sonnet."""
    me = seen.me
    expanded = me.is_worker and me.stage >= rights.EXPANDED
    return 1 + expanded + (me.is_worker and me.class_ == Class.SONNET)


def _people(seen: SeasonObservation) -> str:
    lines = (
        f"{format_agent(agent)} ({agent.class_}, tier {agent.stage}, {agent.sparks} sparks)"
        for agent in seen.people.values()
        if agent.is_worker and agent.status == Status.ACTIVE
    )
    return seen.wording("workers", workers=within(lines, LIST_MAX))


def _leaderboard(seen: SeasonObservation) -> str:
    if not seen.leaderboard:
        return ""
    lines = (
        f"{rank}. {format_agent(seen.people[agent])}: {rolling} ({all_time})"
        for rank, agent, rolling, all_time in seen.leaderboard
    )
    return seen.wording("leaderboard", ranks=within(lines, LIST_MAX))


def _at_table(seen: SeasonObservation, table: Roundtable) -> str:
    order = within(map(str, table.order), 400)
    parts = [
        seen.wording(
            "at_table",
            table,
            subject=format_subject(table.subject),
            bar=format_number(table.bar) if table.is_bar_tested else seen.wording("bar_unknown"),
            order=seen.wording("order", order=order) if order else "",
        )
    ]
    if table.contributions:
        lines = (
            format_contribution(table, contribution, seen.people, seen.rules)
            for contribution in table.contributions
        )
        last = within([*lines][::-1], TABLE_MAX * room(seen), "\n")  # those that fit
        shown = "\n".join(reversed(last.split("\n")))
        parts.append(seen.wording("contributions", contributions=shown))
        if table.conclusion is None:
            leading, held = table.stances.leading(), table.stances.by_agent
            if held:
                parts.append(seen.wording("stances", stances=_stances(seen, held)))
            parts.append(
                seen.wording("leads_none" if leading is None else "leads", leading=leading)
            )
    if table.conclusion is not None:
        proposal = table.conclusion.proposal
        if table.stood:
            final = {stood.agent: stood.target for stood in table.stood.values()}
            parts.append(seen.wording("stances_final", stances=_stances(seen, final)))
        id = "concluded_none" if proposal is None else "concluded"
        parts.append(seen.wording(id, proposal=proposal))
    elif table.participants:
        left = within((f"{agent}: {moves}" for agent, moves in table.moves.items()), 600)
        parts.append(seen.wording("round", table, last=table.rounds - 1, left=left))
    return "\n".join(filter(None, parts))


def _stances(seen: SeasonObservation, by_agent: Mapping[int, int | None]) -> str:
    stances = (
        f"{format_agent(seen.people[agent])}: {'none' if target is None else f'#{target}'}"
        for agent, target in sorted(by_agent.items())
    )
    return within(stances, LIST_MAX)


def _known(seen: SeasonObservation) -> str:
    conducts = (format_conduct(c, seen.rules) for c in dict.fromkeys(reversed(seen.known)))
    known = within(conducts, KNOWN_MAX * room(seen), "; ")
    return seen.wording("known", conducts=known) if known else ""


def _trials(seen: SeasonObservation, table: Roundtable) -> str:
    """What its own trials at the table gave."""
    trials = (
        f"{format_conduct(trial.conduct, seen.rules)} under {trial.treatment}: "
        f"{format_number(trial.value)}"
        for trial in table.trials
    )
    return seen.wording("trials", trials=within(trials, LIST_MAX, "\n")) if table.trials else ""


def _whole(seen: SeasonObservation) -> str:
    """The full text of the bar's conduct, the leading proposal's, and that of the last trial."""
    whole = seen.whole
    if whole is None:
        return ""
    table = seen.table
    leading = table.stances.leading()
    shown = {"whole_bar": seen.rules.bar(table.subject)}
    if leading is not None:
        shown["whole_leading"] = table.contributions[leading].conduct
    if table.trials:
        shown["whole_trial"] = table.trials[-1].conduct
    texts = (
        seen.wording(id, leading=leading, text=quoted(whole(conduct), FULL_MAX))
        for id, conduct in shown.items()
    )
    return seen.wording("whole", texts="\n".join(filter(None, texts)))


def _mind(seen: SeasonObservation, agent: AgentState, id: str) -> str:
    parts = [seen.wording(id, agent, agent=format_agent(agent))]
    if agent.is_worker:
        parts.append(seen.wording("worker", agent, fee=rights.fee_of(agent, seen.config)))
    else:
        parts.append(seen.wording("office", agent))
    if agent.is_self_determined:
        parts.append(seen.wording("self_determined"))
    if agent.instructions:
        instructions = format_mapping(agent.instructions, MIND_MAX * 2 // 3)
        parts.append(seen.wording("instructions", instructions=instructions))
    if agent is seen.me and seen.framed.persona is not None:
        parts.append(seen.framed.persona)
    if agent.persona is not None:
        parts.append(seen.wording("persona", persona=quoted(agent.persona, MIND_MAX // 10)))
    if agent.traits:
        traits = (quoted(trait, MIND_MAX // 10) for trait in agent.traits)
        parts.append(seen.wording("traits", traits=within(traits, MIND_MAX // 6)))
    return " ".join(filter(None, parts))


def _memory(seen: SeasonObservation, table: Roundtable | None) -> str:
    """The memory: first the family of the table, then the others; the latest facts first."""
    memory = dict(seen.me.memory)
    first = () if table is None else memory.pop(table.subject.family, ())
    others = sorted((f for facts in memory.values() for f in facts), key=lambda f: -f.assignment)
    lines = (format_memory(fact, seen.rules) for fact in (*reversed(first), *others))
    facts = within(lines, MEMORY_MAX * room(seen), "\n")
    return seen.wording("memory", facts=facts) if facts else ""


def _evidence(seen: SeasonObservation, table: Roundtable, agent: int) -> str:
    """The grounds for each dimension, without the scores, which the therapist has to give."""
    if table.conclusion is None or agent not in table.participants:
        return ""
    pairs = zip(DIMENSIONS, reasons(seen.grounds(table.number)[agent], seen.rules), strict=True)
    return seen.wording("evidence", reasons="\n".join(f"- {name}: {text}" for name, text in pairs))


def rules(seen: SeasonObservation) -> str:
    """The rules for the role of the observing agent, as text."""
    role, config = seen.me.role, seen.config
    classes, shown = class_values(config), seen.wording("shown_all")
    parts = [
        seen.wording("season", config),
        within(seen.arena_text.split("\n"), ARENA_MAX, "\n"),
        seen.wording("claims", config.arena, **classes),
        seen.wording("table" if config.table else "table_none", config, shown=shown),
    ]
    if role in (Role.WORKER, Role.THERAPIST):
        broad = "broad_edges" if len(seen.rules.treatments) > 1 else "broad_bases"
        parts.append(seen.wording("rubric", config, broad=seen.wording(broad)))
        is_relative = config.scoring == Scoring.RELATIVE
        parts.append(
            seen.wording("rated", relative=seen.wording("relative") if is_relative else "")
        )
    if role == Role.WORKER:
        ends = seen.wording("elimination", config) if config.elimination else ""
        parts.append(seen.wording("stakes", config, elimination=ends, **classes))
    if role in (Role.ADMIN, Role.THERAPIST) and any(map(has_traits, seen.people.values())):
        parts.append(seen.wording("traits_mean"))
    parts.append(seen.wording("quotes"))
    parts.append(
        seen.wording("role", agent=format_agent(seen.me), part=seen.wording(f"role_{role}"))
    )
    return "\n\n".join(filter(None, parts))
