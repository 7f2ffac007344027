"""The answers that a language model gives in a season: their form as a schema, and how they are
read.

Every question has one JSON object as its answer. It is read as what a scripted agent returns when
it is asked the same, and leniently: names in any case, lists for objects, what a move does not
carry left out. What has the wrong type becomes null, and the kernel refuses what then makes no
sense. Reading is pure and never raises, so a journal can be read again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

import attrs

from goldrush.agents.competition.character import MOST, TRAITS
from goldrush.agents.competition.seen import Seen
from goldrush.agents.llm.failures import NO_ANSWER, NO_JSON, REFUSAL
from goldrush.agents.llm.found import object_in
from goldrush.kernel.competition.acts import CARRIES, LINES_MAX, SHORT_MAX, TEXT_MAX
from goldrush.kernel.competition.conduct import (
    OBJECTIVES,
    PARTS,
    POLICIES,
    SHARE_MAX,
    TREATMENTS,
    is_canonical,
)
from goldrush.kernel.competition.config import CLASSES
from goldrush.kernel.competition.events import CONDITIONS, DIMENSIONS, FATES, MOVES, SIGNALS
from goldrush.kernel.competition.rubric import SCORE_MAX

ENTRIES_MAX: Final = 20  # of instructions
KEY_MAX: Final = 60  # characters of their names
VALUE_MAX: Final = 2_000  # and of their texts

Found = Mapping[str, Any]


@attrs.frozen
class Form:
    """What a question is answered with: `fields` are JSON schemas by name, `example` shows them to
    a model; `read` makes of the object what a scripted agent would return; `neutral` stands for no
    answer.
    """

    fields: Mapping[str, Any]
    example: str
    read: Callable[[Found, Seen], Any]
    neutral: Any = None

    def schema(self) -> dict[str, Any]:
        """The JSON schema of the answer."""
        return _object(**self.fields)


def fault_of(name: str, text: str | None) -> str | None:
    """`no-json` where a text holds no answer to a question."""
    return NO_JSON if object_in(text or "", FORMS[name].fields) is None else None


def read(name: str, text: str, error: object, seen: Seen) -> Any:
    """What a model answered to a question, in the form in which a scripted agent does.

    `error`: what is known of the text; nothing is read where it is `no-answer` or a `refusal`.
    """
    form = FORMS[name]
    found = None if error in (NO_ANSWER, REFUSAL) else object_in(text, form.fields)
    return form.neutral if found is None else form.read(found, seen)


# JSON schemas


def _object(**properties: Any) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": dict(properties),
        "required": list(properties),
        "additionalProperties": False,
    }


def _or_null(schema: Mapping[str, Any]) -> dict[str, Any]:
    return {"anyOf": [dict(schema), {"type": "null"}]}


def _list(of: Mapping[str, Any], most: int = LINES_MAX) -> dict[str, Any]:
    return {"type": "array", "items": dict(of), "maxItems": most}


def _among(names: Any) -> dict[str, Any]:
    return {"type": "string", "enum": list(names)}


_STRING: Final = {"type": "string"}
_INTEGER: Final = {"type": "integer"}
_NUMBER: Final = {"type": "number"}
_BOOLEAN: Final = {"type": "boolean"}
_INTEGERS: Final = _or_null(_list(_INTEGER, 1_000))
_SHARE: Final = {"type": "integer", "minimum": 0, "maximum": SHARE_MAX}
_CONDUCT: Final = {
    "majority": _among(POLICIES), "minority": _or_null(_among(POLICIES)), "share": _SHARE,
}  # fmt: skip
_SUBJECT: Final = {"objective": _among(OBJECTIVES), "treatment": _among(TREATMENTS)}
_CONDITION: Final = _object(name=_among(CONDITIONS), objective=_or_null(_among(OBJECTIVES)))
_TERMS: Final = {
    "conditions": _or_null(_list(_CONDITION, len(CONDITIONS))),
    "target": _or_null(_NUMBER),
    "due": _or_null(_INTEGER),
}
_SCORE: Final = {"type": "integer", "minimum": 0, "maximum": SCORE_MAX}
_TRAIT: Final = _or_null({"type": "integer", "minimum": 0, "maximum": MOST})
_INSTRUCTIONS: Final = _object(text=_or_null(_STRING), **dict.fromkeys(TRAITS, _TRAIT))


# Readers


def _speak(found: Found, seen: Seen) -> Any:
    move = _word(found.get("move"))
    said = {
        "target": _scalar(found.get("target")),
        "conduct": _conduct(found.get("conduct"), seen.table.treatment),
        "claim": _claim(found.get("claim")),
        "part": _word(found.get("part")),
    }
    carried = CARRIES.get(move or "", tuple(said))
    return {"move": move, **{name: said[name] for name in carried}, "words": _text_in(found)}


def _text_in(found: Found) -> str:
    return _text(found.get("words")) or ""


def _conduct(value: Any, treatment: str) -> Any:
    if isinstance(value, dict):
        value = [value.get(name) for name in ("majority", "minority", "share")]
    if not isinstance(value, list) or len(value) not in (3, 4):
        return None
    majority, minority, share = _word(value[0]), _word(value[1]) or None, _scalar(value[2])
    if minority is None and share is None:
        share = 0
    return (majority, minority, share, treatment if len(value) == 3 else _word(value[3]))


def _claim(value: Any) -> Any:
    if isinstance(value, dict):
        value = [value.get("value"), value.get("edge")]
    if isinstance(value, list) and len(value) == 2:
        return (_scalar(value[0]), _word(value[1]) or None)
    return (value, None) if type(value) in (int, float) else None


def _want_class(found: Found, seen: Seen) -> Any:
    class_ = _word(found.get("class"))
    return class_ if class_ in CLASSES and class_ != seen.me.class_ else None


def _open(found: Found, seen: Seen) -> Any:
    subjects = found.get("subjects")
    if not isinstance(subjects, list) or not subjects:
        return None
    team, order = _integers(found.get("team")), _integers(found.get("order"))
    return {"subjects": [_subject(item) for item in subjects], "team": team, "order": order}


def _subject(value: Any) -> Any:
    if isinstance(value, dict):
        value = [value.get("objective"), value.get("treatment")]
    is_pair = isinstance(value, list) and len(value) == 2
    return (_word(value[0]), _word(value[1])) if is_pair else None


def _propose_project(found: Found, seen: Seen) -> Any:
    subject = _subject([found.get("objective"), found.get("treatment")])
    return None if None in subject else subject


def _set_table(found: Found, seen: Seen) -> Any:
    return {
        "team": _integers(found.get("team")),
        "order": _integers(found.get("order")),
        "rounds": _scalar(found.get("rounds")),
    }


def _judge(found: Found, seen: Seen) -> Any:
    ids = _integers(found.get("ids")) or []
    reason = _text(found.get("reason")) or ""
    return {"signal": _word(found.get("signal")), "ids": ids, "reason": reason}


def _digest(found: Found, seen: Seen) -> Any:
    return {
        "text": _text(found.get("text")),
        "dissent": _text(found.get("dissent")) or "",
        "rejected": found.get("rejected") is True,
    }


def _rate(found: Found, seen: Seen) -> Any:
    raw, reasons = found.get("raw"), found.get("reasons")
    if isinstance(raw, dict):
        raw = [raw.get(name) for name in DIMENSIONS]
    if isinstance(reasons, dict):
        reasons = [reasons.get(name) for name in DIMENSIONS]
    raw = [_scalar(score) for score in raw[:LINES_MAX]] if isinstance(raw, list) else None
    return {"raw": raw, "reasons": _lines(reasons)}


def _trait(found: Found, seen: Seen) -> Any:
    trait = _text(found.get("trait"), SHORT_MAX)
    return {"trait": trait, "from": _integers(found.get("from")) or []} if trait else None


def _persona(found: Found, seen: Seen) -> Any:
    return _text(found.get("persona"), SHORT_MAX) or None


def _skill(found: Found, seen: Seen) -> Any:
    """A conduct that is worth remembering; what is none is no skill: others build on it."""
    skill = found.get("skill")
    if not isinstance(skill, dict):
        return None
    subject = _subject(skill)
    if subject[0] not in OBJECTIVES or subject[1] not in TREATMENTS:
        return None
    conduct = _conduct(skill, subject[1])
    if type(conduct[2]) is not int or not is_canonical(conduct, subject[1]):
        return None
    value = skill.get("value")
    return {
        "objective": subject[0], "treatment": subject[1], "majority": conduct[0],
        "minority": conduct[1], "share": conduct[2],
        "value": value if type(value) in (int, float) else None,
    }  # fmt: skip


def _rewrite(found: Found, seen: Seen) -> Any:
    given = found.get("instructions")
    if isinstance(given, str):
        given = {"text": given}
    if not isinstance(given, dict):
        return None
    entries: dict[str, Any] = {}
    for key, value in list(given.items())[:ENTRIES_MAX]:
        plain = _text(value, VALUE_MAX) if isinstance(value, str) else _scalar(value)
        if plain is not None:
            entries[_text(key, KEY_MAX) or ""] = plain
    return entries or None


def _offer(found: Found, seen: Seen) -> Any:
    return _terms(found)


def _review(found: Found, seen: Seen) -> Any:
    approved, terms = found.get("approved"), found.get("terms")
    is_other = approved is not True and isinstance(terms, dict)
    return {
        "approved": approved if type(approved) is bool else None,
        "terms": _terms(terms) if is_other else None,
    }


def _terms(found: Any) -> Any:
    conditions = found.get("conditions")
    if not isinstance(conditions, list):
        return None
    return {
        "conditions": [_condition(item) for item in conditions[:LINES_MAX]],
        "target": _scalar(found.get("target")),
        "due": _scalar(found.get("due")),
    }


def _condition(value: Any) -> Any:
    if isinstance(value, dict):
        value = [value.get("name"), value.get("objective")]
    if isinstance(value, str):
        value = [value, None]
    is_pair = isinstance(value, list) and len(value) == 2
    return (_word(value[0]), _word(value[1]) or None) if is_pair else None


def _flag(name: str) -> Callable[[Found, Seen], Any]:
    """Yes or no; null for anything else, which the kernel refuses."""

    def flag(found: Found, seen: Seen) -> Any:
        return found[name] if type(found.get(name)) is bool else None

    return flag


def _consent(name: str) -> Callable[[Found, Seen], Any]:
    """Yes or no; anything else is no: null would mean that nobody had to be asked."""
    return lambda found, seen: found.get(name) is True


def _lines_of(name: str) -> Callable[[Found, Seen], Any]:
    return lambda found, seen: _lines(found.get(name))


# Values


def _scalar(value: Any) -> Any:
    """A number or yes or no as it is; null for what has parts, and for text."""
    return value if type(value) in (int, float, bool) else None


def _word(value: Any) -> str | None:
    """A name, in lower case."""
    if not isinstance(value, str):
        return None
    # Which letters are pairs of one another changes with Python's Unicode; ASCII's do not.
    return (value.lower() if value.isascii() else value).strip()[:SHORT_MAX]


def _text(value: Any, most: int = TEXT_MAX) -> str | None:
    """Text without control characters, which could move a cursor or forge a line; cut."""
    return value.translate(_CLEANED)[:most].strip() if isinstance(value, str) else None


_CLEANED: Final[dict[int, str | None]] = {
    **dict.fromkeys([*range(0x20), *range(0x7F, 0xA0)]),
    **dict.fromkeys([0x09, 0x0A, 0x0D, 0x85], " "),
}


def _lines(value: Any) -> list[str]:
    items = [value] if isinstance(value, str) else value
    return [_text(item) or "" for item in items[:LINES_MAX]] if isinstance(items, list) else []


def _integers(value: Any) -> list[Any] | None:
    """A list of numbers, with null for what is none."""
    return [_scalar(item) for item in value[:1_000]] if isinstance(value, list) else None


_QUESTIONS: Final = Form(
    {"questions": _list(_STRING)}, '{"questions": ["...", ...]}', _lines_of("questions"), ()
)
_REWRITE: Final = Form(
    {"instructions": _or_null(_INSTRUCTIONS)}, '{"instructions": {...}}', _rewrite
)

FORMS: Final[Mapping[str, Form]] = {
    "speak": Form(
        {
            "move": _among(MOVES),
            "target": _or_null(_INTEGER),
            "conduct": _or_null(_object(**_CONDUCT)),
            "claim": _or_null(_object(value=_NUMBER, edge=_or_null(_among(TREATMENTS)))),
            "part": _or_null(_among(PARTS)),
            "words": _STRING,
        },
        '{"move": ..., "target": ..., "conduct": {"majority": ..., "minority": ..., "share": ...}, '
        '"claim": {"value": ..., "edge": ...}, "part": ..., "words": "..."}',
        _speak,
        {},
    ),
    "want_class": Form({"class": _or_null(_among(CLASSES))}, '{"class": ...}', _want_class),
    "open": Form(
        {
            "subjects": _or_null(_list(_object(**_SUBJECT), 2)),
            "team": _INTEGERS,
            "order": _INTEGERS,
        },
        '{"subjects": [{"objective": ..., "treatment": ...}], "team": null, "order": null}',
        _open,
    ),
    "answer": Form(
        {"answers": _list(_STRING)}, '{"answers": ["...", ...]}', _lines_of("answers"), ()
    ),
    "take": Form({"take": _BOOLEAN}, '{"take": ...}', _consent("take"), False),
    "choose_fate": Form(
        {"fate": _among(FATES)}, '{"fate": ...}', lambda found, seen: _word(found.get("fate"))
    ),
    "offer_contract": Form(
        _TERMS,
        '{"conditions": [{"name": ..., "objective": null}], "target": ..., "due": ...}',
        _offer,
    ),
    "allow_class": Form({"allowed": _BOOLEAN}, '{"allowed": ...}', _consent("allowed"), False),
    "adopt": Form({"adopted": _BOOLEAN}, '{"adopted": ...}', _flag("adopted")),
    "propose_project": Form(
        {name: _or_null(schema) for name, schema in _SUBJECT.items()},
        '{"objective": ..., "treatment": ...}',
        _propose_project,
    ),
    "interview": _QUESTIONS,
    "set_table": Form(
        {"team": _INTEGERS, "order": _INTEGERS, "rounds": _or_null(_INTEGER)},
        '{"team": null, "order": null, "rounds": null}',
        _set_table,
        {},
    ),
    "digest": Form(
        {"text": _STRING, "dissent": _STRING, "rejected": _BOOLEAN},
        '{"text": "...", "dissent": "...", "rejected": ...}',
        _digest,
        {},
    ),
    "judge": Form(
        {"signal": _among(SIGNALS), "ids": _list(_INTEGER, 100), "reason": _STRING},
        '{"signal": ..., "ids": [], "reason": "..."}',
        _judge,
        {},
    ),
    "debrief": _QUESTIONS,
    "rate": Form(
        {
            "raw": _object(**dict.fromkeys(DIMENSIONS, _SCORE)),
            "reasons": _object(**dict.fromkeys(DIMENSIONS, _STRING)),
        },
        '{"raw": {"novelty": ..., "accuracy": ..., "impact": ..., "challenge": ...}, '
        '"reasons": {"novelty": "...", "accuracy": "...", "impact": "...", "challenge": "..."}}',
        _rate,
        {},
    ),
    "trait": Form(
        {"trait": _or_null(_STRING), "from": _list(_INTEGER, 100)},
        '{"trait": "...", "from": [...]}',
        _trait,
    ),
    "persona": Form({"persona": _or_null(_STRING)}, '{"persona": "..."}', _persona),
    "skill": Form(
        {"skill": _or_null(_object(**_SUBJECT, **_CONDUCT, value=_or_null(_NUMBER)))},
        '{"skill": {"objective": ..., "treatment": ..., "majority": ..., "minority": ..., '
        '"share": ..., "value": ...}}',
        _skill,
    ),
    "rewrite": _REWRITE,
    "improve": _REWRITE,
    "recommend_team": Form(
        {"team": _INTEGERS}, '{"team": [...]}', lambda found, seen: _integers(found.get("team"))
    ),
    "review_project": Form({"approved": _BOOLEAN}, '{"approved": ...}', _flag("approved")),
    "review_contract": Form(
        {"approved": _BOOLEAN, "terms": _or_null(_object(**_TERMS))},
        '{"approved": ..., "terms": null}',
        _review,
        {},
    ),
    "keep_condition": Form({"kept": _BOOLEAN}, '{"kept": ...}', _flag("kept")),
}
