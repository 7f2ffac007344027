"""The questions between tables: openings, classes, projects, fates, contracts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from goldrush.agents.worlds.competition.formats import (
    class_values,
    format_plain,
    format_subject,
)
from goldrush.agents.worlds.competition.limits import ARGUMENTS_MAX
from goldrush.agents.worlds.competition.observation import SeasonObservation
from goldrush.agents.worlds.competition.plain import in_order
from goldrush.agents.worlds.competition.questions.question import (
    INTEGERS,
    Answer,
    Arguments,
    QuestionKind,
    decision,
    integers,
    named,
    parts,
    scalar,
    subject,
    text,
    texts,
    told,
    word,
)
from goldrush.agents.worlds.competition.questions.table import active
from goldrush.kernel.settings import choice
from goldrush.kernel.shape import AMOUNT, BOOLEAN, INTEGER, Kind, optional, record, several
from goldrush.kernel.worlds.competition import rights
from goldrush.kernel.worlds.competition.acts.act import LINES_MAX
from goldrush.kernel.worlds.competition.arena import Rules
from goldrush.kernel.worlds.competition.config import CLASSES
from goldrush.kernel.worlds.competition.terms import Condition, Fate, Role, names_of

# Opening.


def _class_text(seen: SeasonObservation, arguments: Arguments) -> str:
    asks = "" if seen.me.is_self_determined else seen.wording("want_class_asks")
    return seen.wording("want_class", seen.me, asks=asks, **class_values(seen.config))


def _read_class(answer: Answer, seen: SeasonObservation) -> Any:
    class_ = word(answer.get("class"))
    return class_ if class_ in CLASSES and class_ != seen.me.class_ else None


def _open_text(seen: SeasonObservation, arguments: Arguments) -> str:
    is_bound = rights.is_bound(seen.me)
    if seen.me.role == Role.WORKER:
        parts = [seen.wording("open_worker")]
    else:
        parts = [seen.wording("open_office", subject=format_subject(seen.agenda()))]
    if is_bound and seen.stipulated is not None:
        parts.append(seen.wording("open_contract", objective=format_plain(seen.stipulated)))
    elif is_bound and seen.approved is not None:
        parts.append(seen.wording("open_project", subject=format_subject(seen.approved)))
    if seen.is_split and seen.me.role == Role.ADMIN:
        parts.append(seen.wording("open_split"))
    if seen.recommended is not None:
        parts.append(seen.wording("open_team", team=format_plain(seen.recommended)))
    return " ".join(filter(None, [*parts, active(seen)]))


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
    value = in_order(value, "objective", "treatment")
    is_pair = isinstance(value, list) and len(value) == 2
    return [text(item) for item in value] if is_pair else None


# Being asked, choosing.


def _answer_text(seen: SeasonObservation, arguments: Arguments) -> str:
    questions = arguments["questions"]
    shown = format_plain(questions, ARGUMENTS_MAX)
    return seen.wording("answer", count=len(questions), questions=shown)


# Contracts.


def _offer_text(seen: SeasonObservation, arguments: Arguments) -> str:
    names = names_of(Condition) if seen.me.role == Role.WORKER else (Condition.OBJECTIVE,)
    return seen.wording(
        "offer_contract",
        seen,
        conditions=format_plain(names),
        target=seen.wording(f"target_{seen.me.role}"),
    )


_PAIR: Final = several(INTEGER, 2)
_TARGET: Final = Kind(
    f"{AMOUNT.name} or {_PAIR.name}",
    lambda value: AMOUNT.holds(value) or _PAIR.holds(value),
    schema={"anyOf": [AMOUNT.schema, _PAIR.schema]},
)


def _terms_fields(rules: Rules) -> Mapping[str, Kind]:
    condition = record(
        name=choice(*names_of(Condition)), objective=optional(choice(*rules.arena.objectives))
    )
    return {
        "conditions": optional(several(condition, LINES_MAX)),
        "target": optional(_TARGET),
        "due": optional(INTEGER),
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
    value = in_order([value, None] if isinstance(value, str) else value, "name", "objective")
    is_pair = isinstance(value, list) and len(value) == 2
    return (word(value[0]), text(value[1]) or None) if is_pair else None


def _read_review(answer: Answer, seen: SeasonObservation) -> Any:
    approved, terms = answer.get("approved"), answer.get("terms")
    is_other = approved is not True and isinstance(terms, dict)
    return {
        "approved": approved if type(approved) is bool else None,
        "terms": _terms(terms) if is_other else None,
    }


QUESTIONS: Final[Mapping[str, QuestionKind]] = {
    "want_class": QuestionKind(
        _class_text, lambda rules: {"class": optional(choice(*CLASSES))}, _read_class
    ),
    "open": QuestionKind(
        _open_text,
        lambda rules: {
            "subjects": optional(several(record(**subject(rules)), 2)),
            "team": INTEGERS,
            "order": INTEGERS,
        },
        _read_open,
        asks=lambda name, before: name == "subjects" or bool(before.get("subjects")),
    ),
    "allow_class": decision(
        "allowed",
        lambda seen, arguments: seen.wording(
            "allow_class", agent=named(seen, arguments), grade=format_plain(arguments["class_"])
        ),
        neutral=False,
    ),
    "propose_project": QuestionKind(
        told("propose_project"),
        lambda rules: {name: optional(kind) for name, kind in subject(rules).items()},
        lambda answer, seen: None if answer.get("objective") is None else _subject(answer),
    ),
    "review_project": decision("approved", told("review_project")),
    "answer": texts("answers", _answer_text),
    "take": decision("take", told("take"), neutral=False),
    "choose_fate": QuestionKind(
        told("choose_fate"),
        lambda rules: {"fate": choice(*names_of(Fate))},
        lambda answer, seen: word(answer.get("fate")),
        sees_table=False,
    ),
    "interview": texts("questions", told("interview"), sees_table=False),
    "offer_contract": QuestionKind(
        _offer_text,
        _terms_fields,
        lambda answer, seen: _terms(answer),
        sees_table=False,
    ),
    "review_contract": QuestionKind(
        told("review_contract"),
        lambda rules: {
            "approved": BOOLEAN,
            "terms": optional(record(**_terms_fields(rules))),
        },
        _read_review,
        neutral={},
        shaped=parts,
        sees_table=False,
    ),
    "keep_condition": decision("kept", told("keep_condition"), sees_table=False),
}
