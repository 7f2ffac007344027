"""The sections of a report that judge: verdicts, the figures behind them, every treatment."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

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
from goldrush.replay.studies import Criteria
from goldrush.replay.study.inference import SIGNIFICANT, smallest_p
from goldrush.replay.study.plan import Cell
from goldrush.replay.study.verdicts import (
    NOT_SUPPORTED,
    SUPPORTED,
    UNDECIDED,
    Assessment,
    Finding,
    Judged,
    Verdict,
)


def verdict_section(study: Study) -> list[Part]:
    """The verdicts, and the rule that they follow; nothing for a world without criteria."""
    criteria = study.of.studies.criteria
    if not criteria.every:
        return []
    found = study.assessment.verdicts()
    parts: list[Part] = [Heading(2, "Verdicts", "verdicts")]
    if not found:
        alike = f" that are otherwise of the same configuration ({criteria.where})"
        return [
            *parts,
            Text(
                f"None: a verdict needs runs {criteria.with_agents()}"
                f"{alike if len(criteria.sizes) > 1 else ''}."
            ),
        ]
    families: dict[tuple[str, ...], list[Verdict]] = {}
    for one in found:
        key = (_treatments(one), one.roster, str(one.rounds))
        families.setdefault(key, []).append(one)
    rows: list[list[Content]] = [
        [
            treatments, roster, rounds, *study.covariate(*_cells(members[0])),
            *(Marked(one.verdict, one.note) for one in members),
        ]
        for (treatments, roster, rounds), members in families.items()
    ]  # fmt: skip
    return [
        *parts,
        Table(
            ["treatments", "roster", study.units, *study.covariates, *_names(criteria)],
            rows,
            "Each criterion, judged "
            f"{' and '.join(f'with N = {size}' for size in criteria.sizes)}.",
        ),
        Text(_rule(criteria, study.units)),
        *_too_few(study, found),
        *_behind(study, found),
        *_without_burn_in(study, found),
    ]


def _rule(criteria: Criteria, units: str) -> str:
    stated = " ".join(f"{one.name.capitalize()}: {one.says}." for one in criteria.every)
    be_it = f", be it {criteria.with_agents('or')}" if len(criteria.sizes) > 1 else ""
    return (
        f"{stated} Each is the second half of a run against the first, after a burn-in of a tenth "
        f"of the {units}. Supported: every sub-measure changes as expected, with p < 0.05 after "
        f"Holm's correction over {_all_of(len(criteria.expected))} and in at least three quarters "
        f"of the seeds, {criteria.with_agents()}. Not supported: one of them passes the same test "
        "the other way round, or all that have data are the same in both halves of every run"
        f"{be_it}. Else undecided. A change that {criteria.null} "
        "shows, too, which cannot learn, counts for nobody. Where there was nothing to reduce, "
        "that is said."
    )


_NUMBERS: Final = ("", "", "", "three", "four", "five", "six", "seven", "eight", "nine")


def _all_of(count: int) -> str:
    """So many things, all of them, in words."""
    few = {1: "the one", 2: "both"}
    return few.get(count) or f"all {_NUMBERS[count] if count < len(_NUMBERS) else count}"


def _names(criteria: Criteria) -> list[str]:
    return [one.name for one in criteria.every]


def _cells(verdict: Verdict) -> list[Cell]:
    """The cells that are judged together, by the number of agents."""
    return [judged.cell for judged in verdict.cells.values()]


def _treatments(verdict: Verdict) -> str:
    return " and ".join(cell.treatment for cell in _cells(verdict))


def _too_few(study: Study, found: Sequence[Verdict]) -> list[Part]:
    """What must be said where no test can pass, whatever the runs show."""
    fewest = min(len(study.results.by_cell[cell]) for one in found for cell in _cells(one))
    measures = len(study.of.studies.criteria.expected)
    if _can_pass(fewest, measures):
        return []
    enough = next(seeds for seeds in range(fewest, fewest + 64) if _can_pass(seeds, measures))
    return [
        Text(
            f"{count_of(fewest, 'seed')}: the smallest p that the test can give is then "
            f"{p_value(smallest_p(fewest))}, before the correction. No sub-measure can pass it, "
            f"whichever way round; that takes {enough} seeds at least."
        )
    ]


def _can_pass(seeds: int, measures: int) -> bool:
    """Whether any of so many sub-measures can pass the test with so many seeds: the smallest
    p-value of all is multiplied by the number of them.
    """
    return measures * smallest_p(seeds) < SIGNIFICANT


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
    for cells, verdict in {tuple(_cells(one)): one for one in found}.items():
        by_size = [(cell, study.assessment.findings(cell)) for cell in cells]
        rows = [
            _finding_row(study, cell, findings[name])
            for name in by_size[0][1]
            for cell, findings in by_size
        ]
        sizes = ", ".join(
            " ".join([*_covariate(study, cell), f"with N = {study.results.config(cell).agents}"])
            for cell in cells
        )
        where = f"{verdict.roster}, {_treatments(verdict)}, {verdict.rounds} {study.units}"
        parts.append(Table(_BEHIND, rows, f"{where}: {sizes}"))
    return parts


def _covariate(study: Study, cell: Cell) -> list[str]:
    """The covariate of a cell with its name."""
    return [*study.covariates, *study.covariate(cell)]


def _finding_row(study: Study, cell: Cell, found: Finding) -> list[str]:
    change = found.change
    arrow = "↑" if change.expected > 0 else "↓"
    data = "" if change.n == change.seeds else f" ({change.n} with data)"
    shows = found.shows if found.shows == found.alone else f"{found.alone}, {found.shows}"
    return [
        f"{study.of.measures.known[found.measure].title}{TOGETHER}{arrow}",
        str(study.results.config(cell).agents),
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
    """The verdicts as they would be over all units, where how a run begins counts, too."""
    whole = Assessment(study.results, burn_in=False).verdicts()
    rows: list[list[Content]] = [
        [
            _treatments(now), now.roster, str(now.rounds), *study.covariate(*_cells(now)),
            now.criterion, *(Marked(one.verdict, one.note) for one in (now, then)),
        ]
        for now, then in zip(found, whole, strict=True)
        if now.verdict != then.verdict
    ]  # fmt: skip
    says = (
        f"Halves of all {study.units}, without a burn-in, give the same verdicts."
        if not rows
        else f"Halves of all {study.units}, without a burn-in, give other verdicts here: "
        f"{study.of.studies.criteria.start} looks like learning."
    )
    head = [
        "treatments", "roster", study.units, *study.covariates, "criterion", "after the burn-in",
        f"all {study.units}",
    ]  # fmt: skip
    table = [Table(head, rows)] if rows else []
    return [Heading(3, "Without a burn-in", "no-burn-in"), Text(says), *table]


def every_treatment(study: Study) -> list[Part]:
    """What each treatment comes to with its own number of agents; nothing without criteria."""
    criteria = study.of.studies.criteria
    if not criteria.every:
        return []
    rows: list[list[Content]] = [
        [
            treatment, cell.roster, str(rounds), str(study.results.config(cell).agents),
            *study.covariate(cell), *(_judged(one) for one in study.assessment.judged(cell)),
        ]
        for (treatment, rounds), cells in study.groups.items()
        for cell in cells
        if cell not in study.same
    ]  # fmt: skip
    needs = f"None of this is a verdict, which needs {_all_of(len(criteria.sizes))}. "
    return [
        Heading(2, "Every treatment", "every-treatment"),
        Text(
            "The same rule, with the one number of agents that a treatment has. "
            f"{needs if len(criteria.sizes) > 1 else ''}{identical_says(study)}"
        ),
        Table(
            ["treatment", "roster", study.units, "N", *study.covariates, *_names(criteria)], rows
        ),
    ]


# What comes of one number of agents, in other words than a verdict.
_OUTCOMES: Final = {
    SUPPORTED: "as expected",
    NOT_SUPPORTED: "not as expected",
    UNDECIDED: "unclear",
}


def _judged(one: Judged) -> Marked:
    return Marked(f"{_OUTCOMES[one.outcome]} with N = {one.agents}", one.note)
