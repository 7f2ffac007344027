"""Output of commands: JSON, CSV, errors, colours, and the program's name."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from typing import TYPE_CHECKING, Final

import click

from goldrush.kernel.text import escaped, quoted

if TYPE_CHECKING:
    from rich.color import ColorSystem
    from rich.style import Style

    from goldrush.replay.tools import HasDict


def program() -> str:
    """The command that called this program, for commands that messages suggest."""
    called = sys.argv[0]
    if os.path.basename(called) != "goldrush":
        return "python -m goldrush"
    from shutil import which

    found = which("goldrush")
    same = found is not None and os.path.realpath(found) == os.path.realpath(called)
    return "goldrush" if same else quoted(called)


def echo_error(message: str) -> None:
    """Print a line on stderr, escaped. A closed stderr is ignored."""
    with suppress(OSError):
        click.echo(escaped(message), err=True)


CUT: Final = 60  # characters of a text in a table


def cut(text: str, most: int = CUT) -> str:
    """A text of a journal, escaped, and cut to a number of characters."""
    text = escaped(text)
    return text if len(text) <= most else f"{text[: most - 3]}..."


def drop_output() -> None:
    """Redirect stdout, with its buffer, to /dev/null."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # noqa: TID251  # a device


@contextmanager
def maybe_unread() -> Iterator[None]:
    """Around output of commands whose exit code is a verdict: if the pipe is closed (`head`), the
    rest of the output is dropped, and the command continues to its exit code.
    """
    try:
        yield
        sys.stdout.flush()
    except BrokenPipeError:
        drop_output()


def echo_json(value: object) -> None:
    """One JSON value on stdout."""
    click.echo(json.dumps(value, indent=2))


def echo(as_json: bool, value: Callable[[], object], text: Callable[[], str]) -> None:
    """Print a result: with --json its value, else its text."""
    with maybe_unread():
        if as_json:
            echo_json(value())
        else:
            click.echo(text())


def as_dicts(results: Iterable[HasDict]) -> Callable[[], object]:
    """The value of several results, for `echo`."""
    return lambda: [result.as_dict() for result in results]


def shown(text: str) -> str:
    """A text of several lines, exact in a file. In a terminal, control characters are escaped, so
    that text from a file cannot move the cursor.
    """
    return escaped(text, "\n\t") if sys.stdout.isatty() else text


def echo_exact(texts: Iterable[str]) -> None:
    """Print texts as `shown`, one behind the other, in UTF-8 whatever the locale."""
    if sys.stdout.isatty():
        sys.stdout.writelines(map(shown, texts))
        return
    for text in texts:
        sys.stdout.buffer.write(text.encode())


# Of 256 colours, by agent: ten dark ones under white, then ten light ones under black, so that
# neighbours differ. Cells of the map also have the agent's number, for readers who see no colours.
_DARK: Final = (25, 130, 29, 125, 60, 94, 31, 161, 54, 22)
_LIGHT: Final = (117, 215, 114, 211, 147, 180, 80, 222, 183, 150)
# Where a terminal has but 8 or 16 colours: these behind the text, then underlined, then as bold
# text, then both. Not black and white, one of which is the terminal's own background.
_BASIC: Final = {
    "red": "white", "green": "black", "blue": "white", "yellow": "black", "magenta": "white",
    "cyan": "black",
}  # fmt: skip


def painted(text: str, agent: int | None) -> str:
    """A text in the colour of an agent, which twenty agents have to themselves; dim for None.
    Unchanged if the terminal has no colours or NO_COLOR is set.
    """
    system = _colours()
    if system is None:
        return text
    from rich.style import Style

    style = Style(dim=True) if agent is None else _style(agent, is_basic=system == system.STANDARD)
    return style.render(text, color_system=system)


def _style(agent: int, *, is_basic: bool) -> Style:
    """The style of an agent; `is_basic`: of 8 colours, and not of 256."""
    from rich.style import Style

    if is_basic:
        cycle, index = divmod(agent, len(_BASIC))
        colour, front = list(_BASIC.items())[index]
        underline = cycle % 2 == 1
        if cycle % 4 < 2:
            return Style(color=front, bgcolor=colour, underline=underline)
        return Style(color=colour, bold=True, underline=underline)
    colours = (*_DARK, *_LIGHT)
    index = agent % len(colours)
    front = "bright_white" if index < len(_DARK) else "black"
    return Style(color=front, bgcolor=f"color({colours[index]})")


@cache
def _colours() -> ColorSystem | None:
    """The colour system of standard output; None without colours."""
    if not sys.stdout.isatty():  # click prints none there; to import rich takes a fifth of `replay`
        return None
    from rich.color import ColorSystem
    from rich.console import Console

    console = Console()
    if console.no_color or console.color_system is None:
        return None
    return {
        "standard": ColorSystem.STANDARD,
        "256": ColorSystem.EIGHT_BIT,
        "truecolor": ColorSystem.TRUECOLOR,
    }.get(console.color_system)
