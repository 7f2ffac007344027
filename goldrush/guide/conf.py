"""The documentation as a site, made by Sphinx of the pages where they stand: `.ci/site OUT`.

The root of the source is the repository, so a page's relative links lead to the same page on the
site as on a code host. What only the site has is in this folder: an entrance, the tutorial, lists
of how-tos, references and explanations, and the notebook.

Sphinx with MyST, not MkDocs or its successors: these want all pages in one folder, which would have
to be filled with copies whose links no longer fit. The theme is PyData's: axe-core finds nothing
wrong with it, and it loads nothing from elsewhere. The search is Sphinx's: a script with an index,
which works from `file://`, too.
"""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Iterable, Iterator
from itertools import chain, zip_longest
from pathlib import Path
from typing import Any, Final

import click
from docutils import nodes
from myst_parser.parsers.sphinx_ import MystParser
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

import goldrush
from goldrush.cli.main import SECTIONS, cli
from goldrush.replay import catalogue

project = "goldrush"
author = "The goldrush authors"
version = release = goldrush.__version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.githubpages", "sphinx.ext.napoleon"]
root_doc = "goldrush/guide/index"
include_patterns = [
    "*.md",
    "goldrush/*.md",
    "goldrush/guide/*.md",
    "goldrush/guide/*.ipynb",
    "tests/README.md",
    *(f"{room}/**.md" for room in ("agents", "cli", "journals", "kernel", "replay")),
]
exclude_patterns = [  # folders that need not be searched; goldrush/ has links to the rooms
    ".*", "**/__pycache__", "journals/golden", "tests/*/**",
    *(f"goldrush/{room}" for room in ("agents", "cli", "kernel", "replay")),
]  # fmt: skip
suppress_warnings = ["config.cache"]  # functions below are in the configuration

myst_heading_anchors = 4
smartquotes_action = "D"  # quotation marks stay as they are

default_role = "literal"  # docstrings write `names` as Markdown does
autodoc_member_order = "bysource"
autodoc_typehints_format = "short"
autodoc_typehints = "description"
autodoc_typehints_description_target = "documented_params"
napoleon_use_ivar = True  # an attribute with a docstring of its own is not told twice

html_theme = "pydata_sphinx_theme"
html_title = "goldrush"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_context = {"default_mode": "auto"}
html_copy_source = html_show_sourcelink = False
html_use_index = html_domain_indices = False  # the search finds the same
html_show_search_summary = False  # it would ask a server for each page that is found
html_search_scorer = str(Path(__file__).with_name("search.js"))
html_theme_options: dict[str, Any] = {
    "footer_start": ["copyright"],
    "footer_end": [],
    "navigation_with_keys": False,
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
    "secondary_sidebar_items": ["page-toc"],
    "show_toc_level": 2,
}
copyright = f"{author}. MIT licence"

WORLDS: Final = ("mining", "competition", "episode")
ENTRANCE: Final = f"""<!doctype html>
<html lang="en"><title>goldrush</title>
<meta charset="utf-8"><meta http-equiv="refresh" content="0; url={root_doc}.html">
<main><h1>goldrush</h1><p><a href="{root_doc}.html">The documentation of goldrush</a></p></main>
</html>
"""


class CommandsDirective(SphinxDirective):
    """All commands in the sections of the help, as the declarations of their options say."""

    def run(self) -> list[nodes.Node]:
        text = "\n".join(_commands())
        parsed: list[nodes.Node] = self.parse_text_to_nodes(text, allow_section_headings=True)
        return parsed


class ColumnsDirective(SphinxDirective):
    """The tables of goldrush's own worlds with their columns, as `goldrush columns` lists them."""

    def run(self) -> list[nodes.Node]:
        text = "\n".join(_columns())
        parsed: list[nodes.Node] = self.parse_text_to_nodes(text, allow_section_headings=True)
        return parsed


def _columns() -> Iterator[str]:
    for world in WORLDS:
        front, *own = catalogue.tables(world)
        yield from ("", world, "-" * len(world))
        for table in (front, *own) if world == WORLDS[0] else own:
            yield from ("", table.name, "~" * len(table.name))
            yield from ("", f"A row is {_plain(table.description)}.", "")
            yield from (".. list-table::", "   :header-rows: 1", "")
            rows = [(f"`{c.name}`", c.type.name, c.unit, _plain(c.description)) for c in table.own]
            for name, *others in [("column", "type", "unit", "meaning"), *rows]:
                yield f"   * - {name}"
                yield from (f"     - {cell}" for cell in others)


