"""The sections of a report that are common to all worlds, except those on verdicts."""

from __future__ import annotations

import shlex
import statistics
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

import attrs

from goldrush.kernel.rosters import Config
from goldrush.kernel.text import format_count
from goldrush.replay.data.measures import Measure
from goldrush.replay.report import figures
from goldrush.replay.report.answer import NULL_NOTE, StudyAnswer, answer_of
from goldrush.replay.report.chapter import Chapter, OwnFigure
from goldrush.replay.report.marks import Drawn, Style
from goldrush.replay.report.page import (
    Block,
    Code,
    Content,
    FigureBlock,
    Heading,
    Link,
    TableBlock,
    Text,
    bounds,
    fixed,
    number,
)
from goldrush.replay.report.question import StudyQuestion
from goldrush.replay.report.styles import styles_of
from goldrush.replay.report.tidy import rows_of
from goldrush.replay.study.comparisons import Against, against_baseline
from goldrush.replay.study.inference import interval
from goldrush.replay.study.records import Cell
from goldrush.replay.study.results import AnyResult, Results
from goldrush.replay.study.verdicts import Assessment
from goldrush.replay.text import capitalized, format_list, format_ranges
from goldrush.replay.tools import Tools

# Commands that print the numbers of a figure, with {} for the folders of its journals.
MEASURE_COMMAND: Final = "measure {} --by-run --json"
BY_UNIT_COMMAND: Final = "measure {} --by-round --json"

FENCE: Final = 1.5  # interquartile ranges (Tukey's fence)
OUTLIER_SEEDS: Final = 5  # seeds; with fewer, quartiles mean little
OUTLIERS_MAX: Final = 20  # rows of the table

INTERVALS: Final = " Intervals of means are by Student's t over seeds."
CUT: Final = "Intervals are cut at the limits of the measure."


@attrs.frozen
class ReportedStudy:
    """The results of a study, with what several sections need; `groups`: the cells by treatment and
    horizon; `journals`: the number of journals in each folder and those inside it; `hrefs`:
    addresses of the pages of runs, by cell and seed.
    """

    question: StudyQuestion
    answer: StudyAnswer
    results: Results[Any, Any]
    groups: Mapping[tuple[str, int], Sequence[Cell]]
    against: Sequence[Against]
    assessment: Assessment
    styles: Mapping[str, Style]
    chapter: Chapter[ReportedStudy]
    journals: Mapping[str, int]
    hrefs: Mapping[tuple[Cell, int], str] = attrs.field(factory=dict)

    @property
    def runs(self) -> str:
        return format_count(sum(map(len, self.results.by_cell.values())), "run")

    @property
    def title(self) -> str:
        if self.question.title:
            return self.question.title
        if self.question.criteria:
            return f"{self.of.studies.title} A study of {self.runs}"
        title = self.answer.outcome.title
        return f"{capitalized(title)} by treatment and roster: a study of {self.runs}"

    @property
    def of(self) -> Tools:
        return self.results.of

    @property
    def world_option(self) -> str:
        """What commands that are typed in the study's folder take besides."""
        return self.of.world_option(self.results.folder)

    @property
    def json_command(self) -> str:
        """The command that prints the numbers of this page."""
        question = self.question
        outcome = "" if question.outcome is None else f" --outcome {question.outcome}"
        criteria = " --criteria" if question.criteria else ""
        options = f"{outcome}{criteria}{self.measure_option}{self.world_option}"
        return f"goldrush report . --json{options}"

    @property
    def measure_option(self) -> str:
        """The measures of the user, as they are typed in the study's folder."""
        return "".join(
            f" --measure {shlex.quote(user.typed(self.results.folder))}"
            for user in self.results.users
        )

    @property
    def units(self) -> str:
        return self.of.vocabulary.units

    def horizon(self, rounds: int) -> str:
        return format_count(rounds, self.of.vocabulary.unit)

    @property
    def covariates(self) -> list[str]:
        """The heading of the covariate's column, or nothing without a covariate."""
        covariate = self.of.studies.covariate
        return [] if covariate is None else [covariate.name]

    def covariate(self, *cells: Cell) -> list[str]:
        """The entry of that column for some cells."""
        covariate = self.of.studies.covariate
        if covariate is None:
            return []
        return [" and ".join(number(covariate.of(self.results.config(cell))) for cell in cells)]

    def shown(self, names: Iterable[str] | None) -> dict[str, Measure]:
        """Measures of these names, and those of the user; None: all."""
        known = self.results.measures.known
        if names is None:
            return dict(known)
        users = (user.name for user in self.results.users)
        return {name: known[name] for name in dict.fromkeys([*names, *users])}

    @property
    def same(self) -> dict[Cell, Cell]:
        """Cells that are identical to their baseline by construction."""
        return {
            comparison.cell: comparison.baseline
            for comparison in self.against
            if comparison.identical
        }

    @property
    def missing_figures(self) -> dict[str, str]:
        """Why figures that other studies have are not drawn, by the first word of their names."""
        reasons = {}
        if all(comparison.identical for comparison in self.against):
            reasons["forest"] = "there is no baseline, or no other treatment, to compare"
        verdicts = self.assessment.verdicts()
        if not verdicts:
            reasons["effects"] = f"there are no verdicts: {verdicts.reason}"
        return reasons

    @property
    def identical_text(self) -> str:
        """The treatments that are identical to the baseline by construction, as a sentence."""
        if not self.same:
            return ""
        return (
            "Identical by construction to the baseline, and so not shown: "
            f"{', '.join(named(self, list(self.same)))}. The policies of this study do not depend "
            "on anything that these treatments change."
        )


