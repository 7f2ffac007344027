"""The questions to the therapist: debriefs, ratings, traits, personas, skills, rewrites."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from goldrush.agents.llm.wording import within
from goldrush.agents.trust import LLM
from goldrush.agents.worlds.competition.character import MOST, TRAITS
from goldrush.agents.worlds.competition.observation import SeasonObservation
from goldrush.agents.worlds.competition.questions.question import (
    INTEGER,
    INTEGERS,
    NUMBER,
    STRING,
    Answer,
    Arguments,
    QuestionKind,
    a_list,
    an_object,
    conduct,
    integers,
    named,
    or_null,
    parts,
    parts_or_none,
    scalar,
    subject,
    text,
    texts,
)
from goldrush.kernel.shape import FACTS
from goldrush.kernel.worlds.competition.acts.act import SHORT_MAX, TEAM_MIN
from goldrush.kernel.worlds.competition.arena import Rules
from goldrush.kernel.worlds.competition.rubric import DIMENSIONS, SCORE_MAX

ENTRIES_MAX: Final = 20  # of instructions
KEY_MAX: Final = 60  # characters of their names
VALUE_MAX: Final = 2_000  # and of their texts


def _debrief_text(seen: SeasonObservation, arguments: Arguments) -> str:
    last = " It was last at its table." if arguments["extra"] else ""
    return (
        f"debrief worker {named(seen, arguments)}.{last} What do you ask it? Give one to three "
        "questions."
    )


def _rate_text(seen: SeasonObservation, arguments: Arguments) -> str:
    return (
        f"rate worker {named(seen, arguments)} by the rubric: {', '.join(DIMENSIONS)}, each from 0 "
        f"to {SCORE_MAX}, and for each a reason in one sentence, which it will remember."
    )


def _read_rate(answer: Answer, seen: SeasonObservation) -> Any:
    raw, reasons = answer.get("raw"), answer.get("reasons")
    if isinstance(raw, dict):
        raw = [raw.get(name) for name in DIMENSIONS]
    if isinstance(reasons, dict):
        reasons = [reasons.get(name) for name in DIMENSIONS]
    return {
        "raw": integers(raw),
        "reasons": [text(item) or "" for item in reasons[: len(DIMENSIONS)]]
        if isinstance(reasons, list)
        else [""] * len(DIMENSIONS),
    }


def _read_trait(answer: Answer, seen: SeasonObservation) -> Any:
    trait = text(answer.get("trait"), SHORT_MAX)
    return {"trait": trait, "from": integers(answer.get("from")) or []} if trait else None


def _skill_text(seen: SeasonObservation, arguments: Arguments) -> str:
    return (
        f"is there a conduct that worker {named(seen, arguments)} should remember for a subject, "
        "with its tested value? Or null."
    )


def _read_skill(answer: Answer, seen: SeasonObservation) -> Any:
    skill = answer.get("skill")
    if not isinstance(skill, dict):
        return None
    objective, treatment = (text(skill.get(name)) for name in ("objective", "treatment"))
    what = conduct(skill.get("conduct"), treatment or "", seen.rules)
    return (objective, treatment, what, scalar(skill.get("value")))


def _skill_fields(rules: Rules) -> Mapping[str, Any]:
    skill = an_object(**subject(rules), conduct=rules.schema, value=or_null(NUMBER))
    return {"skill": or_null(skill)}


def _rewrite_text(seen: SeasonObservation, arguments: Arguments) -> str:
    agent = seen.people[arguments["agent"]]
    form = (
        "text that says how it should go about it; the other entries are null"
        if agent.policy == LLM
        else f"numbers from 0 to 10 named {', '.join(TRAITS)}; text is null"
    )
    return (
        f"should worker {named(seen, arguments)} have other instructions? They replace those that "
        f"it has. If so, give them: {form}. Or null."
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


_SCORE: Final = {"type": "integer", "minimum": 0, "maximum": SCORE_MAX}
_TRAIT: Final = or_null({"type": "integer", "minimum": 0, "maximum": MOST})
_REWRITE: Final = QuestionKind(
    _rewrite_text,
    lambda rules: {
        "instructions": or_null(an_object(text=or_null(STRING), **dict.fromkeys(TRAITS, _TRAIT)))
    },
    _read_rewrite,
    shaped=_facts,
)

QUESTIONS: Final[Mapping[str, QuestionKind]] = {
    "debrief": texts("questions", _debrief_text),
    "rate": QuestionKind(
        _rate_text,
        lambda rules: {
            "raw": an_object(**dict.fromkeys(DIMENSIONS, _SCORE)),
            "reasons": an_object(**dict.fromkeys(DIMENSIONS, STRING)),
        },
        _read_rate,
        neutral={},
        shaped=parts,
    ),
    "trait": QuestionKind(
        lambda seen, arguments: (
            f"what stands out in worker {named(seen, arguments)}? A trait in a few words "
            "and the numbers of the contributions that show it; null if nothing does."
        ),
        lambda rules: {"trait": or_null(STRING), "from": a_list(INTEGER, 100)},
        _read_trait,
        shaped=parts_or_none,
    ),
    "persona": QuestionKind(
        lambda seen, arguments: (
            f"would a persona help worker {named(seen, arguments)}? Name it in a few words, "
            "or null."
        ),
        lambda rules: {"persona": or_null(STRING)},
        lambda answer, seen: text(answer.get("persona"), SHORT_MAX) or None,
        shaped=lambda answer: answer if type(answer) is str else None,
    ),
    "skill": QuestionKind(_skill_text, _skill_fields, _read_skill),
    "rewrite": _REWRITE,
    "improve": _REWRITE,
    "recommend_team": QuestionKind(
        lambda seen, arguments: (
            "whom do you recommend for the next table? At least "
            f"{TEAM_MIN} of {within(map(str, seen.active), 600)}; or null for no recommendation."
        ),
        lambda rules: {"team": INTEGERS},
        lambda answer, seen: integers(answer.get("team")),
    ),
}
