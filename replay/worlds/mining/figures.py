"""Mining's own figures of a report: gold, ownership, stamina, concentration."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import accumulate, pairwise
from typing import Any, Final

from goldrush.kernel.measures import mean
from goldrush.kernel.worlds.mining.events import KINDS
from goldrush.replay.report.figures import Cells, Drawn, Styles, band, legend_of, scatter
from goldrush.replay.report.page import KEY, Key, Panel, number
from goldrush.replay.report.plot import HEIGHT, WIDE, Chart
from goldrush.replay.report.styles import Style
from goldrush.replay.study.records import POINTS, Cell, Result
from goldrush.replay.worlds.mining.measures import MEASURES
from goldrush.replay.worlds.mining.spells import Seen, curve

# Kinds of actions have other colours than rosters.
_KINDS: Final = {"defend": "k0", "mine": "k1", "claim": "k2", "raid": "k3"}
_LORENZ, _SURVIVAL = "Lorenz curve of gold at the end", "survival of ownership"

Hrefs = Mapping[tuple[Cell, int], str]  # the page of a run, by cell and seed


def lorenz_and_survival(cells: Cells, styles: Styles) -> Drawn:
    """The Lorenz curve of gold at the end, and the Kaplan–Meier curve of the ownership spells of
    all seeds, by roster.
    """
    survival, beyond = _survival(cells, styles)
    panels = [_lorenz(cells, styles), survival]
    omitted = [
        f"No data for: {title}."
        for title, panel in zip((_LORENZ, _SURVIVAL), panels, strict=True)
        if panel is None
    ]
    omitted += [beyond] if beyond else []
    return Drawn([panel for panel in panels if panel], legend_of(cells, styles), omitted)


def _lorenz(cells: Cells, styles: Styles) -> Panel | None:
    shares = {
        cell: [_shares(result.own.gold) for result in results if sum(result.own.gold) > 0]
        for cell, results in cells.items()
    }
    if not any(shares.values()):
        return None
    plot = Chart(
        _LORENZ, (0, 1), (0, 1), width=WIDE, height=HEIGHT * 1.4,
        x_label="share of agents, poorest first", y_label="share of gold",
    )  # fmt: skip
    plot.diagonal()
    says = []
    for index, (cell, every) in enumerate(shares.items()):
        if every:
            means = [math.fsum(column) / len(every) for column in zip(*every, strict=True)]
            points = [(n / (len(means) - 1), share) for n, share in enumerate(means)]
            plot.line(points, styles[cell.roster])
            plot.marks(points, styles[cell.roster], index, len(shares))
            says.append(f"{cell.roster} {number(means[len(means) // 2], 2)}")
    return plot.panel(f"{_LORENZ}; share of the poorer half: {', '.join(says)}")


def _shares(gold: Sequence[float]) -> list[float]:
    """The Lorenz curve: the share of gold of the poorest 0, 1, 2, ... agents."""
    total = math.fsum(gold)
    return [0.0, *(had / total for had in accumulate(sorted(gold)))]


FLAT: Final = 0.01  # a curve that falls by less is drawn no further


def _survival(cells: Cells, styles: Styles) -> tuple[Panel | None, str]:
    """The panel, and a sentence on what is beyond its axis, which is fitted to the curves."""
    spells: dict[Cell, Counter[Seen]] = {cell: Counter() for cell in cells}
    for cell, results in cells.items():
        for result in results:
            for (length, is_over), count in result.own.lengths.items():
                spells[cell][Seen(length, is_over, 0)] += count
    if not any(spells.values()):
        return None, ""
    curves = {cell: [(0, 1.0), *curve(weights.items())] for cell, weights in spells.items()}
    longest = max(one.exit for weights in spells.values() for one in weights)
    falls = math.ceil(1.1 * max(map(_last_fall, curves.values())))
    end = falls if 0 < falls <= longest / 2 else longest
    plot = Chart(
        _SURVIVAL, (0, end), (0, 1), width=WIDE, height=HEIGHT * 1.4,
        x_label="length of a spell, rounds", y_label="share that last longer",
    )  # fmt: skip
    says = []
    for index, (cell, weights) in enumerate(spells.items()):
        if weights:
            steps = [(float(at), share) for at, share in curves[cell] if at <= end]
            steps.append((float(min(end, max(one.exit for one in weights))), steps[-1][1]))
            plot.line(steps, styles[cell.roster], steps=True)
            plot.marks(steps, styles[cell.roster], index, len(spells))
            says.append(f"{cell.roster} {number(curves[cell][-1][1], 2)}")
    panel = plot.panel(f"{_SURVIVAL}; share that last longest: {', '.join(says)}")
    if end == longest:
        return panel, ""
    return panel, (
        f"Survival is drawn up to {end} rounds, beyond which no curve falls by more than {FLAT:g}; "
        f"the longest spell has {longest}."
    )


def _last_fall(steps: Sequence[tuple[int, float]]) -> int:
    """The time after which a curve falls by at most FLAT; 0 if it never falls by more."""
    final = steps[-1][1]
    return max((at for (_, share), (at, _) in pairwise(steps) if share > final + FLAT), default=0)


def stamina(cells: Cells, styles: Styles) -> Drawn:
    """Shares of the stamina spent by kind of action, over the rounds: means over seeds, by
    roster.
    """
    found = {
        styles[cell.roster].label: _stamina(cell, runs, styles) for cell, runs in cells.items()
    }
    omitted = [title for title, panel in found.items() if panel is None]
    width, height = KEY
    legend = [
        Key(kind, f'<rect class="fill {_KINDS[kind]}" width="{width}" height="{height}"/>')
        for kind in KINDS
    ]
    said = [f"No data for: {', '.join(omitted)}."] if omitted else []
    return Drawn([panel for panel in found.values() if panel], legend, said)


def _stamina(cell: Cell, runs: Sequence[Result[Any, Any]], styles: Styles) -> Panel | None:
    bands = [band([run.curves[f"share_{kind}"] for run in runs], (0.0, 1.0)) for kind in KINDS]
    rounds = runs[0].units
    length = math.ceil(rounds / POINTS)
    plot = Chart(styles[cell.roster].label, (0, rounds), (0, 1), x_label="round")
    windows = math.ceil(rounds / length)
    below, says = [0.0] * windows, []
    for kind, found in zip(KINDS, bands, strict=True):
        if found is None:
            return None
        above = below.copy()  # empty where nothing was spent
        for index, share in zip(found.positions, found.mean, strict=True):
            above[index] += share
        plot.band(
            _steps(above, length, rounds), _steps(below, length, rounds), f"fill {_KINDS[kind]}"
        )
        below = above
        says.append(f"{kind} {number(mean(found.mean), 2)}")
    return plot.panel(f"{cell.roster}, mean shares: {', '.join(says)}")


def _steps(values: Sequence[float], length: int, end: int) -> list[tuple[float, float]]:
    """The points of a step function with one step per window."""
    return [
        (float(min(at, end)), value)
        for index, value in enumerate(values)
        for at in (index * length, (index + 1) * length)
    ]


def trade_off(cells: Cells, styles: Styles, hrefs: Hrefs) -> Drawn:
    """Concentration against turnover, a point for each run.

    Args:
        cells: the cells to draw.
        styles: by roster.
        hrefs: addresses of the pages of runs, by cell and seed.

    """
    panels, omitted = [], []
    for name in ("gini", "hhi"):
        points: dict[Style, list[tuple[tuple[float, float], str, str]]] = {}
        for cell, results in cells.items():
            for result in results:
                x, y = result.run[name], result.run["turnover"]
                if x is not None and y is not None:
                    says = f"{cell.treatment}, {cell.roster}, seed {result.seed}"
                    href = hrefs.get((cell, result.seed), "")
                    points.setdefault(styles[cell.roster], []).append(((x, y), says, href))
        title = f"{MEASURES[name].title} and {MEASURES['turnover'].title}"
        if points:
            x_label, y_label = MEASURES[name].title, MEASURES["turnover"].title
            panels.append(scatter(title, points, x_label, y_label))
        else:
            omitted.append(f"No data for: {title}.")
    return Drawn(panels, legend_of(cells, styles), omitted)