def _styles(answer: StudyAnswer) -> dict[str, Style]:
    """A style for each roster, and for each policy by its label: the same in all figures, whatever
    they show. A legend says of the null, which is grey, what it is.
    """
    results = answer.results
    played = {
        cell.roster: {label for run in runs for label in run.policies}
        for cell, runs in results.by_cell.items()
    }
    policies = {roster: min(labels) for roster, labels in played.items() if len(labels) == 1}
    labels = (label for runs in results.by_cell.values() for run in runs for label in run.policies)
    names = list(dict.fromkeys([*played, *labels]))
    styles = styles_of(names, policies, results.of.hue_order, results.of.null)
    return {
        name: attrs.evolve(style, note=NULL_NOTE) if name in answer.nulls else style
        for name, style in styles.items()
    }


def study_of(results: Results[Any, Any], question: StudyQuestion | None = None) -> ReportedStudy:
    """A study as its report takes it. Raises BadInput as `answer_of`."""
    question = question or StudyQuestion()
    answer = answer_of(results, question.outcome)
    groups: dict[tuple[str, int], list[Cell]] = {}
    for cell in results.by_cell:
        groups.setdefault((cell.treatment, cell.rounds), []).append(cell)
    return ReportedStudy(
        question,
        answer,
        results,
        groups,
        against_baseline(results),
        Assessment(results),
        _styles(answer),
        results.of.chapter,
        _journals(results, results.by_cell),
    )


def head(study: ReportedStudy) -> list[Block]:
    """What the page was computed from, the world's introduction, the command of its numbers."""
    chapter = study.chapter
    judged = ["verdict"] if study.question.criteria and study.of.studies.criteria.every else []
    tables = ["outcome", *judged, "comparison", *filter(None, [chapter.tables])]
    return [
        Heading(2, "What was studied", "studied"),
        Text(
            "Every run is a journal in the study's folder. Every number on this page is computed "
            "from these journals, and every figure names its own."
        ),
        *chapter.head(study),
        Text(
            "The commands on this page are to be run in the study's folder. This one prints the "
            f"numbers of the {format_list(tables)} tables:"
        ),
        Code(study.json_command),
    ]


def named(study: ReportedStudy, cells: Sequence[Cell]) -> list[str]:
    """The treatments of cells, each with its rosters unless all of them are among the cells."""
    rosters: dict[str, list[str]] = {}
    for cell in cells:
        rosters.setdefault(cell.treatment, []).append(cell.roster)
    every: dict[str, set[str]] = {}
    for cell in study.results.by_cell:
        every.setdefault(cell.treatment, set()).add(cell.roster)
    return [
        treatment
        if set(names) == every[treatment]
        else f"{treatment} (for {', '.join(dict.fromkeys(names))})"
        for treatment, names in rosters.items()
    ]


