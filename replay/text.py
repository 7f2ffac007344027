"""Text for people: numbers, tables in columns, and ranges."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from io import StringIO
from typing import Final

SENTENCE_DIGITS: Final = 3  # significant digits of a number in a sentence
TABLE_DIGITS: Final = 4  # and in a table
CLOSE_DIGITS: Final = 6  # of numbers that a rule compares or a chart has
EXACT_DIGITS: Final = 10  # of an amount that an event has
_WHOLE_MAX: Final = 1e15  # whole numbers from here on are rounded, too


def format_number(value: float | None, digits: int = SENTENCE_DIGITS) -> str:
    """A number with so many significant digits; whole numbers, and the whole part of any, in full.
    `-` for None.
    """
    if value is None:
        return "-"
    is_in_full = 10 ** (digits - 1) <= abs(value) < _WHOLE_MAX
    return f"{value:,.0f}" if is_in_full else f"{value:,.{digits}g}"


def format_change(a: float | None, b: float | None, digits: int = TABLE_DIGITS) -> str:
    """`b - a` with its sign; `-` where one of them is undefined."""
    if a is None or b is None:
        return "-"
    return f"{'+' if b >= a else ''}{format_number(b - a, digits)}"


def format_table(
    rows: Sequence[Sequence[str]],
    numbers: Sequence[int] = (),
    most: int | None = None,
    rest: str = "--json has all",
    gap: str = "  ",
) -> str:
    """Rows as columns, each as wide as its widest cell; those whose index is in `numbers` are
    aligned to the right. Of more than `most` rows behind the first one, the others are counted, and
    `rest` says where they are. `gap`: between two columns.

    (rich's own tables take a millisecond a row, which is seconds for the rounds of a long run.)
    """
    more = 0 if most is None else len(rows) - 1 - most
    if more > 0:
        return f"{format_table(rows[:-more], numbers)}\nand {more} more; {rest}"
    widths = [max(map(_width, column)) for column in zip(*rows, strict=True)]
    lines = []
    for row in rows:
        cells = []
        for index, (cell, width) in enumerate(zip(row, widths, strict=True)):
            space = " " * (width - _width(cell))  # wide characters take two columns
            cells.append(space + cell if index in numbers else cell + space)
        lines.append(gap.join(cells).rstrip())
    return "\n".join(lines)


def _width(text: str) -> int:
    """The number of a terminal's columns that a text takes."""
    if text.isascii() and text.isprintable():
        return len(text)
    from rich.cells import cell_len

    return cell_len(text)


def cut_middle(text: str, most: int, dots: str) -> str:
    """A text of at most `most` characters, with dots in its middle if it is longer."""
    if len(text) <= most:
        return text
    end = (most - len(dots)) // 2
    return f"{text[: most - end - len(dots)]}{dots}{text[len(text) - end :]}"


def cut_apart(texts: Mapping[str, str], most: int, dots: str) -> dict[str, str]:
    """Texts of rosters, or labels, by name: those of more than `most` characters are cut in the
    middle, and equal results numbered, so that none are equal.
    """
    return numbered({name: cut_middle(text, most, dots) for name, text in texts.items()}, "{} ({})")


def numbered(
    texts: Mapping[str, str], form: str, key: Callable[[str], str] = str
) -> dict[str, str]:
    """Texts by name, each different from those before it by its `key`: equal ones get a number, by
    a form for text and number.
    """
    labels: dict[str, str] = {}
    taken: set[str] = set()
    numbers: Counter[str] = Counter()
    for name, text in texts.items():
        label = text
        while key(label) in taken:
            numbers[key(text)] += 1
            label = form.format(text, numbers[key(text)] + 1)
        labels[name] = label
        taken.add(key(label))
    return labels


def csv_of(rows: Iterable[Iterable[str]]) -> str:
    """Rows as CSV, with `\\n` as line ends."""
    file = StringIO()
    csv.writer(file, lineterminator="\n").writerows(rows)
    return file.getvalue()


def csv_of_records(records: Sequence[Mapping[str, object]]) -> str:
    """Records as CSV, their names first: None is empty, and of several parts `;` stands between."""
    head = [*records[0]] if records else []
    return csv_of([head, *(map(_csv_cell, each.values()) for each in records)])


def _csv_cell(value: object) -> str:
    if isinstance(value, Mapping):
        return ";".join(f"{name}={part}" for name, part in value.items())
    if isinstance(value, (list, tuple)):
        return ";".join(map(str, value))
    return "" if value is None else str(value)


def capitalized(text: str) -> str:
    """The text with its first letter as a capital, and the others as they are."""
    return f"{text[:1].upper()}{text[1:]}"


def format_list(texts: Sequence[str]) -> str:
    """One or more texts as in a sentence: `a, b and c`."""
    *others, last = texts
    return f"{', '.join(others)} and {last}" if others else last


def format_ranges(numbers: Iterable[int]) -> str:
    """Ascending integers with runs of consecutive ones joined: `5-9, 14`."""
    parts: list[list[int]] = []
    for number in numbers:
        if parts and parts[-1][-1] == number - 1:
            parts[-1][1:] = [number]
        else:
            parts.append([number])
    return ", ".join("-".join(map(str, part)) for part in parts)
