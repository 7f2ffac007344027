"""The figures of a report, as SVG: drawn with matplotlib, the same bytes for the same results.

Each draws the cells of one treatment and horizon, a line of its own for each roster. Panels without
any data are left out, and told. A figure is as wide as a page of A4 has room, so that its text is
as large on paper as it says here.
"""

from __future__ import annotations

import io
import math
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence, Sized
from textwrap import fill
from typing import Any, Final

import attrs
import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Canvas
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import MaxNLocator
from scipy.stats import t

from goldrush.kernel.mining.events import KINDS
from goldrush.replay.mining.measures import MEASURES
from goldrush.replay.mining.spells import Seen, curve
from goldrush.replay.report.looks import Look
from goldrush.replay.study.comparisons import Against
from goldrush.replay.study.inference import CONFIDENCE, interval
from goldrush.replay.study.plan import Cell
from goldrush.replay.study.results import POINTS, Result
from goldrush.replay.study.verdicts import EXPECTED

WIDTH: Final = 7.4  # inches
TEXT: Final = 7.0  # points
CHARACTER: Final = 0.062  # inches that one of that size takes, with something to spare
TITLE_MAX: Final = 96  # characters of titles beside each other
_KIND_COLOURS: Final = {
    "defend": "#0072B2", "mine": "#E69F00", "claim": "#009E73", "raid": "#D55E00"
}  # fmt: skip
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

Cells = Mapping[Cell, Sequence[Result]]
Looks = Mapping[str, Look]  # by roster

# The measures with a curve over the rounds; the shares of stamina have a figure of their own.
OVER_ROUNDS: Final = tuple(
    name
    for name in MEASURES
    if name not in ("half_life", "survival") and not name.startswith("share_")
)
# Measures that cannot be above 1; none is below 0. An interval is not drawn beyond. Gini is one as
# it is drawn, of all gold so far, which no fine takes below 0; of what a half earned it is not.
RATES: Final = (
    "turnover", "defense_trigger", "raid_success", "efficiency", "reachable_efficiency", "idle",
    "wasted", "share_defend", "share_raid", "share_mine", "share_claim", "convergence", "gini",
    "hhi", "contention",
)  # fmt: skip
FOREST: Final = (*EXPECTED, "raid_success", "reachable_efficiency", "wasted", "gini", "hhi")


@attrs.frozen
class Drawn:
    """A figure: its SVG, and the titles of panels that there were no data for."""

    svg: str
    without: Sequence[str]


def over_rounds(cells: Cells, looks: Looks) -> Drawn:
    """Each measure over the rounds: mean across seeds and its 95% interval, by roster."""

    def panel(name: str) -> Callable[[Axes], None] | None:
        drawn = {
            cell: _band([result.curves[name] for result in results], name)
            for cell, results in cells.items()
        }
        seen = {cell: band for cell, band in drawn.items() if band is not None}
        return (lambda axes: _draw_bands(axes, seen, looks)) if seen else None

    return _panels(
        {MEASURES[name].title: panel(name) for name in OVER_ROUNDS},
        columns=4,
        legend=_lines(cells, looks),
        height=1.4,
    )


def _band(curves: Sequence[Sequence[float | None]], name: str) -> Any:
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
    low, high = _possible(name, mean - half, mean + half)
    return np.flatnonzero(where), mean, low, high


def _possible(name: str, low: Any, high: Any) -> tuple[Any, Any]:
    """An interval as far as the measure can go."""
    return np.maximum(low, 0.0), np.minimum(high, 1.0 if name in RATES else math.inf)


def _draw_bands(axes: Axes, bands: Mapping[Cell, Any], looks: Looks) -> None:
    for place, (cell, (points, mean, low, high)) in enumerate(bands.items()):
        length = math.ceil(cell.rounds / POINTS)
        rounds = np.minimum(points * length + (length + 1) / 2, cell.rounds)
        look = looks[cell.roster]
        axes.fill_between(rounds, low, high, color=look.colour, alpha=0.2, linewidth=0)
        alone = _alone(points)
        axes.plot(
            rounds, mean, color=look.colour, linestyle=look.dash, linewidth=_width(place, bands)
        )
        axes.plot(rounds[alone], mean[alone], ".", color=look.colour, markersize=4)
        axes.vlines(rounds[alone], low[alone], high[alone], color=look.colour, alpha=0.5)
        axes.set_xlim(0, cell.rounds + 1)
    axes.set_xlabel("round")
    _from_zero(axes)


def _width(place: int, lines: Sized) -> float:
    """How wide the line in a place is: thinner than those before it, which are seen at its edges
    where they run the same way.
    """
    return 1.0 + 1.6 * (1 - (place + 1) / len(lines))


def _alone(points: Any) -> Any:
    """Which points have none beside them, so that a line and a band do not show what is there."""
    apart = np.diff(points, prepend=-9, append=points[-1] + 9) > 1
    return apart[:-1] & apart[1:]


