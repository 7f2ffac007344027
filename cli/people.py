"""A person at the terminal: shown what a model would be, asked field by field, checked before it
counts.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Mapping, Sequence
from typing import Any

import click

from goldrush.agents.people import Ask, Inquiry
from goldrush.cli.progress import paused
from goldrush.kernel.text import escaped

_HELP = (
    "Answer field by field (empty: null, or no), or type the whole answer as JSON, beginning with "
    "{. `@FILE` reads a text from a file; `rules` shows the rules again; Ctrl-C stops here, and "
    "`goldrush resume` goes on."
)


def at_terminal() -> Ask | None:
    """Asks whoever sits at the terminal; None where nobody does."""
    if not sys.stdin.isatty():
        return None
    return _Terminal().ask


class _Terminal:
    """Asks at the terminal. Keeps which rules were shown, to show them once to each role."""

    def __init__(self) -> None:
        self._rules: dict[str, str] = {}

    def ask(self, inquiry: Inquiry) -> str:
        """The answer to a question, once it can count."""
        with paused():
            return self._asked(inquiry)

    def _asked(self, inquiry: Inquiry) -> str:
        rules, question = (message["content"] for message in inquiry.messages)
        click.echo(f"\n--- {escaped(inquiry.unit)}: you are {escaped(inquiry.who)} ---", err=True)
        if self._rules.get(inquiry.who) != rules:
            self._rules[inquiry.who] = rules
            _show(rules)
            click.echo(_HELP, err=True)
        _show(question)
        while True:
            text = self._typed(inquiry, rules)
            if text is None:  # the rules were shown again
                continue
            fault = inquiry.fault(text)
            if fault is None:
                return text
            click.echo(f"That does not count: {escaped(fault)}. Again.", err=True)

    def _typed(self, inquiry: Inquiry, rules: str) -> str | None:
        """An answer as JSON; None where `rules` was typed, which shows the rules again."""
        answer: dict[str, Any] = {}
        for name, schema in inquiry.schema["properties"].items():
            line = _line(name, schema)
            if not answer and line.startswith("{"):
                return line
            if not answer and line.strip() == "rules":
                _show(rules)
                return None
            answer[name] = _value(name, schema, line)
        return json.dumps(answer)


def _show(text: str) -> None:
    for line in text.split("\n"):
        click.echo(escaped(line), err=True)


def _line(name: str, schema: Mapping[str, Any]) -> str:
    hint = _hint(schema)
    label = f"{name} ({hint})" if hint else name
    line: str = click.prompt(label, default="", show_default=False, err=True)
    return line


def _hint(schema: Mapping[str, Any]) -> str:
    """What can be typed."""
    kind, names = schema.get("type"), schema.get("enum")
    if "anyOf" in schema:
        return f"{_hint(schema['anyOf'][0])} or empty".removeprefix(" or ")
    if names:
        return ", ".join(f"{at} {name}" for at, name in enumerate(names, 1))
    if kind == "object":
        return "field by field: " + ", ".join(schema["properties"])
    return {"array": "separated by commas", "boolean": "y or n", "integer": "a number"}.get(
        kind or "", "a number" if kind == "number" else ""
    )


def _value(name: str, schema: Mapping[str, Any], line: str) -> Any:
    """What a line means in a field of this schema; as it is where it means nothing."""
    line = line.strip()
    if "anyOf" in schema:
        kinds: Sequence[Mapping[str, Any]] = schema["anyOf"]
        return None if line in ("", "null") else _value(name, kinds[0], line)
    kind, names = schema.get("type"), schema.get("enum")
    if names and re.fullmatch("[0-9]{1,4}", line) and 1 <= int(line) <= len(names):
        return names[int(line) - 1]
    if kind == "object":
        if line.startswith("{"):
            return _json(line)
        items = schema["properties"].items()
        return {key: _value(key, of, _line(f"{name}.{key}", of)) for key, of in items}
    if kind == "array":
        if line.startswith("["):
            return _json(line)
        parts = [part for part in line.split(",") if part.strip()]
        return [_value(name, schema["items"], part) for part in parts]
    if kind == "boolean":
        return line.lower() in ("y", "yes", "true")
    if kind in ("integer", "number"):
        return _json(line)
    return _read(line[1:]) if line.startswith("@") else line


def _json(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def _read(path: str) -> str:
    """The text of a file; nothing, and a word on it, where it cannot be read."""
    try:
        with open(path, encoding="utf-8") as file:
            return file.read()
    except (OSError, UnicodeDecodeError) as error:
        click.echo(f"cannot read {escaped(path)}: {escaped(str(error))}", err=True)
        return ""
