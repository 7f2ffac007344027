"""Figures for papers: PDF, PNG and SVG of a column's width, drawn by matplotlib.

The axes, ticks, marks and colours are those of a page. Text has 7 points in the final size, in
DejaVu Sans, which comes with matplotlib: embedded in PDF as TrueType, and text in SVG. The same
figure and the same version of matplotlib give the same bytes.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from io import BytesIO
from itertools import count
from typing import TYPE_CHECKING, Any, Final

from goldrush.kernel.errors import BadInput, format_value
from goldrush.kernel.files import MARK
from goldrush.replay.extras import require
from goldrush.replay.report.marks import (
    DIAGONAL,
    MARKERS,
    NARROW,
    PATCH,
    RIGHT,
    TOP,
    ZERO,
    Area,
    Curve,
    Key,
    Panel,
    Point,
    Style,
    has_lines,
)
from goldrush.replay.report.page import printable
from goldrush.replay.report.svg import LIGHT, LINE, MARKER_RADIUS, RADIUS

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Drawing

WIDTHS: Final = {"single": 89.0, "double": 183.0}  # of one and two columns of a journal, in mm
PAGE: Final = 240.0  # the height of a figure at most, in mm
KINDS: Final = ("pdf", "png", "svg")
DPI: Final = 300

_MM: Final = 72 / 25.4  # points
_FONT: Final = 7.0  # points, as all lengths below
_TWO_LINES: Final = 18.0  # height of a row whose label has two
_LETTER: Final = 8.0  # size of the letter of a panel
_AFTER_LETTER: Final = 10.0  # where its title begins
_PIXEL: Final = _FONT / 11  # of a page, whose figures have text of 11 pixels
_GAP: Final = 10.0  # between panels
_LEGEND_LINE: Final = 11.0
_HANDLE: Final = 18.0  # length of a symbol in the legend
_STROKE: Final = 1.5  # of lines, in pixels of a page
_SETTINGS: Final[Any] = {
    "axes.axisbelow": True, "axes.linewidth": 0.6, "font.family": "DejaVu Sans",
    "font.size": _FONT, "grid.linewidth": 0.5, "lines.linewidth": _STROKE * _PIXEL,
    "path.simplify": False, "pdf.fonttype": 42, "svg.fonttype": "none", "svg.hashsalt": "goldrush",
    "text.parse_math": False,
}  # fmt: skip


def width_of(panels: Sequence[Panel], width: str | None) -> str:
    """A width by name; None: `single` for one panel, `double` for several. Raises BadInput."""
    if width is None:
        return "single" if len(panels) == 1 else "double"
    if width not in WIDTHS:
        raise BadInput(f"there is no width {format_value(width)}", f"give {' or '.join(WIDTHS)}")
    return width


def paper_bytes(
    panels: Sequence[Panel], legend: Sequence[Key], kinds: Sequence[str], width: str | None = None
) -> dict[str, bytes]:
    """A figure as files, by kind (of KINDS). Raises BadInput as `paper_figure`."""
    files = {}
    figure = paper_figure(panels, legend, width)
    with _settings():
        for kind in kinds:
            file = BytesIO()
            figure.savefig(file, format=kind, dpi=DPI, metadata=_METADATA[kind])
            files[kind] = file.getvalue()
    if "svg" in files:
        head, line, rest = files["svg"].partition(b"\n")
        files["svg"] = head + line + MARK.encode() + line + rest
    return files


_METADATA: Final[dict[str, dict[str, Any]]] = {
    "pdf": {"Creator": "goldrush", "CreationDate": None},
    "png": {"Software": "goldrush"},
    "svg": {"Creator": "goldrush", "Date": None},
}


def paper_figure(panels: Sequence[Panel], legend: Sequence[Key], width: str | None) -> Drawing:
    """A figure as a matplotlib Figure, with real axes and artists.

    Args:
        width: a key of WIDTHS; None: as `width_of`.

    Raises BadInput for another width, and if matplotlib is not installed.
    """
    width = width_of(panels, width)
    require("matplotlib", "figures for papers need", "figures")
    with _settings():
        return _Sheet(panels, legend, width).drawn()


def pages_of(panels: Sequence[Panel], legend: Sequence[Key], width: str) -> list[Sequence[Panel]]:
    """The panels by page, as many rows as PAGE holds. Raises as `paper_figure`."""
    require("matplotlib", "figures for papers need", "figures")
    with _settings():
        sheet = _Sheet(panels, legend, width)
    pages: list[list[Panel]] = [[]]
    left = room = PAGE * _MM - sheet.below
    for row, height in zip(sheet.rows, sheet.heights, strict=True):
        if height > left + 1e-6 and pages[-1]:
            pages.append([])
            left = room
        pages[-1] += [laid.panel for laid in row]
        left -= height + _GAP
    return [*pages]


@contextmanager
def _settings() -> Iterator[None]:
    """Our settings of matplotlib, whatever the user's are, until the end of the context."""
    import matplotlib

    with matplotlib.rc_context(), warnings.catch_warnings():
        matplotlib.rcdefaults()
        matplotlib.rcParams.update(_SETTINGS)
        warnings.filterwarnings("ignore", "Glyph .* missing")  # such a character is drawn as a box
        yield


