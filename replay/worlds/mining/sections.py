"""Mining's own part of a report: the trade-off, theory, stamina and holdings. Its prose is in
`report.html`.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate, pairwise
from pathlib import Path
from typing import Any, Final

from goldrush.agents.worlds.mining.roster import NULL
from goldrush.kernel.worlds.mining.config import MiningConfig
from goldrush.kernel.worlds.mining.events import KINDS
from goldrush.kernel.worlds.mining.treatments import TREATMENTS
from goldrush.replay.journal.fairness import Fairness
from goldrush.replay.report.chapter import Chapter
from goldrush.replay.report.figure import Figure
from goldrush.replay.report.numbers import (
    MINUS,
    NONE,
    bounds,
    fixed,
    number,
    p_value,
    within_bounds,
)
from goldrush.replay.report.plot import BARS, DIAGONAL, LINES, SCATTER, STEPS, Row, Style
from goldrush.replay.report.reported import ReportedStudy
from goldrush.replay.report.tables import ReportTable
from goldrush.replay.study.inference import SIGNIFICANT, holm, interval
from goldrush.replay.study.records import Cell, Result, points_of
from goldrush.replay.text import capitalized
from goldrush.replay.worlds.mining.measures import MEASURES
from goldrush.replay.worlds.mining.spells import Seen, curve
from goldrush.replay.worlds.mining.theory import (
    Breaking,
    Defending,
    MiningResults,
    breaking,
    defending,
    possession,
    ties,
    trade_offs,
)

_KINDS: Final = {"defend": 0, "mine": 4, "claim": 2, "raid": 1}  # hues by kind of action
SCARCE: Final = 1.0  # the pressure at and above which plots are scarce
FLAT: Final = 0.01  # a curve that falls by less is drawn no further


def figures_of(study: ReportedStudy) -> Iterator[Figure]:
    """For each horizon the trade-off, shares of stamina, the Lorenz curve and the survival of
    ownership.
    """
    for rounds in study.results.horizons:
        cells = [cell for cell in study.cells if cell.rounds == rounds]
        suffix = f"-{rounds}" if len(study.results.horizons) > 1 else ""
        yield from _trade_off(study, cells, suffix)
        yield from _stamina(study, cells, suffix)
        yield from _lorenz(study, cells, suffix)
        yield from _survival(study, cells, suffix)


def _trade_off(study: ReportedStudy, cells: Sequence[Cell], suffix: str) -> list[Figure]:
    """Concentration against turnover, a point for each run, linked to its page."""
    names, styles = study.lines(cells)
    rows = [
        Row(
            _titled(MEASURES[name].title, panel), series, x, y,
            label=f"{cell.treatment}, {cell.roster}, seed {run.seed}",
            href=study.hrefs.get((cell, run.seed), ""),
        )
        for name in ("gini", "hhi")
        for cell, (panel, series) in names.items()
        for run in study.results.by_cell[cell]
        if (x := run.run[name]) is not None and (y := run.run["turnover"]) is not None
    ]  # fmt: skip
    caption = (
        f"Concentration of gold and of plots against the turnover rate, a point for each run"
        f"{', linked to its page' if study.hrefs else ''}."
    )
    return study.figure(
        f"trade-off{suffix}", SCATTER, rows, caption, cells, styles,
        x_label="concentration at the end", y_label=MEASURES["turnover"].title,
    )  # fmt: skip


def _stamina(study: ReportedStudy, cells: Sequence[Cell], suffix: str) -> list[Figure]:
    """Shares of the stamina spent by kind of action, over the rounds, a panel for each cell."""
    rows = [
        Row(f"{cell.treatment}, {cell.roster}", kind, (window.first + window.last) / 2,
            interval(column, [run.draw for run in runs]).mean)
        for cell in cells
        for runs in [study.results.by_cell[cell]]
        for kind in KINDS
        for window, column in zip(
            points_of(runs[0].units), zip(*(run.curves[f"share_{kind}"] for run in runs),
            strict=True), strict=False,
        )
    ]  # fmt: skip
    styles = {kind: Style(_KINDS[kind], label=kind) for kind in KINDS}
    return study.figure(
        f"stamina{suffix}", BARS, rows,
        "Shares of the stamina spent, by action, over the rounds: mean over seeds.", cells,
        styles, x_label="round", limits=(0.0, 1.0),
    )  # fmt: skip


def _lorenz(study: ReportedStudy, cells: Sequence[Cell], suffix: str) -> list[Figure]:
    """The Lorenz curve of gold at the end: the mean over seeds of the share of the poorest."""
    names, styles = study.lines(cells)
    rows = []
    for cell in cells:
        golds = [_gold(run) for run in study.results.by_cell[cell]]
        shares = [_shares(gold) for gold in golds if sum(gold) > 0]
        panel, series = names[cell]
        for n, column in enumerate(zip(*shares, strict=True)):
            share = math.fsum(column) / len(column)
            rows.append(Row(_titled("gold at the end", panel), series,
                            n / (len(shares[0]) - 1), share, n=len(column)))  # fmt: skip
    return study.figure(
        f"lorenz{suffix}", LINES, rows,
        "Lorenz curve of gold at the end: mean over seeds. On the dashed line all have the same.",
        cells, styles, x_label="share of agents, poorest first",
        y_label="share of gold", rule=DIAGONAL, limits=(0.0, 1.0),
    )  # fmt: skip


def _titled(title: str, panel: str) -> str:
    return f"{title}, {panel}" if panel else title


def _gold(result: Result[Any, Any]) -> list[float]:
    """The gold of each agent at the end, which no run lacks."""
    return [value for value in result.by_agent["gold"] if value is not None]


def _shares(gold: Sequence[float]) -> list[float]:
    """The Lorenz curve: the share of gold of the poorest 0, 1, 2, ... agents."""
    total = math.fsum(gold)
    return [0.0, *(had / total for had in accumulate(sorted(gold)))]


def _survival(study: ReportedStudy, cells: Sequence[Cell], suffix: str) -> list[Figure]:
    """The Kaplan–Meier curve of the ownership spells of all seeds, up to where curves are flat."""
    spells: dict[Cell, Counter[Seen]] = {cell: Counter() for cell in cells}
    for cell in cells:
        for result in study.results.by_cell[cell]:
            for (length, is_over), count in result.kept.lengths.items():
                spells[cell][length, is_over, 0] += count
    known = {cell: weights for cell, weights in spells.items() if weights}
    if not known:
        return []
    curves = {cell: [(0, 1.0), *curve(weights.items())] for cell, weights in known.items()}
    longest = max(length for weights in known.values() for length, _, _ in weights)
    falls = math.ceil(1.1 * max(map(_last_fall, curves.values())))
    end = falls if 0 < falls <= longest / 2 else longest
    names, styles = study.lines(cells)
    rows = []
    for cell, steps in curves.items():
        drawn = [step for step in steps if step[0] <= end]
        last = min(end, max(length for length, _, _ in known[cell]))
        panel, series = names[cell]
        rows += [Row(_titled("ownership of plots", panel), series, at, share)
                 for at, share in [*drawn, (last, drawn[-1][1])]]  # fmt: skip
    beyond = (
        f" Drawn up to {end} rounds, beyond which no curve falls by more than {FLAT:g}; the "
        f"longest spell has {longest}."
    )
    return study.figure(
        f"survival{suffix}", STEPS, rows,
        "Survival of ownership: Kaplan–Meier over the spells of all seeds; those still running at "
        f"the end are censored.{beyond if end < longest else ''}", cells, styles,
        x_label="length of a spell, rounds", y_label="share that last longer", limits=(0.0, 1.0),
    )  # fmt: skip


def _last_fall(steps: Sequence[tuple[int, float]]) -> int:
    """The time after which a curve falls by at most FLAT; 0 if it never falls by more."""
    final = steps[-1][1]
    return max((at for (_, share), (at, _) in pairwise(steps) if share > final + FLAT), default=0)


def values_of(study: ReportedStudy) -> Mapping[str, Any]:
    """What the prose needs: under which treatments plots are scarce, and which differ in size."""
    config = study.results.config
    pressures = {cell: config(cell).pressure for cell in study.results.by_cell}
    sizes = {cell: (config(cell).agents, config(cell).plots) for cell in study.results.by_cell}
    slack = [cell for cell, pressure in pressures.items() if pressure < SCARCE]
    scarce = [cell for cell, pressure in pressures.items() if pressure >= SCARCE]
    resized = [each.cell for each in study.against if sizes[each.cell] != sizes[each.baseline]]
    return {
        "least": number(min(pressures.values())), "most": number(max(pressures.values())),
        "slack": study.treatments(slack), "scarce": study.treatments(scarce),
        "resized": study.treatments(resized), "null": NULL,
    }  # fmt: skip


def tables_of(study: ReportedStudy) -> Iterator[ReportTable]:
    """Correlations of concentration and turnover; theory and observation."""
    rows = [
        [
            one.roster or "all", str(one.rounds), f"{one.gini.n:,}",
            *(within_bounds(each.rho, each.low, each.high) for each in (one.gini, one.hhi)),
        ]
        for one in trade_offs(study.results)
    ]  # fmt: skip
    yield ReportTable(
        "trade-off", ["roster", "rounds", "runs", "Gini with turnover", "HHI with turnover"], rows,
        "Spearman's rank correlation and its 95% interval.",
    )  # fmt: skip
    yield from _ties(study.results)
    yield from _possession(study.results)
    yield from _defence(study.results)


def _ties(results: MiningResults) -> Iterator[ReportTable]:
    found = [(kind, test) for kind, tests in ties(results).items() for test in tests]
    # One family: of twenty true null hypotheses, one has p < 0.05 by chance.
    corrected = iter(holm([test.p for _, test in found if not test.is_thin]))
    rows = [_tie_row(*one, None if one[1].is_thin else next(corrected)) for one in found]
    head = ["drawn for", "tied", "draws", "wins by rank", "chi-square", "df", "p", "Holm", "1/k"]
    if rows:
        yield ReportTable("ties", head, rows, "Who wins ties, against 1/k for each of k.")


def _tie_row(kind: str, test: Fairness, corrected: float | None) -> list[str]:
    return [
        f"{kind}s",
        "all" if test.participants is None else str(test.participants),
        f"{test.draws:,}",
        ", ".join(f"{count:,}" for count in test.counts) or NONE,
        fixed(None if test.is_thin else test.statistic, 2),
        str(test.degrees),
        p_value(None if test.is_thin else test.p),
        p_value(corrected),
        "too few draws"
        if corrected is None
        else "rejected"
        if corrected < SIGNIFICANT
        else "not rejected",
    ]


def _possession(results: MiningResults) -> Iterator[ReportTable]:
    rows = [
        [
            one.cell.treatment, one.cell.roster, str(one.cell.rounds),
            number(results.config(one.cell).pressure), f"{one.ratio.n} of {one.seeds}",
            bounds(one.ratio), NONE if one.beyond_null is None else bounds(one.beyond_null),
            one.shows,
        ]
        for one in possession(results)
    ]  # fmt: skip
    head = [
        "treatment", "roster", "rounds", "pressure", "seeds", "ratio ± 95%",
        f"minus {NULL}", "stable holders",
    ]  # fmt: skip
    caption = "Raids on stable holders compared with raids on others; ±: half the 95% interval."
    if rows:
        yield ReportTable("possession", head, rows, caption)


def _defence(results: MiningResults) -> Iterator[ReportTable]:
    head = [
        "treatment", "roster", "rounds", "pressure", "raid chance", "break-even", "stake",
        "saves", "costs", "predicted", f"gold, defender {MINUS} miner ± 95%", "seen", "agrees",
    ]  # fmt: skip
    rows = [_defending_row(results, one) for one in defending(results)]
    if rows:
        yield ReportTable("defence", head, rows, "Predicted and observed value of defence.")
    broken = [
        [
            one.rule,
            *(f"{count:,}" for count in (one.raided, one.overrun, one.undone, one.fell)),
            _MUST.get(one.rule, NONE),
            _broke(one),
        ]
        for one in breaking(results)
    ]
    caption = (
        "Defended plots that were raided, by the rule of defence, over the whole study. Overrun: "
        "with more raiders than points of defence, if each point stops one; given back: captured, "
        "then returned by an authority; fell: captured and kept."
    )
    head = ["rule", "raided", "overrun", "given back", "fell", "by the rule", "seen"]
    yield ReportTable("breaking", head, broken, caption)


_MUST: Final = {
    "absolute": "none falls",
    "pointwise": "those with more raiders than points fall, and no others",
}


def _broke(breaking: Breaking) -> str:
    if not breaking.raided:
        return "no defended plot was raided"
    return "as the rule says" if breaking.holds else "contradicted"


def _defending_row(results: MiningResults, defending: Defending) -> list[str]:
    predicted = {None: NONE, True: "pays", False: "does not pay"}[defending.pays]
    seen = {None: "no clear difference", True: "paid", False: "did not pay"}[defending.did_pay]
    agrees = NONE
    if defending.pays is not None and defending.did_pay is not None:
        agrees = "yes" if defending.pays is defending.did_pay else "no"
    return [
        defending.cell.treatment,
        defending.cell.roster,
        str(defending.cell.rounds),
        number(results.config(defending.cell).pressure),
        number(defending.raided),
        number(defending.break_even),
        number(defending.stake),
        number(defending.saves),
        number(defending.cost),
        predicted,
        bounds(defending.gap),
        seen,
        agrees,
    ]


# Settings that the line of settings shows; a treatment of these alone needs no description.
_PLAIN: Final = {"rows", "cols", "agents", "stamina"}


def format_settings(treatment: str, config: MiningConfig, agents: str) -> str:
    known = TREATMENTS.get(treatment)
    says = ""
    if known is not None and not (known.settings and set(known.settings) <= _PLAIN):
        says = f"{known.description}. "
    stamina = "stamina by agent" if config.stamina_by_agent else f"{config.stamina} stamina each"
    return (
        f"{capitalized(says)}{config.rows} x {config.cols} plots, {agents} agents, "
        f"{stamina}, cap {config.mining_cap}, truce {config.truce}, {config.defense} defence, "
        f"authority: {config.authority}."
    )


CHAPTER: Final = Chapter(
    template=Path(__file__).with_name("report.html"),
    tables=lambda study: list(tables_of(study)),
    figures=lambda study: list(figures_of(study)),
    values=values_of,
    settings=format_settings,
)
