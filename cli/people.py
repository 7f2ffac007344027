"""A person at the terminal who plays: sees the prompt of a model and answers field by field. Each
answer is checked before it is recorded.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from typing import Any

import click

from goldrush.agents.people import Ask, Inquiry, in_turn
from goldrush.agents.people.forms import has_lines, hint, is_text, typed_answer, value
from goldrush.cli.progress import paused
from goldrush.kernel.errors import BadInput
from goldrush.kernel.files import read_input
from goldrush.kernel.shape import Schema
from goldrush.kernel.text import escaped

FILE_MAX = 1 << 20  # bytes of a text that is read from a file

_HELP = (
    "Answer field by field (empty: null, or no). `@FILE` reads a text from a file, `?` shows the "
    "question again; Ctrl-C stops here, and `goldrush resume` continues the run."
)


def at_terminal() -> Ask | None:
    """The function that asks the person at the terminal; None if stdin is not a terminal."""
    if not sys.stdin.isatty():
        return None
    return in_turn(_Terminal().ask)


def in_browser(times: str) -> Ask:
    """Asks by pages of this machine; tells on stderr where each seat is. `times`: as of `Seats`."""
    from goldrush.agents.people.served import Seats

    @paused()
    def tell(seat: str) -> None:
        click.echo(escaped(seat), err=True)

    return Seats(tell, times).ask


class _Terminal:
    """Asks at the terminal. Shows the rules once to each role; clears the screen where another
    person takes the seat.
    """

    def __init__(self) -> None:
        self._rules: dict[str, str] = {}
        self._last = ""

    @paused()
    def ask(self, inquiry: Inquiry) -> str:
        """The answer to a question, asked again until it is valid."""
        player = escaped(inquiry.player)
        if self._last not in ("", inquiry.player):
            click.clear()
            click.prompt(f"Now {player}: press Enter", default="", show_default=False, err=True)
        self._last = inquiry.player
        self._show(inquiry)
        while True:
            text = typed_answer(inquiry, partial(_field, again=partial(self._show, inquiry)))
            fault = inquiry.fault(text)
            if fault is None:
                return text
            click.echo(f"This answer is not valid: {escaped(fault)}. Answer again.", err=True)

    def _show(self, inquiry: Inquiry) -> None:
        rules, question = (message["content"] for message in inquiry.messages)
        unit = f"{escaped(inquiry.unit)}: " if inquiry.unit else ""
        click.echo(f"\n--- {unit}you are {escaped(inquiry.player)} ---", err=True)
        if self._rules.get(inquiry.player) != rules:
            self._rules[inquiry.player] = rules
            click.echo(escaped(rules, "\n"), err=True)
            click.echo(_HELP, err=True)
        click.echo(escaped(question, "\n"), err=True)


def _field(name: str, schema: Schema, again: Callable[[], None]) -> Any:
    """The value typed for a field; asked for until there is one. `again`: shows the question."""
    label = f"{name} ({hint(schema)})" if hint(schema) else name
    typed = ""
    while True:
        line = click.prompt(label, default="", show_default=False, err=True).strip()
        if line == "?":
            again()
            continue
        try:
            if line.startswith("@") and is_text(schema):
                line = read_input(line[1:], FILE_MAX, "give another one")
            text = f"{typed}\n{line}" if typed else line
            found = value(schema, text)
        except BadInput as error:
            click.echo(f"Error: {escaped(str(error))}", err=True)
            continue
        if not (line and has_lines(schema)):
            return found
        typed = text
