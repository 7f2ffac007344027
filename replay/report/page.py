"""What a page consists of, whatever it is written in: headings, paragraphs, tables, figures."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import attrs


@attrs.frozen
class Heading:
    """A heading of level 1 (the page) to 3; `anchor` is what a link to it names."""

    level: int
    text: str
    anchor: str


@attrs.frozen
class Text:
    """A paragraph. `is_code`: commands, to be shown as they are."""

    text: str
    is_code: bool = False


@attrs.frozen
class Table:
    """A table: the head, the rows, and what it tells. The first column names what a row is of."""

    head: Sequence[str]
    rows: Sequence[Sequence[str]]
    caption: str = ""


@attrs.frozen
class Figure:
    """A picture (SVG) by a name, with what it shows, the command that gives its figures, and the
    journals that it came from.
    """

    name: str
    svg: str
    caption: str
    command: str
    journals: Sequence[str]


Block = Heading | Text | Table | Figure

NONE: Final = "–"  # in a cell, for what is undefined


def number(value: float | None, digits: int = 3) -> str:
    """A figure for people: so many significant digits, whole numbers whole."""
    if value is None:
        return NONE
    if value == 0:
        return "0"
    text = f"{value:.{digits}g}"
    if "e" not in text:
        return text
    return f"{value:,.0f}" if abs(value) >= 1 else f"{value:.1e}"


def p_value(value: float | None) -> str:
    """A p-value for people."""
    if value is None:
        return NONE
    return "< 0.001" if value < 0.001 else f"{value:.3f}"
