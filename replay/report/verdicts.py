"""The sections of a report that judge: verdicts, the figures behind them, every treatment."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from goldrush.replay.mining.measures import MEASURES
from goldrush.replay.report.page import (
    TOGETHER,
    Content,
    Heading,
    Marked,
    Table,
    Text,
    bounds,
    number,
    p_value,
)
from goldrush.replay.report.sections import Part, Study, count_of, identical_says
from goldrush.replay.study.comparisons import NULL
from goldrush.replay.study.inference import SIGNIFICANT, smallest_p
from goldrush.replay.study.plan import Cell
from goldrush.replay.study.results import Results
from goldrush.replay.study.verdicts import (
    CRITERIA,
    EXPECTED,
    NOT_SUPPORTED,
    SIZES,
    SUPPORTED,
    UNDECIDED,
    Assessment,
    Finding,
    Judged,
    Verdict,
)


def verdict_section(study: Study) -> list[Part]:
    """The verdicts, and the rule that they follow."""
    found = study.assessment.verdicts()
    parts: list[Part] = [Heading(2, "Verdicts", "verdicts")]
    if not found:
        return [
            *parts,
            Text(
                "None: a verdict needs runs with 10 agents and with 20 that are otherwise of the "
                "same configuration (baseline and agents-20, or scarce and scarce-20)."
            ),
        ]
    families: dict[tuple[str, ...], list[Verdict]] = {}
    for one in found:
        cells = [one.cells[size].cell for size in SIZES]
        key = (" and ".join(cell.treatment for cell in cells), one.roster, str(one.rounds))
        families.setdefault(key, []).append(one)
    rows: list[list[Content]] = [
        [
            treatments, roster, rounds, _pressures(study.results, members[0]),
            *(Marked(one.verdict, one.note) for one in members),
        ]
        for (treatments, roster, rounds), members in families.items()
    ]  # fmt: skip
    return [
        *parts,
        Table(
            ["treatments", "roster", "rounds", "pressure", *CRITERIA],
            rows,
            "Each criterion, judged with N = 10 and with N = 20.",
        ),
        Text(
            "Stability: turnover falls and ownership survives longer. Efficiency: output rises "
            "and idle stamina falls. Conflict: the raid rate falls and defence stands where raids "
            "come. Norms: holders of 5 rounds and more are raided less than others. Each is the "
            "second half of a run against the first, after a burn-in of a tenth of the rounds. "
            "Supported: every sub-measure changes as expected, with p < 0.05 after Holm's "
            "correction over all seven and in at least three quarters of the seeds, with 10 agents "
            "and with 20. Not supported: one of them passes the same test the other way round, or "
            "all that have data are the same in both halves of every run, be it with 10 agents or "
            f"with 20. Else undecided. A change that {NULL} shows, too, which cannot learn, counts "
            "for nobody. Where there was nothing to reduce, that is said."
        ),
        *_too_few(study, found),
        *_behind(study, found),
        *_without_burn_in(study, found),
    ]


def _too_few(study: Study, found: Sequence[Verdict]) -> list[Part]:
    """What must be said where no test can pass, whatever the runs show."""
    fewest = min(
        len(study.results.by_cell[one.cells[size].cell]) for one in found for size in SIZES
    )
    if _can_pass(fewest):
        return []
    enough = next(seeds for seeds in range(fewest, fewest + 64) if _can_pass(seeds))
    return [
        Text(
            f"{count_of(fewest, 'seed')}: the smallest p that the test can give is then "
            f"{p_value(smallest_p(fewest))}, before the correction. No sub-measure can pass it, "
            f"whichever way round; that takes {enough} seeds at least."
        )
    ]


def _can_pass(seeds: int) -> bool:
    """Whether any sub-measure can pass the test with so many seeds: the smallest p-value of all is
    multiplied by the number of them.
    """
    return len(EXPECTED) * smallest_p(seeds) < SIGNIFICANT


def _pressures(results: Results, verdict: Verdict) -> str:
    both = [results.config(verdict.cells[size].cell).pressure for size in SIZES]
    return " and ".join(number(pressure) for pressure in both)


_BEHIND: Final = (
    "sub-measure", "N", "first half", "second half", "difference [95% interval]",
    "seeds as expected", "opposite", "same", "p", "Holm", "Holm, opposite", "effect", "shows",
)  # fmt: skip


def _behind(study: Study, found: Sequence[Verdict]) -> list[Part]:
    """The figures that the verdicts follow from, a table for each pair of treatments and roster."""
    parts: list[Part] = [
        Heading(2, "The figures behind the verdicts", "figures-behind"),
        Text(
            "Means over the seeds where both halves have data. p: one-sided Wilcoxon signed-rank "
            "test in the direction that is expected (by the arrow); Holm: after the correction, "
            "also of the test the other way round; effect: matched-pairs rank-biserial "
            "correlation, positive as expected. Seeds without data count as not as expected."
        ),
    ]
    seen = set()
    for verdict in found:
        pair = tuple(verdict.cells[size].cell for size in SIZES)
        if pair in seen:
            continue
        seen.add(pair)
        by_size = [(cell, study.assessment.findings(cell)) for cell in pair]
        rows = [
            _finding_row(study.results, cell, findings[name])
            for name in by_size[0][1]
            for cell, findings in by_size
        ]
        pressures = ", ".join(
            f"pressure {number(config.pressure)} with N = {config.agents}"
            for config in map(study.results.config, pair)
        )
        treatments = " and ".join(cell.treatment for cell in pair)
        caption = f"{verdict.roster}, {treatments}, {verdict.rounds} rounds: {pressures}"
        parts.append(Table(_BEHIND, rows, caption))
    return parts


def _finding_row(results: Results, cell: Cell, found: Finding) -> list[str]:
    change = found.change
    arrow = "↑" if change.expected > 0 else "↓"
    data = "" if change.n == change.seeds else f" ({change.n} with data)"
    shows = found.shows if found.shows == found.alone else f"{found.alone}, {found.shows}"
    return [
        f"{MEASURES[found.measure].title}{TOGETHER}{arrow}",
        str(results.config(cell).agents),
        number(change.first.mean),
        number(change.second.mean),
        bounds(change.difference),
        f"{change.right} of{TOGETHER}{change.seeds}{data}",
        str(change.wrong),
        str(change.same),
        p_value(change.p),
        p_value(found.holm),
        p_value(found.holm_opposite),
        number(change.effect, 2),
        shows,
    ]


def _without_burn_in(study: Study, found: Sequence[Verdict]) -> list[Part]:
    """The verdicts as they would be over all rounds, where the filling of the map counts too."""
    whole = Assessment(study.results, burn_in=False).verdicts()
    rows: list[list[Content]] = [
        [
            " and ".join(now.cells[size].cell.treatment for size in SIZES), now.roster,
            str(now.rounds), _pressures(study.results, now), now.criterion,
            *(Marked(one.verdict, one.note) for one in (now, then)),
        ]
        for now, then in zip(found, whole, strict=True)
        if now.verdict != then.verdict
    ]  # fmt: skip
    says = (
        "Halves of all rounds, without a burn-in, give the same verdicts."
        if not rows
        else "Halves of all rounds, without a burn-in, give other verdicts here: the filling of "
        "the map looks like learning."
    )
    table = [
        Table(
            [
                "treatments",
                "roster",
                "rounds",
                "pressure",
                "criterion",
                "after the burn-in",
                "all rounds",
            ],
            rows,
        )
    ]
    return [Heading(3, "Without a burn-in", "no-burn-in"), Text(says), *(table if rows else [])]


def every_treatment(study: Study) -> list[Part]:
    """What each treatment comes to with its own number of agents."""
    rows: list[list[Content]] = []
    for (treatment, rounds), cells in study.groups.items():
        for cell in cells:
            if cell in study.same:
                continue
            config = study.results.config(cell)
            rows.append(
                [
                    treatment, cell.roster, str(rounds), str(config.agents),
                    number(config.pressure),
                    *(_judged(one) for one in study.assessment.judged(cell)),
                ]
            )  # fmt: skip
    return [
        Heading(2, "Every treatment", "every-treatment"),
        Text(
            "The same rule, with the one number of agents that a treatment has. None of this is a "
            "verdict, which needs both. " + identical_says(study)
        ),
        Table(["treatment", "roster", "rounds", "N", "pressure", *CRITERIA], rows),
    ]


# What comes of one number of agents, in other words than a verdict.
_OUTCOMES: Final = {
    SUPPORTED: "as expected",
    NOT_SUPPORTED: "not as expected",
    UNDECIDED: "unclear",
}


def _judged(one: Judged) -> Marked:
    return Marked(f"{_OUTCOMES[one.outcome]} with N = {one.agents}", one.note)
