"""Pages read as a browser reads them: strictly, so that what is not well-formed is seen."""

from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import attrs

from goldrush.replay.report.figure import Figure
from goldrush.replay.report.svg import panel_svg
from goldrush.replay.study.backend import processes
from goldrush.replay.study.carry_out import carry_out
from goldrush.replay.study.plan import plan_of

VOID = ("meta", "br")


def studied(folder: Path, **plan: Any) -> Path:
    """A study carried out in a folder."""
    carry_out(plan_of(**plan), folder, backend=processes(1))
    return folder


@attrs.define
class Seen:
    """A table: its caption, head and rows, as text."""

    caption: str = ""
    head: list[str] = attrs.field(factory=list)
    rows: list[list[str]] = attrs.field(factory=list)


class Page(HTMLParser):
    """What is on a page; a tag that is not closed, or not open, is an error."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[str] = []
        self.ids: list[str] = []
        self.links: list[str] = []
        self.attributes: list[tuple[str, str, str]] = []
        self.texts: list[tuple[str, str]] = []  # (tag around it, text)
        self.tables: list[Seen] = []
        self.html = html
        self.feed(html)
        self.close()
        assert [] == self.open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        for name, value in attrs:
            self.attributes.append((tag, name, value or ""))
            if name == "id":
                self.ids.append(value or "")
            if name in ("href", "src", "xlink:href") and not (value or "").startswith("data:"):
                self.links.append(value or "")
        if tag not in VOID:
            self.open.append(tag)
        if tag == "table":
            self.tables.append(Seen())
        if tag == "tr" and "tbody" in self.open:
            self.tables[-1].rows.append([])
        if tag == "td" and not self._cells():  # the heading above is for this row, too
            self._cells().append(self.tables[-1].rows[-2][0])
        if tag in ("td", "th"):
            self._cells().append("")

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        self.handle_endtag(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag not in VOID:
            assert tag == self.open.pop()

    def handle_data(self, data: str) -> None:
        self.texts.append((self.open[-1] if self.open else "", data))
        if "caption" in self.open:
            self.tables[-1].caption += data
        elif "td" in self.open or "th" in self.open:
            cells = self._cells()
            cells[-1] += (" " if cells[-1] and "small" in self.open else "") + data

    def _cells(self) -> list[str]:
        table = self.tables[-1]
        return table.rows[-1] if "tbody" in self.open else table.head

    @property
    def text(self) -> str:
        """All text that is to be read."""
        return " ".join(text for tag, text in self.texts if tag != "style")

    @property
    def svgs(self) -> list[ElementTree.Element]:
        """The pictures and what stands in legends, parsed as XML."""
        parts = self.html.split("<svg")[1:]
        return [ElementTree.fromstring("<svg" + p[: p.index("</svg>")] + "</svg>") for p in parts]


def words(figure: Figure) -> list[str]:
    """The texts in the panels of a figure."""
    parsed = [
        ElementTree.fromstring(f"<svg>{panel_svg(figure, panel)}</svg>") for panel in figure.panels
    ]
    return ["".join(each.itertext()) for svg in parsed for each in svg.iter("text")]
