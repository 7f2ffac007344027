"""People who play, at the terminal and in browsers."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

import click

from goldrush.agents.people import AskTogether, Inquiry, in_turn
from goldrush.agents.people.forms import has_lines, hint, typed_answer, value
from goldrush.cli.progress import paused
from goldrush.kernel.errors import BadInput
from goldrush.kernel.shape import Schema
from goldrush.kernel.text import escaped

_HELP = (
    "Answer field by field (empty: null, or no; `?`: the rules, the question, and what can be "
    "typed). Ctrl-C stops here, and `goldrush resume` continues the run."
)


def at_terminal() -> AskTogether | None:
    """Asks at the terminal, one person after the other; None if stdin is not a terminal."""
    return in_turn(_Terminal().ask) if sys.stdin.isatty() else None


def people_for(journal: str, *, serve: bool, goes_on: bool = False) -> AskTogether | None:
    """Asks the people of a run, at the terminal, or (`serve`) by pages on this machine, whose
    addresses are told on stderr; times are in NAME.times.csv beside the journal, after those of a
    run that `goes_on`. None: nobody can be asked. Raises BadInput as `Seats`.
    """
    if not serve:
        return at_terminal()
    from goldrush.agents.people.served import Seats

    @paused()
    def tell(seat: str) -> None:
        click.echo(escaped(seat), err=True)

    return Seats(tell, str(Path(journal).with_suffix(".times.csv")), goes_on=goes_on).ask


class _Terminal:
    """Asks at the terminal. Shows the rules once to each player, and clears the screen before
    another player's question.
    """

    def __init__(self) -> None:
        self._rules: dict[int, str] = {}  # by agent: wordings may call two by one name
        self._last: int | None = None

    @paused()
    def ask(self, inquiry: Inquiry) -> str:
        """The answer to a question, asked again until it is valid."""
        if self._last not in (None, inquiry.agent) and sys.stderr.isatty():
            click.echo("\x1b[2J\x1b[H", nl=False, err=True)
            label = f"{escaped(inquiry.player)} is next; press Enter"
            click.prompt(label, default="", show_default=False, err=True)
        self._last = inquiry.agent
        self._show(inquiry)
        while True:
            text = typed_answer(inquiry, partial(_field, explain=partial(self._explain, inquiry)))
            fault = inquiry.fault(text)
            if fault is None:
                return text
            click.echo(f"This answer is not valid: {escaped(fault)}. Answer again.", err=True)

    def _show(self, inquiry: Inquiry) -> None:
        rules, question = (message["content"] for message in inquiry.messages)
        unit = f"{escaped(inquiry.unit)}: " if inquiry.unit else ""
        click.echo(f"\n--- {unit}you are {escaped(inquiry.player)} ---", err=True)
        if self._rules.get(inquiry.agent) != rules:
            self._rules[inquiry.agent] = rules
            click.echo(escaped(rules, "\n"), err=True)
            click.echo(_HELP, err=True)
        click.echo(escaped(question, "\n"), err=True)

    def _explain(self, inquiry: Inquiry, name: str, schema: Schema) -> None:
        self._rules.clear()
        self._show(inquiry)
        end = "; an empty line ends the list" if has_lines(schema) else ""
        click.echo(f"{name}: {hint(schema)}{end}.", err=True)


def _field(name: str, schema: Schema, explain: Callable[[str, Schema], None]) -> object:
    """The value typed for a field, asked for until there is one."""
    lines: list[str] = []
    while True:
        label = f"{name} ({hint(schema)})"
        line = click.prompt(label, default="", show_default=False, err=True)
        if line.strip() == "?":
            explain(name, schema)
            continue
        try:
            typed = value(schema, "\n".join([*lines, line]))
        except BadInput as error:
            click.echo(f"Error: {escaped(str(error))}", err=True)
            continue
        if not (line.strip() and has_lines(schema)):
            return typed
        lines.append(line)
