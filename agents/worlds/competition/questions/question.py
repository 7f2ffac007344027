"""The record of a question: its text, the form of the answer, and the reading of an answer.

An answer of a model or a person is one JSON object. It is read leniently, as the value that a
scripted policy returns for the same question: names in any case, lists for objects, fields that a
move does not have left out. Values of a wrong type become null, and the kernel refuses an act that
they make invalid. Reading is pure and never raises, so a journal can be read again.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any, Final

import attrs

from goldrush.agents.llm.failures import NO_ANSWER, NO_JSON, REFUSAL
from goldrush.agents.llm.json_object import object_in
from goldrush.agents.people import every_field
from goldrush.agents.worlds.competition.formats import format_agent, format_plain
from goldrush.agents.worlds.competition.limits import ARGUMENTS_MAX, WORDS_MAX
from goldrush.agents.worlds.competition.observation import SeasonObservation
from goldrush.kernel.settings import choice
from goldrush.kernel.shape import (
    BOOLEAN,
    INTEGER,
    TEXT,
    Kind,
    Schema,
    optional,
    record,
    several,
)
from goldrush.kernel.worlds.competition.acts.act import LINES_MAX, SHORT_MAX, TEXT_MAX
from goldrush.kernel.worlds.competition.arena import Rules

Arguments = Mapping[str, Any]
Answer = Mapping[str, Any]
Text = Callable[[SeasonObservation, Arguments], str]

INTEGERS: Final = optional(several(INTEGER, 1_000))
_LONG: Final = ("offer", "terms")  # arguments that are told in full


@attrs.frozen
class QuestionKind:
    """One question, for scripted policies, models and people.

    Attributes:
        text: the question, which offers only what the agent's stage has unlocked.
        fields: the kinds of the answer's fields.
        read: an answer as the value that a scripted policy would return.
        shaped: a scripted policy's answer in the form that scripts rely on.
        neutral: the value of a missing answer.
        sees_table: the prompt shows the current table.
        asks: `(name, before)`: whether a person is asked for a field (see agents.people.Inquiry).
    """

    text: Text
    fields: Callable[[Rules], Mapping[str, Kind]]
    read: Callable[[Answer, SeasonObservation], Any]
    shaped: Callable[[Any], Any] = attrs.field(default=lambda answer: answer, kw_only=True)
    neutral: Any = attrs.field(default=None, kw_only=True)
    sees_table: bool = attrs.field(default=True, kw_only=True)
    asks: Callable[[str, Answer], bool] = attrs.field(default=every_field, kw_only=True)

    def schema(self, rules: Rules) -> Schema:
        """The JSON schema of the answer."""
        return record(**self.fields(rules)).schema

    def example(self, rules: Rules, *, reasoning: bool = False) -> str:
        """The form of the answer, as text for a prompt. `reasoning`: it begins with that field."""
        form = _example(self.schema(rules))
        return '{"reasoning": ..., ' + form[1:] if reasoning else form

    def fault_of(self, text: str | None, rules: Rules) -> str | None:
        """`no-json` if a text holds no answer, else None."""
        return NO_JSON if object_in(text or "", self.fields(rules)) is None else None

    def answer(self, text: str, error: object, seen: SeasonObservation) -> Any:
        """The last answer in a text, or the neutral one. After the errors `no-answer` and
        `refusal` the text is not read.
        """
        is_lost = error in (NO_ANSWER, REFUSAL)
        answer = None if is_lost else object_in(text, self.fields(seen.rules))
        return self.neutral if answer is None else self.read(answer, seen)


def _example(schema: Schema) -> str:
    """A value of a schema as text, with dots for values."""
    kinds = schema.get("anyOf")
    if kinds is not None:
        return _example(kinds[0])
    if schema.get("type") == "object":
        items = schema["properties"].items()
        return "{" + ", ".join(f"{json.dumps(k)}: {_example(v)}" for k, v in items) + "}"
    if schema.get("type") == "array":
        return f"[{_example(schema['items'])}]"
    return "..."


# Questions of one kind.


def texts(name: str, text: Text, *, sees_table: bool = True) -> QuestionKind:
    """A question whose answer is a list of texts, in the field `name`."""
    return QuestionKind(
        text,
        lambda rules: {name: several(TEXT, LINES_MAX)},
        lambda answer, seen: lines(answer.get(name)),
        shaped=_listed,
        neutral=(),
        sees_table=sees_table,
    )


def decision(
    name: str, text: Text, *, neutral: bool | None = None, sees_table: bool = True
) -> QuestionKind:
    """A question of yes or no. Any other answer is read as `neutral`: null, which the kernel
    refuses, or no, where null means: not asked.
    """
    return QuestionKind(
        text,
        lambda rules: {name: BOOLEAN},
        lambda answer, seen: answer[name] if type(answer.get(name)) is bool else neutral,
        neutral=neutral,
        sees_table=sees_table,
    )


def named(seen: SeasonObservation, arguments: Arguments) -> str:
    """The agent that a question is about, by number and name."""
    return format_agent(seen.people[arguments["agent"]])


def told(id: str) -> Text:
    """The text of a question that is one message: its arguments are put in, then what is known of
    the agent that it is about, or of the season.
    """

    def of(seen: SeasonObservation, arguments: Arguments) -> str:
        fields = {
            name: format_plain(value, ARGUMENTS_MAX if name in _LONG else WORDS_MAX)
            for name, value in arguments.items()
        }
        if "agent" not in arguments:
            return seen.wording(id, seen, **fields)
        about = seen.people[arguments["agent"]]
        return seen.wording(id, about, **{**fields, "agent": format_agent(about)})

    return of


def subject(rules: Rules) -> dict[str, Kind]:
    """Objective and treatment."""
    treatments = dict.fromkeys(s.treatment for s in rules.arena.subjects)
    return {"objective": choice(*rules.arena.objectives), "treatment": choice(*treatments)}


# Reading parts of an answer.


def scalar(value: Any) -> Any:
    """A number or a boolean as it is; null for any other value."""
    return value if type(value) in (int, float, bool) else None


def word(value: Any) -> str | None:
    """A name in lower case, cut to SHORT_MAX; null for any other value."""
    if not isinstance(value, str):
        return None
    # The case of other letters than ASCII depends on Python's version of Unicode.
    return (value.lower() if value.isascii() else value).strip()[:SHORT_MAX]


def text(value: Any, most: int = TEXT_MAX) -> str | None:
    """Text without control characters, cut to `most`; null for any other value."""
    return value.translate(_CLEANED)[:most].strip() if isinstance(value, str) else None


_CLEANED: Final[dict[int, str | None]] = {
    **dict.fromkeys([*range(0x20), *range(0x7F, 0xA0)]),
    **dict.fromkeys([0x09, 0x0A, 0x0D, 0x85], " "),
}


def lines(value: Any) -> list[str]:
    """A list of texts; one text stands for a list of one."""
    items = [value] if isinstance(value, str) else value
    return [text(item) or "" for item in items[:LINES_MAX]] if isinstance(items, list) else []


def integers(value: Any) -> list[Any] | None:
    """A list of scalars; null for any other value."""
    return [scalar(item) for item in value[:1_000]] if isinstance(value, list) else None


# Answers of scripted policies.


def parts(answer: Any) -> Any:
    """An answer that must be a map; an empty one for any other value."""
    return answer if isinstance(answer, Mapping) else {}


def _listed(answer: Any) -> Any:
    return answer if isinstance(answer, (list, tuple)) else ()
