"""A page in GitHub-flavoured Markdown, with its figures as SVG files."""

from __future__ import annotations

import re
from collections.abc import Sequence
from html import escape
from typing import Final
from urllib.parse import quote

from goldrush.kernel.files import MARK
from goldrush.replay.report.html import literal_style
from goldrush.replay.report.page import (
    KEY,
    Block,
    Code,
    Content,
    Figure,
    Heading,
    Link,
    Panel,
    TableBlock,
    Text,
    Tiles,
    printable,
)
from goldrush.replay.report.plot import CHARACTER, NARROW


def as_markdown(blocks: Sequence[Block], folder: str) -> tuple[str, dict[str, str]]:
    """The page as Markdown, and its figures as SVG by name of their file in the folder."""
    written = [MARK]
    figures: dict[str, str] = {}
    for block in blocks:
        if isinstance(block, Heading):
            written.append(f"{'#' * block.level} {_plain(block.text)}")
        elif isinstance(block, Text):
            written.append(_paragraph(block.text))
        elif isinstance(block, Code):
            written.append(_code([block.text]))
        elif isinstance(block, Tiles):
            tiles = (": ".join((one.name, one.verdict, one.text)) for one in block.tiles)
            written.append("\n".join(f"- {_paragraph(tile)}" for tile in tiles))
        elif isinstance(block, TableBlock):
            written.append(_table(block))
        else:
            figures[f"{block.name}.svg"] = _standing_alone(block)
            written.append(_figure(block, folder))
    return "\n\n".join(written) + "\n", figures


def is_markdown(front: bytes) -> bool:
    return front.startswith(MARK.encode())


def _table(table: TableBlock) -> str:
    rows: list[Sequence[Content]] = [table.head, *table.rows]
    lines = ["| " + " | ".join(map(_cell, row)) + " |" for row in rows]
    lines.insert(1, "|" + " --- |" * len(table.head))
    return "\n".join([_paragraph(table.caption), "", *lines])


def _figure(figure: Figure, folder: str) -> str:
    journals = ", ".join(figure.journals)
    return (
        f"![{_plain(figure.name)}]({quote(folder)}/{figure.name}.svg)\n\n"
        f"{_paragraph(figure.caption)}\n\n"
        f"{_code(figure.commands)}\n\nfrom {_plain(journals)}"
    )


def _cell(cell: Content) -> str:
    text = _plain(str(cell))
    return (
        f"[{text}]({quote(cell.href, safe='/%')})" if isinstance(cell, Link) and cell.href else text
    )


_GAP: Final = 16.0  # between panels
_EDGE: Final = 10  # around all of them


def _standing_alone(figure: Figure) -> str:
    """The figure as one SVG file: panels in rows, the legend below them, and the styles."""
    each = 3 if figure.panels[0].width == NARROW else 2
    rows = [figure.panels[at : at + each] for at in range(0, len(figure.panels), each)]
    width = each * figure.panels[0].width + (each - 1) * _GAP
    parts, y = [], 0.0
    for row in rows:
        for column, panel in enumerate(row):
            parts.append(_panel(panel, column * (panel.width + _GAP), y))
        y += max(panel.height for panel in row) + _GAP
    x = 0.0
    for key in figure.legend:
        long = KEY[0] + 8 + CHARACTER * len(key.label) + 2 * _GAP
        if x and x + long > width:
            x, y = 0.0, y + 18
        label = f'<text x="{KEY[0] + 6}" y="10">{escape(printable(key.label))}</text>'
        parts.append(f'<g transform="translate({x:g} {y:g})">{key.svg}{label}</g>')
        x += long
    wide, high = width + 2 * _EDGE, y + 18 + 2 * _EDGE
    return (
        f'<?xml version="1.0" encoding="utf-8"?>\n{MARK}\n'
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="{-_EDGE} {-_EDGE} {wide:g} {high:g}" '
        f'width="{wide:g}" height="{high:g}"><style>{literal_style()}</style>'
        f'<rect class="paper" x="{-_EDGE}" y="{-_EDGE}" width="{wide:g}" height="{high:g}"/>'
        f"{''.join(parts)}</svg>\n"
    )


def _panel(panel: Panel, x: float, y: float) -> str:
    label = escape(printable(panel.alt))
    svg = panel.svg.replace('<a href="', '<a href="../')  # figures are in a folder below the page
    return f'<g transform="translate({x:g} {y:g})" role="img" aria-label="{label}">{svg}</g>'


def _code(commands: Sequence[str]) -> str:
    text = "\n".join(map(printable, commands))
    fence = "`" * max(3, 1 + max((len(run) for run in re.findall("`+", text)), default=0))
    return f"{fence}sh\n{text}\n{fence}"


def _paragraph(text: str) -> str:
    """As `_plain`, at the start of a line, where some text begins a list or draws a line."""
    return re.sub(r"^(\d*)(?=[-+=.)]+(\s|$))", r"\1\\", _plain(text))


def _plain(text: str) -> str:
    """Text with markup escaped: a roster may have any name. An interval is no link."""
    escaped = re.sub(r"([\\`*_{}\[\]>#|~$&!]|<(?! ))", r"\\\1", " ".join(printable(text).split()))
    return re.sub(r"\\\[([-−+.,%\d ]+)\\\](?![(\[:])", r"[\1]", escaped)