def comparison_section(study: ReportedStudy) -> list[Block]:
    """Other measures of runs: differences from the baseline, a figure for each horizon."""
    parts: list[Block] = [
        Heading(2, "Other measures: treatments against the baseline", "treatments"),
    ]
    if not study.against:
        return [*parts, Text("The study has no baseline, or no other treatment, to compare.")]
    behind = "".join(
        f"The number after each treatment is its {name}. " for name in study.covariates
    )
    caveat = study.chapter.caveat(study)
    parts.append(
        Text(
            "Treatment − baseline: the mean difference of the values of whole runs, paired by "
            "seed, and its 95% interval. The intervals are not corrected for multiple "
            f"comparisons. {behind}{caveat}{study.identical_text}"
        )
    )
    shown = study.shown(study.of.studies.compared)
    by_horizon: dict[int, list[Against]] = {}
    for comparison in study.against:
        if not comparison.identical:
            by_horizon.setdefault(comparison.cell.rounds, []).append(comparison)
    for rounds, compared in by_horizon.items():
        labels = treatment_labels(study, [comparison.cell for comparison in compared])
        cells = [comparison.baseline for comparison in compared] + [
            comparison.cell for comparison in compared
        ]
        parts.append(
            figure(
                study, f"forest-{rounds}", figures.forest(compared, labels, study.styles, shown),
                f"Treatments − baseline, {study.horizon(rounds)}: the mean difference between runs "
                "with the same seed and its 95% interval, not corrected for the number of "
                "comparisons.",
                list(dict.fromkeys(cells)),
            )
        )  # fmt: skip
    return parts


def treatment_labels(study: ReportedStudy, cells: Sequence[Cell]) -> dict[Cell, str]:
    return {
        cell: " ".join([cell.treatment, *(f"({it})" for it in study.covariate(cell))])
        for cell in cells
    }


def treatment_sections(study: ReportedStudy) -> list[Block]:
    """A section for each treatment and horizon, with its settings, figures and means. Cells that
    are identical to the baseline by construction are left out.
    """
    parts: list[Block] = []
    for number_, ((treatment, rounds), every) in enumerate(study.groups.items(), 1):
        cells = [cell for cell in every if cell not in study.same]
        if cells:
            parts += _treatment(study, f"t{number_}", treatment, rounds, cells)
    return parts


def _treatment(
    study: ReportedStudy, anchor: str, treatment: str, rounds: int, cells: Sequence[Cell]
) -> list[Block]:
    configs = [study.results.config(cell) for cell in cells]
    agents = " or ".join(dict.fromkeys(str(config.agents) for config in configs))
    covariate = [
        f"{name} {' or '.join(dict.fromkeys(it for c in cells for it in study.covariate(c)))}"
        for name in study.covariates
    ]
    runs = {cell: study.results.by_cell[cell] for cell in cells}
    where = f"{treatment}, {study.horizon(rounds)} ({', '.join([f'N = {agents}', *covariate])})"
    title = ", ".join([f"Treatment {treatment}", study.horizon(rounds), *covariate])
    return [
        Heading(2, title, anchor),
        Text(_format_settings(study, treatment, configs[0], agents)),
        *(
            figure(
                study, figure_name(study, drawing.name, treatment, rounds),
                drawing.draw(runs, study.styles), f"{drawing.title}: {where}. {drawing.text}",
                cells, drawing.commands,
            )
            for drawing in _figures(study)
        ),
        _means(study, where, cells),
    ]  # fmt: skip


def figure_name(study: ReportedStudy, name: str, treatment: str, rounds: int) -> str:
    """The name of a figure of one treatment, with the horizon if there are several."""
    horizons = {horizon for _, horizon in study.groups}
    return f"{name}-{treatment}" + (f"-{rounds}" if len(horizons) > 1 else "")


def _figures(study: ReportedStudy) -> list[OwnFigure]:
    known = study.shown(study.of.studies.curves)
    curves = {name: measure for name, measure in known.items() if measure.by_unit}
    return [
        OwnFigure(
            study.units,
            lambda cells, styles: figures.over_units(cells, styles, curves, study.of.vocabulary),
            f"Each measure over the {study.units}",
            "Mean over seeds and 95% interval, in windows of equal length (the last may be "
            "shorter): the mean over a window, its sum or the value at its end, as the measure "
            f"defines it. {CUT}",
            [BY_UNIT_COMMAND],
        ),
        *study.chapter.figures,
    ]


