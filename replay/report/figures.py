"""The figures of a report, as SVG: drawn with matplotlib, the same bytes for the same results.

Each draws the cells of one treatment and horizon, a colour for each roster. Panels without any data
are left out, and told.
"""

from __future__ import annotations

import io
import math
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import attrs
import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Canvas
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from scipy.stats import t

from replay.measures import MEASURES
from replay.spells import Seen, curve
from replay.study.comparisons import Against
from replay.study.inference import CONFIDENCE, interval
from replay.study.plan import Cell
from replay.study.results import KINDS, POINTS, Result
from replay.study.verdicts import EXPECTED

WIDTH: Final = 10.0  # inches
# Okabe and Ito's colours, which the colour-blind tell apart; black is for axes, yellow is too pale.
COLOURS: Final = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#666666")
_KIND_COLOURS: Final = {
    "defend": "#0072B2", "mine": "#E69F00", "claim": "#009E73", "raid": "#D55E00"
}  # fmt: skip
_STYLE: Final[Any] = {
    "text.parse_math": False,  # a roster may be called anything
    "svg.fonttype": "none",  # text stays text
    "svg.hashsalt": "goldrush",
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans", "Arial", "Helvetica", "sans-serif"],
    "font.size": 8,
    "axes.titlesize": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.color": "#e4e4e4",
    "grid.linewidth": 0.6,
    "legend.frameon": False,
    "figure.constrained_layout.use": True,
    "path.simplify": True,
}

_PATH: Final = re.compile(r' d="[^"]*"')
_DIGITS: Final = re.compile(r"(\.\d\d)\d+")

Cells = Mapping[Cell, Sequence[Result]]

# The measures with a curve over the rounds; the shares of stamina have a figure of their own.
OVER_ROUNDS: Final = tuple(
    name
    for name in MEASURES
    if name not in ("half_life", "survival") and not name.startswith("share_")
)
FOREST: Final = (
    "turnover", "survival", "raid_rate", "raid_success", "efficiency", "reachable_efficiency",
    "idle", "wasted", "gini", "hhi",
)  # fmt: skip


@attrs.frozen
class Drawn:
    """A figure: its SVG, and the titles of panels that there were no data for."""

    svg: str
    without: Sequence[str]


def colours_of(rosters: Sequence[str]) -> dict[str, str]:
    """A colour for each roster, the same in all figures of a report."""
    return {name: COLOURS[place % len(COLOURS)] for place, name in enumerate(rosters)}


def over_rounds(cells: Cells, colours: Mapping[str, str]) -> Drawn:
    """Each measure over the rounds: mean across seeds and its 95% interval, by roster."""

    def panel(name: str) -> Callable[[Axes], None] | None:
        drawn = {
            cell: _band([result.curves[name] for result in results])
            for cell, results in cells.items()
        }
        seen = {cell: band for cell, band in drawn.items() if band is not None}
        return (lambda axes: _draw_bands(axes, seen, colours)) if seen else None

    return _panels(
        {MEASURES[name].title: panel(name) for name in OVER_ROUNDS},
        columns=4,
        legend=_lines(cells, colours),
        height=1.75,
    )


def _band(curves: Sequence[Sequence[float | None]]) -> Any:
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
    return np.flatnonzero(where), mean, mean - half, mean + half


def _draw_bands(axes: Axes, bands: Mapping[Cell, Any], colours: Mapping[str, str]) -> None:
    for cell, (points, mean, low, high) in bands.items():
        length = math.ceil(cell.rounds / POINTS)
        rounds = np.minimum(points * length + (length + 1) / 2, cell.rounds)
        colour = colours[cell.roster]
        axes.fill_between(rounds, low, high, color=colour, alpha=0.2, linewidth=0)
        axes.plot(rounds, mean, color=colour, linewidth=1.2, marker="." if len(rounds) < 3 else "")
        axes.set_xlim(0, cell.rounds)
    axes.set_xlabel("round")
    _from_zero(axes)


