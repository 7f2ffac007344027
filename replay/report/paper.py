"""Figures for papers: PDF, PNG and SVG of a column's width, drawn by matplotlib.

The axes, ticks, marks and colours are those of a page. Text has 7 points in the final size, in
DejaVu Sans, which comes with matplotlib: embedded in PDF as TrueType, and text in SVG. The same
figure and the same version of matplotlib give the same bytes.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from io import BytesIO
from typing import TYPE_CHECKING, Any, Final

from goldrush.kernel.errors import BadInput, format_value
from goldrush.kernel.files import MARK
from goldrush.replay.extras import require
from goldrush.replay.report.numbers import printable
from goldrush.replay.report.plot import (
    BAND,
    DOT,
    DOTS,
    LINE,
    LINES,
    SCATTER,
    STEPS,
    Chart,
    Mark,
    Panel,
    Style,
)
from goldrush.replay.report.svg import LIGHT, columns_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Drawing

WIDTHS: Final = {"single": 3.3, "double": 6.9}  # of one and two columns of a journal, in inches
DPI: Final = 300
KINDS: Final = ("pdf", "png", "svg")

_FONT: Final = 7.0  # points
_HEIGHT: Final = 1.6  # of a panel, in inches; one of dots has its rows
_ROW, _EACH = 0.17, 0.1  # of a row of dots, for one series and for each further one
_MARKERS: Final = {"circle": "o", "triangle": "^", "square": "s", "diamond": "D", "cross": "X",
                   "wedge": "v", "plus": "P"}  # fmt: skip
_SETTINGS: Final[Any] = {
    "axes.axisbelow": True, "axes.edgecolor": LIGHT["soft"], "axes.grid": True,
    "axes.labelcolor": LIGHT["ink"], "axes.linewidth": 0.6, "axes.spines.right": False,
    "axes.spines.top": False, "axes.titlelocation": "left", "axes.titlesize": _FONT,
    "font.family": "DejaVu Sans", "font.size": _FONT, "grid.color": LIGHT["grid"],
    "grid.linewidth": 0.5, "legend.frameon": False, "lines.linewidth": 1.0,
    "lines.markersize": 3.2, "path.simplify": False, "pdf.fonttype": 42, "svg.fonttype": "none",
    "svg.hashsalt": "goldrush", "text.color": LIGHT["ink"], "text.parse_math": False,
    "xtick.labelcolor": LIGHT["ink"], "xtick.major.size": 0, "ytick.labelcolor": LIGHT["ink"],
    "ytick.major.size": 0, "ytick.minor.size": 0,
}  # fmt: skip
_METADATA: Final[dict[str, dict[str, Any]]] = {
    "pdf": {"Creator": "goldrush", "CreationDate": None},
    "png": {"Software": "goldrush"},
    "svg": {"Creator": "goldrush", "Date": None},
}


def paper_bytes(plot: Chart, kinds: Sequence[str], width: str | None = None) -> dict[str, bytes]:
    """A figure as files, by kind (of KINDS). Raises BadInput as `paper_figure`."""
    files = {}
    drawing = paper_figure(plot, width)
    with _settings():
        drawing.draw_without_rendering()
        drawing.set_layout_engine("none")  # the layout takes longer than all else, and is the same
        for axes in drawing.axes:  # the solver of the layout varies in the last digits
            axes.set_position(tuple(round(length, 6) for length in axes.get_position().bounds))
        for kind in kinds:
            file = BytesIO()
            drawing.savefig(file, format=kind, dpi=DPI, metadata=_METADATA[kind])
            files[kind] = file.getvalue()
    if "svg" in files:
        head, line, rest = files["svg"].partition(b"\n")
        files["svg"] = head + line + MARK.encode() + line + rest
    return files


@contextmanager
def _settings() -> Iterator[None]:
    """Our settings of matplotlib, whatever the user's are, until the end of the context."""
    import matplotlib

    with matplotlib.rc_context(), warnings.catch_warnings():
        matplotlib.rcdefaults()
        matplotlib.rcParams.update(_SETTINGS)
        warnings.filterwarnings("ignore", "Glyph .* missing")  # such a character is drawn as a box
        yield


