"""A page as one HTML file that needs nothing else: styles and figures in it, and no scripts."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Final

from replay.report.page import Block, Figure, Heading, Table, Text

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
figure { margin: 1.2rem 0; }
figure svg { width: 100%; height: auto; }
figcaption { font-size: .85rem; color: #333; }
code, pre { font: .78rem/1.4 ui-monospace, monospace; overflow-wrap: anywhere; }
pre { background: #f6f6f6; padding: .6rem; white-space: pre-wrap; }
@media print {
  body { max-width: none; padding: 0; font-size: 10pt; }
  h2, h3 { break-after: avoid; }
  figure, tr { break-inside: avoid; }
  table { font-size: 7.5pt; }
  .scroll { overflow: visible; }
  a { color: inherit; text-decoration: none; }
}
"""
_VERDICTS: Final = ("supported", "not supported", "undecided")


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
        f'<meta name="viewport" content="width=device-width">\n<title>{escape(title)}</title>\n'
        f"<style>{_STYLE}</style>\n</head>\n<body>\n" + "\n".join(written) + "\n</body>\n</html>\n"
    )


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
        f'<li><a href="#{escape(block.anchor)}">{escape(block.text)}</a></li>'
        for block in blocks
        if isinstance(block, Heading) and block.level == 2
    ]
    return "<nav><ol>\n" + "\n".join(links) + "\n</ol></nav>"


def _written(block: Block) -> str:
    if isinstance(block, Heading):
        return f'<h{block.level} id="{escape(block.anchor)}">{escape(block.text)}</h{block.level}>'
    if isinstance(block, Text):
        return (
            f"<pre>{escape(block.text)}</pre>" if block.is_code else f"<p>{escape(block.text)}</p>"
        )
    if isinstance(block, Table):
        return _table(block)
    return _figure(block)


def _table(table: Table) -> str:
    head = "".join(f'<th scope="col">{escape(cell)}</th>' for cell in table.head)
    rows = []
    for row in table.rows:
        first, rest = row[0], row[1:]
        cells = "".join(_cell(cell) for cell in rest)
        rows.append(f'<tr><th scope="row">{escape(first)}</th>{cells}</tr>')
    caption = f"<caption>{escape(table.caption)}</caption>" if table.caption else ""
    return (
        f'<div class="scroll"><table>{caption}\n<thead><tr>{head}</tr></thead>\n<tbody>\n'
        + "\n".join(rows)
        + "\n</tbody></table></div>"
    )


def _cell(text: str) -> str:
    verdict = next((name for name in _VERDICTS if text.startswith(name)), None)
    if verdict is None:
        return f"<td>{escape(text)}</td>"
    reason = text.removeprefix(verdict)
    return (
        f'<td class="{verdict.replace(" ", "-")}">{verdict}'
        + (f"<br><small>{escape(reason.strip())}</small>" if reason else "")
        + "</td>"
    )


def _figure(figure: Figure) -> str:
    journals = ", ".join(figure.journals)
    return (
        f'<figure id="{escape(figure.name)}">\n{_own_names(figure)}\n<figcaption>'
        f"{escape(figure.caption)}<br>\n<code>{escape(figure.command)}</code><br>\n"
        f"from {escape(journals)}</figcaption>\n</figure>"
    )


def _own_names(figure: Figure) -> str:
    """The SVG with names that no other on the page has: matplotlib numbers parts in each alike."""
    svg = figure.svg
    for before in ('id="', "url(#", 'href="#'):
        svg = svg.replace(before, f"{before}{figure.name}-")
    return svg
