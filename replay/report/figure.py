"""A figure as an object of Python, and the figures of a report as files for a paper."""

from __future__ import annotations

import os
import stat
from base64 import b64encode
from collections.abc import Callable, Mapping, Sequence
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Final

import attrs

from goldrush.agents.workers import map_in_order
from goldrush.kernel.errors import BadInput, format_value
from goldrush.kernel.files import (
    NewFolder,
    always,
    check_target,
    existing,
    format_reason,
    is_marked,
    write_whole,
)
from goldrush.kernel.text import escaped
from goldrush.replay.extras import require
from goldrush.replay.report.marks import Key, Panel
from goldrush.replay.report.page import Block, FigureBlock
from goldrush.replay.report.paper import KINDS, PAGE, pages_of, paper_bytes, paper_figure, width_of
from goldrush.replay.report.svg import figure_svg
from goldrush.replay.report.tidy import HEAD, Row, csv_of, format_rows, rows_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Drawing

SVG, CSV, CAPTION = "svg", "csv", "txt"
SUFFIXES: Final = (*KINDS, CSV, CAPTION)


@attrs.frozen(repr=False)
class Figure:
    """A figure of a run or of a study. In a notebook it shows itself.

    Attributes:
        name: its name, as given to `figure`.
        caption: what it shows, as text.
    """

    name: str
    caption: str
    _panels: Sequence[Panel]
    _legend: Sequence[Key]

    def __repr__(self) -> str:
        return f"{self.name}: {self.caption}\n\n{format_rows(self._panels)}"

    def _repr_html_(self) -> str:
        """The figure with its caption, in a notebook. An image keeps the styles to itself."""
        svg = b64encode(figure_svg(self._panels, self._legend).encode()).decode()
        alt = "; ".join(panel.alt for panel in self._panels)
        return (
            f'<figure><img src="data:image/svg+xml;base64,{svg}" alt="{escape(alt)}" '
            f'style="max-width:100%"><figcaption>{escape(self.caption)}</figcaption></figure>'
        )

    @property
    def data(self) -> list[Row]:
        """The values drawn, a row for each mark: `panel`, `series`, `x`, `y`, the ends `low` and
        `high` of an interval, `n` (runs or agents behind it) and the point's `label`.
        """
        return rows_of(self._panels)

    def save(self, path: str | Path, width: str | None = None, *, force: bool = False) -> Path:
        """Write the figure and return its path. An earlier figure there is replaced.

        Args:
            path: the file; its suffix says what is written: `.pdf`, `.png` (300 dpi), `.svg`, or
                `.csv` for the data.
            width: `single` (89 mm) or `double` (183 mm), one or two columns of a journal; None:
                `single` for one panel, `double` for several.
            force: replace any other file that goldrush wrote.

        Raises BadInput for another suffix or width, for another file at the path, and, except for
        CSV, for a figure that is taller than a page and without matplotlib (goldrush-sim[figures]);
        WriteFailed.
        """
        kind = Path(path).suffix.removeprefix(".").lower()
        if kind not in (*KINDS, CSV):
            raise BadInput(
                f"{format_value(str(path))} names no kind of figure",
                f"end it in {', '.join(f'.{kind}' for kind in KINDS)} or .{CSV}",
            )
        if kind == CSV:
            data = csv_of(self._panels).encode()
        else:
            pages = self.pages(width)
            if len(pages) > 1:
                wider = "" if width == "double" else "give the width double, or "
                raise BadInput(
                    f"figure {self.name} is taller than a page ({PAGE:g} mm)",
                    f"{wider}save each of its {len(pages)} pages()",
                )
            data = paper_bytes(self._panels, self._legend, [kind], width)[kind]
        write_whole(
            str(path), data, force=force, is_own=lambda front: _is_figure(kind, Path(path), front)
        )
        return Path(path)

    def pages(self, width: str | None = None) -> list[Figure]:
        """The figure in parts of at most a page (240 mm), each with the legend; only itself if it
        is no taller. `width` and errors: as of `matplotlib`.
        """
        width = width_of(self._panels, width)
        pages = pages_of(self._panels, self._legend, width)
        if len(pages) == 1:
            return [self]
        return [
            Figure(
                f"{self.name}-page-{number}", f"{self.caption} Page {number} of {len(pages)}.",
                panels, self._legend,
            )
            for number, panels in enumerate(pages, 1)
        ]  # fmt: skip

    def matplotlib(self, width: str | None = None) -> Drawing:
        """The figure as a Figure of matplotlib, to be changed; `width`: as for `save`.

        Raises BadInput for another width, and without matplotlib (goldrush-sim[figures]).
        """
        return paper_figure(self._panels, self._legend, width)