def _commands() -> Iterator[str]:
    context = click.Context(cli, info_name="goldrush")
    for title, names in SECTIONS.items():
        yield from ("", title, "-" * len(title))
        for name in names:
            command = cli.get_command(context, name)
            assert command is not None
            yield from ("", name, "~" * len(name), "")
            yield from _described(click.Context(command, parent=context, info_name=name))


def _described(context: click.Context) -> Iterator[str]:
    command = context.command
    usage = " ".join([context.command_path, *command.collect_usage_pieces(context)])
    yield from (".. code-block:: text", "", f"   {usage}", "")
    for paragraph in inspect.cleandoc(command.help or "").split("\n\n"):
        if paragraph.startswith("\b\nExamples:"):
            _, _, *lines = paragraph.splitlines()
            yield from (".. code-block:: console", "", *(f"   $ {line.strip()}" for line in lines))
        else:
            yield from (_plain(paragraph), "")
    yield from ("", f".. program:: {context.command_path}", "")
    formatter = _Options()
    command.format_options(context, formatter)
    yield from formatter.lines


class _Options(click.HelpFormatter):
    """Writes the options of a command as Sphinx wants them, in their sections."""

    def __init__(self) -> None:
        super().__init__()
        self.lines: list[str] = []

    def write_heading(self, heading: str) -> None:
        self.lines += [f"**{heading}**", ""]

    def write_dl(self, rows: Iterable[tuple[str, str]], *_: int, **__: int) -> None:
        for option, text in rows:
            if "--help" not in option:
                self.lines += [f".. option:: {option}", "", f"   {_plain(text)}", ""]


def _plain(text: str) -> str:
    """Text of a help in which nothing but `code` means anything; options are code."""
    parts = re.split(r"(`[^`]*`|(?<![\w-])--[a-z][\w-]*)", " ".join(text.split()))
    plain = [re.sub(r"([*_|\\])", r"\\\1", part) for part in parts[::2]]
    code = [f"`{part.strip('`')}`" for part in parts[1::2]]
    return "".join(chain.from_iterable(zip_longest(plain, code, fillvalue="")))


class Notebook(MystParser):
    """Reads a notebook as a page: its text, its code, and what the code gave when it was run."""

    supported = ("notebook",)

    def parse(self, inputstring: str, document: nodes.document) -> None:
        super().parse("\n\n".join(_cells(json.loads(inputstring))), document)


def _cells(notebook: dict[str, Any]) -> Iterator[str]:
    for cell in notebook["cells"]:
        text = "".join(cell["source"])
        yield text if cell["cell_type"] == "markdown" else f"```python\n{text}\n```"
        for output in cell.get("outputs", ()):
            data = output.get("data", {"text/plain": output.get("text", ())})
            html = "".join(data.get("text/html", ()))
            plain = "".join(data.get("text/plain", ()))
            yield (
                f'````{{raw}} html\n<div class="output">{html}</div>\n````'
                if html
                else f"```text\n{plain.rstrip()}\n```"
            )


def _link(app: Sphinx, page: str, source: list[str]) -> None:
    """Lead the README's link into a hidden folder, which sites may not serve, to its page."""
    source[0] = source[0].replace("(.github/SECURITY.md)", "(goldrush/guide/security.md)")


def _finish(app: Sphinx, exception: Exception | None) -> None:
    """An entrance at the top of the site, and the page of a run that the notebook shows."""
    if exception is None:
        Path(app.outdir, "index.html").write_text(ENTRANCE)
        goldrush.record(seed=7).view(Path(app.outdir, "goldrush/guide/run.html"), force=True)


def setup(app: Sphinx) -> None:
    app.add_directive("commands", CommandsDirective)
    app.add_directive("columns", ColumnsDirective)
    app.add_source_suffix(".ipynb", "notebook")
    app.add_source_parser(Notebook)
    app.connect("source-read", _link)
    app.connect("build-finished", _finish)