def _format_settings(study: ReportedStudy, treatment: str, config: Config, agents: str) -> str:
    """A treatment as text: its description, and the settings that are not the default."""
    if study.chapter.settings is not None:
        return study.chapter.settings(treatment, config, agents)
    known = study.of.treatments.get(treatment)
    says = f"{capitalized(known.description)}. " if known and known.description else ""
    given = ("seed", "agents", study.of.players.horizon)
    others = [
        f"{field.name} {value}"
        for field in attrs.fields(study.of.config)
        if field.name not in given and (value := getattr(config, field.name)) != field.default
    ]
    return f"{says}{', '.join([f'{agents} agents', *others])}."


def _means(study: ReportedStudy, where: str, cells: Sequence[Cell]) -> TableBlock:
    rows = []
    for name, measure in study.results.measures.known.items():
        values = (_plus_minus(study.results.by_cell[cell], name) for cell in cells)
        rows.append([measure.title, *values])
    caption = (
        f"Values of whole runs, {where}: mean ± half the 95% interval over seeds; in brackets the "
        "number of seeds with a value, if not all have one."
    )
    return TableBlock(["measure", *(cell.roster for cell in cells)], rows, caption)


def _plus_minus(runs: Sequence[AnyResult], name: str) -> str:
    draws = [run.draw for run in runs]
    mean, every = interval([run.run[name] for run in runs], draws), len(set(draws))
    text = bounds(mean)
    return text if mean.n in (0, every) else f"{text} ({mean.n} of {every})"


@attrs.frozen
class Outlier:
    """A run whose value of a measure is more than FENCE interquartile ranges beyond a quartile of
    its cell; `distance`: from that quartile, in interquartile ranges.
    """

    cell: Cell
    seed: int
    measure: Measure
    value: float
    median: float
    distance: float


def outliers(study: ReportedStudy) -> list[Outlier]:
    """The outliers in measures of criteria or comparisons, the farthest first."""
    studies = study.of.studies
    shown = study.shown(studies.criteria.expected or studies.compared)
    outlying = []
    for cell, runs in study.results.by_cell.items():
        if cell in study.same:
            continue
        for name, measure in shown.items():
            known = [(run.seed, v) for run in runs if (v := run.run[name]) is not None]
            if len(known) < OUTLIER_SEEDS:
                continue
            low, median, high = statistics.quantiles([v for _, v in known], method="inclusive")
            if high - low > 1e-12:
                for seed, value in known:
                    distance = max(low - value, value - high) / (high - low)
                    if distance > FENCE:
                        outlying.append(Outlier(cell, seed, measure, value, median, distance))
    return sorted(outlying, key=lambda outlier: -outlier.distance)


def outlier_section(study: ReportedStudy) -> list[Block]:
    """The outliers as a table of at most OUTLIERS_MAX rows, linked to the pages of their runs."""
    outlying = outliers(study)
    parts: list[Block] = [
        Heading(2, "Runs that stand out", "outliers"),
        Text(
            f"Outlier seeds: a value more than {FENCE:g} interquartile ranges beyond a quartile, "
            "among the seeds of one treatment, roster and horizon, if at least "
            f"{OUTLIER_SEEDS} have a value. Nothing on this page excludes them."
        ),
    ]
    if not outlying:
        return [*parts, Text("There are none.")]
    rows: list[list[Content]] = [
        [
            outlier.cell.treatment, outlier.cell.roster, str(outlier.cell.rounds),
            *study.covariate(outlier.cell), outlier.measure.title,
            Link(f"seed {outlier.seed}", study.hrefs.get((outlier.cell, outlier.seed))),
            number(outlier.value), number(outlier.median), fixed(outlier.distance, 1),
        ]
        for outlier in outlying[:OUTLIERS_MAX]
    ]  # fmt: skip
    more = (
        f" The farthest {OUTLIERS_MAX} of {len(outlying):,}."
        if len(outlying) > OUTLIERS_MAX
        else ""
    )
    head = [
        "treatment", "roster", study.units, *study.covariates, "measure", "run", "value", "median",
        "distance",
    ]  # fmt: skip
    caption = f"Outlier seeds; distance: from the quartile, in interquartile ranges.{more}"
    return [*parts, TableBlock(head, rows, caption)]