def _is_figure(kind: str, path: Path, front: bytes) -> bool:
    """Whether a file is a figure that was written here, by its first bytes; a PDF names its creator
    near its end.
    """
    if kind == "pdf":
        return front.startswith(b"%PDF") and b"/Creator (goldrush)" in path.read_bytes()
    if kind == "png":
        return front.startswith(b"\x89PNG") and b"Software\0goldrush" in front
    return is_marked(front) if kind == "svg" else front.startswith(HEAD.encode())


def figures_in(blocks: Sequence[Block]) -> list[Figure]:
    """The figures among the blocks of a page."""
    return [
        Figure(
            block.name, escaped(f"{block.caption} {block.runs}".strip()), block.panels, block.legend
        )
        for block in blocks
        if isinstance(block, FigureBlock)
    ]


def figure_named(figures: Sequence[Figure], name: str, missing: Mapping[str, str]) -> Figure:
    """The figure of a name, or the only one whose name begins with it and `-`. Raises BadInput,
    with the reason if `missing` has one for a figure that is not drawn.
    """
    named = [each for each in figures if each.name == name]
    named = named or [each for each in figures if each.name.startswith(f"{name}-")]
    if len(named) != 1:
        fault = "several figures are" if named else "there is no figure"
        reason = next((why for key, why in missing.items() if name.split("-")[0] == key), "")
        names = ", ".join(each.name for each in named or figures)
        because = f", because {reason}" if reason and not named else ""
        raise BadInput(f"{fault} {format_value(name)}{because}", f"give one of {names}")
    return named[0]


# The figures of a report as files.


def check_paper(folder: str | Path, width: str | None, *, force: bool = False) -> None:
    """Raises BadInput if `write_figures` would, before there are figures."""
    require("matplotlib", "figures for papers need", "figures")
    width_of((), width)
    _check_figures(Path(folder), replace=force)


def write_figures(
    figures: Sequence[Figure],
    folder: str | Path,
    *,
    width: str | None = None,
    force: bool = False,
    jobs: int | None = None,
    on_figure: Callable[[int, int], None] | None = None,
) -> list[str]:
    """Write figures into a folder, all or none: each of their pages in KINDS, with its data and its
    caption. Return their names. `force`: replace a folder of earlier figures.

    Raises BadInput for another width, without matplotlib, if the folder holds anything else, and,
    without `force`, if it holds figures; WriteFailed.
    """
    with NewFolder(str(folder)) as new:
        names: list[str] = []
        files = map_in_order(_files, [(figure, width) for figure in figures], jobs)
        for done, by_page in enumerate(files, 1):
            for name, by_suffix in by_page.items():
                names.append(name)
                for suffix, data in by_suffix.items():
                    new.add(f"{name}.{suffix}", data)
            if on_figure is not None:
                on_figure(done, len(figures))
        check_paper(folder, width, force=force)
        new.publish(replace=force)
    return names


def _files(task: tuple[Figure, str | None]) -> dict[str, dict[str, bytes]]:
    """The files of the pages of a figure, by name of the page and suffix."""
    figure, width = task
    width = width_of(figure._panels, width)
    return {
        page.name: {
            **paper_bytes(page._panels, page._legend, KINDS, width),
            CSV: csv_of(page._panels).encode(),
            CAPTION: f"{page.caption}\n".encode(),
        }
        for page in figure.pages(width)
    }


def _check_figures(folder: Path, *, replace: bool) -> None:
    """Raises BadInput if a folder holds anything but figures, or must not be replaced."""
    if not os.path.lexists(folder):
        return
    if not stat.S_ISDIR(os.lstat(folder).st_mode):
        raise BadInput(f"{folder} is not a folder", "give another path")
    try:
        names = sorted(os.listdir(folder))
        for name in names:
            stem, _, suffix = name.rpartition(".")
            if suffix not in SUFFIXES or not os.path.lexists(folder / f"{stem}.svg"):
                raise BadInput(
                    f"{folder} holds {format_value(name)}, which is not a figure",
                    "give another path",
                )
            check_target(str(folder / name), is_own=always)
            check_target(str(folder / f"{stem}.svg"), is_own=is_marked)
    except OSError as error:
        raise BadInput(
            f"cannot read {folder}: {format_reason(error)}", "give another path"
        ) from None
    if names and not replace:
        raise existing(str(folder))
