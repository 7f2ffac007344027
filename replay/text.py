"""Text for people, made of what was found: tables in columns, and ranges."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

# Gives a text of what belongs to an agent (None: to nobody) its colour.
Paint = Callable[[str, int | None], str]


def plain(text: str, agent: int | None) -> str:
    """No colour at all."""
    return text


def format_table(rows: Sequence[Sequence[str]], numbers: Sequence[int] = ()) -> str:
    """Columns as wide as their widest cell; those in `numbers` are set to the right.

    (rich's own tables take a millisecond a row, which is seconds for the rounds of a long run.)
    """
    from rich.cells import cell_len

    widths = [max(map(cell_len, column)) for column in zip(*rows, strict=True)]
    lines = []
    for row in rows:
        cells = []
        for index, (cell, width) in enumerate(zip(row, widths, strict=True)):
            space = " " * (width - cell_len(cell))  # wide characters take two places
            cells.append(space + cell if index in numbers else cell + space)
        lines.append("  ".join(cells).rstrip())
    return "\n".join(lines)


def format_ranges(numbers: Iterable[int]) -> str:
    """Ascending whole numbers, those that follow each other as one: `5-9, 14`."""
    parts: list[list[int]] = []
    for number in numbers:
        if parts and parts[-1][-1] == number - 1:
            parts[-1][1:] = [number]
        else:
            parts.append([number])
    return ", ".join("-".join(map(str, part)) for part in parts)
