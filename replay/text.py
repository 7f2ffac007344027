"""Text for people, made of what was found: tables in columns, and maps."""

from __future__ import annotations

from collections.abc import Callable, Sequence

# Gives a text of what belongs to an agent (None: to nobody) its colour.
Paint = Callable[[str, int | None], str]


def plain(text: str, agent: int | None) -> str:
    """No colour at all."""
    return text


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
