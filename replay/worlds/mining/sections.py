"""Mining's own part of a report and its figures: pressure, the trade-off, theory, stamina and
holdings.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import accumulate, pairwise
from typing import Any, Final

from goldrush.agents.worlds.mining.roster import NULL
from goldrush.kernel.measures import mean
from goldrush.kernel.worlds.mining.config import MiningConfig
from goldrush.kernel.worlds.mining.events import KINDS
from goldrush.kernel.worlds.mining.treatments import TREATMENTS
from goldrush.replay.journal.fairness import Fairness
from goldrush.replay.report.chapter import Chapter, OwnFigure
from goldrush.replay.report.figures import Cells, Styles, band, legend_of, scatter
from goldrush.replay.report.marks import (
    DIAGONAL,
    HEIGHT,
    PATCH,
    WIDE,
    Area,
    Curve,
    Drawn,
    Key,
    Panel,
    Sample,
    Style,
)
from goldrush.replay.report.page import (
    MINUS,
    NONE,
    Block,
    Heading,
    TableBlock,
    Text,
    bounds,
    fixed,
    number,
    p_value,
    within_bounds,
)
from goldrush.replay.report.plot import panel_of
from goldrush.replay.report.sections import BY_UNIT_COMMAND, ReportedStudy, figure, named
from goldrush.replay.study.inference import SIGNIFICANT, holm
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

_KINDS: Final = {"defend": "c0", "mine": "c4", "claim": "c2", "raid": "c1"}  # by kind of action
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
        cell: [_shares(gold) for result in results if sum(gold := _gold(result)) > 0]
        for cell, results in cells.items()
    }
    if not any(shares.values()):
        return None
    marks, says = [], []
    for index, (cell, every) in enumerate(shares.items()):
        if every:
            means = [math.fsum(column) / len(every) for column in zip(*every, strict=True)]
            samples = [
                Sample(n / (len(means) - 1), share, n=len(every)) for n, share in enumerate(means)
            ]
            marks.append(Curve(styles[cell.roster], [samples], index=index, curves=len(shares)))
            says.append(f"{cell.roster} {number(means[len(means) // 2], 2)}")
    return panel_of(
        _LORENZ, (0, 1), (0, 1), marks, f"{_LORENZ}; share of the poorer half: {', '.join(says)}",
        width=WIDE, height=HEIGHT * 1.4, x_label="share of agents, poorest first",
        y_label="share of gold", rule=DIAGONAL,
    )  # fmt: skip


def _gold(result: Result[Any, Any]) -> list[float]:
    """The gold of each agent at the end, which no run lacks."""
    return [value for value in result.by_agent["gold"] if value is not None]


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
            for (length, is_over), count in result.kept.lengths.items():
                spells[cell][length, is_over, 0] += count
    if not any(spells.values()):
        return None, ""
    curves = {cell: [(0, 1.0), *curve(weights.items())] for cell, weights in spells.items()}
    longest = max(length for weights in spells.values() for length, _, _ in weights)
    falls = math.ceil(1.1 * max(map(_last_fall, curves.values())))
    end = falls if 0 < falls <= longest / 2 else longest
    marks, says = [], []
    for index, (cell, weights) in enumerate(spells.items()):
        if weights:
            steps = [Sample(at, share) for at, share in curves[cell] if at <= end]
            last = min(end, max(length for length, _, _ in weights))
            steps.append(Sample(last, steps[-1].y))
            marks.append(
                Curve(styles[cell.roster], [steps], steps=True, index=index, curves=len(spells))
            )
            says.append(f"{cell.roster} {number(curves[cell][-1][1], 2)}")
    drawn = panel_of(
        _SURVIVAL, (0, end), (0, 1), marks,
        f"{_SURVIVAL}; share that last longest: {', '.join(says)}", width=WIDE,
        height=HEIGHT * 1.4, x_label="length of a spell, rounds", y_label="share that last longer",
    )  # fmt: skip
    if end == longest:
        return drawn, ""
    return drawn, (
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
    legend = [Key(kind, Style(_KINDS[kind], (), PATCH, kind, kind)) for kind in KINDS]
    said = [f"No data for: {', '.join(omitted)}."] if omitted else []
    return Drawn([panel for panel in found.values() if panel], legend, said)


def _stamina(cell: Cell, runs: Sequence[Result[Any, Any]], styles: Styles) -> Panel | None:
    draws = [run.draw for run in runs]
    bands = [band([run.curves[f"share_{kind}"] for run in runs], (0.0, 1.0), draws)
             for kind in KINDS]  # fmt: skip
    rounds = runs[0].units
    edges = [0, *(window.last for window in points_of(rounds))]
    below, marks, says = [0.0] * (len(edges) - 1), [], []
    for kind, found in zip(KINDS, bands, strict=True):
        if found is None:
            return None
        above = below.copy()  # empty where nothing was spent
        for index, share in zip(found.positions, found.mean, strict=True):
            above[index] += share
        marks.append(Area(_KINDS[kind], kind, edges, below, above))
        below = above
        says.append(f"{kind} {number(mean(found.mean), 2)}")
    alt = f"{cell.roster}, mean shares: {', '.join(says)}"
    return panel_of(
        styles[cell.roster].label, (0, rounds), (0, 1), marks, alt, x_label="round",
        full_title=cell.roster,
    )  # fmt: skip


def trade_off(cells: Cells, styles: Styles, hrefs: Hrefs) -> Drawn:
    """Concentration against turnover, a point for each run, linked to its page (`hrefs`, by cell
    and seed).
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


