"""Panels of a figure: drawn with matplotlib, the same bytes of SVG for the same results.

A figure is as wide as a page of A4 has room, so that its text is as large on paper as it says here.
Panels without any data are left out, and told.
"""

from __future__ import annotations

import io
import math
import re
from collections.abc import Callable, Mapping, Sequence, Sized
from textwrap import fill
from typing import Any, Final

import attrs
import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Canvas
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator
from scipy.stats import t

from goldrush.replay.report.looks import Look
from goldrush.replay.study.inference import CONFIDENCE
from goldrush.replay.study.plan import Cell
from goldrush.replay.study.results import Result

WIDTH: Final = 7.4  # inches
TEXT: Final = 7.0  # points
CHARACTER: Final = 0.062  # inches that one of that size takes, with something to spare
TITLE_MAX: Final = 96  # characters of titles beside each other

_STYLE: Final[Any] = {
    "text.parse_math": False,  # a roster may be called anything
    "svg.fonttype": "none",  # text stays text
    "svg.hashsalt": "goldrush",
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans", "Arial", "Helvetica", "sans-serif"],
    "font.size": TEXT,
    "axes.titlesize": TEXT,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": "#e4e4e4",
    "grid.linewidth": 0.6,
    "legend.frameon": False,
    "legend.handlelength": 2.6,
    "lines.linewidth": 1.1,
    "figure.constrained_layout.use": True,
    "path.simplify": True,
}

_METADATA: Final = ("Creator", "Date", "Format", "Type")  # nothing that a page needs
_PATH: Final = re.compile(r'<path[^>]* d="[^"]*"')
_TAG: Final = re.compile(r"<[^>]*>")
_STYLED: Final = re.compile(r' style="([^"]*)"')
_FONT: Final = re.compile(r"(?:(?P<weight>\d+) )?(?P<size>[\d.]+px) (?P<family>.+)")
_SHEET: Final = re.compile(r"<style[^>]*>\*\{([^}]*)\}</style>")
_DIGITS: Final = re.compile(r"(\.\d\d)\d+")

Cells = Mapping[Cell, Sequence[Result[Any, Any]]]
Looks = Mapping[str, Look]  # by roster
Limits = tuple[float, float]


@attrs.frozen
class Drawn:
    """A figure: its SVG, and the titles of panels that there were no data for."""

    svg: str
    without: Sequence[str]


