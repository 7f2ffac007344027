"""Text for terminals: nothing that came from a file or a model may move the cursor."""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Sequence
from typing import Any

import click

from kernel.text import escaped, quoted


def printable(text: str) -> str:
    """The text with every character that cannot be seen written as an escape."""
    return escaped(text)


def program() -> str:
    """How this program was called, so that what is suggested can be typed as it stands."""
    called = sys.argv[0]
    if os.path.basename(called) != "goldrush":
        return "python -m cli"
    found = shutil.which("goldrush")
    same = found is not None and os.path.realpath(found) == os.path.realpath(called)
    return "goldrush" if same else quoted(called)


def echo_json(value: Any) -> None:
    """One JSON value on stdout."""
    click.echo(json.dumps(value, indent=2))


def table(rows: Sequence[Sequence[str]], numbers: Sequence[int] = ()) -> str:
    """Columns as wide as their longest cell; those in `numbers` are set to the right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = []
    for row in rows:
        cells = [
            cell.rjust(width) if place in numbers else cell.ljust(width)
            for place, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        lines.append("  ".join(cells).rstrip())
    return "\n".join(lines)