def half_against_half(cells: Cells, looks: Looks) -> Drawn:
    """The sub-measures of the criteria in the first half and in the second, by roster."""
    rosters = [cell.roster for cell in cells]

    def panel(name: str) -> Callable[[Axes], None] | None:
        pairs = {
            cell.roster: [
                (a, b) for a, b in (result.halves[name] for result in results)
                if a is not None and b is not None
            ]
            for cell, results in cells.items()
        }  # fmt: skip
        if not any(pairs.values()):
            return None
        return lambda axes: _draw_halves(axes, rosters, pairs, looks, name)

    filled = [
        Line2D([], [], marker="o", color="#444444", mfc=fill_, linestyle="", label=label)
        for fill_, label in (("white", "first half"), ("#444444", "second half"))
    ]
    return _panels(
        {MEASURES[name].title: panel(name) for name in EXPECTED},
        columns=4,
        legend=filled,
        height=0.65 + 0.2 * len(rosters),
        share_y=True,
    )


def _draw_halves(
    axes: Axes,
    rosters: Sequence[str],
    pairs: Mapping[str, Sequence[tuple[float, float]]],
    looks: Looks,
    name: str,
) -> None:
    for row, roster in enumerate(rosters):
        colour = looks[roster].colour
        for place, inside in ((0, "white"), (1, colour)):
            found = interval([pair[place] for pair in pairs[roster]])
            if found.mean is None:
                _no_data(axes, row)
                break
            at = row + (-0.16 if place == 0 else 0.16)
            if found.low is not None and found.high is not None:
                ends = _possible(name, found.low, found.high)
                axes.plot(ends, [at, at], color=colour, linewidth=1)
            axes.plot(found.mean, at, "o", color=colour, mfc=inside, markersize=3.5)
    axes.set_yticks(range(len(rosters)), [looks[roster].label for roster in rosters])
    axes.set_ylim(len(rosters) - 0.5, -0.5)
    axes.set_xlabel("expected: up" if EXPECTED[name] > 0 else "expected: down")
    _few_ticks(axes)
    low, high = axes.get_xlim()
    if high - low < 1e-9:
        axes.set_xlim(low - 0.05, high + 0.05)


def _no_data(axes: Axes, row: int) -> None:
    axes.text(
        0.02, row, "no data", transform=axes.get_yaxis_transform(), va="center", color="#777777",
        fontsize=TEXT - 1,
    )  # fmt: skip


def lorenz_and_survival(cells: Cells, looks: Looks) -> Drawn:
    """The Lorenz curve of gold at the end, and the Kaplan–Meier curve of ownership spells, all
    seeds together, by roster.
    """
    shares = {
        cell: [_lorenz(result.gold) for result in results if sum(result.gold) > 0]
        for cell, results in cells.items()
    }
    spells: dict[Cell, Counter[Seen]] = {cell: Counter() for cell in cells}
    for cell, results in cells.items():
        for result in results:
            for (length, is_over), count in result.lengths.items():
                spells[cell][Seen(length, is_over, 0)] += count

    def lorenz(axes: Axes) -> None:
        axes.plot([0, 1], [0, 1], color="#999999", linewidth=0.8, linestyle=":")
        for place, (cell, every) in enumerate(shares.items()):
            if every:
                mean, look = np.mean(np.array(every), axis=0), looks[cell.roster]
                axes.plot(
                    np.linspace(0, 1, len(mean)), mean, color=look.colour, linestyle=look.dash,
                    linewidth=_width(place, shares),
                )  # fmt: skip
        axes.set(xlabel="share of agents, poorest first", ylabel="share of gold")
        axes.set(xlim=(0, 1), ylim=(0, 1.02))

    def survival(axes: Axes) -> None:
        for place, (cell, weights) in enumerate(spells.items()):
            if weights:
                steps = [(0, 1.0), *curve(list(weights), weights)]
                steps.append((max(one.exit for one in weights), steps[-1][1]))
                at, share = zip(*steps, strict=True)
                look = looks[cell.roster]
                axes.step(
                    at, share, where="post", color=look.colour, linestyle=look.dash,
                    linewidth=_width(place, spells),
                )  # fmt: skip
        axes.set(xlabel="length of a spell, rounds", ylabel="share that last longer")
        axes.set(ylim=(0, 1.02))
        axes.set_xlim(left=0)

    return _panels(
        {
            "Lorenz curve of gold at the end": lorenz if any(shares.values()) else None,
            "Survival of ownership": survival if any(spells.values()) else None,
        },
        columns=2,
        legend=_lines(cells, looks),
        height=2.5,
    )


def _lorenz(gold: Sequence[float]) -> Any:
    shares = np.cumsum(np.sort(np.array(gold)))
    return np.concatenate([[0.0], shares / shares[-1]])


