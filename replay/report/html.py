"""A page as one HTML file that needs nothing else: styles and figures in it, and no scripts.

Its Content-Security-Policy allows the one style sheet, by its hash, and nothing else: no script, no
request to anywhere, whatever a name on the page should turn out to be. What the page looks like
stands in `page.html` and `page.css`.
"""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

from goldrush.replay.extras import require
from goldrush.replay.report.page import Block, Figure, Heading, printable

_HERE: Final = Path(__file__).parent
_GENERATOR: Final = '<meta name="generator" content="goldrush report">'
_COLOURED: Final = ("supported", "not supported", "undecided")  # each a class of the style sheet
_TAG: Final = re.compile(r"<[^>]*>")
_NAMED: Final = re.compile(r'(\bid="|\burl\(#|\bhref="#)')


def as_html(blocks: Sequence[Block]) -> str:
    """The page. Raises BadInput where Jinja is not installed."""
    require("jinja2", "a page in HTML needs", "stats")
    from jinja2 import Environment, FileSystemLoader, StrictUndefined
    from markupsafe import Markup

    def seen(value: Any) -> Any:
        """Text of which every character can be seen; then it is escaped, so nothing is markup."""
        return value if isinstance(value, Markup) else printable(str(value))

    environment = Environment(
        loader=FileSystemLoader(_HERE), autoescape=True, finalize=seen, undefined=StrictUndefined,
        keep_trailing_newline=True,
    )  # fmt: skip
    style = (_HERE / "page.css").read_text()
    sheet = b64encode(sha256(style.encode()).digest()).decode()
    policy = f"default-src 'none'; style-src 'sha256-{sheet}'; base-uri 'none'; form-action 'none'"
    headings = [block for block in blocks if isinstance(block, Heading)]
    sections = [heading for heading in headings if heading.level == 2]
    return environment.get_template("page.html").render(
        title=headings[0].text,
        policy=policy,
        generator=_GENERATOR,
        style=style,
        blocks=[(type(block).__name__, block) for block in blocks],
        before_contents=blocks.index(sections[0]) if sections else None,
        sections=sections,
        coloured=_COLOURED,
        own_names=_own_names,
    )


def is_html(front: bytes) -> bool:
    """Whether a file that begins so is such a page."""
    return front.startswith(b"<!doctype html>") and _GENERATOR.encode() in front


def _own_names(figure: Figure) -> str:
    """The SVG with names that no other on the page has: matplotlib numbers parts in each alike.
    What stands between tags is text, whatever it looks like.
    """
    return _TAG.sub(lambda tag: _NAMED.sub(rf"\1{figure.name}-", tag.group()), figure.svg)
