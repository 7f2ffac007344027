"""A page as one self-contained HTML file, without scripts.

Its Content-Security-Policy allows only the one style sheet, by its hash: no script and no request,
whatever the names on the page contain. The layout is in `page.html`, the style in `figure.css` and
`page.css`.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

from goldrush.kernel.files import MARK, is_marked
from goldrush.replay.colours import css_variables
from goldrush.replay.extras import require
from goldrush.replay.report.marks import has_lines
from goldrush.replay.report.page import (
    DIGIT,
    NONE,
    POINT,
    VARIES,
    Block,
    Content,
    FigureBlock,
    Heading,
    TableBlock,
    printable,
)
from goldrush.replay.report.svg import COLOURS, figure_svg, key_svg, panel_svg, per_row, style_sheet
from goldrush.replay.report.tidy import csv_of
from goldrush.replay.view.frame import policy

_HERE: Final = Path(__file__).parent
_GENERATOR: Final = '<meta name="generator" content="goldrush report">'
# Each verdict has a class of the style sheet, and a sign, as colour alone is not accessible.
_SIGNS: Final = {"supported": "✓", "not supported": "✗", "undecided": "?", VARIES: "~"}
_PLAIN: Final = " !$'()*+,-./:;=?@_~"  # what needs no escape in an address that is quoted by "
_NUMBER: Final = re.compile(
    r"(?P<lead><\u00a0)?(?P<whole>[−]?[\d,]+)(?P<part>\.\d+)?"
    r"(?: ± (?P<error>[\d,]+)(?P<rest>\.\d+)?)?(?P<more> \(.*\))?"
)


def as_html(blocks: Sequence[Block]) -> str:
    """The page as HTML. Raises BadInput if Jinja is not installed."""
    require("jinja2", "a page in HTML needs", "stats")
    from jinja2 import Environment, FileSystemLoader, StrictUndefined
    from markupsafe import Markup

    def seen(value: Any) -> Any:
        """Text with invisible characters escaped, before Jinja escapes markup."""
        return value if isinstance(value, Markup) else printable(str(value))

    def lines(text: str) -> Markup:
        """The same for text of several lines."""
        return Markup("\n").join(printable(line) for line in text.split("\n"))

    environment = Environment(
        loader=FileSystemLoader(_HERE), autoescape=True, finalize=seen, undefined=StrictUndefined,
        keep_trailing_newline=True,
    )  # fmt: skip
    sheet = css_variables(**COLOURS) + style_sheet("figure", "page")
    headings = [block for block in blocks if isinstance(block, Heading)]
    sections = [heading for heading in headings if heading.level == 2]
    return environment.get_template("page.html").render(
        title=headings[0].text,
        policy=policy(sheet),
        mark=MARK,
        generator=_GENERATOR,
        style=sheet,
        blocks=[(type(block).__name__, block) for block in blocks],
        before_contents=blocks.index(sections[0]) if sections else None,
        sections=sections,
        coloured=tuple(_SIGNS),
        signs=_SIGNS,
        numeric_columns=_numeric_columns,
        aligned=_aligned,
        spans=_spans,
        columns=_columns,
        rest=_rest,
        lines=lines,
        panel_svg=panel_svg,
        key_svg=key_svg,
        has_lines=has_lines,
        downloads=_downloads,
    )


def is_html(front: bytes) -> bool:
    return is_marked(front) and _GENERATOR.encode() in front


def _downloads(figure: FigureBlock) -> Iterator[tuple[str, str]]:
    """The data and the drawing of a figure as addresses that hold the whole file: a page that is
    sent to somebody has no files beside it, and no script that could make them.
    """
    for suffix, kind, text in (
        ("csv", "text/csv", csv_of(figure.panels)),
        ("svg", "image/svg+xml", figure_svg(figure.panels, figure.legend)),
    ):
        yield suffix, f"data:{kind};charset=utf-8,{quote(text, safe=_PLAIN)}"


def _columns(figure: FigureBlock) -> str:
    """The number of panels in a row, as a class of the style sheet."""
    return {2: "two", 3: "three"}[per_row(figure.panels)]


def _rest(figure: FigureBlock) -> str:
    """The number of free columns in the last row, as a class; they hold the legend."""
    return f"rest-{-len(figure.panels) % per_row(figure.panels)}"


def _numeric_columns(table: TableBlock) -> set[int]:
    """Indices of the columns of numbers, which are aligned at their decimal points."""
    numeric = set()
    for column in range(1, len(table.head)):
        cells = [row[column] for row in table.rows]
        texts = [cell for cell in cells if isinstance(cell, str) and cell != NONE]
        if all(isinstance(c, str) for c in cells) and all(map(_NUMBER.fullmatch, texts)):
            numeric.add(column)
    return numeric


def _aligned(table: TableBlock, numeric: Collection[int]) -> Iterator[Sequence[Content]]:
    """The rows, with numbers padded by spaces to align their decimal points."""
    columns = [
        _filled([str(row[column]) for row in table.rows])
        if column in numeric
        else [row[column] for row in table.rows]
        for column in range(len(table.head))
    ]
    return zip(*columns, strict=True)


def _spans(table: TableBlock) -> list[int]:
    """By row how many rows its heading is for; 0 where the heading above is for it, too."""
    spans: list[int] = []
    for _, rows in groupby(table.rows, key=lambda row: row[0]):
        count = len(list(rows))
        spans += [count, *[0] * (count - 1)]
    return spans


def _filled(texts: Sequence[str]) -> list[str]:
    matches = [_NUMBER.fullmatch(text) for text in texts]

    def most(group: str) -> int:
        return max((len(match[group] or "") for match in matches if match), default=0)

    part, error, rest, more = (most(group) for group in ("part", "error", "rest", "more"))
    lines = []
    for text, match in zip(texts, matches, strict=True):
        if match is None:
            match = _NUMBER.fullmatch("0")
            assert match is not None
            text = NONE
        filled = f"{match['lead'] or ''}{match['whole']}" if text != NONE else text
        filled += _to(match["part"], part)
        if error:
            filled += (
                f" ± {match['error'].rjust(error, DIGIT)}"
                if match["error"]
                else " " * 3 + DIGIT * error
            )
            filled += _to(match["rest"], rest)
        filled += (match["more"] or "").ljust(more)
        lines.append(filled)
    return lines


def _to(part: str | None, length: int) -> str:
    """A fraction, padded with spaces as wide as the missing digits."""
    if not length:
        return ""
    return part + DIGIT * (length - len(part)) if part else POINT + DIGIT * (length - 1)
