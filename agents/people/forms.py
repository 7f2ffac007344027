"""Answers as people type them: the text of each field, read by the JSON schema of the answer.

A terminal and a page in a browser read the same. Lists of texts and of objects have a line for
each item; the fields of an object are separated by `|`. Moves, objects of a kind and whole numbers
(type, plot, stamina), are shorter: a kind, then the numbers of each move: `claim 1 2`, `mine 5:3`.
They may go on in the next line, and a number that is left out is the least.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from math import inf
from typing import Final

from goldrush.agents.people import Inquiry
from goldrush.kernel.errors import BadInput, format_value
from goldrush.kernel.shape import Schema

_BOOLEANS: Final = {"y": True, "yes": True, "n": False, "no": False, "": False}
_NUMBERS: Final = {"integer": "a whole number", "number": "a number"}
_MOVES: Final = re.compile(r"([^\d\s]\S*)((?:\s+\d[\d:]*)+)")


def typed_answer(inquiry: Inquiry, field: Callable[[str, Schema], object]) -> str:
    """The answer as JSON. `field`: the value of a field that is asked for, by name and schema; the
    others are empty.
    """
    answer: dict[str, object] = {}
    for name, schema in inquiry.schema["properties"].items():
        empty = {"boolean": False, "array": [], "string": ""}.get(schema.get("type", ""))
        answer[name] = field(name, schema) if inquiry.asks(name, answer) else empty
    return json.dumps(answer)


def required(schema: Schema) -> Schema:
    """The schema of a field that is not left empty."""
    return dict(schema["anyOf"][0]) if "anyOf" in schema else schema


def has_lines(schema: Schema) -> bool:
    """Whether a field has a line for each item."""
    of = required(schema)
    return of.get("type") == "array" and of["items"].get("type") in ("string", "object")


def hint(schema: Schema) -> str:
    """What can be typed in a field."""
    kind, names = schema.get("type"), schema.get("enum")
    if "anyOf" in schema:
        return f"{hint(required(schema))} or empty"
    if names:
        return ", ".join(f"{at} {name}" for at, name in enumerate(names, 1))
    if kind == "array":
        items = schema["items"]
        if _is_move(items):
            return _hint_of_moves(items["properties"])
        return f"{hint(items)}{' per line' if has_lines(schema) else ' each, separated by commas'}"
    if kind == "object":
        return " | ".join(schema["properties"])
    if kind in _NUMBERS and {"minimum", "maximum"} <= schema.keys():
        return f"{_NUMBERS[kind]} from {schema['minimum']} to {schema['maximum']}"
    return {"boolean": "y or n", **_NUMBERS}.get(kind or "", "a text")


def _hint_of_moves(properties: Mapping[str, Schema]) -> str:
    (_, kinds), *numbers = properties.items()
    form = ":".join(name for name, _ in numbers)
    least = [of.get("minimum", 0) for _, of in numbers]
    example = f"{kinds['enum'][0]} {least[0]} {':'.join(str(number + 1) for number in least)}"
    return f"{', '.join(kinds['enum'])}: then {form} of each, as in `{example}`"


def value(schema: Schema, text: str) -> object:
    """The value of what was typed for a field. Raises BadInput if it has none."""
    text = text.replace("\r\n", "\n").strip()
    kind = schema.get("type")
    if "anyOf" in schema:
        return None if text in ("", "null") else value(required(schema), text)
    if kind == "array":
        items = [value(schema["items"], part) for part in _parts(schema, text) if part.strip()]
        if len(items) > schema.get("maxItems", len(items)):
            raise BadInput(f"there are {len(items)}", f"give {schema['maxItems']} at most")
        return items
    if kind == "object":
        parts = text.split("|", len(schema["properties"]) - 1)
        if len(parts) < len(schema["properties"]):
            raise _unreadable(schema, text)
        fields = zip(schema["properties"].items(), parts, strict=True)
        return {name: value(of, part) for (name, of), part in fields}
    if kind in _NUMBERS:
        return _number(schema, text)
    if kind == "boolean" or "enum" in schema:
        known = _BOOLEANS if kind == "boolean" else _named(schema["enum"])
        if text.lower() not in known:
            raise _unreadable(schema, text)
        return known[text.lower()]
    return text


def _named(names: Sequence[str]) -> dict[str, str]:
    """The names by what can be typed for them: their numbers, from 1, and themselves."""
    numbered = {str(at): name for at, name in enumerate(names, 1)}
    return numbered | {name.lower(): name for name in names}


def _number(schema: Schema, text: str) -> float:
    least, most = schema.get("minimum", -inf), schema.get("maximum", inf)
    known = (int,) if schema["type"] == "integer" else (int, float)
    with suppress(ValueError, RecursionError):
        number: float = json.loads(text.removeprefix("#"))  # as contributions are written
        if type(number) in known and least <= number <= most:
            return number
    raise _unreadable(schema, text)


def _parts(schema: Schema, text: str) -> Iterator[str]:
    """The text of each item of a list."""
    if not _is_move(schema["items"]):
        yield from text.splitlines() if has_lines(schema) else text.split(",")
        return
    text = text.replace(",", " ")
    if _MOVES.sub("", text).strip():
        raise _unreadable(schema, text)
    least = [str(of.get("minimum", 0)) for of in schema["items"]["properties"].values()][1:]
    for kind, words in _MOVES.findall(text):
        for word in words.split():
            numbers = word.split(":")
            yield "|".join([kind, *numbers, *least[len(numbers) :]])


def _is_move(schema: Schema) -> bool:
    """Whether an object is a kind and whole numbers."""
    kind, *numbers = [*schema.get("properties", {}).values()] or [{}]
    return "enum" in kind and {of.get("type") for of in numbers} == {"integer"}


def _unreadable(schema: Schema, text: str) -> BadInput:
    return BadInput(f"{format_value(text[:100])} cannot be read", f"type {hint(schema)}")