def run_section(study: ReportedStudy) -> list[Block]:
    """Links to the pages of the runs; empty if they were not written."""
    rows: list[list[Content]] = [
        [cell.treatment, cell.roster, str(cell.rounds), Link(f"seed {seed}", href)]
        for (cell, seed), href in study.hrefs.items()
    ]
    if not rows:
        return []
    return [
        Heading(2, "Pages of the runs", "runs"),
        TableBlock(["treatment", "roster", study.units, "run"], rows, "Every run, with its page."),
    ]


def definitions(study: ReportedStudy) -> list[Block]:
    """The measures with their definitions, and how a run's value follows from those by unit."""
    known = study.results.measures.known.values()
    at_end = " and ".join(measure.title for measure in known if measure.at_end)
    total = " and ".join(measure.title for measure in known if measure.total)
    text = f"A run's value is the mean over the {study.units} in which a measure is defined"
    text += f"; for {at_end} the value at the end" if at_end else ""
    text += f"; for {total} the sum" if total else ""
    of_agents = study.results.measures.of_agents.values()
    return [
        Heading(2, "What the measures mean", "measures"),
        Text(f"{text}."),
        TableBlock(
            ["measure", "definition"],
            [
                *([measure.title, measure.definition] for measure in of_agents),
                *([measure.title, measure.definition] for measure in known),
            ],
            "The measures and their definitions.",
        ),
    ]


def figure(
    study: ReportedStudy,
    name: str,
    drawn: Drawn,
    caption: str,
    cells: Sequence[Cell],
    commands: Sequence[str] = (MEASURE_COMMAND,),
) -> Block:
    """A figure of some cells, with its sources; a sentence if there is nothing to draw. `commands`
    print its numbers, with {} for the folders of the journals.
    """
    text = " ".join([caption, *drawn.omitted])
    if not drawn.panels:
        return Text(f"{caption} No data.")
    folders = _folders(study, cells)
    journals = [
        f"{folder}/ ({format_count(count, 'journal')})" for folder, count in folders.items()
    ]
    typed = [
        f"goldrush {command.format(shlex.join(folders))}"
        f"{study.measure_option if command.startswith('measure') else ''}{study.world_option}"
        for command in commands
    ]
    runs = runs_text(study, cells, drawn)
    return FigureBlock(name, drawn.panels, drawn.legend, text, typed, journals, runs=runs)


def runs_text(study: ReportedStudy, cells: Sequence[Cell], drawn: Drawn) -> str:
    """The runs of a figure, and what its intervals are, if it has any."""
    every = [run for cell in cells for run in study.results.by_cell[cell]]
    seeds = format_ranges(sorted({run.seed for run in every})).replace("-", "–")
    horizons = " or ".join(map(str, sorted({cell.rounds for cell in cells})))
    treatments = list(dict.fromkeys(cell.treatment for cell in cells))
    rosters = list(dict.fromkeys(cell.roster for cell in cells))
    has_intervals = any(row["low"] is not None for row in rows_of(drawn.panels))
    return (
        f"{format_count(len(every), 'run')} of {horizons} {study.units}, with seeds {seeds} under "
        f"each treatment and roster. {_listed('Treatment', treatments)} "
        f"{_listed('Roster', rosters)}"
        f"{INTERVALS if has_intervals else ''}"
    )


def _listed(noun: str, names: Sequence[str]) -> str:
    return f"{noun}{'s' if len(names) > 1 else ''}: {'; '.join(names)}."


def _journals(results: Results[Any, Any], cells: Iterable[Cell]) -> dict[str, int]:
    """The number of journals of these cells in each folder and those inside it."""
    counts: dict[str, int] = {}
    for cell in cells:
        for result in results.by_cell[cell]:
            parts = result.path.split("/")
            for depth in range(len(parts)):
                folder = "/".join(parts[:depth]) or "."
                counts[folder] = counts.get(folder, 0) + 1
    return counts


def _folders(study: ReportedStudy, cells: Sequence[Cell]) -> dict[str, int]:
    """The folders of the journals of cells, with the number of journals in each. A folder that
    holds no other journals replaces those inside it.
    """
    ours = _journals(study.results, cells)
    whole = {folder: count for folder, count in ours.items() if count == study.journals[folder]}
    return {
        folder: count
        for folder, count in whole.items()
        if not any(_holds(other, folder) for other in whole)
    }


def _holds(outer: str, inner: str) -> bool:
    return inner != outer and (outer == "." or inner.startswith(f"{outer}/"))