def panels(
    panels: Mapping[str, Callable[[Axes], None] | None],
    *,
    columns: int,
    legend: Sequence[Any],
    height: float,
    share_y: bool = False,
) -> Drawn:
    """A grid of panels, `height` inches each, those without data left out."""
    there = [(title, draw) for title, draw in panels.items() if draw is not None]
    without = [title for title, draw in panels.items() if draw is None]
    if not there:
        return Drawn("", without)
    # No panel is wider than it would be beside one other.
    columns = max(2, min(columns, len(there)))
    rows = math.ceil(len(there) / columns)
    with mpl.rc_context(_STYLE):
        in_line = _in_a_line(legend)
        lines = math.ceil(len(legend) / in_line)
        canvas = Canvas(figsize=(WIDTH, rows * height + 0.1 + 0.17 * lines))
        grid = canvas.subplots(rows, columns, squeeze=False, sharey=share_y)
        for axes, (title, draw) in zip(grid.flat, there, strict=False):
            draw(axes)
            axes.set_title(fill(title, TITLE_MAX // columns))
        for axes in grid.flat[len(there) :]:
            axes.set_visible(False)
        if legend:
            canvas.legend(handles=legend, loc="outside lower center", ncols=in_line)
        text = io.StringIO()
        canvas.savefig(text, format="svg", metadata=dict.fromkeys(_METADATA))
    svg = text.getvalue()
    return Drawn(_rounded(_unstyled(svg[svg.index("<svg") :])), without)


def _in_a_line(legend: Sequence[Any]) -> int:
    """How many entries of a legend stand beside each other within the figure."""
    longest = max((len(entry.get_label()) for entry in legend), default=0)
    return max(1, min(7, len(legend), int(WIDTH / (0.45 + CHARACTER * longest))))


def _unstyled(svg: str) -> str:
    """The SVG with attributes in place of styles, which a page's policy does not allow."""
    sheet = _SHEET.search(svg)
    if sheet is not None:
        svg = svg[: sheet.start()] + svg[sheet.end() :]
        svg = f"<svg{_attributes(sheet[1])}{svg.removeprefix('<svg')}"
    return _TAG.sub(lambda tag: _STYLED.sub(lambda style: _attributes(style[1]), tag.group()), svg)


def _attributes(style: str) -> str:
    """The declarations of a style as SVG's presentation attributes; `font`, which is none, in its
    parts.
    """
    found: dict[str, str] = {}
    for declaration in filter(None, map(str.strip, style.split(";"))):
        name, _, value = map(str.strip, declaration.partition(":"))
        font = _FONT.fullmatch(value) if name == "font" else None
        if font is None:
            found[name] = value
        else:
            found |= {f"font-{part}": is_ for part, is_ in font.groupdict().items() if is_}
    return "".join(f' {name}="{value}"' for name, value in found.items())


def _rounded(svg: str) -> str:
    """The SVG with paths to a hundredth of a point: half the size, and nothing to be seen of it."""
    return _PATH.sub(lambda path: _DIGITS.sub(r"\1", path.group()), svg)


def lines(cells: Cells, looks: Looks) -> list[Any]:
    return [
        Line2D([], [], color=look.colour, linestyle=look.dash, label=look.label)
        for look in (looks[name] for name in dict.fromkeys(cell.roster for cell in cells))
    ]


def dots(cells: Cells, looks: Looks) -> list[Any]:
    return [
        Line2D(
            [], [], marker=look.marker, linestyle="", markersize=4, color=look.colour,
            label=look.label,
        )
        for look in (looks[name] for name in dict.fromkeys(cell.roster for cell in cells))
    ]  # fmt: skip


def few_ticks(axes: Axes) -> None:
    """So few figures on the horizontal axis that they do not touch in a narrow panel."""
    axes.xaxis.set_major_locator(MaxNLocator(3, min_n_ticks=2))


def from_zero(axes: Axes) -> None:
    low, high = axes.get_ylim()
    if high - low < 1e-9:
        axes.set_ylim(low - 0.05, high + 0.05)
    elif 0 < low < 0.5 * high:
        axes.set_ylim(bottom=0)


def width(place: int, lines: Sized) -> float:
    """How wide the line in a place is: thinner than those before it, which are seen at its edges
    where they run the same way.
    """
    return 1.0 + 1.6 * (1 - (place + 1) / len(lines))


def no_data(axes: Axes, row: int) -> None:
    axes.text(
        0.02, row, "no data", transform=axes.get_yaxis_transform(), va="center", color="#777777",
        fontsize=TEXT - 1,
    )  # fmt: skip


def band(curves: Sequence[Sequence[float | None]], limits: Limits) -> Any:
    """Mean, low and high at each point where there is anything; None without data."""
    values = np.array([[math.nan if v is None else v for v in one] for one in curves])
    counts = np.sum(~np.isnan(values), axis=0)
    where = counts > 0
    if not where.any():
        return None
    values, counts = values[:, where], counts[where]
    mean = np.nansum(values, axis=0) / counts
    free = np.maximum(counts - 1, 1)
    spread = np.sqrt(np.nansum((values - mean) ** 2, axis=0) / free / counts)
    half = np.where(counts > 1, t.ppf((1 + CONFIDENCE) / 2, free) * spread, 0.0)
    low, high = within(limits, mean - half, mean + half)
    return np.flatnonzero(where), mean, low, high


def within(limits: Limits, low: Any, high: Any) -> tuple[Any, Any]:
    """An interval as far as a measure can go."""
    return np.maximum(low, limits[0]), np.minimum(high, limits[1])
