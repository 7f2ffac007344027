"""The figures of a report that are of mining alone: gold, ownership, stamina, concentration."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import Patch

from goldrush.kernel.mining.events import KINDS
from goldrush.replay.mining.measures import MEASURES
from goldrush.replay.mining.spells import Seen, curve
from goldrush.replay.report.panels import (
    Cells,
    Drawn,
    Looks,
    band,
    dots,
    few_ticks,
    from_zero,
    lines,
    panels,
    width,
)
from goldrush.replay.study.plan import Cell
from goldrush.replay.study.results import POINTS, Result

_KIND_COLOURS: Final = {
    "defend": "#0072B2", "mine": "#E69F00", "claim": "#009E73", "raid": "#D55E00"
}  # fmt: skip


def lorenz_and_survival(cells: Cells, looks: Looks) -> Drawn:
    """The Lorenz curve of gold at the end, and the Kaplan–Meier curve of ownership spells, all
    seeds together, by roster.
    """
    shares = {
        cell: [_lorenz(result.own.gold) for result in results if sum(result.own.gold) > 0]
        for cell, results in cells.items()
    }
    spells: dict[Cell, Counter[Seen]] = {cell: Counter() for cell in cells}
    for cell, results in cells.items():
        for result in results:
            for (length, is_over), count in result.own.lengths.items():
                spells[cell][Seen(length, is_over, 0)] += count

    def lorenz(axes: Axes) -> None:
        axes.plot([0, 1], [0, 1], color="#999999", linewidth=0.8, linestyle=":")
        for place, (cell, every) in enumerate(shares.items()):
            if every:
                mean, look = np.mean(np.array(every), axis=0), looks[cell.roster]
                axes.plot(
                    np.linspace(0, 1, len(mean)), mean, color=look.colour, linestyle=look.dash,
                    linewidth=width(place, shares),
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
                    linewidth=width(place, spells),
                )  # fmt: skip
        axes.set(xlabel="length of a spell, rounds", ylabel="share that last longer")
        axes.set(ylim=(0, 1.02))
        axes.set_xlim(left=0)

    return panels(
        {
            "Lorenz curve of gold at the end": lorenz if any(shares.values()) else None,
            "Survival of ownership": survival if any(spells.values()) else None,
        },
        columns=2,
        legend=lines(cells, looks),
        height=2.5,
    )


def _lorenz(gold: Sequence[float]) -> Any:
    shares = np.cumsum(np.sort(np.array(gold)))
    return np.concatenate([[0.0], shares / shares[-1]])


def stamina(cells: Cells, looks: Looks) -> Drawn:
    """What the stamina spent goes to, over the rounds: mean share across seeds, by roster."""

    def panel(results: Sequence[Result[Any, Any]]) -> Callable[[Axes], None] | None:
        bands = [band([r.curves[f"share_{kind}"] for r in results], (0.0, 1.0)) for kind in KINDS]
        if any(found is None for found in bands):
            return None
        rounds = results[0].units
        length = math.ceil(rounds / POINTS)
        # A window is as wide as its rounds; where nothing was spent, nothing stands.
        shares = np.zeros((len(KINDS), math.ceil(rounds / length)))
        for row, (where, mean, _, _) in enumerate(bands):
            shares[row, where] = mean
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
            few_ticks(axes)

        return draw

    return panels(
        {looks[cell.roster].label: panel(results) for cell, results in cells.items()},
        columns=5,
        legend=[Patch(color=_KIND_COLOURS[kind], label=kind) for kind in KINDS],
        height=1.45,
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
            from_zero(axes)

        return draw

    return panels(
        {f"{MEASURES[name].title} and turnover": panel(name) for name in ("gini", "hhi")},
        columns=2,
        legend=dots(cells, looks),
        height=2.5,
    )
