"""The section of a report that sets what is seen beside what theory predicts."""

from __future__ import annotations

from collections.abc import Sequence

from replay.fairness import Fairness
from replay.report.page import NONE, Block, Heading, Table, Text, number, p_value
from replay.study.inference import Interval
from replay.study.results import Results
from replay.study.theory import Defending, breaking, defending, possession, ties


def theory_section(results: Results) -> list[Block]:
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


def _ties(results: Results) -> list[Block]:
    rows = [row for kind, tests in ties(results).items() for row in _tie_rows(kind, tests)]
    parts: list[Block] = [
        Heading(3, "Tied agents win 1/k each", "ties"),
        Text(
            "Ties are drawn: of k tied agents each should win 1/k of the draws, whatever its place "
            "in the order of ids. Pearson's chi-square test against that; draws with the same key "
            "are the same draw and count once."
        ),
    ]
    if not rows:
        return [*parts, Text("Nothing was drawn in this study.")]
    head = ["drawn for", "tied", "draws", "wins by place", "chi-square", "df", "p", "1/k"]
    return [*parts, Table(head, rows)]


def _tie_rows(kind: str, tests: Sequence[Fairness]) -> list[list[str]]:
    return [
        [
            f"{kind}s",
            "all" if test.participants is None else str(test.participants),
            f"{test.draws:,}",
            ", ".join(f"{count:,}" for count in test.counts) or NONE,
            number(test.statistic),
            str(test.degrees),
            p_value(test.p),
            "too few draws" if test.is_thin else "holds" if test.p >= 0.05 else "rejected",
        ]
        for test in tests
    ]


def _possession(results: Results) -> list[Block]:
    found = possession(results)
    parts: list[Block] = [
        Heading(3, "Stable holders under visible ownership", "possession"),
        Text(
            "Raid actions a plot on plots held for 5 rounds or more ÷ those on the others, over "
            "whole runs. Theory: agents that see who holds what since when, and learn, spare "
            "stable holders, and the ratio falls below 1. Raiders who pick blindly give about 1, "
            "somewhat more where those who raid most hold the newest plots, for nobody raids its "
            "own."
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
            str(one.ratio.n),
            _bounds(one.ratio),
            _against_one(one.ratio),
        ]
        for one in found
    ]
    head = [
        "treatment", "roster", "rounds", "pressure", "seeds", "ratio [95% interval]",
        "stable holders are",
    ]  # fmt: skip
    return [*parts, Table(head, rows)]


def _against_one(found: Interval) -> str:
    if found.low is None or found.high is None:
        return NONE
    if found.high < 1:
        return "spared"
    return "raided more" if found.low > 1 else "as others"


def _defence(results: Results) -> list[Block]:
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
            "owns, mined or not), not of the best defence."
        ),
    ]
    found = defending(results)
    if found:
        head = [
            "treatment", "roster", "rounds", "pressure", "raid chance", "break-even", "stake",
            "saves", "costs", "predicted", "gold, defender − miner [95% interval]", "seen",
            "agrees",
        ]  # fmt: skip
        parts.append(Table(head, [_defending_row(results, one) for one in found]))
    else:
        parts.append(Text("No cell has both policies."))
    rows = [
        [
            one.rule,
            f"{one.raided:,}",
            f"{one.fell:,}",
            "none falls" if one.rule == "absolute" else "those with more raiders than points fall",
            _broke(one.rule, one.raided, one.fell),
        ]
        for one in breaking(results)
    ]
    caption = "Defended plots that were raided, by the rule of defence, over the whole study."
    parts.append(Table(["rule", "raided", "fell", "predicted", "seen"], rows, caption))
    return parts


def _broke(rule: str, raided: int, fell: int) -> str:
    if not raided:
        return "no defended plot was raided"
    if rule == "absolute":
        return "as predicted" if fell == 0 else "contradicted"
    return f"{fell / raided:.1%} fall"


def _defending_row(results: Results, one: Defending) -> list[str]:
    predicted = {None: NONE, True: "pays", False: "does not pay"}[one.pays]
    seen = {None: "no difference", True: "paid", False: "did not pay"}[one.did_pay]
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
        _bounds(one.gap),
        seen,
        agrees,
    ]


def _bounds(found: Interval) -> str:
    if found.low is None:
        return number(found.mean)
    return f"{number(found.mean)} [{number(found.low)}, {number(found.high)}]"
