"""What a page consists of, whatever it is written in: headings, paragraphs, tables, figures."""

from __future__ import annotations

import math
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
    """A paragraph; `leads`: the one that a reader is to see first."""

    text: str
    leads: bool = False


@attrs.frozen
class Code:
    """Lines to be typed or copied, as they are."""

    text: str


@attrs.frozen
class Tile:
    """A verdict that is to be seen from afar: on what, the verdict, and a few words on it."""

    name: str
    verdict: str
    says: str


@attrs.frozen
class Tiles:
    """Verdicts beside each other."""

    tiles: Sequence[Tile]


@attrs.frozen
class Marked:
    """A cell of a table with a verdict, which is to be seen from afar (or what comes near to one),
    and why it is so.
    """

    verdict: str
    why: str = ""

    def __str__(self) -> str:
        return f"{self.verdict} ({self.why})" if self.why else self.verdict


@attrs.frozen
class Link:
    """A cell of a table that leads to another page; without `href` it is its text alone."""

    text: str
    href: str | None

    def __str__(self) -> str:
        return self.text


Content = str | Marked | Link


@attrs.frozen
class Table:
    """A table: the head, the rows, and what it tells. The first column names what a row is of."""

    head: Sequence[str]
    rows: Sequence[Sequence[Content]]
    caption: str


@attrs.frozen
class Panel:
    """A part of a figure: its `title`, what it holds as SVG (with the classes of figure.css) within
    `width` x `height`, and `alt`, which says it to those who do not see it. `has_links`: parts of
    it lead to other pages.
    """

    title: str
    svg: str
    width: float
    height: float
    alt: str
    has_links: bool = False


@attrs.frozen
class Key:
    """An entry of a legend: what it is called, and how it is drawn, as SVG within KEY."""

    label: str
    svg: str


KEY: Final = (26, 12)  # width and height of what is drawn in a legend


@attrs.frozen
class Figure:
    """Panels by a name, with what they show, the commands that give their numbers, and the journals
    that they came from.
    """

    name: str
    panels: Sequence[Panel]
    legend: Sequence[Key]
    caption: str
    commands: Sequence[str]
    journals: Sequence[str]


Block = Heading | Text | Code | Tiles | Table | Figure

VARIES: Final = "varies"  # in a tile, of verdicts that are not all the same
NONE: Final = "–"  # in a cell, for what is undefined
MINUS: Final = "−"  # no line ends behind it
TOGETHER: Final = "\u00a0"  # a space at which no line ends
DIGIT, POINT = "\u2007", "\u2008"  # spaces as wide as a digit, and as a decimal point
DECIMALS_MAX: Final = 8  # of a number that is rounded to its error


def numbered(blocks: Sequence[Block]) -> list[Block]:
    """The page with its tables and figures numbered, each in its own order."""
    tables = figures = 0
    found: list[Block] = []
    for block in blocks:
        if isinstance(block, Table):
            tables += 1
            block = attrs.evolve(block, caption=f"Table {tables}. {block.caption}")
        elif isinstance(block, Figure):
            figures += 1
            block = attrs.evolve(block, caption=f"Figure {figures}. {block.caption}")
        found.append(block)
    return found


def printable(text: str) -> str:
    """The text with every character that is none to be seen written as an escape: names come from
    whoever made the study, and some characters are not allowed in a page, or turn it around.
    """
    return escaped(text, keep=f"{TOGETHER}{DIGIT}{POINT}")


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


def fixed(value: float | None, decimals: int) -> str:
    """A figure with so many decimals, as the others of its column have."""
    if value is None:
        return NONE
    text = f"{value:,.{decimals}f}"
    return (
        text.removeprefix("-") if float(f"{value:.{decimals}f}") == 0 else text.replace("-", MINUS)
    )


def rounded(found: Interval) -> str:
    """A mean rounded to its error: to the second significant digit of half its interval."""
    decimals = _decimals(found)
    return number(found.mean) if decimals is None else fixed(found.mean, decimals)


def bounds(found: Interval) -> str:
    """A mean with half its 95% interval, both rounded to the second significant digit of that."""
    decimals = _decimals(found)
    if decimals is None:
        return number(found.mean) if found.low is None else f"{number(found.mean)} ± 0"
    half = _half(found)
    return f"{fixed(found.mean, decimals)} ± {fixed(half, decimals)}"


def _half(found: Interval) -> float | None:
    if found.mean is None or found.high is None:
        return None
    return found.high - found.mean


def _decimals(found: Interval) -> int | None:
    """How many decimals the error of a mean allows; None where there is no error."""
    half = _half(found)
    if half is None or half <= 0:
        return None
    return min(DECIMALS_MAX, max(0, 1 - math.floor(math.log10(half))))


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
