"""The questions to the therapist: debriefs, ratings, traits, personas, skills, rewrites."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from goldrush.agents.worlds.competition.character import MOST, TRAITS, has_traits
from goldrush.agents.worlds.competition.observation import SeasonObservation
from goldrush.agents.worlds.competition.plain import in_order
from goldrush.agents.worlds.competition.questions.question import (
    INTEGERS,
    Answer,
    Arguments,
    QuestionKind,
    integers,
    named,
    scalar,
    subject,
    text,
    texts,
    told,
)
from goldrush.agents.worlds.competition.questions.table import active
from goldrush.kernel.settings import integer
from goldrush.kernel.shape import AMOUNT, FACTS, INTEGER, TEXT, Kind, optional, record, several
from goldrush.kernel.worlds.competition.acts.act import SHORT_MAX
from goldrush.kernel.worlds.competition.arena import Rules
from goldrush.kernel.worlds.competition.rubric import DIMENSIONS, SCORE_MAX

ENTRIES_MAX: Final = 20  # of instructions
KEY_MAX: Final = 60  # characters of their names
VALUE_MAX: Final = 2_000  # and of their texts


def _debrief_text(seen: SeasonObservation, arguments: Arguments) -> str:
    last = seen.wording("debrief_last") if arguments["extra"] else ""
    return seen.wording("debrief", agent=named(seen, arguments), was_last=last)


def _rate_text(seen: SeasonObservation, arguments: Arguments) -> str:
    dimensions = ", ".join(DIMENSIONS)
    return seen.wording("rate", agent=named(seen, arguments), dimensions=dimensions, most=SCORE_MAX)


def _read_rate(answer: Answer, seen: SeasonObservation) -> Any:
    raw, reasons = (in_order(answer.get(name), *DIMENSIONS) for name in ("raw", "reasons"))
    return {
        "raw": integers(raw),
        "reasons": [text(item) or "" for item in reasons[: len(DIMENSIONS)]]
        if isinstance(reasons, list)
        else [""] * len(DIMENSIONS),
    }


def _read_trait(answer: Answer, seen: SeasonObservation) -> Any:
    trait = text(answer.get("trait"), SHORT_MAX)
    return {"trait": trait, "from": integers(answer.get("from")) or []} if trait else None


def _read_skill(answer: Answer, seen: SeasonObservation) -> Any:
    skill = answer.get("skill")
    if not isinstance(skill, dict):
        return None
    objective, treatment = (text(skill.get(name)) for name in ("objective", "treatment"))
    what = seen.conduct(skill.get("conduct"), treatment or "")
    return (objective, treatment, what, scalar(skill.get("value")))


def _skill_fields(rules: Rules) -> Mapping[str, Kind]:
    skill = record(**subject(rules), conduct=rules.conduct, value=optional(AMOUNT))
    return {"skill": optional(skill)}


def _rewrite_text(seen: SeasonObservation, arguments: Arguments) -> str:
    agent = seen.people[arguments["agent"]]
    form = "rewrite_traits" if has_traits(agent) else "rewrite_text"
    traits = ", ".join(TRAITS)
    return seen.wording(
        "rewrite", agent=named(seen, arguments), form=seen.wording(form, traits=traits)
    )


def _read_rewrite(answer: Answer, seen: SeasonObservation) -> Any:
    given = answer.get("instructions")
    if isinstance(given, str):
        given = {"text": given}
    if not isinstance(given, dict):
        return None
    entries: dict[str, Any] = {}
    for key, value in list(given.items())[:ENTRIES_MAX]:
        plain = text(value, VALUE_MAX) if isinstance(value, str) else scalar(value)
        if plain is not None:
            entries[text(key, KEY_MAX) or ""] = plain
    return entries or None


def _facts(answer: Any) -> Any:
    """A map of values that can be recorded, else None."""
    is_map = isinstance(answer, Mapping) and FACTS.holds(dict(answer))
    return dict(answer) if is_map else None


_TRAIT: Final = optional(integer(0, MOST))
_REWRITE: Final = QuestionKind(
    _rewrite_text,
    lambda rules: {
        "instructions": optional(record(text=optional(TEXT), **dict.fromkeys(TRAITS, _TRAIT)))
    },
    _read_rewrite,
    shaped=_facts,
)

QUESTIONS: Final[Mapping[str, QuestionKind]] = {
    "debrief": texts("questions", _debrief_text),
    "rate": QuestionKind(
        _rate_text,
        lambda rules: {
            "raw": record(**dict.fromkeys(DIMENSIONS, integer(0, SCORE_MAX))),
            "reasons": record(**dict.fromkeys(DIMENSIONS, TEXT)),
        },
        _read_rate,
    ),
    "trait": QuestionKind(
        told("trait"),
        lambda rules: {"trait": optional(TEXT), "from": several(INTEGER, 100)},
        _read_trait,
    ),
    "persona": QuestionKind(
        told("persona_helps"),
        lambda rules: {"persona": optional(TEXT)},
        lambda answer, seen: text(answer.get("persona"), SHORT_MAX) or None,
        shaped=lambda answer: answer if type(answer) is str else None,
    ),
    "skill": QuestionKind(told("skill"), _skill_fields, _read_skill),
    "rewrite": _REWRITE,
    "improve": _REWRITE,
    "recommend_team": QuestionKind(
        lambda seen, arguments: active(seen, "recommend_team"),
        lambda rules: {"team": INTEGERS},
        lambda answer, seen: integers(answer.get("team")),
    ),
}
