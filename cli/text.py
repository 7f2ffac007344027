"""Output of commands: JSON, CSV, errors, and the program's name."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Final

import click

from goldrush.kernel.text import escaped, quoted

if TYPE_CHECKING:
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
PIPED: Final = 1_000  # characters of a roster in a table, where no terminal bounds it


def cut(text: str, most: int = CUT) -> str:
    """A text of a journal, escaped, and cut to a number of characters."""
    text = escaped(text)
    return text if len(text) <= most else f"{text[: most - 3]}..."


def with_rosters_cut(
    rows: Sequence[Sequence[str]], column: int, least: int = CUT
) -> list[tuple[str, ...]]:
    """Rows of a table, of which a column has rosters or labels: these are escaped, and cut as a
    terminal needs it, but to no less than `least` characters. Those that differ stay different.
    """
    from goldrush.replay.text import cut_apart

    most = PIPED
    if sys.stdout.isatty():
        from shutil import get_terminal_size

        others = [cells for place, cells in enumerate(zip(*rows, strict=True)) if place != column]
        taken = sum(max(map(len, cells)) + 2 for cells in others)  # 2: between columns
        most = max(least, get_terminal_size().columns - taken)
    labels = cut_apart({row[column]: escaped(row[column]) for row in rows}, most, "...")
    return [(*row[:column], labels[row[column]], *row[column + 1 :]) for row in rows]


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


def echo_json_line(value: object) -> None:
    """One JSON value on a line of stdout."""
    sys.stdout.write(json.dumps(value) + "\n")


def echo_text(text: str) -> None:
    """Print a text of several lines, in which whatever a journal says is escaped."""
    click.echo(escaped(text, "\n\t"))


def echo(as_json: bool, value: Callable[[], object], text: Callable[[], str]) -> None:
    """Print a result: with --json its value, else its text, escaped."""
    with maybe_unread():
        if as_json:
            echo_json(value())
        else:
            echo_text(text())


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
