"""A page in Markdown (tables as GitHub has them), its figures as files beside it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from urllib.parse import quote

from goldrush.replay.report.page import (
    Block,
    Content,
    Figure,
    Heading,
    Table,
    Text,
    printable,
)


def as_markdown(blocks: Sequence[Block], folder: str) -> tuple[str, dict[str, str]]:
    """The page, and its figures as SVG by their file's name; it looks for them in `folder`."""
    written = []
    figures: dict[str, str] = {}
    for block in blocks:
        if isinstance(block, Heading):
            written.append(f"{'#' * block.level} {_plain(block.text)}")
        elif isinstance(block, Text):
            written.append(_plain(block.text))
        elif isinstance(block, Table):
            written.append(_table(block))
        else:
            figures[f"{block.name}.svg"] = _standing_alone(block)
            written.append(_figure(block, folder))
    return "\n\n".join(written) + "\n", figures


def is_markdown(title: str, front: bytes) -> bool:
    """Whether a file that begins so is such a page; `title`: the question that it asks."""
    return front.startswith(f"# {_plain(title)}".encode())


def _table(table: Table) -> str:
    rows: list[Sequence[Content]] = [table.head, *table.rows]
    lines = ["| " + " | ".join(_plain(str(cell)) for cell in row) + " |" for row in rows]
    lines.insert(1, "|" + " --- |" * len(table.head))
    return "\n".join([*([_plain(table.caption), ""] if table.caption else []), *lines])


def _figure(figure: Figure, folder: str) -> str:
    journals = ", ".join(figure.journals)
    return (
        f"![{_plain(figure.name)}]({quote(folder)}/{figure.name}.svg)\n\n{_plain(figure.caption)}\n\n"
        f"{_code(figure.commands)}\n\nfrom {_plain(journals)}"
    )


def _standing_alone(figure: Figure) -> str:
    return f'<?xml version="1.0" encoding="utf-8"?>\n{figure.svg}'


def _code(commands: Sequence[str]) -> str:
    text = "\n".join(map(printable, commands))
    fence = "`" * max(3, 1 + max((len(run) for run in re.findall("`+", text)), default=0))
    return f"{fence}sh\n{text}\n{fence}"


def _plain(text: str) -> str:
    """Text in which nothing is markup: a roster may be called anything."""
    line = " ".join(printable(text).split())
    line = re.sub(r"([\\`*_{}\[\]<>#|~$&!])", r"\\\1", line)
    # What begins an item of a list, or underlines a heading, does so at the start alone.
    return re.sub(r"^(\d*)([-+=.)])", r"\1\\\2", line)
