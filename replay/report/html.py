"""A page as one HTML file that needs nothing else: styles and figures in it, and no scripts.

Its Content-Security-Policy allows the one style sheet, by its hash, and nothing else: no script, no
request to anywhere, whatever a name on the page should turn out to be.
"""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Sequence
from hashlib import sha256
from html import escape
from typing import Final

from goldrush.replay.report.page import (
    Block,
    Content,
    Figure,
    Heading,
    Marked,
    Table,
    Text,
    printable,
)

_STYLE: Final = """
:root { color-scheme: light; }
body { font: 15px/1.5 system-ui, sans-serif; color: #1c1c1c; background: #fff;
       max-width: 66rem; margin: 0 auto; padding: 1.5rem; }
h1 { font-size: 1.7rem; line-height: 1.25; }
h2 { font-size: 1.3rem; margin-top: 2.5rem; border-bottom: 1px solid #ccc; }
h3 { font-size: 1.05rem; margin-top: 1.8rem; }
p { max-width: 48rem; }
nav ol { columns: 2; font-size: .9rem; }
a { color: #00558c; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; font-size: .8rem; margin: .8rem 0; }
caption { text-align: left; padding: .3rem 0; color: #444; }
th, td { border-bottom: 1px solid #ddd; padding: .22rem .55rem; text-align: left;
         vertical-align: top; }
thead th { border-bottom: 2px solid #888; }
td { font-variant-numeric: tabular-nums; }
.supported { background: #d9f0e3; } .not-supported { background: #f8ddd6; }
.undecided { background: #f0f0f0; }
figure { margin: 1.4rem 0; }
figure svg { width: 100%; max-width: 56rem; height: auto; }
figcaption { font-size: .85rem; color: #333; }
code { font: .74rem/1.4 ui-monospace, monospace; overflow-wrap: anywhere; }
small { font-size: .72rem; }
@page { size: A4; margin: 14mm 11mm; }
@media print {
  body { max-width: none; padding: 0; font-size: 9.5pt; }
  h1 { font-size: 17pt; }
  h2 { font-size: 13pt; margin-top: 16pt; }
  h3 { font-size: 11pt; margin-top: 12pt; }
  h2, h3, caption, p:has(+ figure) { break-after: avoid; }
  figure, tr { break-inside: avoid; }
  p { max-width: none; orphans: 3; widows: 3; }
  figure svg { max-width: none; }
  figcaption, small { font-size: 7.5pt; }
  code { font-size: 6.5pt; }
  table { font-size: 7pt; }
  th, td { padding: 1.2pt 3.5pt; }
  .scroll { overflow: visible; }
  .supported, .not-supported, .undecided { print-color-adjust: exact; }
  a { color: inherit; text-decoration: none; }
}
"""
_SHEET: Final = b64encode(sha256(_STYLE.encode()).digest()).decode()
_POLICY: Final = (
    f"default-src 'none'; style-src 'sha256-{_SHEET}'; base-uri 'none'; form-action 'none'"
)
_GENERATOR: Final = '<meta name="generator" content="goldrush report">'
_COLOURED: Final = ("supported", "not supported", "undecided")  # each a class above
_TAG: Final = re.compile(r"<[^>]*>")
_NAMED: Final = re.compile(r'(\bid="|\burl\(#|\bhref="#)')


def as_html(blocks: Sequence[Block]) -> str:
    """The page."""
    title = next(block.text for block in blocks if isinstance(block, Heading))
    written = []
    for place, block in enumerate(blocks):
        written.append(_written(block))
        if place + 1 < len(blocks) and place == _first_section(blocks) - 1:
            written.append(_contents(blocks))
    return (
        f'<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">\n'
        f'{_GENERATOR}\n<meta name="viewport" content="width=device-width">\n'
        f"<title>{_text(title)}</title>\n"
        f"<style>{_STYLE}</style>\n</head>\n<body>\n" + "\n".join(written) + "\n</body>\n</html>\n"
    )


def is_html(front: bytes) -> bool:
    """Whether a file that begins so is such a page."""
    return front.startswith(b"<!doctype html>") and _GENERATOR.encode() in front


def _first_section(blocks: Sequence[Block]) -> int:
    return next(
        (
            place
            for place, block in enumerate(blocks)
            if isinstance(block, Heading) and block.level == 2
        ),
        0,
    )


def _contents(blocks: Sequence[Block]) -> str:
    links = [
        f'<li><a href="#{_text(block.anchor)}">{_text(block.text)}</a></li>'
        for block in blocks
        if isinstance(block, Heading) and block.level == 2
    ]
    return "<nav><ol>\n" + "\n".join(links) + "\n</ol></nav>"


def _written(block: Block) -> str:
    if isinstance(block, Heading):
        return f'<h{block.level} id="{_text(block.anchor)}">{_text(block.text)}</h{block.level}>'
    if isinstance(block, Text):
        return f"<p>{_text(block.text)}</p>"
    if isinstance(block, Table):
        return _table(block)
    return _figure(block)


def _text(text: str) -> str:
    """Text in which nothing is markup."""
    return escape(printable(text))


def _table(table: Table) -> str:
    head = "".join(f'<th scope="col">{_text(cell)}</th>' for cell in table.head)
    rows = []
    for row in table.rows:
        first, rest = row[0], row[1:]
        cells = "".join(_cell(cell) for cell in rest)
        rows.append(f'<tr><th scope="row">{_text(str(first))}</th>{cells}</tr>')
    caption = f"<caption>{_text(table.caption)}</caption>" if table.caption else ""
    return (
        f'<div class="scroll"><table>{caption}\n<thead><tr>{head}</tr></thead>\n<tbody>\n'
        + "\n".join(rows)
        + "\n</tbody></table></div>"
    )


def _cell(content: Content) -> str:
    if not isinstance(content, Marked):
        return f"<td>{_text(content)}</td>"
    why = f"<br><small>{_text(content.why)}</small>" if content.why else ""
    kind = content.verdict.replace(" ", "-")
    coloured = f' class="{kind}"' if content.verdict in _COLOURED else ""
    return f"<td{coloured}>{_text(content.verdict)}{why}</td>"


def _figure(figure: Figure) -> str:
    journals = ", ".join(figure.journals)
    commands = "".join(f"<code>{_text(command)}</code><br>\n" for command in figure.commands)
    return (
        f'<figure id="{_text(figure.name)}">\n{_own_names(figure)}\n<figcaption>'
        f"{_text(figure.caption)}<br>\n{commands}from {_text(journals)}</figcaption>\n</figure>"
    )


def _own_names(figure: Figure) -> str:
    """The SVG with names that no other on the page has: matplotlib numbers parts in each alike.
    What stands between tags is text, whatever it looks like.
    """
    return _TAG.sub(lambda tag: _NAMED.sub(rf"\1{figure.name}-", tag.group()), figure.svg)
