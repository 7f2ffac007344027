"""The section of a report on change over time: verdicts on the criteria of a world and what they
rest on, each treatment by itself, half against half.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from goldrush.kernel.text import format_count
from goldrush.replay.report.answer import NULL_NOTE
from goldrush.replay.report.figures import EFFECT, Effect, effects, half_against_half
from goldrush.replay.report.page import (
    TOGETHER,
    VARIES,
    Block,
    Content,
    Heading,
    Marked,
    TableBlock,
    Text,
    Tile,
    Tiles,
    bounds,
    p_value,
    rounded,
    within_bounds,
)
from goldrush.replay.report.sections import CUT, ReportedStudy, figure, figure_name
from goldrush.replay.report.styles import styles_of
from goldrush.replay.studies import Criteria
from goldrush.replay.study.inference import SIGNIFICANT, PairedChange, smallest_p
from goldrush.replay.study.judging import (
    NOT_SUPPORTED,
    SUPPORTED,
    UNDECIDED,
    CriterionVerdict,
    Finding,
    SizeVerdict,
)
from goldrush.replay.study.records import Cell
from goldrush.replay.study.verdicts import Assessment, families
from goldrush.replay.text import capitalized


def criteria_section(study: ReportedStudy) -> list[Block]:
    """Change over time, and the verdicts on the criteria of the world; empty unless they are asked
    for.
    """
    if not study.question.criteria:
        return []
    if study.chapter.criteria is not None:
        return list(study.chapter.criteria(study))
    title = f"Change over time: {study.of.studies.title}" if _has(study) else "Change over time"
    return [
        Heading(2, title, "criteria"),
        *(_summary(study) if _has(study) else ()),
        *verdict_section(study),
        *every_treatment(study),
        *_halves(study),
    ]


def _has(study: ReportedStudy) -> bool:
    return bool(study.of.studies.criteria.every)


def _summary(study: ReportedStudy) -> list[Block]:
    """Verdicts as tiles, a sentence, and one figure."""
    verdicts = study.assessment.verdicts()
    if not verdicts:
        return [Text(f"No verdicts: {verdicts.reason}.")]
    names = [
        f"{verdict.criterion} of {verdict.roster} under {verdict.treatments}"
        for verdict in verdicts
    ]
    return [*in_brief(verdicts, names), _summary_figure(study, verdicts)]


def in_brief(verdicts: Sequence[CriterionVerdict], names: Sequence[str]) -> list[Block]:
    """Verdicts as a tile for each criterion and a sentence, in which they have these names."""
    by_criterion: dict[str, list[CriterionVerdict]] = {}
    for verdict in verdicts:
        by_criterion.setdefault(verdict.criterion, []).append(verdict)
    tiles = [
        tile(criterion, [verdict.verdict for verdict in members], members[0].note)
        for criterion, members in by_criterion.items()
    ]
    outcomes = [verdict.verdict for verdict in verdicts]
    return [Tiles(tiles), Text(finding(list(zip(names, outcomes, strict=True))), leads=True)]


NAMED_MAX: Final = 4  # verdicts named in the sentence; the table has all


def finding(verdicts: Sequence[tuple[str, str]]) -> str:
    """A sentence on verdicts, given as pairs of subject and verdict."""
    if len(verdicts) == 1:
        [(name, verdict)] = verdicts
        return f"{capitalized(name)}: {verdict}."
    supported = [name for name, verdict in verdicts if verdict == SUPPORTED]
    outcomes = [verdict for _, verdict in verdicts]
    counts = [(outcomes.count(outcome), outcome) for outcome in (NOT_SUPPORTED, UNDECIDED)]
    others = " and ".join(
        f"{n:,} {'is' if n == 1 else 'are'} {outcome}" for n, outcome in counts if n
    )
    if len(set(outcomes)) == 1 and not supported:
        others = f"all are {outcomes[0]}"
    if not supported:
        return f"None of {format_count(len(outcomes), 'verdict')} is {SUPPORTED}: {others}."
    rest = f"; of the others, {others}" if others else ""
    more = len(supported) - NAMED_MAX
    named = [*supported[:NAMED_MAX], *([f"and {more:,} more"] if more > 0 else [])]
    return (
        f"{len(supported):,} of {format_count(len(outcomes), 'verdict')} "
        f"{'is' if len(supported) == 1 else 'are'} {SUPPORTED} ({'; '.join(named)}){rest}."
    )


def tile(name: str, outcomes: Sequence[str], why: str = "") -> Tile:
    """A tile for the verdicts on a criterion; `why`: the reason, shown for a single verdict."""
    if len(set(outcomes)) == 1:
        text = why if len(outcomes) == 1 else f"in all {len(outcomes)} comparisons"
        return Tile(name, outcomes[0], text)
    counts = [
        (outcome, outcomes.count(outcome)) for outcome in (SUPPORTED, NOT_SUPPORTED, UNDECIDED)
    ]
    return Tile(name, VARIES, ", ".join(f"{n} {outcome}" for outcome, n in counts if n))


def _summary_figure(study: ReportedStudy, verdicts: Sequence[CriterionVerdict]) -> Block:
    criteria = study.of.studies.criteria
    measures = study.results.measures.known
    sizes = styles_of([f"N = {size}" for size in criteria.sizes])
    horizons = {verdict.rounds for verdict in verdicts}
    rows: dict[str, None] = {}
    titles = {
        name: f"{criterion.name}: {measures[name].title}"
        for criterion in criteria.every
        for name in criterion.expected
    }
    shown: dict[str, list[Effect]] = {title: [] for title in titles.values()}
    for verdict in verdicts:
        first = verdict.cells[0]
        where = f"{first.treatment}, {first.roster}"
        where += f", {verdict.rounds}" if len(horizons) > 1 else ""
        rows.setdefault(where)
        for size, judged in verdict.by_size.items():
            for finding in judged.findings:
                if finding.change.effect is not None:
                    cell = judged.cell.format(study.units)
                    text = f"{cell}, N = {size}: {format_effect(finding.change)}, {finding.shows}"
                    effect = Effect(where, finding.change, sizes[f"N = {size}"], text, cell)
                    shown[titles[finding.measure]].append(effect)
    cells = list(dict.fromkeys(cell for verdict in verdicts for cell in verdict.cells))
    return figure(
        study, "effects", effects(shown, list(rows), sizes),
        f"Effects behind the verdicts, second half against first, by treatment and roster: "
        f"{EFFECT}. A row is named by the treatment with fewer agents; the data name that of each "
        "point. On the right: as expected; on the left: the opposite. A criterion is supported "
        "only if all points of its panels are on the right, significant, and not shown by the "
        "null as well.",
        cells,
    )  # fmt: skip


def format_effect(change: PairedChange) -> str:
    """An effect with its interval: "0.60 [0.10, 0.85]"."""
    return within_bounds(change.effect, change.effect_low, change.effect_high)


def verdict_section(study: ReportedStudy) -> list[Block]:
    """The verdicts and their rule; empty without any."""
    criteria = study.of.studies.criteria
    verdicts = study.assessment.verdicts()
    if not verdicts:
        return []
    parts: list[Block] = [Heading(3, "Verdicts", "verdicts")]
    families: dict[tuple[str, ...], list[CriterionVerdict]] = {}
    for verdict in verdicts:
        key = (verdict.treatments, verdict.roster, str(verdict.rounds))
        families.setdefault(key, []).append(verdict)
    rows: list[list[Content]] = [
        [
            treatments, roster, rounds, *study.covariate(*members[0].cells),
            *(Marked(verdict.verdict, verdict.note) for verdict in members),
        ]
        for (treatments, roster, rounds), members in families.items()
    ]  # fmt: skip
    return [
        *parts,
        TableBlock(
            ["treatments", "roster", study.units, *study.covariates, *_names(criteria)],
            rows,
            f"Verdicts on each criterion, {' and '.join(f'with N = {n}' for n in criteria.sizes)}.",
        ),
        Text(_rule(criteria, study.units)),
        *_too_few(study, verdicts),
        *_behind(study),
        *_without_burn_in(study, verdicts),
    ]


def _rule(criteria: Criteria, units: str) -> str:
    stated = " ".join(
        f"{criterion.name.capitalize()}: {criterion.text}." for criterion in criteria.every
    )
    either = f", {criteria.with_agents('or')}" if len(criteria.sizes) > 1 else ""
    family = _all_of(len(criteria.expected))
    return (
        f"{stated} Each compares the second half of a run with the first, after a burn-in of a "
        f"tenth of the {units}. Supported: every sub-measure changes as expected, with p < 0.05 "
        f"after Holm's correction over {family} and in at least three quarters of the seeds, "
        f"{criteria.with_agents()}. Not supported: a sub-measure passes the same test in the "
        f"opposite direction, or none with data changes in any run{either}. Otherwise undecided. "
        f"A change that {criteria.null} also shows is not counted, because {criteria.null} cannot "
        "learn. If there was nothing to reduce, the note says so."
    )


_NUMBERS: Final = ("", "", "", "three", "four", "five", "six", "seven", "eight", "nine")


def _all_of(count: int) -> str:
    few = {1: "the one", 2: "both"}
    return few.get(count) or f"all {_NUMBERS[count] if count < len(_NUMBERS) else count}"


def _names(criteria: Criteria) -> list[str]:
    return [criterion.name for criterion in criteria.every]


def _too_few(study: ReportedStudy, verdicts: Sequence[CriterionVerdict]) -> list[Block]:
    """A warning if there are too few seeds for any test to pass."""
    cells = (cell for verdict in verdicts for cell in verdict.cells)
    fewest = min(len({run.draw for run in study.results.by_cell[cell]}) for cell in cells)
    measures = len(study.of.studies.criteria.expected)
    if _can_pass(fewest, measures):
        return []
    enough = next(seeds for seeds in range(fewest, fewest + 64) if _can_pass(seeds, measures))
    return [
        Text(
            f"With {format_count(fewest, 'seed')}, the smallest possible p-value is "
            f"{p_value(smallest_p(fewest))} before the correction, so no sub-measure can pass the "
            f"test in either direction. At least {enough} seeds are needed."
        )
    ]


def _can_pass(seeds: int, measures: int) -> bool:
    """Whether any sub-measure can pass: Holm multiplies the smallest p by their number."""
    return measures * smallest_p(seeds) < SIGNIFICANT


_BEHIND: Final = (
    "sub-measure", "N", "first half", "second half", "difference ± 95%",
    "seeds as expected", "opposite", "same", "p", "Holm", "Holm, opposite", "effect", "shows",
)  # fmt: skip


def _behind(study: ReportedStudy) -> list[Block]:
    parts: list[Block] = [
        Heading(3, "The figures behind the verdicts", "figures-behind"),
        Text(
            "Means over the seeds with data in both halves, rounded to the precision of the "
            "interval; ±: half the 95% interval. p: one-sided Wilcoxon signed-rank test in the "
            "expected direction (the arrow); Holm: p after the correction, also for the opposite "
            "direction; effect: matched-pairs rank-biserial correlation and its 95% interval, "
            "positive in the expected direction. Seeds without data count as not as expected."
        ),
    ]
    for cells in families(study.results):
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
        treatments = " and ".join(cell.treatment for cell in cells)
        where = f"{cells[0].roster}, {treatments}, {study.horizon(cells[0].rounds)}"
        null = NULL_NOTE if study.assessment.is_null(cells[0]) else ""
        parts.append(TableBlock(_BEHIND, rows, f"{where}: {sizes}{null}"))
    return parts


def _covariate(study: ReportedStudy, cell: Cell) -> list[str]:
    return [*study.covariates, *study.covariate(cell)]


def _finding_row(study: ReportedStudy, cell: Cell, finding: Finding) -> list[str]:
    change = finding.change
    arrow = "↑" if change.expected > 0 else "↓"
    data = "" if change.n == change.seeds else f" ({change.n} with data)"
    shows = finding.shows if finding.shows == finding.alone else f"{finding.alone}, {finding.shows}"
    return [
        f"{study.results.measures.known[finding.measure].title}{TOGETHER}{arrow}",
        str(study.results.config(cell).agents),
        rounded(change.first),
        rounded(change.second),
        bounds(change.difference),
        f"{change.right} of{TOGETHER}{change.seeds}{data}",
        str(change.wrong),
        str(change.same),
        p_value(change.p),
        p_value(finding.holm),
        p_value(finding.holm_opposite),
        format_effect(change),
        shows,
    ]


def _without_burn_in(study: ReportedStudy, verdicts: Sequence[CriterionVerdict]) -> list[Block]:
    """The verdicts on halves of all units, where the beginning of a run counts, too."""
    whole = Assessment(study.results, burn_in=False).verdicts()
    rows: list[list[Content]] = [
        [
            now.treatments, now.roster, str(now.rounds), *study.covariate(*now.cells),
            now.criterion, *(Marked(verdict.verdict, verdict.note) for verdict in (now, then)),
        ]
        for now, then in zip(verdicts, whole, strict=True)
        if now.verdict != then.verdict
    ]  # fmt: skip
    text = (
        f"Halves of all {study.units}, without a burn-in, give the same verdicts."
        if not rows
        else f"Halves of all {study.units}, without a burn-in, give different verdicts: "
        f"{study.of.studies.criteria.start} looks like learning."
    )
    head = [
        "treatments", "roster", study.units, *study.covariates, "criterion", "after the burn-in",
        f"all {study.units}",
    ]  # fmt: skip
    caption = "Verdicts that differ without a burn-in."
    table = [TableBlock(head, rows, caption)] if rows else []
    return [Heading(3, "Without a burn-in", "no-burn-in"), Text(text), *table]


def every_treatment(study: ReportedStudy) -> list[Block]:
    """The outcomes of each treatment with its own number of agents; empty without criteria."""
    criteria = study.of.studies.criteria
    if not criteria.every:
        return []
    rows: list[list[Content]] = [
        [
            treatment, study.answer.label(cell.roster), str(rounds),
            str(study.results.config(cell).agents), *study.covariate(cell),
            *(_judged(judged) for judged in study.assessment.judged(cell)),
        ]
        for (treatment, rounds), cells in study.groups.items()
        for cell in cells
        if cell not in study.same
    ]  # fmt: skip
    needs = f"These are not verdicts, which need {_all_of(len(criteria.sizes))} numbers. "
    return [
        Heading(3, "Every treatment", "every-treatment"),
        Text(
            "The same rule, for each treatment with its own number of agents. "
            f"{needs if len(criteria.sizes) > 1 else ''}"
        ),
        TableBlock(
            ["treatment", "roster", study.units, "N", *study.covariates, *_names(criteria)],
            rows,
            "Outcomes of each treatment with its own number of agents.",
        ),
    ]


# Outcomes with one number of agents, in other words than verdicts.
_OUTCOMES: Final = {
    SUPPORTED: "as expected",
    NOT_SUPPORTED: "not as expected",
    UNDECIDED: "unclear",
}


def _judged(judged: SizeVerdict) -> Marked:
    return Marked(_OUTCOMES[judged.outcome], judged.note)


def _halves(study: ReportedStudy) -> list[Block]:
    """Half against half: a figure for each treatment."""
    expected = study.of.studies.criteria.expected
    halves = [name for name, measure in study.shown(None).items() if measure.by_half]
    judged = study.shown(expected or halves)
    arrows = "Arrows: the expected direction. " if expected else ""
    means = f"Mean over seeds with data in both, and 95% interval. {arrows}{CUT}"
    parts: list[Block] = [
        Heading(3, "Half against half", "halves"),
        Text(f"The halves of each run after the burn-in. {means}"),
    ]
    for (treatment, rounds), every in study.groups.items():
        cells = {c: study.results.by_cell[c] for c in every if c not in study.same}
        if cells:
            parts.append(
                figure(
                    study, figure_name(study, "halves", treatment, rounds),
                    half_against_half(cells, study.styles, judged, expected),
                    f"The first and the second half of each run after a burn-in of a tenth, "
                    f"{treatment}, {study.horizon(rounds)}. {means}", list(cells),
                )
            )  # fmt: skip
    return parts
