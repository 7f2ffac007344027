"""Answers as people type them: the text of each field, read by the JSON schema of the answer.

Lists of texts and of objects have a line for each item. The fields of an object are separated by
`|`; where an object is a kind and whole numbers (an action: type, plot, stamina), a line has the
kind once and then one item for each word: `claim 1 2`, `mine 5:3`. Words without a kind have the
last one before them.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from goldrush.agents.people import Inquiry
from goldrush.kernel.errors import BadInput, format_value
from goldrush.kernel.shape import Schema

_YES: Final = ("y", "yes", "true")
_NO: Final = ("n", "no", "false", "")


def typed_answer(inquiry: Inquiry, field: Callable[[str, Schema], Any]) -> str:
    """The answer as JSON. `field`: the value of a field that is asked for, by name and schema."""
    answer: dict[str, Any] = {}
    for name, schema in inquiry.schema["properties"].items():
        is_asked = inquiry.asks(name, answer)
        answer[name] = field(name, schema) if is_asked else _nothing(schema)
    return json.dumps(answer)


def plain(schema: Schema) -> Schema:
    """The schema of a field that is not left empty."""
    found: Schema = schema["anyOf"][0] if "anyOf" in schema else schema
    return found


def is_text(schema: Schema) -> bool:
    """Whether a field is any text, or a list of texts."""
    of = plain(schema)
    of = of["items"] if of.get("type") == "array" else of
    return of.get("type") == "string" and "enum" not in of


def has_lines(schema: Schema) -> bool:
    """Whether a field has a line for each item."""
    of = plain(schema)
    return of.get("type") == "array" and of["items"].get("type") in ("string", "object")


def hint(schema: Schema) -> str:
    """What can be typed; empty for any text."""
    if "anyOf" in schema:
        return f"{hint(plain(schema)) or 'a text'} or empty"
    kind, names = schema.get("type"), schema.get("enum")
    if names:
        return ", ".join(f"{at} {name}" for at, name in enumerate(names, 1))
    if kind == "object":
        return " | ".join(schema["properties"])
    if kind == "array":
        return _hint_of_items(schema["items"])
    numbers = {"integer": "a whole number", "number": "a number"}
    if kind in numbers and {"minimum", "maximum"} <= schema.keys():
        return f"{numbers[kind]} from {schema['minimum']} to {schema['maximum']}"
    return {"boolean": "y or n", **numbers}.get(kind or "", "")


def _hint_of_items(items: Schema) -> str:
    if _is_move(items):
        (_, first), *others = items["properties"].items()
        words = ":".join(name for name, _ in others)
        return f"{' or '.join(first['enum'])}, then {words} ..., as in `{_example(first, others)}`"
    if items.get("type") == "object":
        return f"one per line: {hint(items)}"
    return "one per line" if items.get("type") == "string" else "separated by commas"


def _example(first: Schema, others: list[tuple[str, Schema]]) -> str:
    least = [int(of.get("minimum", 0)) for _, of in others]
    with_all = ":".join(str(number + 1) for number in least)
    return f"{first['enum'][0]} {least[0]} {with_all}"


def value(schema: Schema, text: str) -> Any:
    """The value of what was typed for a field. Raises BadInput if it is none."""
    text = text.strip()
    if "anyOf" in schema:
        return None if text in ("", "null") else value(plain(schema), text)
    kind, names = schema.get("type"), schema.get("enum")
    if names:
        return _one_of(names, text)
    if kind == "object":
        return _object(schema["properties"], text)
    if kind == "array":
        return _items(schema, text)
    if kind == "boolean":
        if text.lower() not in _YES + _NO:
            raise _invalid(text, "y or n")
        return text.lower() in _YES
    if kind in ("integer", "number"):
        return _number(schema, text)
    return text


def _nothing(schema: Schema) -> Any:
    """The empty value of a field of this schema."""
    if "anyOf" in schema:
        return None
    return {"boolean": False, "array": [], "string": ""}.get(schema.get("type", ""))


def _one_of(names: list[str], text: str) -> str:
    if text.isascii() and text.isdigit() and 1 <= int(text[:9]) <= len(names):
        return names[int(text) - 1]
    found = next((name for name in names if name.lower() == text.lower()), None)
    if found is None:
        raise _invalid(text, f"one of {', '.join(names)}, or its number")
    return found


def _number(schema: Schema, text: str) -> int | float:
    try:
        number = json.loads(text.removeprefix("#"))  # as contributions are written
    except (ValueError, RecursionError):
        raise _invalid(text, hint(schema)) from None
    if type(number) is not int and (schema["type"] == "integer" or type(number) is not float):
        raise _invalid(text, hint(schema))
    if not schema.get("minimum", number) <= number <= schema.get("maximum", number):
        raise _invalid(text, hint(schema))
    return number


def _object(properties: Mapping[str, Schema], text: str) -> dict[str, Any]:
    parts = [part.strip() for part in text.split("|", len(properties) - 1)]
    if len(parts) < len(properties):
        raise _invalid(text, " | ".join(properties))
    return {
        name: value(of, part)
        for (name, of), part in zip(properties.items(), parts, strict=True)
    }  # fmt: skip


def _items(schema: Schema, text: str) -> list[Any]:
    items = schema["items"]
    if _is_move(items):
        found = list(_moves(items["properties"], text))
    else:
        parts = text.splitlines() if has_lines(schema) else text.split(",")
        found = [value(items, part) for part in parts if part.strip()]
    if len(found) > schema.get("maxItems", len(found)):
        raise BadInput(f"there are {len(found)}", f"give {schema['maxItems']} at most")
    return found


def _is_move(schema: Schema) -> bool:
    """Whether an object is a kind and whole numbers."""
    kinds = [of if "enum" in of else of.get("type") for of in schema.get("properties", {}).values()]
    return len(kinds) > 1 and isinstance(kinds[0], Mapping) and set(kinds[1:]) == {"integer"}


def _moves(properties: Mapping[str, Schema], text: str) -> Iterator[dict[str, Any]]:
    """The objects of lines with a kind and numbers. A number that is left out is the least."""
    (key, kinds), *others = properties.items()
    kind, is_bare = "", False
    for word in text.replace(",", " ").split():
        if not word[0].isdigit():
            if is_bare:
                break
            kind, is_bare = _one_of(kinds["enum"], word), True
            continue
        numbers = word.split(":")
        if not kind or len(numbers) > len(others):
            raise _invalid(word, f"{' or '.join(kinds['enum'])} first, then numbers")
        numbers += [""] * (len(others) - len(numbers))
        rest = {
            name: value(of, number or str(of.get("minimum", 0)))
            for (name, of), number in zip(others, numbers, strict=True)
        }
        yield {key: kind, **rest}
        is_bare = False
    if is_bare:
        raise BadInput(f"{kind} is without {others[0][0]}", f"type `{kind} 1`")


def _invalid(text: str, instead: str) -> BadInput:
    return BadInput(f"{format_value(text[:100])} cannot be read", f"type {instead}")