def half_against_half(cells: Cells, colours: Mapping[str, str]) -> Drawn:
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
        return lambda axes: _draw_halves(axes, rosters, pairs, colours, EXPECTED[name])

    filled = [
        Line2D([], [], marker="o", color="#444444", mfc=fill, linestyle="", label=label)
        for fill, label in (("white", "first half"), ("#444444", "second half"))
    ]
    return _panels(
        {MEASURES[name].title: panel(name) for name in EXPECTED},
        columns=4,
        legend=filled,
        height=0.55 + 0.22 * len(rosters),
        share_y=True,
    )


def _draw_halves(
    axes: Axes,
    rosters: Sequence[str],
    pairs: Mapping[str, Sequence[tuple[float, float]]],
    colours: Mapping[str, str],
    expected: int,
) -> None:
    for row, roster in enumerate(rosters):
        for place, fill in ((0, "white"), (1, colours[roster])):
            found = interval([pair[place] for pair in pairs[roster]])
            if found.mean is None:
                axes.text(
                    0.02, row, "no data", transform=axes.get_yaxis_transform(), va="center",
                    color="#777777", fontsize=7,
                )  # fmt: skip
                break
            at = row + (-0.16 if place == 0 else 0.16)
            if found.low is not None and found.high is not None:
                axes.plot([found.low, found.high], [at, at], color=colours[roster], linewidth=1)
            axes.plot(found.mean, at, "o", color=colours[roster], mfc=fill, markersize=4)
    axes.set_yticks(range(len(rosters)), rosters)
    axes.set_ylim(len(rosters) - 0.5, -0.5)
    axes.set_xlabel("expected: up" if expected > 0 else "expected: down")
    low, high = axes.get_xlim()
    if high - low < 1e-9:
        axes.set_xlim(low - 0.05, high + 0.05)


def lorenz_and_survival(cells: Cells, colours: Mapping[str, str]) -> Drawn:
    """The Lorenz curve of gold at the end, and the Kaplan–Meier curve of ownership spells, all
    seeds together, by roster.
    """

    def lorenz(axes: Axes) -> None:
        axes.plot([0, 1], [0, 1], color="#999999", linewidth=0.8, linestyle=":")
        for cell, results in cells.items():
            shares = [_lorenz(result.gold) for result in results if sum(result.gold) > 0]
            if shares:
                mean = np.mean(np.array(shares), axis=0)
                axes.plot(np.linspace(0, 1, len(mean)), mean, color=colours[cell.roster])
        axes.set(xlabel="share of agents, poorest first", ylabel="share of gold")
        axes.set(xlim=(0, 1), ylim=(0, 1))

    def survival(axes: Axes) -> None:
        for cell, results in cells.items():
            weights: Counter[Seen] = Counter()
            for result in results:
                for (length, is_over), count in result.lengths.items():
                    weights[Seen(length, is_over, 0)] += count
            steps = [(0, 1.0), *curve(list(weights), weights)]
            longest = max((one.length for one in weights), default=0)
            steps.append((longest, steps[-1][1]))
            at, share = zip(*steps, strict=True)
            axes.step(at, share, where="post", color=colours[cell.roster])
        axes.set(xlabel="length of a spell, rounds", ylabel="share that last longer")
        axes.set(ylim=(0, 1.02))
        axes.set_xlim(left=0)

    return _panels(
        {"Lorenz curve of gold at the end": lorenz, "Survival of ownership": survival},
        columns=2,
        legend=_lines(cells, colours),
        height=3.0,
    )


def _lorenz(gold: Sequence[float]) -> Any:
    shares = np.cumsum(np.sort(np.array(gold)))
    return np.concatenate([[0.0], shares / shares[-1]])


def stamina(cells: Cells, colours: Mapping[str, str]) -> Drawn:
    """What the stamina spent goes to, over the rounds: mean share across seeds, by roster."""

    def panel(results: Sequence[Result]) -> Callable[[Axes], None] | None:
        bands = [_band([r.curves[f"share_{kind}"] for r in results]) for kind in KINDS]
        if any(band is None for band in bands):
            return None
        rounds = results[0].rounds

        def draw(axes: Axes) -> None:
            length = math.ceil(rounds / POINTS)
            at = np.minimum(bands[0][0] * length + (length + 1) / 2, rounds)
            axes.stackplot(
                at,
                *(band[1] for band in bands),
                colors=[_KIND_COLOURS[kind] for kind in KINDS],
                linewidth=0,
            )
            axes.set(xlim=(at[0], max(at[-1], at[0] + 1)), ylim=(0, 1), xlabel="round")

        return draw

    return _panels(
        {cell.roster: panel(results) for cell, results in cells.items()},
        columns=min(5, max(2, len(cells))),
        legend=[Patch(color=_KIND_COLOURS[kind], label=kind) for kind in KINDS],
        height=1.9,
    )