def paper_figure(plot: Chart, width: str | None) -> Drawing:
    """A figure as a matplotlib Figure, with real axes and artists.

    Args:
        width: a key of WIDTHS; None: `single` for one panel, `double` for several.

    Raises BadInput for another width, and if matplotlib is not installed.
    """
    name = width or ("single" if len(plot.panels) == 1 else "double")
    if name not in WIDTHS:
        raise BadInput(f"there is no width {format_value(name)}", f"give {' or '.join(WIDTHS)}")
    require("matplotlib", "figures for papers need", "figures")
    from matplotlib.figure import Figure as Drawing

    with _settings():
        columns = 1 if name == "single" else columns_of(plot)
        heights = [_height(plot, panel) for panel in plot.panels]
        tallest = [max(heights[at : at + columns]) for at in range(0, len(heights), columns)]
        keys = 2 if name == "single" else 4  # of the legend, in a row
        size = WIDTHS[name], sum(tallest) + 0.15 * -(-len(plot.legend) // keys)
        drawing = Drawing(size, facecolor=LIGHT["paper"], layout="constrained")
        grid = drawing.subplots(len(tallest), columns, squeeze=False, height_ratios=tallest)
        for axes in grid.flat[len(plot.panels) :]:
            axes.remove()
        for index, (axes, panel) in enumerate(zip(grid.flat, plot.panels, strict=False)):
            letter = f"{_letter(index)}  " if len(plot.panels) > 1 else ""
            axes.set_title(f"{letter}{panel.label}")
            _draw(plot, panel, axes)
        if plot.legend:
            drawing.legend(
                [_handle(plot, style) for style in plot.legend.values()],
                [printable(f"\u00a0{style.label}") for style in plot.legend.values()],
                loc="outside lower left", ncols=keys,
            )  # fmt: skip
    return drawing


def _height(plot: Chart, panel: Panel) -> float:
    if plot.kind != DOTS:
        return _HEIGHT if plot.kind != SCATTER else 1.5 * _HEIGHT
    return 0.55 + (_ROW + _EACH * (len(panel.series) - 1)) * len(panel.names)


def _letter(index: int) -> str:
    """The letter of a panel: a to z, aa to az, ..."""
    last = chr(ord("a") + index % 26)
    return _letter(index // 26 - 1) + last if index >= 26 else last


def _draw(plot: Chart, panel: Panel, axes: Axes) -> None:
    axes.set_xlim(panel.x.low, panel.x.high)
    axes.set_ylim(panel.y.low, panel.y.high)
    for axis, ticks in ((axes.xaxis, panel.x.ticks), (axes.yaxis, panel.y.ticks)):
        axis.set_ticks([value for value, _ in ticks], [printable(label) for _, label in ticks])
    axes.set_xlabel(plot.x_label)
    axes.set_ylabel(plot.y_label)
    if panel.names:
        axes.invert_yaxis()
        axes.grid(visible=False, axis="y")
    if plot.has_zero:
        axes.axvline(0, color=LIGHT["soft"], linewidth=0.6, dashes=(4, 3))
    for mark in plot.marks(panel):
        _draw_mark(mark, axes)


def _draw_mark(mark: Mark, axes: Axes) -> None:
    x, y, colour = list(mark.x), list(mark.y), LIGHT[f"hue-{mark.style.hue}"]
    if mark.kind == BAND:
        axes.fill(x, y, color=colour, alpha=0.16, linewidth=0)
    elif mark.kind == DOT:
        axes.plot(x, y, linestyle="", clip_on=False, **_marker(mark.style))
    else:
        dashes = _dashes(mark.style) if mark.kind == LINE else "-"
        axes.plot(x, y, color=colour, linestyle=dashes, clip_on=False)


def _marker(style: Style) -> dict[str, Any]:
    colour = LIGHT[f"hue-{style.hue}"]
    return {"color": colour, "marker": _MARKERS[style.marker]}


def _dashes(style: Style) -> Any:
    return (0, tuple(0.6 * length for length in style.dash)) if style.dash else "-"


def _handle(plot: Chart, style: Style) -> Any:
    """The symbol of a series in a legend."""
    from matplotlib.lines import Line2D

    line: Any = _dashes(style) if plot.kind in (LINES, STEPS) else ""
    return Line2D([], [], linestyle=line, **_marker(style))
