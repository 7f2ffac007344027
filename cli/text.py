"""What commands print: JSON, errors, colours, and the commands that they suggest."""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from typing import TYPE_CHECKING, Any, Final

import click

from goldrush.kernel.text import escaped, quoted

if TYPE_CHECKING:
    from rich.color import ColorSystem


def program() -> str:
    """How this program was called, so that what is suggested can be typed as it stands."""
    called = sys.argv[0]
    if os.path.basename(called) != "goldrush":
        return "python -m goldrush"
    found = shutil.which("goldrush")
    same = found is not None and os.path.realpath(found) == os.path.realpath(called)
    return "goldrush" if same else quoted(called)


def echo_error(message: str) -> None:
    """A line on stderr, escaped; nothing where stderr cannot be written (a closed pipe)."""
    with suppress(OSError):
        click.echo(escaped(message), err=True)


def drop_output() -> None:
    """Send what is still buffered for stdout, and all that follows, to /dev/null."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # noqa: TID251  # a device


@contextmanager
def maybe_unread() -> Iterator[None]:
    """For the output of commands whose exit code is an answer: where whoever reads the output has
    closed the pipe (`head`), the rest is dropped and the command goes on to its exit code.
    """
    try:
        yield
        sys.stdout.flush()
    except BrokenPipeError:
        drop_output()


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


# Of 256, by agent: ten dark ones under white, then ten light ones under black, so that none is like
# its neighbour. On the map every cell has its number, too: nobody has to tell colours apart.
_DARK: Final = (25, 130, 29, 125, 60, 94, 31, 161, 54, 22)
_LIGHT: Final = (117, 215, 114, 211, 147, 180, 80, 222, 183, 150)


def painted(text: str, agent: int | None) -> str:
    """The text of what belongs to an agent on its colour; dim where it belongs to nobody. As it is
    where the terminal has no colours, or none are wanted (NO_COLOR).
    """
    from rich.style import Style

    system = _colours()
    if system is None:
        return text
    if agent is None:
        return Style(dim=True).render(text, color_system=system)
    colours = (*_DARK, *_LIGHT)
    place = agent % len(colours)
    front = "bright_white" if place < len(_DARK) else "black"
    style = Style(color=front, bgcolor=f"color({colours[place]})")
    return style.render(text, color_system=system)


@cache
def _colours() -> ColorSystem | None:
    """The colours that standard output has; None where it is no terminal."""
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
