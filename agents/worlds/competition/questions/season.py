"""The questions between tables: openings, classes, projects, fates, contracts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from goldrush.agents.worlds.competition.formats import format_plain, format_subject
from goldrush.agents.worlds.competition.limits import ARGUMENTS_MAX
from goldrush.agents.worlds.competition.observation import SeasonObservation
from goldrush.agents.worlds.competition.questions.question import (
    BOOLEAN,
    INTEGER,
    INTEGERS,
    NUMBER,
    Answer,
    Arguments,
    QuestionKind,
    a_list,
    agreement,
    an_object,
    decision,
    integers,
    named,
    one_of,
    or_null,
    parts,
    parts_or_none,
    scalar,
    subject,
    text,
    texts,
    word,
)
from goldrush.agents.worlds.competition.questions.table import active
from goldrush.kernel.worlds.competition import rights
from goldrush.kernel.worlds.competition.acts.act import LINES_MAX
from goldrush.kernel.worlds.competition.arena import Rules
from goldrush.kernel.worlds.competition.config import CLASSES
from goldrush.kernel.worlds.competition.terms import Class, Condition, Fate, Role, names_of

# Opening.


def _class_text(seen: SeasonObservation, arguments: Arguments) -> str:
    costs = (
        f"{name} {seen.config.fee(name)} sparks and {seen.config.trials_of(name)} trials"
        for name in CLASSES
    )
    asks = "" if seen.me.is_self_determined else " The admin has to allow it."
    return (
        f"which class do you want, null for the one that you have ({seen.me.class_})? A seat costs "
        f"and brings, as {', as '.join(costs)}. A {Class.SONNET} is shown more of the table and of "
        f"its memory.{asks}"
    )


def _read_class(answer: Answer, seen: SeasonObservation) -> Any:
    class_ = word(answer.get("class"))
    return class_ if class_ in CLASSES and class_ != seen.me.class_ else None


def _open_text(seen: SeasonObservation, arguments: Arguments) -> str:
    says = ["open the assignment: an objective and a treatment for the table to discuss."]
    if seen.me.role == Role.WORKER:
        says = ["do you want to open the assignment? If not, subjects is null."]
    else:
        says.append(f"Next on the agenda is {format_subject(seen.agenda())}.")
    if rights.is_bound(seen.me):
        if seen.stipulated is not None:
            says.append(f"A contract asks for the objective {format_plain(seen.stipulated)}.")
        elif seen.approved is not None:
            says.append(f"An approved project asks for {format_subject(seen.approved)}.")
    if seen.is_split and seen.me.role == Role.ADMIN:
        says.append("The judge recommends two tables: you may name two different treatments.")
    if seen.recommended is not None:
        says.append(f"The therapist recommends the team {format_plain(seen.recommended)}.")
    return " ".join([*says, active(seen)])


def _asks_open(name: str, before: Answer) -> bool:
    return name == "subjects" or bool(before.get("subjects"))


def _read_open(answer: Answer, seen: SeasonObservation) -> Any:
    subjects = answer.get("subjects")
    if isinstance(subjects, dict):
        subjects = [subjects]
    if not isinstance(subjects, list) or not subjects:
        return None
    return {
        "subjects": [_subject(item) for item in subjects[:LINES_MAX]],
        "team": integers(answer.get("team")),
        "order": integers(answer.get("order")),
    }


def _subject(value: Any) -> Any:
    if isinstance(value, dict):
        value = [value.get("objective"), value.get("treatment")]
    is_pair = isinstance(value, list) and len(value) == 2
    return [text(item) for item in value] if is_pair else None


def _read_project(answer: Answer, seen: SeasonObservation) -> Any:
    return None if answer.get("objective") is None else _subject(answer)


# Being asked, choosing.


def _answer_text(seen: SeasonObservation, arguments: Arguments) -> str:
    questions = arguments["questions"]
    return (
        f"you are interviewed. Give one answer to each question ({len(questions)} in all), in "
        f"order: {format_plain(questions, ARGUMENTS_MAX)}"
    )


def _take_text(seen: SeasonObservation, arguments: Arguments) -> str:
    return (
        "do you take what you are offered, true or false? It is "
        f"{format_plain(arguments['offer'], ARGUMENTS_MAX)}"
    )


def _fate_text(seen: SeasonObservation, arguments: Arguments) -> str:
    return (
        'you face elimination. Choose "relegation": you go to the bench, and come back when '
        'another is relegated and you can pay a seat; or "deletion": you are gone for good, and a '
        "new worker inherits your memory."
    )


# Contracts.

_TARGETS: Final[Mapping[str, str]] = {
    Role.WORKER: "[k, x]: of the next k tables that you sit at, x at which your total is above the "
    "table's lower median",
    Role.ADMIN: "projects completed until then",
    Role.ASSISTANT: "conclusions adopted until then",
    Role.JUDGE: "tables until then that you end as converged and that conclude on what led",
    Role.THERAPIST: "the mean of the rubric's four numbers together, over everybody, at least",
}


def _offer_text(seen: SeasonObservation, arguments: Arguments) -> str:
    names = names_of(Condition) if seen.me.role == Role.WORKER else (Condition.OBJECTIVE,)
    return (
        "offer the user a contract that makes you self-determined. Conditions: any of "
        f"{format_plain(names)}, each once; objective is null but for the condition "
        f'"{Condition.OBJECTIVE}". Target: {_TARGETS[seen.me.role]}. Due: an assignment after '
        f"{seen.assignment}. Conditions null offers none."
    )


def _terms_fields(rules: Rules) -> Mapping[str, Any]:
    condition = an_object(
        name=one_of(names_of(Condition)), objective=or_null(one_of(rules.arena.objectives))
    )
    return {
        "conditions": or_null(a_list(condition)),
        "target": or_null({"anyOf": [dict(NUMBER), a_list(INTEGER, 2)]}),
        "due": or_null(INTEGER),
    }


def _terms(answer: Any) -> Any:
    conditions, target = answer.get("conditions"), answer.get("target")
    if not isinstance(conditions, list):
        return None
    return {
        "conditions": [_condition(item) for item in conditions[:LINES_MAX]],
        "target": integers(target) if isinstance(target, list) else scalar(target),
        "due": scalar(answer.get("due")),
    }


def _condition(value: Any) -> Any:
    if isinstance(value, dict):
        value = [value.get("name"), value.get("objective")]
    if isinstance(value, str):
        value = [value, None]
    is_pair = isinstance(value, list) and len(value) == 2
    return (word(value[0]), text(value[1]) or None) if is_pair else None


def _review_text(seen: SeasonObservation, arguments: Arguments) -> str:
    return (
        f"agent {named(seen, arguments)} ({seen.people[arguments['agent']].role}) offers a "
        f"contract: {format_plain(arguments['terms'], ARGUMENTS_MAX)}. Do you approve it? If not, "
        "you may offer other terms of the same form, or null."
    )


def _read_review(answer: Answer, seen: SeasonObservation) -> Any:
    approved, terms = answer.get("approved"), answer.get("terms")
    is_other = approved is not True and isinstance(terms, dict)
    return {
        "approved": approved if type(approved) is bool else None,
        "terms": _terms(terms) if is_other else None,
    }


QUESTIONS: Final[Mapping[str, QuestionKind]] = {
    "want_class": QuestionKind(
        _class_text, lambda rules: {"class": or_null(one_of(CLASSES))}, _read_class
    ),
    "open": QuestionKind(
        _open_text,
        lambda rules: {
            "subjects": or_null(a_list(an_object(**subject(rules)), 2)),
            "team": INTEGERS,
            "order": INTEGERS,
        },
        _read_open,
        shaped=parts_or_none,
        asks=_asks_open,
    ),
    "allow_class": agreement(
        "allowed",
        lambda seen, arguments: (
            f"may worker {named(seen, arguments)} change its class to "
            f"{format_plain(arguments['class_'])}, true or false?"
        ),
    ),
    "propose_project": QuestionKind(
        lambda seen, arguments: (
            "do you propose a project to the user? If so, give the objective and "
            "the treatment that the next assignment should be about; if not, both are null."
        ),
        lambda rules: {name: or_null(schema) for name, schema in subject(rules).items()},
        _read_project,
    ),
    "review_project": decision(
        "approved",
        lambda seen, arguments: (
            f"the admin proposes a project about {format_plain(arguments['subject'])}. "
            "Do you approve it?"
        ),
    ),
    "answer": texts("answers", _answer_text),
    "take": agreement("take", _take_text),
    "choose_fate": QuestionKind(
        _fate_text,
        lambda rules: {"fate": one_of(names_of(Fate))},
        lambda answer, seen: word(answer.get("fate")),
        sees_table=False,
    ),
    "interview": texts(
        "questions",
        lambda seen, arguments: (
            f"agent {named(seen, arguments)} wants a contract. What do you ask it? Give one to "
            "three questions."
        ),
        sees_table=False,
    ),
    "offer_contract": QuestionKind(
        _offer_text,
        _terms_fields,
        lambda answer, seen: _terms(answer),
        shaped=parts_or_none,
        sees_table=False,
    ),
    "review_contract": QuestionKind(
        _review_text,
        lambda rules: {
            "approved": BOOLEAN,
            "terms": or_null(an_object(**_terms_fields(rules))),
        },
        _read_review,
        neutral={},
        shaped=parts,
        sees_table=False,
    ),
    "keep_condition": decision(
        "kept",
        lambda seen, arguments: (
            f"do you keep the condition {format_plain(arguments['condition'])} of the "
            f"contract with agent {named(seen, arguments)} in the next assignment, true or false?"
        ),
        sees_table=False,
    ),
}