def stamina(cells: Cells, looks: Looks) -> Drawn:
    """What the stamina spent goes to, over the rounds: mean share across seeds, by roster."""

    def panel(results: Sequence[Result]) -> Callable[[Axes], None] | None:
        bands = [_band([r.curves[f"share_{kind}"] for r in results], "share") for kind in KINDS]
        if any(band is None for band in bands):
            return None
        rounds = results[0].rounds
        length = math.ceil(rounds / POINTS)
        # A window is as wide as its rounds; where nothing was spent, nothing stands.
        shares = np.zeros((len(KINDS), math.ceil(rounds / length)))
        for row, band in enumerate(bands):
            shares[row, band[0]] = band[1]
        ends = np.minimum(np.arange(shares.shape[1] + 1) * length, rounds)

        def draw(axes: Axes) -> None:
            axes.stackplot(
                ends,
                np.column_stack([shares, shares[:, -1]]),
                step="post",
                colors=[_KIND_COLOURS[kind] for kind in KINDS],
                linewidth=0,
            )
            axes.set(xlim=(0, rounds), ylim=(0, 1), xlabel="round")
            _few_ticks(axes)

        return draw

    return _panels(
        {looks[cell.roster].label: panel(results) for cell, results in cells.items()},
        columns=5,
        legend=[Patch(color=_KIND_COLOURS[kind], label=kind) for kind in KINDS],
        height=1.45,
    )


def forest(compared: Sequence[Against], named: Mapping[Cell, str], look: Look) -> Drawn:
    """The treatments of one roster against its baseline: difference and 95% interval."""
    labels = [named[one.cell] for one in compared]

    def panel(name: str) -> Callable[[Axes], None] | None:
        found = [one.differences[name] for one in compared]
        if all(one.mean is None for one in found):
            return None

        def draw(axes: Axes) -> None:
            axes.axvline(0, color="#999999", linewidth=0.8)
            for row, one in enumerate(found):
                if one.mean is None:
                    _no_data(axes, row)
                    continue
                if one.low is not None and one.high is not None:
                    axes.plot([one.low, one.high], [row, row], color=look.colour)
                axes.plot(one.mean, row, "s", color=look.colour, markersize=3)
            axes.set_yticks(range(len(labels)), labels)
            axes.set_ylim(len(labels) - 0.5, -0.5)
            _few_ticks(axes)
            low, high = axes.get_xlim()
            if high - low < 1e-9:
                axes.set_xlim(-1, 1)

        return draw

    return _panels(
        {MEASURES[name].title: panel(name) for name in FOREST},
        columns=4,
        legend=[],
        height=0.65 + 0.15 * len(labels),
        share_y=True,
    )


def trade_off(cells: Cells, looks: Looks) -> Drawn:
    """Concentration against instability, a point for each run."""

    def panel(name: str) -> Callable[[Axes], None] | None:
        points = {
            cell: [
                (x, y)
                for run in (result.run for result in results)
                if (x := run[name]) is not None and (y := run["turnover"]) is not None
            ]
            for cell, results in cells.items()
        }
        if not any(points.values()):
            return None

        def draw(axes: Axes) -> None:
            for cell, pairs in points.items():
                look = looks[cell.roster]
                axes.scatter(
                    [x for x, _ in pairs], [y for _, y in pairs], s=9, color=look.colour,
                    marker=look.marker, alpha=0.6, linewidths=0,
                )  # fmt: skip
            axes.set(xlabel=MEASURES[name].title, ylabel=MEASURES["turnover"].title)
            _from_zero(axes)

        return draw

    return _panels(
        {f"{MEASURES[name].title} and turnover": panel(name) for name in ("gini", "hhi")},
        columns=2,
        legend=_dots(cells, looks),
        height=2.5,
    )


def _lines(cells: Cells, looks: Looks) -> list[Any]:
    return [
        Line2D([], [], color=look.colour, linestyle=look.dash, label=look.label)
        for look in (looks[name] for name in dict.fromkeys(cell.roster for cell in cells))
    ]


def _dots(cells: Cells, looks: Looks) -> list[Any]:
    return [
        Line2D(
            [], [], marker=look.marker, linestyle="", markersize=4, color=look.colour,
            label=look.label,
        )
        for look in (looks[name] for name in dict.fromkeys(cell.roster for cell in cells))
    ]  # fmt: skip


def _few_ticks(axes: Axes) -> None:
    """So few figures on the horizontal axis that they do not touch in a narrow panel."""
    axes.xaxis.set_major_locator(MaxNLocator(3, min_n_ticks=2))


def _from_zero(axes: Axes) -> None:
    low, high = axes.get_ylim()
    if high - low < 1e-9:
        axes.set_ylim(low - 0.05, high + 0.05)
    elif 0 < low < 0.5 * high:
        axes.set_ylim(bottom=0)


def _panels(
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
