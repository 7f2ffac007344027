"""What a page consists of, whatever it is written in: headings, paragraphs, tables, figures."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import attrs

from goldrush.kernel.text import escaped
from goldrush.replay.study.inference import Interval


@attrs.frozen
class Heading:
    """A heading of level 1 (the page) to 3; `anchor` is what a link to it names."""

    level: int
    text: str
    anchor: str


@attrs.frozen
class Text:
    """A paragraph."""

    text: str


@attrs.frozen
class Marked:
    """A cell of a table with a verdict, which is to be seen from afar (or what comes near to one),
    and why it is so.
    """

    verdict: str
    why: str = ""

    def __str__(self) -> str:
        return f"{self.verdict} ({self.why})" if self.why else self.verdict


Content = str | Marked


@attrs.frozen
class Table:
    """A table: the head, the rows, and what it tells. The first column names what a row is of."""

    head: Sequence[str]
    rows: Sequence[Sequence[Content]]
    caption: str = ""


@attrs.frozen
class Figure:
    """A picture (SVG) by a name, with what it shows, the commands that give its figures, and the
    journals that it came from.
    """

    name: str
    svg: str
    caption: str
    commands: Sequence[str]
    journals: Sequence[str]


Block = Heading | Text | Table | Figure

NONE: Final = "–"  # in a cell, for what is undefined
MINUS: Final = "−"  # no line ends behind it
TOGETHER: Final = "\u00a0"  # a space at which no line ends


def printable(text: str) -> str:
    """The text with every character that is none to be seen written as an escape: names come from
    whoever made the study, and some characters are not allowed in a page, or turn it around.
    """
    return escaped(text, but=TOGETHER)


def number(value: float | None, digits: int = 3) -> str:
    """A figure for people: so many significant digits, whole numbers whole."""
    if value is None:
        return NONE
    if value == 0:
        return "0"
    text = f"{value:.{digits}g}"
    if "e" in text:
        text = f"{value:,.0f}" if abs(value) >= 1 else f"{value:.1e}"
    return text.replace("-", MINUS)


def bounds(found: Interval) -> str:
    """A mean for people, with its interval where it has one."""
    if found.low is None:
        return number(found.mean)
    return f"{number(found.mean)} [{number(found.low)},{TOGETHER}{number(found.high)}]"


def p_value(value: float | None) -> str:
    """A p-value for people; one that rounding would put on the other side of 0.05, or on it, has
    digits enough to tell.
    """
    if value is None:
        return NONE
    if value < 0.001:
        return f"<{TOGETHER}0.001"
    digits = 3
    while f"{value:.{digits}f}" == f"{0.05:.{digits}f}" and value != 0.05 and digits < 15:
        digits += 1
    return f"{value:.{digits}f}"
