"""The section of a report that sets what is seen beside what theory predicts."""

from __future__ import annotations

from typing import Final

from goldrush.replay.fairness import Fairness
from goldrush.replay.report.page import NONE, Block, Heading, Table, Text, bounds, number, p_value
from goldrush.replay.study.comparisons import NULL
from goldrush.replay.study.inference import SIGNIFICANT, holm
from goldrush.replay.study.results import Results
from goldrush.replay.study.theory import Breaking, Defending, breaking, defending, possession, ties


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
    return [*parts, Table(head, rows)]


def _tie_row(kind: str, test: Fairness, corrected: float | None) -> list[str]:
    return [
        f"{kind}s",
        "all" if test.participants is None else str(test.participants),
        f"{test.draws:,}",
        ", ".join(f"{count:,}" for count in test.counts) or NONE,
        number(None if test.is_thin else test.statistic),
        str(test.degrees),
        p_value(None if test.is_thin else test.p),
        p_value(corrected),
        "too few draws"
        if corrected is None
        else "rejected"
        if corrected < SIGNIFICANT
        else "not rejected",
    ]


def _possession(results: Results) -> list[Block]:
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
        "treatment", "roster", "rounds", "pressure", "seeds", "ratio [95% interval]",
        f"less that of {NULL}", "stable holders",
    ]  # fmt: skip
    return [*parts, Table(head, rows)]


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
            "owns, mined or not), not of the best defence, and the two policies differ in more "
            "than that one defends."
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


def _defending_row(results: Results, one: Defending) -> list[str]:
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
