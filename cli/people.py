"""A person at the terminal who plays: sees the prompt of a model and answers field by field. Each
answer is checked before it is recorded.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import click

from goldrush.agents.people import Ask, Inquiry
from goldrush.cli.progress import paused
from goldrush.kernel.settings import integer
from goldrush.kernel.shape import Schema
from goldrush.kernel.text import escaped

LINES_MAX = 100  # texts of a list that says no more of them

_HELP = (
    "Answer field by field (empty: null, or no). Ctrl-C stops here, and `goldrush resume` "
    "continues the run."
)


def at_terminal() -> Ask | None:
    """The function that asks the person at the terminal; None if stdin is not a terminal."""
    if not sys.stdin.isatty():
        return None
    return _Terminal().ask


class _Terminal:
    """Asks at the terminal. Shows the rules once to each role."""

    def __init__(self) -> None:
        self._rules: dict[str, str] = {}

    @paused()
    def ask(self, inquiry: Inquiry) -> str:
        """The answer to a question, asked again until it is valid."""
        rules, question = (message["content"] for message in inquiry.messages)
        unit = f"{escaped(inquiry.unit)}: " if inquiry.unit else ""
        click.echo(f"\n--- {unit}you are {escaped(inquiry.player)} ---", err=True)
        if self._rules.get(inquiry.player) != rules:
            self._rules[inquiry.player] = rules
            click.echo(escaped(rules, "\n"), err=True)
            click.echo(_HELP, err=True)
        click.echo(escaped(question, "\n"), err=True)
        while True:
            text = json.dumps(_answer(inquiry))
            fault = inquiry.fault(text)
            if fault is None:
                return text
            click.echo(f"This answer is not valid: {escaped(fault)}. Answer again.", err=True)


def _answer(inquiry: Inquiry) -> dict[str, Any]:
    """An answer that is typed field by field."""
    answer: dict[str, Any] = {}
    for name, schema in inquiry.schema["properties"].items():
        is_asked = inquiry.asks(name, answer)
        answer[name] = _field(name, schema) if is_asked else _nothing(schema)
    return answer


def _field(name: str, schema: Schema) -> Any:
    """The value typed for a field; click asks again while there is none."""
    return _line(name, schema, partial(_value, name, schema))


def _line(name: str, schema: Schema, value_of: Callable[[str], Any] = str) -> Any:
    """The value of a line that is typed."""
    hint = _hint(schema)
    label = f"{name} ({hint})" if hint else name
    return click.prompt(label, default="", show_default=False, err=True, value_proc=value_of)


def _hint(schema: Schema) -> str:
    """The values that can be typed, as a hint; empty for any text."""
    kind, names = schema.get("type"), schema.get("enum")
    if "anyOf" in schema:
        return f"{_hint(schema['anyOf'][0])} or empty".removeprefix(" or ")
    if names:
        return ", ".join(f"{at} {name}" for at, name in enumerate(names, 1))
    if kind == "object":
        return "field by field: " + ", ".join(schema["properties"])
    if kind == "array":
        of = schema["items"].get("type")
        lists = {"string": "one per line; an empty line ends the list", "object": "how many"}
        return lists.get(of, "separated by commas")
    return {"boolean": "y or n", "integer": "a whole number", "number": "a number"}.get(
        kind or "", ""
    )


def _nothing(schema: Schema) -> Any:
    """The empty value of a field of this schema."""
    if "anyOf" in schema:
        return None
    return {"boolean": False, "array": [], "string": ""}.get(schema.get("type", ""))


def _value(name: str, schema: Schema, line: str) -> Any:
    """The value of a line in a field of this schema. Raises UsageError for an invalid line."""
    line = line.strip()
    if "anyOf" in schema:
        kinds: Sequence[Schema] = schema["anyOf"]
        return None if line in ("", "null") else _value(name, kinds[0], line)
    kind, names = schema.get("type"), schema.get("enum")
    if names:
        return _one_of(names, line)
    if kind == "object":
        items = schema["properties"].items()
        return {key: _field(f"{name}.{key}", of) for key, of in items}
    if kind == "array":
        return _items(name, schema, line)
    if kind == "boolean":
        if line.lower() not in _YES + _NO:
            raise _invalid("type y or n")
        return line.lower() in _YES
    if kind in ("integer", "number"):
        number = _json(line.removeprefix("#"))  # as contributions are written
        if type(number) is not int and (kind == "integer" or type(number) is not float):
            raise _invalid(f"type {_hint(schema)}")
        least, most = schema.get("minimum", number), schema.get("maximum", number)
        if not least <= number <= most:
            raise _invalid(f"type {_hint(schema)} from {least} to {most}")
        return number
    return line


_YES, _NO = ("y", "yes", "true"), ("n", "no", "false", "")


def _one_of(names: Sequence[str], line: str) -> str:
    if re.fullmatch("[0-9]{1,4}", line) and 1 <= int(line) <= len(names):
        return names[int(line) - 1]
    found = next((name for name in names if name.lower() == line.lower()), None)
    if found is None:
        raise _invalid(f"type one of {', '.join(names)}, or its number")
    return found


def _items(name: str, schema: Schema, line: str) -> Sequence[Any]:
    """A list: of objects, by their number; of texts, line by line; of others, by commas."""
    items, most = schema["items"], schema.get("maxItems", LINES_MAX)
    if items.get("type") == "object":
        count = _value(name, integer(0, most).schema, line or "0")
        return [_value(f"{name} {number}", items, "") for number in range(1, count + 1)]
    if items.get("type") != "string":
        return [_value(name, items, part) for part in line.split(",") if part.strip()]
    texts: list[Any] = []
    while line and len(texts) < most:
        texts.append(_value(name, items, line))
        line = _line(name, schema)
    return texts


def _invalid(text: str) -> click.UsageError:
    return click.UsageError(escaped(text))


def _json(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        raise _invalid(f"{text[:100]!r} is neither a number nor JSON") from None
