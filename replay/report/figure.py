"""A figure as an object of Python, and the figures of a report as files for a paper."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Final

import attrs

from goldrush.kernel.errors import BadInput, format_value
from goldrush.kernel.files import is_marked, write_whole
from goldrush.replay.report.folder import CSV, TEX, tex
from goldrush.replay.report.numbers import printable
from goldrush.replay.report.paper import KINDS, paper_bytes, paper_figure
from goldrush.replay.report.plot import HEAD, Chart
from goldrush.replay.report.svg import KEY_SIZE, image_of, key_svg, panel_svg, size_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Drawing

FIGURES: Final = "% the caption of a figure by goldrush"


@attrs.frozen(repr=False, slots=False, kw_only=True)
class Figure(Chart):
    """A figure of a run or of a study. In a notebook it shows itself.

    Attributes:
        name: its name, as given to `figure`.
        shows: what it shows, as text.
        runs: what was run, for a caption that stands alone.
    """

    name: str
    shows: str
    runs: str = ""

    @property
    def caption(self) -> str:
        """What it shows, of which runs, with invisible characters escaped."""
        return printable(f"{self.shows.strip()} {self.runs}".strip())

    def __repr__(self) -> str:
        return f"{self.name}: {self.caption}"

    def _repr_html_(self) -> str:
        """The figure with its caption, in a notebook."""
        panels = [
            image_of(panel_svg(self, panel), size_of(self, panel), panel.alt)
            for panel in self.panels
        ]
        keys = [
            f"{image_of(key_svg(self, style), KEY_SIZE, '')} {escape(printable(style.label))}"
            for style in self.legend.values()
        ]
        caption = f"<figcaption>{escape(self.caption)}</figcaption>"
        return f"<figure>{''.join(panels)}<div>{' '.join(keys)}</div>{caption}</figure>"

    @property
    def data(self) -> list[dict[str, str | float | None]]:
        """The values drawn, a row for each: `panel`, `series`, `x`, `y`, the ends `low` and `high`
        of an interval, `n` (runs or agents behind it) and the point's `label`.
        """
        return list(map(attrs.asdict, self.rows))

    @property
    def files(self) -> dict[str, bytes]:
        """Its files for a paper by suffix, with its caption. Raises BadInput without matplotlib."""
        caption = rf"\caption{{{tex(self.caption)}}}\label{{fig:{self.name}}}"
        return {
            **paper_bytes(self, ("pdf", "png")),
            CSV: self.csv.encode(),
            TEX: f"{FIGURES}\n{caption}".encode(),
        }

    def save(self, path: str | Path, width: str | None = None, *, force: bool = False) -> Path:
        """Write the figure and return its path. An earlier figure there is replaced.

        Args:
            path: the file; its suffix says what is written: `.pdf`, `.png` (300 dpi), `.svg`, or
                `.csv` for the data.
            width: `single` (3.3 inches) or `double` (6.9), one or two columns of a journal; None:
                `single` for one panel, `double` for several.
            force: replace any other file that goldrush wrote.

        Raises BadInput for another suffix or width, for another file at the path, and, except for
        CSV, without matplotlib (goldrush-sim[figures]); WriteFailed.
        """
        kind = Path(path).suffix.removeprefix(".").lower()
        if kind not in (*KINDS, CSV):
            raise BadInput(
                f"{format_value(str(path))} names no kind of figure",
                f"end it in {', '.join(f'.{kind}' for kind in KINDS)} or .{CSV}",
            )
        data = self.csv.encode() if kind == CSV else paper_bytes(self, [kind], width)[kind]
        write_whole(
            str(path), data, force=force, is_own=lambda front: _is_figure(kind, Path(path), front)
        )
        return Path(path)

    def matplotlib(self, width: str | None = None) -> Drawing:
        """The figure as a Figure of matplotlib, to be changed; `width`: as for `save`.

        Raises BadInput for another width, and without matplotlib (goldrush-sim[figures]).
        """
        return paper_figure(self, width)


def _is_figure(kind: str, path: Path, front: bytes) -> bool:
    """Whether a file is a figure that was written here, by its first bytes; a PDF names its creator
    near its end.
    """
    if kind == "pdf":
        return front.startswith(b"%PDF") and b"/Creator (goldrush)" in path.read_bytes()
    if kind == "png":
        return front.startswith(b"\x89PNG") and b"Software\0goldrush" in front
    return is_marked(front) if kind == "svg" else front.startswith(HEAD.encode())


def figure_named(figures: Sequence[Figure], name: str) -> Figure:
    """The figure of a name, or the only one whose name begins with it and `-`. Raises BadInput."""
    named = [each for each in figures if each.name == name]
    named = named or [each for each in figures if each.name.startswith(f"{name}-")]
    if len(named) != 1:
        fault = "several figures are" if named else "there is no figure"
        names = ", ".join(each.name for each in named or figures)
        raise BadInput(f"{fault} {format_value(name)}", f"give one of {names}")
    return named[0]
