"""A page in GitHub-flavoured Markdown, with its figures as SVG files."""

from __future__ import annotations

import re
from collections.abc import Sequence
from urllib.parse import quote

from goldrush.kernel.files import MARK
from goldrush.replay.report.page import (
    Block,
    Code,
    Content,
    FigureBlock,
    Heading,
    Link,
    TableBlock,
    Text,
    Tiles,
    printable,
)
from goldrush.replay.report.svg import figure_svg


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
            tiles = (": ".join((tile.name, tile.verdict, tile.text)) for tile in block.tiles)
            written.append("\n".join(f"- {_paragraph(tile)}" for tile in tiles))
        elif isinstance(block, TableBlock):
            written.append(_table(block))
        else:
            figures[f"{block.name}.svg"] = figure_svg(block.panels, block.legend, links="../")
            written.append(_figure(block, folder))
    return "\n\n".join(written) + "\n", figures


def is_markdown(front: bytes) -> bool:
    return front.startswith(MARK.encode())


def _table(table: TableBlock) -> str:
    rows: list[Sequence[Content]] = [table.head, *table.rows]
    lines = ["| " + " | ".join(map(_cell, row)) + " |" for row in rows]
    lines.insert(1, "|" + " --- |" * len(table.head))
    return "\n".join([_paragraph(table.caption), "", *lines])


def _figure(figure: FigureBlock, folder: str) -> str:
    caption, journals = f"{figure.label}. {figure.caption}", ", ".join(figure.journals)
    return (
        f"![{_plain(figure.name)}]({quote(folder)}/{figure.name}.svg)\n\n"
        f"{_paragraph(caption)}\n\n"
        f"{_code(figure.commands)}\n\nfrom {_plain(journals)}"
    )


def _cell(cell: Content) -> str:
    text = _plain(str(cell))
    return (
        f"[{text}]({quote(cell.href, safe='/%')})" if isinstance(cell, Link) and cell.href else text
    )


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