class _Sheet:
    """A figure that is being laid out: panels in rows, the legend below them."""

    def __init__(self, panels: Sequence[Panel], legend: Sequence[Key], width: str) -> None:
        self.panels, self.legend = panels, legend
        self.width = WIDTHS[width] * _MM
        most = (2 if panels[0].width == NARROW else 1) * (2 if width == "double" else 1)
        fitting = (n for n in range(min(most, len(panels)), 1, -1) if self._fit(n))
        self.columns = next(fitting, 1)
        laid = [_Laid(panel, self._cell(self.columns)) for panel in panels]
        self.rows = [laid[at : at + self.columns] for at in range(0, len(laid), self.columns)]
        self.lefts = [max(panel.left for panel in laid[at :: self.columns])
                      for at in range(self.columns)]  # fmt: skip
        self.letters = len(panels) > 1
        self.names = self._names()
        longest = max(map(_width, self.names), default=0.0)
        self.keys = max(1, int(self.width / (longest + _HANDLE + 3 * _FONT)))  # in a row
        self.below = -(-len(legend) // self.keys) * _LEGEND_LINE
        room = PAGE * _MM - self.below
        self.heights = [min(room, max(panel.height for panel in row)) for row in self.rows]

    @property
    def height(self) -> float:
        return sum(self.heights) + _GAP * (len(self.heights) - 1) + self.below

    def _names(self) -> list[str]:
        """The labels of the legend: in full, if they fit."""
        room = self.width - _HANDLE - 3 * _FONT
        return [
            key.name if key.name and _width(key.name) < room else key.label for key in self.legend
        ]

    def _cell(self, columns: int) -> float:
        return (self.width - _GAP * (columns - 1)) / columns

    def _fit(self, columns: int) -> bool:
        """Whether so many panels fit in a row: their titles, and axes of half a panel's width."""
        cell = self._cell(columns)
        laid = [_Laid(panel, cell) for panel in self.panels]
        return all(panel.is_whole and 2 * panel.left < cell for panel in laid)

    def drawn(self) -> Drawing:
        from matplotlib.figure import Figure

        height = self.height
        figure = Figure(figsize=(self.width / 72, height / 72), facecolor=LIGHT["paper"])
        cell = self._cell(self.columns)
        top, letters = height, map(_letter, count())
        for row, row_height in zip(self.rows, self.heights, strict=True):
            for column, laid in enumerate(row):
                start, panel = column * (cell + _GAP), laid.panel
                left, right = start + self.lefts[column], start + cell - _right(panel)
                low = top - min(row_height, laid.height) + (panel.height - panel.bottom) * _PIXEL
                high = top - TOP * _PIXEL
                box = (left / self.width, low / height, (right - left) / self.width,
                       (high - low) / height)  # fmt: skip
                axes = figure.add_axes(box)
                self._title(axes, laid.title, next(letters), self.lefts[column], right - left)
                _Axes(axes, laid, right - left, high - low).draw()
            top -= row_height + _GAP
        if self.legend:
            self._legend(figure)
        return figure

    def _title(self, axes: Axes, title: str, letter: str, left: float, width: float) -> None:
        """A title that begins at the left end of the panel, behind its letter."""
        at = -left / width
        if self.letters:
            axes.annotate(
                letter, (at, 1), (0, 5), xycoords="axes fraction", textcoords="offset points",
                size=_LETTER, weight="bold", color=LIGHT["ink"],
            )  # fmt: skip
            at += _AFTER_LETTER / width
        axes.set_title(
            printable(title), loc="left", x=at, y=1, pad=5, size=_FONT, color=LIGHT["ink"]
        )

    def _legend(self, figure: Drawing) -> None:
        handles = [self._handle(key) for key in self.legend]
        drawn = figure.legend(
            handles, [" "] * len(handles), loc="lower left", bbox_to_anchor=(0, 0),
            ncols=self.keys, frameon=False, borderpad=0, borderaxespad=0.1, fontsize=_FONT,
            handlelength=_HANDLE / _FONT, handletextpad=0.6, columnspacing=1.6, labelspacing=0.35,
            labelcolor=LIGHT["ink"],
        )  # fmt: skip
        for text, name in zip(drawn.get_texts(), self.names, strict=True):
            text.set_text(printable(name))  # as a label, one with `_` in front is left out

    def _handle(self, key: Key) -> Artist:
        from matplotlib.lines import Line2D
        from matplotlib.patches import Patch

        colour = LIGHT[key.style.colour]
        if key.style.marker == PATCH:
            return Patch(facecolor=colour)
        marker = _marker(key.style, hollow=key.hollow)
        dashes: Any = _dashes(key.style) if has_lines(self.panels) else ""
        return Line2D([], [], color=colour, linestyle=dashes, **marker)


def _letter(index: int) -> str:
    """The letter of a panel: a to z, aa to az, ..."""
    last = chr(ord("a") + index % 26)
    return _letter(index // 26 - 1) + last if index >= 26 else last


class _Laid:
    """A panel in a cell of so many points: its title and the labels of its vertical axis, in full
    if they fit, at most on two lines in half of the cell (`is_whole`: all do), and its height.
    """

    def __init__(self, panel: Panel, cell: float) -> None:
        self.panel = panel
        before = 5 + (14 * _PIXEL if panel.y_label else 0)
        ticks = [printable(label) for _, label in panel.y.ticks]
        names = [printable(name) for name in panel.names] or ticks
        lines = [_in_lines(name, cell / 2 - before) for name in names]
        self.labels = [whole or label for whole, label in zip(lines, ticks, strict=True)]
        widths = (_width(line) for label in self.labels for line in label.split("\n"))
        self.left = before + max(widths, default=0.0)
        title = panel.full_title or panel.title
        fits = _width(title) + _AFTER_LETTER < cell
        self.title = title if fits else panel.title
        self.is_whole = fits and None not in lines
        self.height = panel.height * _PIXEL
        if any("\n" in label for label in self.labels):
            row = (panel.bottom - TOP) * _PIXEL / len(self.labels)
            self.height += max(0.0, _TWO_LINES - row) * len(self.labels)


def _in_lines(text: str, room: float) -> str | None:
    """A text on one line or two lines of this width, divided behind a space or a comma, or another
    sign, or else anywhere; None if it does not fit.
    """
    if _width(text) <= room:
        return text
    signs = [at for at in range(1, len(text)) if not text[at - 1].isalnum()]
    spaces = [at for at in signs if text[at - 1] in " ,"]
    for places in (spaces, signs, range(1, len(text))):
        parts = [(text[:at].rstrip(), text[at:].lstrip()) for at in places]
        widths = [max(map(_width, part)) for part in parts]
        if widths and min(widths) <= room:
            return "\n".join(parts[widths.index(min(widths))])
    return None


def _right(panel: Panel) -> float:
    """The room right of the axes: for labels of curves, or half the last label below."""
    ends = [_width(curve.style.label) + 5 for curve in panel.curves if curve.at_end]
    last = [_width(label) / 2 for _, label in panel.x.ticks[-1:]]
    return max([*ends, *last, RIGHT * _PIXEL])


@lru_cache(4096)
def _width(text: str) -> float:
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import text_to_path

    font = FontProperties(size=_FONT)
    width, _, _ = text_to_path.get_text_width_height_descent(printable(text), font, ismath=False)
    return float(width)


class _Axes:
    """The axes of a panel that are being drawn, of a width and a height."""

    def __init__(self, axes: Axes, laid: _Laid, width: float, height: float) -> None:
        self.axes, self.panel, self.labels = axes, laid.panel, laid.labels
        self.width, self.height = width, height

    def draw(self) -> None:
        self._frame()
        self._rule()
        for mark in self.panel.marks:
            if isinstance(mark, Curve):
                self._curve(mark)
            elif isinstance(mark, Point):
                self._point(mark)
            elif isinstance(mark, Area):
                self.axes.stairs(
                    mark.above, mark.edges, baseline=mark.below, fill=True, linewidth=0,
                    color=LIGHT[mark.colour],
                )  # fmt: skip
            else:
                self.axes.text(
                    mark.x, mark.y, printable(mark.text), va="center", color=LIGHT["soft"]
                )
        for share, style in self.panel.ends(LINE * _PIXEL / self.height):
            self.axes.annotate(
                printable(style.label), (1, share), (3, 0), xycoords="axes fraction",
                textcoords="offset points", va="center", color=LIGHT[style.colour],
            )  # fmt: skip

    def _frame(self) -> None:
        axes, panel, ink, soft = self.axes, self.panel, LIGHT["ink"], LIGHT["soft"]
        axes.set_facecolor(LIGHT["paper"])
        axes.set_xlim(panel.x.low, panel.x.high)
        ends = panel.y.low, panel.y.high
        axes.set_ylim(ends[::-1] if panel.rows else ends)
        axes.spines[["top", "right"]].set_visible(False)
        axes.spines[["left", "bottom"]].set_color(soft)
        axes.tick_params(which="both", length=0, pad=3, labelcolor=ink, labelsize=_FONT)
        axes.set_xticks([value for value, _ in panel.x.ticks], self._apart())
        axes.set_yticks([value for value, _ in panel.y.ticks], self.labels, linespacing=1.0)
        grid = LIGHT["grid"]
        axes.grid(visible=True, axis="x", color=grid)
        if panel.rows:
            axes.set_yticks([value + 0.5 for value, _ in panel.y.ticks[:-1]], minor=True)
        axes.grid(visible=True, axis="y", which="minor" if panel.rows else "major", color=grid)
        axes.set_xlabel(printable(panel.x_label), labelpad=2, color=ink)
        axes.set_ylabel(printable(panel.y_label), labelpad=2, color=ink)

    def _apart(self) -> list[str]:
        """The labels of the horizontal axis; empty if they would touch the one before."""
        labels, end = [], -math.inf
        for value, label in self.panel.x.ticks:
            middle, half = self.panel.x.share(value) * self.width, _width(label) / 2
            fits = middle - half > end
            labels.append(label if fits else "")
            end = middle + half + 3 if fits else end
        return labels

    def _rule(self) -> None:
        look: dict[str, Any] = {
            "color": LIGHT["soft"],
            "linewidth": 0.6,
            "linestyle": (0, (4, 3)),
        }
        if self.panel.rule == ZERO:
            self.axes.axvline(0, **look)
        elif self.panel.rule == DIAGONAL:
            x, y = self.panel.x, self.panel.y
            self.axes.plot([x.low, x.high], [y.low, y.high], **look)

    def _curve(self, curve: Curve) -> None:
        axes, colour = self.axes, LIGHT[curve.style.colour]
        for segment in curve.segments:
            x, y = [sample.x for sample in segment], [sample.y for sample in segment]
            low = [sample.y if sample.low is None else sample.low for sample in segment]
            high = [sample.y if sample.high is None else sample.high for sample in segment]
            if len(segment) == 1:
                axes.vlines(x, low, high, color=colour)
                axes.plot(x, y, linestyle="", **_marker(curve.style))
                continue
            if low != high:
                axes.fill_between(x, low, high, color=colour, alpha=0.16, linewidth=0)
            steps = "steps-post" if curve.steps else "default"
            axes.plot(x, y, color=colour, linestyle=_dashes(curve.style), drawstyle=steps)
        marker = _marker(curve.style, MARKER_RADIUS)
        marked = curve.marked
        x, y = [sample.x for sample in marked], [sample.y for sample in marked]
        axes.plot(x, y, linestyle="", clip_on=False, **marker)

    def _point(self, point: Point) -> None:
        axes, scale = self.axes, self.panel.x
        if point.low is not None and point.high is not None:
            ends = [min(max(end, scale.low), scale.high) for end in (point.low, point.high)]
            axes.hlines(point.y, ends[0], ends[1], color=LIGHT[point.style.colour])
        marker = _marker(point.style, hollow=point.hollow)
        axes.plot(point.x, point.y, linestyle="", clip_on=False, zorder=3, **marker)


def _marker(style: Style, radius: float = RADIUS, *, hollow: bool = False) -> dict[str, Any]:
    """The properties of a line with a marker; `radius`: in pixels of a page."""
    from matplotlib.path import Path

    colour, paper = LIGHT[style.colour], LIGHT["paper"]
    corners = [(x, -y) for x, y in MARKERS[style.marker]]
    reach = max((abs(at) for corner in corners for at in corner), default=1.0)
    return {
        "marker": Path([*corners, corners[0]], closed=True) if corners else "o",
        "markersize": 2 * reach * radius * _PIXEL,
        "markerfacecolor": paper if hollow else colour,
        "markeredgecolor": colour if hollow else paper,
        "markeredgewidth": (1.3 if hollow else 0.7) * _PIXEL,
    }


def _dashes(style: Style) -> Any:
    """A style of lines, whose lengths matplotlib takes in widths of the line."""
    return (0, [length / _STROKE for length in style.dash]) if style.dash else "-"