SPELLS_COMMAND: Final = "measure {} --spells --json"
GOLD_COMMAND: Final = "export {} --format csv --table agents"
SCARCE: Final = 1.0  # the pressure at and above which plots are scarce


def pressure_paragraph(study: ReportedStudy) -> list[Block]:
    """The treatments under which plots are scarce, as the question of the report requires."""
    results = study.results
    of = {cell: results.config(cell).pressure for cell in results.by_cell}
    slack = named(study, [cell for cell, pressure in of.items() if pressure < SCARCE])
    scarce = named(study, [cell for cell, pressure in of.items() if pressure >= SCARCE])
    return [Text(_pressure(sorted(set(of.values())), slack, scarce))]


def _pressure(pressures: Sequence[float], slack: Sequence[str], scarce: Sequence[str]) -> str:
    says = (
        "Pressure is the number of plots that the agents could use ÷ the number of plots; it is "
        f"{number(pressures[0])}"
        + (f" to {number(pressures[-1])}" if len(pressures) > 1 else "")
        + ". "
    )
    if slack:
        says += (
            f"Under {', '.join(slack)} it is below 1: nothing is scarce, and no agent needs what "
            "another one holds. "
        )
    if scarce:
        return says + f"The question is tested where it is 1 or more: {', '.join(scarce)}."
    return says + "The question needs a pressure of 1 or more, which no treatment here has."


def format_resized(study: ReportedStudy) -> str:
    """A caveat on treatments with other numbers of agents or plots than the baseline."""
    config = study.results.config
    resized = [
        one.cell
        for one in study.against
        if (config(one.cell).agents, config(one.cell).plots)
        != (config(one.baseline).agents, config(one.baseline).plots)
    ]
    if not resized:
        return ""
    return (
        "Efficiency, HHI and raid rate depend on the numbers of agents and plots arithmetically, "
        f"so the differences of {', '.join(named(study, resized))} are not due to behaviour alone. "
    )


def trade_off_section(study: ReportedStudy) -> list[Block]:
    rows = [
        [
            one.roster or "all", str(one.rounds), f"{one.gini.n:,}",
            *(within_bounds(each.rho, each.low, each.high) for each in (one.gini, one.hhi)),
        ]
        for one in trade_offs(study.results)
    ]  # fmt: skip
    parts: list[Block] = [
        Heading(2, "Concentration and stability", "trade-off"),
        Text(
            "Spearman's rank correlation, across runs, of the concentration at the end (Gini of "
            "gold, HHI of plots) with the turnover of the run, and its 95% interval. If stability "
            "came at the price of concentration, the correlation would be negative. Runs of "
            "different treatments share seeds, so the intervals are narrower than those of "
            "independent runs; and treatments differ in many ways, so a correlation need not be "
            "causal. HHI depends on the numbers of agents and plots arithmetically, and the row "
            "of all mixes rosters, so neither is due to behaviour alone. "
            f"{NONE}: one of the two does not vary, or there are fewer than four runs. A "
            f"correlation of 1 or {MINUS}1 has no interval, because its z is infinite."
        ),
        TableBlock(
            ["roster", "rounds", "runs", "Gini with turnover", "HHI with turnover"],
            rows,
            "Spearman's rank correlation and its 95% interval.",
        ),
    ]
    for rounds in dict.fromkeys(cell.rounds for cell in study.results.by_cell):
        cells = [c for c in study.results.by_cell if c.rounds == rounds and c not in study.same]
        parts.append(
            figure(
                study, f"trade-off-{rounds}",
                trade_off({c: study.results.by_cell[c] for c in cells}, study.styles, study.hrefs),
                f"Concentration of gold and of plots against the turnover rate, "
                f"a point for each run of {study.horizon(rounds)}"
                f"{', linked to its page' if study.hrefs else ''}.",
                cells,
            )
        )  # fmt: skip
    return parts


def theory_section(results: MiningResults) -> list[Block]:
    return [
        Heading(2, "Theory and observation", "theory"),
        *_ties(results),
        *_possession(results),
        *_defence(results),
        Heading(3, "Not tested here", "not-tested"),
        Text(
            "That agents who maximise their own gold come to respect first possession (the "
            "bourgeois convention of the hawk–dove game) is a prediction about agents that learn. "
            "Scripted policies do not learn, so only rosters with language models can test it. "
            "Whether play is an equilibrium is not tested either, because no policy computes a "
            "best response. The value of a plot beyond the round and one claim is not estimated."
        ),
    ]


