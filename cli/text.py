"""What commands print: JSON, colours, and the commands that they suggest."""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Iterable
from typing import Any, Final

import click

from goldrush.kernel.text import escaped, quoted


def program() -> str:
    """How this program was called, so that what is suggested can be typed as it stands."""
    called = sys.argv[0]
    if os.path.basename(called) != "goldrush":
        return "python -m goldrush"
    found = shutil.which("goldrush")
    same = found is not None and os.path.realpath(found) == os.path.realpath(called)
    return "goldrush" if same else quoted(called)


def echo_json(value: Any) -> None:
    """One JSON value on stdout."""
    click.echo(json.dumps(value, indent=2))


def echo_csv(lines: Iterable[str]) -> None:
    """Lines of CSV on stdout: data as it is, in UTF-8 whatever the locale. In a terminal control
    characters are escaped: nothing that came from a file may move the cursor.
    """
    if sys.stdout.isatty():
        sys.stdout.writelines(escaped(line, "\n") for line in lines)
        return
    for line in lines:
        sys.stdout.buffer.write(line.encode())


_COLOURS: Final = (
    "red", "green", "yellow", "blue", "magenta", "cyan", "bright_red", "bright_green",
    "bright_yellow", "bright_blue",
)  # fmt: skip


def painted(text: str, agent: int | None) -> str:
    """The text of what belongs to an agent in its colour; dim where it belongs to nobody."""
    if "NO_COLOR" in os.environ:
        return text
    if agent is None:
        return click.style(text, dim=True)
    return click.style(text, fg=_COLOURS[agent % len(_COLOURS)])
