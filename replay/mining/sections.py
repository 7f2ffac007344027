"""What a report says of mining alone: pressure, the trade-off, theory, stamina and holdings."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from goldrush.kernel.mining.config import MiningConfig
from goldrush.kernel.mining.treatments import TREATMENTS
from goldrush.replay.fairness import Fairness
from goldrush.replay.mining.criteria import NULL
from goldrush.replay.mining.figures import lorenz_and_survival, stamina, trade_off
from goldrush.replay.mining.theory import (
    Breaking,
    Defending,
    MiningResults,
    breaking,
    defending,
    possession,
    ties,
    trade_offs,
)
from goldrush.replay.report.page import (
    MINUS,
    NONE,
    TOGETHER,
    Block,
    Heading,
    Table,
    Text,
    bounds,
    fixed,
    number,
    p_value,
)
from goldrush.replay.report.sections import BY_UNIT_COMMAND, Study, figure, named
from goldrush.replay.studies import Chapter, OwnFigure
from goldrush.replay.study.inference import SIGNIFICANT, Correlation, holm

SPELLS_COMMAND: Final = "measure {} --spells --json"
GOLD_COMMAND: Final = "export {} --format csv --table agents"
SCARCE: Final = 1.0  # the pressure from which on somebody goes without


def pressure_paragraph(study: Study) -> list[Block]:
    """Where the question of the report bites."""
    results = study.results
    of = {cell: results.config(cell).pressure for cell in results.by_cell}
    slack = named(study, [cell for cell, pressure in of.items() if pressure < SCARCE])
    scarce = named(study, [cell for cell, pressure in of.items() if pressure >= SCARCE])
    return [Text(_pressure_says(sorted(set(of.values())), slack, scarce))]


def _pressure_says(pressures: Sequence[float], slack: Sequence[str], scarce: Sequence[str]) -> str:
    says = (
        "Pressure is the plots that the agents could use ÷ the plots that there are; here it is "
        f"{number(pressures[0])}"
        + (f" to {number(pressures[-1])}" if len(pressures) > 1 else "")
        + ". "
    )
    if slack:
        says += (
            f"Under {', '.join(slack)} it is below 1: nothing is scarce, and nobody needs what "
            "another one holds. "
        )
    if scarce:
        return says + (f"The question bites where it is 1 or more: {', '.join(scarce)}.")
    return says + "The question would bite at 1 or more; no treatment of this study is scarce."


def resized_says(study: Study) -> str:
    """What must be said of treatments with other numbers of agents or plots than the baseline."""
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
        "Efficiency, HHI and raid rate change with the number of agents and of plots by arithmetic "
        f"alone: what the rows of {', '.join(named(study, resized))} show is not behaviour alone. "
    )


def trade_off_section(study: Study) -> list[Block]:
    """Concentration against stability."""
    rows = [
        [
            one.roster or "all", str(one.rounds), f"{one.gini.n:,}",
            *(_correlation(found) for found in (one.gini, one.hhi)),
        ]
        for one in trade_offs(study.results)
    ]  # fmt: skip
    parts: list[Block] = [
        Heading(2, "Concentration and stability", "trade-off"),
        Text(
            "Spearman's rank correlation across runs of the concentration at the end (Gini of "
            "gold, HHI of plots) with the turnover of the run, and its 95% interval. If stability "
            "came at the price of concentration, the correlation would be negative. Runs of "
            "different treatments share seeds, so the intervals are narrower than those of "
            "independent runs; and runs of different treatments differ for many reasons, so what "
            "goes together need not be cause and effect. HHI changes with the number of agents and "
            "of plots by arithmetic alone, and the row of all puts rosters together as well: what "
            "it shows is not behaviour alone. "
            f"{NONE}: one of the two does not vary, or there are fewer than four runs. A "
            f"correlation of 1 or {MINUS}1 has no interval: the formula says nothing of it."
        ),
        Table(
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
                trade_off({c: study.results.by_cell[c] for c in cells}, study.looks, study.hrefs),
                f"A point for each run of {study.horizon(rounds)}"
                f"{', which leads to its page' if study.hrefs else ''}.",
                cells,
            )
        )  # fmt: skip
    return parts


def _correlation(found: Correlation) -> str:
    if found.rho is None:
        return NONE
    if found.low is None:
        return fixed(found.rho, 2)
    return f"{fixed(found.rho, 2)} [{fixed(found.low, 2)},{TOGETHER}{fixed(found.high, 2)}]"


def theory_section(results: MiningResults) -> list[Block]:
    """Predictions that can be tested, and those that cannot."""
    return [
        Heading(2, "Theory and what was seen", "theory"),
        *_ties(results),
        *_possession(results),
        *_defence(results),
        Heading(3, "Not tested here", "not-tested"),
        Text(
            "That those who maximise their own gold come to respect first possession (the "
            "bourgeois convention of the hawk–dove game) is a prediction about agents that learn. "
            "Scripted policies do not, whatever they show is how they were written; only rosters "
            "with language models can test it. Nor is it tested whether the play is an "
            "equilibrium: nobody here looks for a best answer to the others. The value of a plot "
            "beyond the round and one claim is not estimated."
        ),
    ]


def _ties(results: MiningResults) -> list[Block]:
    found = [(kind, test) for kind, tests in ties(results).items() for test in tests]
    # All are asked the same question: of twenty that hold, one has p < 0.05.
    corrected = iter(holm([test.p for _, test in found if not test.is_thin]))
    rows = [_tie_row(*one, None if one[1].is_thin else next(corrected)) for one in found]
    parts: list[Block] = [
        Heading(3, "Tied agents win 1/k each", "ties"),
        Text(
            "Ties are drawn: of k tied agents each should win 1/k of the draws, whatever its place "
            "in the order of ids. Pearson's chi-square test against that, with Holm's correction "
            "over the rows with draws enough, which the rows of all add up; draws with the same "
            "key are the same draw and count once. Rejected: p < 0.05 after the correction."
        ),
    ]
    if not rows:
        return [*parts, Text("Nothing was drawn in this study.")]
    head = ["drawn for", "tied", "draws", "wins by place", "chi-square", "df", "p", "Holm", "1/k"]
    return [*parts, Table(head, rows, "Who wins ties, against 1/k for each of k.")]


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
            "Raid actions a plot on plots held for 5 rounds or more ÷ those on the others, over "
            "whole runs; runs without raids on the others have no ratio. Theory: agents that see "
            "who holds what since when, and learn, spare stable holders, and the ratio falls below "
            "1. Raiders who pick blindly give about 1, and a few per cent to either side, for "
            f"nobody raids its own: so {NULL} under the same treatment is the other yardstick. "
            "Spared, or raided more: the interval lies wholly on that side of 1, and that of the "
            f"difference from {NULL} on that side of 0; the intervals stand one by one, "
            "uncorrected. Scripted policies do not learn: what they show is how they were written."
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
        f"less that of {NULL}", "stable holders",
    ]  # fmt: skip
    caption = "Raids on stable holders against raids on others; ±: half the 95% interval."
    return [*parts, Table(head, rows, caption)]


def _defence(results: MiningResults) -> list[Block]:
    parts: list[Block] = [
        Heading(3, "What defence is worth, and where it breaks", "defence"),
        Text(
            "A point of defence costs what it would have mined elsewhere, α. It saves, with the "
            "chance that the plot is raided in a round, what is mined there in this round and the "
            "stamina that another plot would take. So it pays where that chance is above the break-"
            "even, α ÷ ((1 − share that falls) × (stake + α)). Where no plot is free, a lost plot "
            "is worth more than a claim, and what is saved is a lower bound: there, pays is sure "
            "and does not pay is not. Seen: the gold of an agent of defend-then-mine less that of "
            "one of greedy-mine in the same runs. It is a test of how that policy defends (all it "
            "owns, mined or not), not of the best defence, and the two policies differ in more "
            "than that one defends."
        ),
    ]
    found = defending(results)
    if found:
        head = [
            "treatment", "roster", "rounds", "pressure", "raid chance", "break-even", "stake",
            "saves", "costs", "predicted", "gold, defender − miner ± 95%", "seen", "agrees",
        ]  # fmt: skip
        caption = "What defence was predicted to be worth, and what was seen."
        parts.append(Table(head, [_defending_row(results, one) for one in found], caption))
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
        "those with more raiders than points, where a point stops one; given back: by an "
        "authority, after they fell; fell: for good."
    )
    head = ["rule", "raided", "overrun", "given back", "fell", "by the rule", "seen"]
    parts.append(Table(head, rows, caption))
    return parts


_MUST: Final = {
    "absolute": "none falls",
    "pointwise": "those with more raiders than points fall, and no others",
}


def _broke(found: Breaking) -> str:
    if not found.raided:
        return "no defended plot was raided"
    return "as the rule says" if found.holds else "contradicted"


def _defending_row(results: MiningResults, one: Defending) -> list[str]:
    predicted = {None: NONE, True: "pays", False: "does not pay"}[one.pays]
    seen = {None: "no clear difference", True: "paid", False: "did not pay"}[one.did_pay]
    agrees = NONE
    if one.pays is not None and one.did_pay is not None:
        agrees = "yes" if one.pays is one.did_pay else "no"
    return [
        one.cell.treatment,
        one.cell.roster,
        str(one.cell.rounds),
        number(results.config(one.cell).pressure),
        number(one.raided),
        number(one.break_even),
        number(one.stake),
        number(one.saves),
        number(one.cost),
        predicted,
        bounds(one.gap),
        seen,
        agrees,
    ]


# Settings of which a treatment's words say no more than the line of settings does.
_PLAIN: Final = {"rows", "cols", "agents", "stamina"}


def settings_say(treatment: str, config: MiningConfig, agents: str) -> str:
    """A treatment in words, with the settings that shape it."""
    known = TREATMENTS.get(treatment)
    says = ""
    if known is not None and not (known.settings and set(known.settings) <= _PLAIN):
        says = f"{known.description}. "
    stamina = "stamina by agent" if config.stamina_by_agent else f"{config.stamina} stamina each"
    return (
        f"{says[:1].upper()}{says[1:]}{config.rows} x {config.cols} plots, {agents} agents, "
        f"{stamina}, cap {config.mining_cap}, truce {config.truce}, {config.defense} defence, "
        f"authority: {config.authority}."
    )


CHAPTER: Final = Chapter(
    tables="theory",
    head=pressure_paragraph,
    sections=lambda study: [*trade_off_section(study), *theory_section(study.results)],
    figures=(
        OwnFigure(
            "stamina", stamina, "What stamina was spent on", "Mean share over seeds.",
            [BY_UNIT_COMMAND],
        ),
        OwnFigure(
            "holdings", lorenz_and_survival, "Who has the gold, and how long plots are held",
            "Lorenz curves are means over seeds; survival is Kaplan–Meier over the spells of all "
            "seeds, those still running at the end censored.",
            [GOLD_COMMAND, SPELLS_COMMAND],
        ),
    ),
    caveat=resized_says,
    settings=settings_say,
    whole="A run's value is the mean over the rounds in which a measure is defined; for Gini and "
    "HHI the value at the end.",
)  # fmt: skip