def _ties(results: MiningResults) -> list[Block]:
    found = [(kind, test) for kind, tests in ties(results).items() for test in tests]
    # One family: of twenty true null hypotheses, one has p < 0.05 by chance.
    corrected = iter(holm([test.p for _, test in found if not test.is_thin]))
    rows = [_tie_row(*one, None if one[1].is_thin else next(corrected)) for one in found]
    parts: list[Block] = [
        Heading(3, "Tied agents win 1/k each", "ties"),
        Text(
            "Ties are decided by draws: each of k tied agents should win 1/k of them, whatever its "
            "rank by id. Pearson's chi-square test of that, with Holm's correction over the rows "
            "with enough draws; the rows of all sum up the others. Draws with the same key are "
            "the same draw and count once. Rejected: p < 0.05 after the correction."
        ),
    ]
    if not rows:
        return [*parts, Text("There were no draws in this study.")]
    head = ["drawn for", "tied", "draws", "wins by rank", "chi-square", "df", "p", "Holm", "1/k"]
    return [*parts, TableBlock(head, rows, "Who wins ties, against 1/k for each of k.")]


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


def _possession(results: MiningResults) -> list[Block]:
    found = possession(results)
    parts: list[Block] = [
        Heading(3, "Stable holders under visible ownership", "possession"),
        Text(
            "Raid actions per plot on plots held for 5 rounds or more ÷ raid actions per plot on "
            "the other owned plots, over whole runs; runs without raids on the others have no "
            "ratio. Theory: agents that learn, and see who has held a plot since when, spare "
            "stable holders, so the ratio falls below 1. Blind raiders give about 1, give or take "
            "a few per cent, because agents do not raid their own plots; the ratio is therefore "
            f"also compared with {NULL} under the same treatment. Spared or raided more: the "
            "interval is entirely on that side of 1, and the interval of the difference from "
            f"{NULL} on that side of 0. The intervals are not corrected for multiple comparisons. "
            "Scripted policies do not learn; their ratios follow from their code."
        ),
    ]
    if not found:
        return [*parts, Text("No cell has raids on both kinds of plots.")]
    rows = [
        [
            one.cell.treatment,
            one.cell.roster,
            str(one.cell.rounds),
            number(results.config(one.cell).pressure),
            f"{one.ratio.n} of {one.seeds}",
            bounds(one.ratio),
            NONE if one.beyond_null is None else bounds(one.beyond_null),
            one.shows,
        ]
        for one in found
    ]
    head = [
        "treatment", "roster", "rounds", "pressure", "seeds", "ratio ± 95%",
        f"minus {NULL}", "stable holders",
    ]  # fmt: skip
    caption = "Raids on stable holders compared with raids on others; ±: half the 95% interval."
    return [*parts, TableBlock(head, rows, caption)]


def _defence(results: MiningResults) -> list[Block]:
    parts: list[Block] = [
        Heading(3, "The value of defence, and where it breaks", "defence"),
        Text(
            "A point of stamina spent on defence costs what it would have mined elsewhere, α. If "
            "the plot is raided, it saves what is mined there in this round and the stamina of a "
            "new claim. Defence therefore pays if the chance of a raid is above the break-even α ÷ "
            "((1 − share of defended plots that fall) × (stake + α)). If no plot is free, a lost "
            "plot is worth more than a claim, so the saving is a lower bound: a prediction that "
            "defence pays is then reliable, one that it does not pay is not. Seen: the gold per "
            "agent of defend-then-mine minus that of greedy-mine in the same runs. This tests how "
            "that policy defends (every plot it owns, mined or not), not the best defence, and the "
            "two policies also differ in other ways."
        ),
    ]
    found = defending(results)
    if found:
        head = [
            "treatment", "roster", "rounds", "pressure", "raid chance", "break-even", "stake",
            "saves", "costs", "predicted", "gold, defender − miner ± 95%", "seen", "agrees",
        ]  # fmt: skip
        caption = "Predicted and observed value of defence."
        parts.append(TableBlock(head, [_defending_row(results, one) for one in found], caption))
    else:
        parts.append(Text("No cell has both policies."))
    rows = [
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
    parts.append(TableBlock(head, rows, caption))
    return parts


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
    tables="theory",
    head=pressure_paragraph,
    sections=lambda study: [*trade_off_section(study), *theory_section(study.results)],
    figures=(
        OwnFigure(
            "stamina", stamina, "Shares of the stamina spent, by action", "Mean over seeds.",
            [BY_UNIT_COMMAND],
        ),
        OwnFigure(
            "holdings", lorenz_and_survival, "Distribution of gold, and survival of ownership",
            "Lorenz curves are means over seeds; survival is Kaplan–Meier over the spells of all "
            "seeds; those still running at the end are censored.",
            [GOLD_COMMAND, SPELLS_COMMAND],
        ),
    ),
    caveat=format_resized,
    settings=format_settings,
)  # fmt: skip