def forest(compared: Sequence[Against], named: Mapping[Cell, str], colour: str) -> Drawn:
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
                    continue
                if one.low is not None and one.high is not None:
                    axes.plot([one.low, one.high], [row, row], color=colour, linewidth=1.2)
                axes.plot(one.mean, row, "s", color=colour, markersize=3.5)
            axes.set_yticks(range(len(labels)), labels)
            axes.set_ylim(len(labels) - 0.5, -0.5)
            axes.tick_params(axis="x", rotation=30)
            low, high = axes.get_xlim()
            if high - low < 1e-9:
                axes.set_xlim(-1, 1)

        return draw

    return _panels(
        {MEASURES[name].title: panel(name) for name in FOREST},
        columns=5,
        legend=[],
        height=0.7 + 0.16 * len(labels),
        share_y=True,
    )


def trade_off(cells: Cells, colours: Mapping[str, str]) -> Drawn:
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
                xs, ys = [x for x, _ in pairs], [y for _, y in pairs]
                axes.scatter(xs, ys, s=5, color=colours[cell.roster], alpha=0.5, linewidths=0)
            axes.set(xlabel=MEASURES[name].title, ylabel=MEASURES["turnover"].title)

        return draw

    return _panels(
        {f"{MEASURES[name].title} and turnover": panel(name) for name in ("gini", "hhi")},
        columns=2,
        legend=_dots(cells, colours),
        height=3.0,
    )


def _lines(cells: Cells, colours: Mapping[str, str]) -> list[Any]:
    names = dict.fromkeys(cell.roster for cell in cells)
    return [Line2D([], [], color=colours[name], label=name) for name in names]


def _dots(cells: Cells, colours: Mapping[str, str]) -> list[Any]:
    names = dict.fromkeys(cell.roster for cell in cells)
    return [
        Line2D([], [], marker="o", linestyle="", markersize=4, color=colours[name], label=name)
        for name in names
    ]


def _from_zero(axes: Axes) -> None:
    low, high = axes.get_ylim()
    if low > 0 and low < 0.5 * high:
        axes.set_ylim(bottom=0)
    elif high - low < 1e-9:
        axes.set_ylim(low - 0.05, high + 0.05)


def _panels(
    panels: Mapping[str, Callable[[Axes], None] | None],
    *,
    columns: int,
    legend: Sequence[Any],
    height: float,
    share_y: bool = False,
) -> Drawn:
    """A grid of panels, `height` inches each, those without data left out."""
    there = {title: draw for title, draw in panels.items() if draw is not None}
    without = [title for title, draw in panels.items() if draw is None]
    if not there:
        return Drawn("", without)
    columns = min(columns, len(there))
    rows = math.ceil(len(there) / columns)
    with mpl.rc_context(_STYLE):
        canvas = Canvas(figsize=(WIDTH, rows * height + 0.35))
        grid = canvas.subplots(rows, columns, squeeze=False, sharey=share_y)
        for place, axes in enumerate(grid.flat):
            if place >= len(there):
                axes.set_visible(False)
                continue
            title, draw = list(there.items())[place]
            draw(axes)
            axes.set_title(title)
        if legend:
            canvas.legend(handles=legend, loc="outside lower center", ncols=min(7, len(legend)))
        text = io.StringIO()
        canvas.savefig(text, format="svg", metadata={"Date": None, "Creator": None})
    svg = text.getvalue()
    return Drawn(_rounded(svg[svg.index("<svg") :]), without)


def _rounded(svg: str) -> str:
    """The SVG with paths to a hundredth of a point: half the size, and nothing to be seen of it."""
    return _PATH.sub(lambda path: _DIGITS.sub(r"\1", path.group()), svg)
