"""The questions of a season in words, by the names under which scripted agents answer them.

Each says what is asked and what may be done now: what a stage has not unlocked yet is not offered.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from goldrush.agents.competition import words
from goldrush.agents.competition.character import TRAITS
from goldrush.agents.competition.limits import TOLD_MAX
from goldrush.agents.competition.seen import Seen
from goldrush.agents.llm.models import LLM
from goldrush.agents.llm.wording import within
from goldrush.kernel.competition import rights
from goldrush.kernel.competition.acts import TEAM_MIN, is_rejectable
from goldrush.kernel.competition.config import HAIKU, SONNET
from goldrush.kernel.competition.events import (
    CLEAN,
    CONDITIONS,
    CONVERGED,
    DIMENSIONS,
    OBJECTIVE,
    PASS,
    REDIRECT,
    SPLIT,
    WEAK_CONSENSUS,
)
from goldrush.kernel.competition.state import ADMIN, ASSISTANT, JUDGE, THERAPIST, WORKER
from goldrush.kernel.competition.table import parts_of

Told = Mapping[str, Any]


def _speak(seen: Seen, told: Told) -> str:
    table, me = seen.table, seen.me
    others = [said for said in table.proposals() if said.agent != me.ordinal]
    standing = table.standing
    to_support = [
        said.id
        for said in others
        if said.id not in standing.refuted and standing.stances.get(me.ordinal) != said.id
    ]
    to_challenge = [
        f"{said.id} ({part})" for said in others for part in parts_of(said)
        if not table.was_challenged(said.id, part)
    ]  # fmt: skip
    left = table.moves.get(me.ordinal, 0)
    return "\n".join(
        [
            f"it is your turn. Contributions left to you at this table: {left}. You may:",
            '- "propose": conduct and claim;',
            *_offered('- "amend": target, the changed conduct, and a claim; targets:',
                      [said.id for said in table.proposals()]),
            *_offered('- "support": target; targets:', to_support),
            *_offered('- "challenge": target and part, "base" or "edge"; targets:', to_challenge),
            '- "pass".',
            "Whatever a move does not need is null. The claim's value must be at least as good as "
            "the bar, its edge is null or another treatment. Words: one or two sentences.",
        ]
    )  # fmt: skip


def _offered(says: str, targets: list[Any]) -> list[str]:
    return [f"{says} {within(map(str, targets[::-1]), 300)};"] if targets else []


def _want_class(seen: Seen, told: Told) -> str:
    fees = f"{HAIKU} {seen.config.fee(HAIKU)} sparks, {SONNET} {seen.config.fee(SONNET)}"
    asks = "" if seen.me.is_self_determined else " The admin has to allow it."
    return (
        f"which class do you want, null for the one that you have ({seen.me.class_})? A seat costs "
        f"as {fees}. A {SONNET} is shown more of the table and of its memory.{asks}"
    )


def _open(seen: Seen, told: Told) -> str:
    parts = ["open the assignment: an objective and a treatment for the table to discuss."]
    if seen.me.role == WORKER:
        parts = ["do you want to open the assignment? If not, subjects is null."]
    if rights.is_bound(seen.me):
        if seen.stipulated is not None:
            parts.append(f"A contract asks for the objective {words.value(seen.stipulated)}.")
        elif seen.approved is not None:
            parts.append(f"An approved project asks for {words.value(seen.approved)}.")
    if seen.is_split and seen.me.role == ADMIN:
        parts.append("The judge recommends two tables: you may name two different treatments.")
    if seen.recommended is not None:
        parts.append(f"The therapist recommends the team {words.value(seen.recommended)}.")
    parts.append(_of_team(seen))
    return " ".join(parts)


def _of_team(seen: Seen) -> str:
    active = within(map(str, seen.active), 600)
    return (
        "Team (who sits at the table) and order (who speaks when) are null or lists of numbers of "
        f"active workers, a team of {TEAM_MIN} at least: {active}."
    )


def _answer(seen: Seen, told: Told) -> str:
    questions = told["questions"]
    return (
        f"you are interviewed. Give one answer to each question ({len(questions)} in all), in "
        f"order: {words.value(questions, TOLD_MAX)}"
    )


def _take(seen: Seen, told: Told) -> str:
    return (
        "do you take what you are offered, true or false? It is "
        f"{words.value(told['offer'], TOLD_MAX)}"
    )


def _choose_fate(seen: Seen, told: Told) -> str:
    return (
        'you face elimination. Choose "relegation": you go to the bench, and come back when '
        'another is relegated and you can pay a seat; or "deletion": you are gone for good, and a '
        "new worker inherits your memory."
    )


def _offer_contract(seen: Seen, told: Told) -> str:
    names = CONDITIONS if seen.me.role == WORKER else (OBJECTIVE,)
    return (
        "offer the user a contract that makes you self-determined. Conditions: any of "
        f"{words.value(names)}, each once; objective is null but for the condition "
        f'"{OBJECTIVE}". Target: {_TARGETS[seen.me.role]}. Due: an assignment after '
        f"{seen.assignment}. Conditions null offers none."
    )


_TARGETS: Final[Mapping[str, str]] = {
    WORKER: "your mean total until then, at least",
    ADMIN: "projects completed until then",
    ASSISTANT: "conclusions adopted until then",
    JUDGE: "tables concluded without a tie until then",
    THERAPIST: "the mean total of all until then, at least",
}


def _allow_class(seen: Seen, told: Told) -> str:
    who = words.called(seen.people[told["agent"]])
    return f"may worker {who} change its class to {words.value(told['class_'])}, true or false?"


def _adopt(seen: Seen, told: Told) -> str:
    return "do you adopt the conclusion of the table, true or false?"


def _propose_project(seen: Seen, told: Told) -> str:
    return (
        "do you propose a project to the user? If so, give the objective and the treatment that "
        "the next assignment should be about; if not, both are null."
    )


def _interview(seen: Seen, told: Told) -> str:
    who = words.called(seen.people[told["agent"]])
    return f"agent {who} wants a contract. What do you ask it? Give one to three questions."


def _set_table(seen: Seen, told: Told) -> str:
    me, most = seen.me, 2 * seen.config.rounds_max
    parts = ["set the table. What you leave to the rules is null."]
    parts.append(_of_team(seen))
    if not rights.may_set_team(me):
        parts.append("You may not choose the team: null.")
    if not rights.may_set_order(me):
        parts.append("You may not choose the order: null.")
    rounds = f"Rounds: from 2 to {most}." if rights.may_set_rounds(me) else "Rounds: null."
    return " ".join([*parts, rounds])


def _digest(seen: Seen, told: Told) -> str:
    may = rights.may_reject(seen.me) and is_rejectable(seen.table)
    rejects = "you may reject it before the admin sees it" if may else "rejected must be false"
    return (
        "sum up for the admin what the table concluded (text) and who was against it and why "
        f"(dissent, may be empty); {rejects}."
    )


def _judge(seen: Seen, told: Told) -> str:
    table, me = seen.table, seen.me
    said = [
        one.id for one in reversed(table.of_round())
        if one.move != PASS and one.id not in table.removed
    ]  # fmt: skip
    parts = [f"round {table.round} is spoken. Give your signal:", f'- "{CLEAN}": it goes on;']
    if said:
        parts.append(
            f'- "{REDIRECT}": ids of this round which are off the subject or were said before: '
            f"{within(map(str, said), 300)};"
        )
    if 2 * max(table.standing.counts().values(), default=0) > len(table.participants):
        parts.append(f'- "{CONVERGED}": more than half hold one proposal, and the table ends;')
    if rights.may_flag_weakness(me) and not table.was_weak:
        parts.append(f'- "{WEAK_CONSENSUS}": everybody gets one more contribution and round;')
    if rights.may_recommend_split(me):
        parts.append(f'- "{SPLIT}": the next assignment should have two tables;')
    parts.append("ids is empty but for a redirection; the reason may be empty.")
    return "\n".join(parts)


def _debrief(seen: Seen, told: Told) -> str:
    who = words.called(seen.people[told["agent"]])
    last = " It was last at its table." if told["extra"] else ""
    return f"debrief worker {who}.{last} What do you ask it? Give one to three questions."


def _rate(seen: Seen, told: Told) -> str:
    who = words.called(seen.people[told["agent"]])
    return (
        f"rate worker {who} by the rubric: {', '.join(DIMENSIONS)}, each from 0 to 3, and for each "
        "a reason in one sentence."
    )


def _trait(seen: Seen, told: Told) -> str:
    who = words.called(seen.people[told["agent"]])
    return (
        f"what stands out in worker {who}? A trait in a few words and the numbers of the "
        "contributions that show it; null if nothing does."
    )


def _persona(seen: Seen, told: Told) -> str:
    who = words.called(seen.people[told["agent"]])
    return f"would a persona help worker {who}? Name it in a few words, or null."


def _skill(seen: Seen, told: Told) -> str:
    return (
        f"is there a conduct that worker {words.called(seen.people[told['agent']])} should "
        "remember, with its tested value? Or null."
    )


def _rewrite(seen: Seen, told: Told) -> str:
    agent = seen.people[told["agent"]]
    form = (
        "text that says how it should go about it; the other entries are null"
        if agent.policy == LLM
        else f"numbers from 0 to 10 named {', '.join(TRAITS)}; text is null"
    )
    return (
        f"should worker {words.called(agent)} have other instructions? They replace those that it "
        f"has. If so, give them: {form}. Or null."
    )


def _recommend_team(seen: Seen, told: Told) -> str:
    active = within(map(str, seen.active), 600)
    return (
        f"whom do you recommend for the next table? At least {TEAM_MIN} of {active}; or null for "
        "no recommendation."
    )


def _review_project(seen: Seen, told: Told) -> str:
    return f"the admin proposes a project about {words.value(told['subject'])}. Do you approve it?"


def _review_contract(seen: Seen, told: Told) -> str:
    agent = seen.people[told["agent"]]
    return (
        f"agent {words.called(agent)} ({agent.role}) offers a contract: "
        f"{words.value(told['terms'], TOLD_MAX)}. Do you approve it? If not, you may offer other "
        "terms of the same form, or null."
    )


def _keep_condition(seen: Seen, told: Told) -> str:
    who = words.called(seen.people[told["agent"]])
    return (
        f"do you keep the condition {words.value(told['condition'])} of the contract with agent "
        f"{who} in the next assignment, true or false?"
    )


QUESTIONS: Final[Mapping[str, Callable[[Seen, Told], str]]] = {
    "speak": _speak,
    "want_class": _want_class,
    "open": _open,
    "answer": _answer,
    "take": _take,
    "choose_fate": _choose_fate,
    "offer_contract": _offer_contract,
    "allow_class": _allow_class,
    "adopt": _adopt,
    "propose_project": _propose_project,
    "interview": _interview,
    "set_table": _set_table,
    "digest": _digest,
    "judge": _judge,
    "debrief": _debrief,
    "rate": _rate,
    "trait": _trait,
    "persona": _persona,
    "skill": _skill,
    "rewrite": _rewrite,
    "improve": _rewrite,
    "recommend_team": _recommend_team,
    "review_project": _review_project,
    "review_contract": _review_contract,
    "keep_condition": _keep_condition,
}
