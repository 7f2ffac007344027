"""What a report says, section by section, from the results of a study."""

from __future__ import annotations

import re
import shlex
import statistics
from collections.abc import Iterable, Mapping, Sequence
from importlib.metadata import version
from typing import Any, Final

import attrs

from goldrush.kernel.journal import FORMAT
from goldrush.kernel.rosters import Config
from goldrush.kernel.text import format_count
from goldrush.replay.measures import Measure
from goldrush.replay.report import figures
from goldrush.replay.report.figures import Drawn
from goldrush.replay.report.looks import Look, labels_of, looks_of
from goldrush.replay.report.page import (
    Block,
    Code,
    Content,
    Figure,
    Heading,
    Link,
    Table,
    Text,
    bounds,
    fixed,
    number,
)
from goldrush.replay.studies import Chapter, OwnFigure, Studied
from goldrush.replay.study.comparisons import Against, against_baseline
from goldrush.replay.study.inference import interval
from goldrush.replay.study.plan import Cell
from goldrush.replay.study.results import Results
from goldrush.replay.study.verdicts import Assessment

# What gives the figures of a picture, from the folders of its journals.
MEASURE_COMMAND: Final = "measure {} --by-run --json"
BY_UNIT_COMMAND: Final = "measure {} --by-round --json"

FENCE: Final = 1.5  # distances of the quartiles, as Tukey has it
OUTLIER_SEEDS: Final = 5  # fewer have no quartiles to speak of
OUTLIERS_MAX: Final = 20  # that are listed

CUT: Final = "Intervals are drawn no further than the measure can go."


@attrs.frozen
class Study:
    """A study's results with what all sections need: its cells by treatment and horizon, what is
    compared with the baseline, and how each roster is drawn. `hrefs`: where the page of a run is,
    by cell and seed, if there are such pages.
    """

    results: Results[Any, Any]
    groups: Mapping[tuple[str, int], Sequence[Cell]]
    against: Sequence[Against]
    assessment: Assessment
    looks: Mapping[str, Look]
    hrefs: Mapping[tuple[Cell, int], str] = attrs.field(factory=dict)

    @property
    def runs(self) -> str:
        """How many runs it has, in words."""
        return format_count(sum(map(len, self.results.by_cell.values())), "run")

    @property
    def title(self) -> str:
        """What its page is called."""
        return f"{self.of.studies.title} A study of {self.runs}"

    @property
    def of(self) -> Studied:
        """The world that was studied."""
        return self.results.of

    @property
    def units(self) -> str:
        """The word for its units."""
        return self.of.units

    def horizon(self, rounds: int) -> str:
        """So many units in words: "1 round", "200 rounds"."""
        return format_count(rounds, self.of.world.vocabulary.unit)

    @property
    def chapter(self) -> Chapter | None:
        """What the report says of this world alone."""
        chapter = self.of.studies.chapter
        return None if chapter is None else chapter()

    @property
    def covariates(self) -> list[str]:
        """The head of a column for the covariate, where there is one."""
        covariate = self.of.studies.covariate
        return [] if covariate is None else [covariate.name]

    def covariate(self, *cells: Cell, joint: str = " and ") -> list[str]:
        """What stands in that column for some cells."""
        covariate = self.of.studies.covariate
        if covariate is None:
            return []
        return [joint.join(number(covariate.of(self.results.config(cell))) for cell in cells)]

    def shown(self, names: Iterable[str] | None) -> dict[str, Measure]:
        """Measures by name; None: all of them."""
        known = self.of.measures.known
        return dict(known) if names is None else {name: known[name] for name in names}

    @property
    def same(self) -> dict[Cell, Cell]:
        """Cells that are identical to their baseline by construction."""
        return {one.cell: one.baseline for one in self.against if one.identical}


def study_of(
    results: Results[Any, Any], hrefs: Mapping[tuple[Cell, int], str] | None = None
) -> Study:
    """The study as sections see it."""
    groups: dict[tuple[str, int], list[Cell]] = {}
    for cell in results.by_cell:
        groups.setdefault((cell.treatment, cell.rounds), []).append(cell)
    rosters = list(dict.fromkeys(cell.roster for cell in results.by_cell))
    return Study(
        results,
        groups,
        against_baseline(results),
        Assessment(results),
        looks_of(rosters),
        hrefs or {},
    )


def head(study: Study) -> list[Block]:
    """What was studied."""
    results, chapter = study.results, study.chapter
    cells = list(results.by_cell)
    runs = sum(map(len, results.by_cell.values()))
    seeds = sorted({result.seed for cell in results.by_cell.values() for result in cell})
    horizons = sorted({cell.rounds for cell in cells})
    judged = ["verdict"] if study.of.studies.criteria.every else []
    tables = [*judged, "comparison", *([chapter.tables] if chapter else [])]
    return [
        Heading(2, "What was studied", "studied"),
        Text(
            f"{format_count(runs, 'run')}: "
            f"{format_count(len({c.treatment for c in cells}), 'treatment')}, "
            f"{format_count(len({c.roster for c in cells}), 'roster')} "
            f"({', '.join(dict.fromkeys(c.roster for c in cells))}), "
            f"{format_count(len(seeds), 'seed')} ({_ranges(seeds)}), "
            f"{' and '.join([*map(str, horizons[:-1]), study.horizon(horizons[-1])])}. "
            "Every run is a journal in the folder of this study; every number below is worked out "
            "from these journals, and every figure says from which."
        ),
        *(chapter.head(study) if chapter else ()),
        Text(
            "Commands are typed in the study's folder. This one prints the numbers of the "
            f"{_listed(tables)} tables:"
        ),
        Code("goldrush report . --json"),
    ]


def _listed(words: Sequence[str]) -> str:
    *others, last = words
    return f"{', '.join(others)} and {last}" if others else last


def named(study: Study, cells: Sequence[Cell]) -> list[str]:
    """The treatments of cells, with their rosters where not all rosters of a treatment are meant:
    rosters may have different numbers of agents.
    """
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


def identical_says(study: Study) -> str:
    if not study.same:
        return ""
    return (
        "Identical by construction to the baseline, and so not shown: "
        f"{', '.join(named(study, list(study.same)))}. The policies that play here look at "
        "nothing that these treatments change."
    )


def comparison_section(study: Study) -> list[Block]:
    """Treatments against the baseline, a forest plot for each roster."""
    parts: list[Block] = [
        Heading(2, "Treatments against the baseline", "treatments"),
    ]
    if not study.against:
        return [*parts, Text("The study has no baseline to compare with, or nothing besides it.")]
    behind = "".join(
        f"{name.capitalize()} stands behind each treatment. " for name in study.covariates
    )
    caveat = study.chapter.caveat(study) if study.chapter else ""
    parts.append(
        Text(
            "Treatment − baseline, of the values of whole runs, paired by seed: mean difference "
            "and 95% interval; the intervals stand one by one, uncorrected. "
            f"{behind}{caveat}{identical_says(study)}"
        )
    )
    shown = study.shown(study.of.studies.compared)
    by_horizon: dict[int, list[Against]] = {}
    for one in study.against:
        if not one.identical:
            by_horizon.setdefault(one.cell.rounds, []).append(one)
    for rounds, compared in by_horizon.items():
        labels = treatment_labels(study, [one.cell for one in compared])
        cells = [one.baseline for one in compared] + [one.cell for one in compared]
        parts.append(
            figure(
                study, f"forest-{rounds}", figures.forest(compared, labels, study.looks, shown),
                f"Treatments less the baseline, {study.horizon(rounds)}: mean over seeds and 95% "
                "interval.",
                list(dict.fromkeys(cells)),
            )
        )  # fmt: skip
    return parts


def treatment_labels(study: Study, cells: Sequence[Cell]) -> dict[Cell, str]:
    """The treatments of cells as a figure has room for them, with the covariate."""
    short = labels_of(dict.fromkeys(cell.treatment for cell in cells))
    return {
        cell: " ".join([short[cell.treatment], *(f"({it})" for it in study.covariate(cell))])
        for cell in cells
    }


def treatment_sections(study: Study) -> list[Block]:
    """A section for each treatment and horizon that is not the baseline once more."""
    parts: list[Block] = []
    for number_, ((treatment, rounds), every) in enumerate(study.groups.items(), 1):
        cells = [cell for cell in every if cell not in study.same]
        if cells:
            parts += _treatment(study, f"t{number_}", treatment, rounds, cells)
    return parts


def _treatment(
    study: Study, anchor: str, treatment: str, rounds: int, cells: Sequence[Cell]
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
        Text(_settings_say(study, treatment, configs[0], agents)),
        *(
            figure(
                study, f"{anchor}-{one.name}", one.draw(runs, study.looks),
                f"{one.title}: {where}. {one.text}", cells, one.commands,
            )
            for one in _figures(study)
        ),
        _means(study, where, cells),
    ]  # fmt: skip


def _figures(study: Study) -> list[OwnFigure]:
    """The figures of each treatment."""
    studies = study.of.studies
    expected = studies.criteria.expected
    halves = [name for name, measure in study.shown(None).items() if measure.by_half]
    judged = study.shown(expected or halves)
    curves = study.shown(
        name for name, measure in study.shown(studies.curves).items() if measure.by_unit
    )
    arrows = "Arrows: the direction that is expected. " if expected else ""
    return [
        OwnFigure(
            "halves",
            lambda cells, looks: figures.half_against_half(cells, looks, judged, expected),
            "Half against half, after the burn-in",
            "Mean over seeds and 95% interval; a seed counts where both halves have data. "
            f"{arrows}{CUT}",
            [MEASURE_COMMAND],
        ),
        OwnFigure(
            study.units,
            lambda cells, looks: figures.over_units(
                cells, looks, curves, study.of.world.vocabulary
            ),
            f"Each measure over the {study.units}",
            f"Mean over seeds and 95% interval, in windows of equal length. {CUT}",
            [BY_UNIT_COMMAND],
        ),
        *(study.chapter.figures if study.chapter else ()),
    ]


def _settings_say(study: Study, treatment: str, config: Config, agents: str) -> str:
    """A treatment in words: what it is, and the settings that are not those by default."""
    if study.chapter is not None:
        return study.chapter.settings(treatment, config, agents)
    known = study.of.treatments.get(treatment)
    says = (
        f"{known.description[:1].upper()}{known.description[1:]}. "
        if known and known.description
        else ""
    )
    given = ("seed", "agents", study.of.players.horizon)
    others = [
        f"{field.name} {value}"
        for field in attrs.fields(study.of.settings)
        if field.name not in given and (value := getattr(config, field.name)) != field.default
    ]
    return f"{says}{', '.join([f'{agents} agents', *others])}."


def _means(study: Study, where: str, cells: Sequence[Cell]) -> Table:
    rows = []
    for name, measure in study.of.measures.known.items():
        values = [[run.run[name] for run in study.results.by_cell[cell]] for cell in cells]
        rows.append([measure.title, *map(_plus_minus, values)])
    caption = (
        f"Values of whole runs, {where}: mean ± half the 95% interval over seeds, and how many "
        "seeds have a value where not all do."
    )
    return Table(["measure", *(cell.roster for cell in cells)], rows, caption)


def _plus_minus(values: Sequence[float | None]) -> str:
    found = interval(values)
    says = bounds(found)
    return says if found.n in (0, len(values)) else f"{says} ({found.n} of {len(values)})"


@attrs.frozen
class Outlier:
    """A run whose value of a measure lies far from those of the other seeds of its cell: beyond the
    quartiles by more than FENCE times their distance; `far`: how many times.
    """

    cell: Cell
    seed: int
    measure: Measure
    value: float
    median: float
    far: float


def outliers(study: Study) -> list[Outlier]:
    """The runs that are outliers in a measure that is judged or compared, the farthest first."""
    studies = study.of.studies
    shown = study.shown(studies.criteria.expected or studies.compared)
    found = []
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
                    far = max(low - value, value - high) / (high - low)
                    if far > FENCE:
                        found.append(Outlier(cell, seed, measure, value, median, far))
    return sorted(found, key=lambda one: -one.far)


def outlier_section(study: Study) -> list[Block]:
    """Which runs to look at first."""
    found = outliers(study)
    parts: list[Block] = [
        Heading(2, "Runs that stand out", "outliers"),
        Text(
            f"Outlier seeds: a value more than {FENCE:g} times the distance of the quartiles "
            f"beyond them, among the seeds of a cell, where at least {OUTLIER_SEEDS} have one. "
            "They count like all others in everything above."
        ),
    ]
    if not found:
        return [*parts, Text("There are none.")]
    rows: list[list[Content]] = [
        [
            one.cell.treatment, one.cell.roster, str(one.cell.rounds), *study.covariate(one.cell),
            one.measure.title, Link(f"seed {one.seed}", study.hrefs.get((one.cell, one.seed))),
            number(one.value), number(one.median), fixed(one.far, 1),
        ]
        for one in found[:OUTLIERS_MAX]
    ]  # fmt: skip
    more = f" The farthest {OUTLIERS_MAX} of {len(found):,}." if len(found) > OUTLIERS_MAX else ""
    head = [
        "treatment", "roster", study.units, *study.covariates, "measure", "run", "value", "median",
        "distance",
    ]  # fmt: skip
    says = f"Outlier seeds; distance: beyond the quartiles, in distances of the quartiles.{more}"
    return [*parts, Table(head, rows, says)]


def run_section(study: Study) -> list[Block]:
    """A link to the page of every run, where there are pages."""
    rows: list[list[Content]] = [
        [cell.treatment, cell.roster, str(cell.rounds), Link(f"seed {seed}", href)]
        for (cell, seed), href in study.hrefs.items()
    ]
    if not rows:
        return []
    return [
        Heading(2, "The page of every run", "runs"),
        Table(["treatment", "roster", study.units, "run"], rows, "Every run, and its page."),
    ]


def definitions(study: Study) -> list[Block]:
    """What the measures mean."""
    known = study.of.measures.known.values()
    at_end = " and ".join(measure.title for measure in known if measure.at_end)
    whole = f"A run's value is the mean over the {study.units} in which a measure is defined"
    says = f"{whole}; for {at_end} the value at the end." if at_end else f"{whole}."
    return [
        Heading(2, "What the measures mean", "measures"),
        Text(study.chapter.whole if study.chapter else says),
        Table(
            ["measure", "definition"],
            [[measure.title, _in_prose(measure.definition)] for measure in known],
            "The measures and their definitions.",
        ),
    ]


def _in_prose(definition: str) -> str:
    """A definition as it stands in the code, in the marks of prose."""
    text = re.sub(r"`+([^`]*)`+", r"\1", definition)
    text = re.sub(r"(?<=\S) \.\. (?=\S)", " to ", text)
    text = re.sub(r"\bNone (where|if)\b", r"Undefined \1", text)
    text = re.sub(r"_([ijk])\b", lambda index: _BELOW[index[1]], text)
    return re.sub(r"(?<=[a-z])_(?=[a-z])", " ", text)


_BELOW: Final = {"i": "ᵢ", "j": "ⱼ", "k": "ₖ"}  # indices of a sum


def citation(study: Study) -> list[Block]:
    """What made the page, of what, and how both are cited."""
    made_by, world = version("goldrush"), study.of.world
    digest = study.results.manifest.digest
    rules = f"{world.name} rules {world.rules}, journal format {FORMAT}"
    title = study.title
    key = digest[:12] or "study"
    return [
        Heading(2, "Version and citation", "citation"),
        Text(
            f"Made by goldrush {made_by} ({rules}). The study is the one whose manifest.json has "
            "the SHA-256 below; it lists the SHA-256 of every journal, and goldrush verify derives "
            "them all again."
        ),
        Code(f"{digest}  manifest.json"),
        Text("To cite it in words:"),
        Code(f"{title}. goldrush {made_by}, {rules}. SHA-256 of the manifest: {digest}."),
        Text("With BibTeX:"),
        Code(
            f"@misc{{goldrush-{key},\n"
            f"  title = {{{title}}},\n"
            f"  howpublished = {{goldrush {made_by}, {rules}}},\n"
            f"  note = {{SHA-256 of the manifest: {digest}}}\n"
            "}"
        ),
    ]


def figure(
    study: Study,
    name: str,
    drawn: Drawn,
    caption: str,
    cells: Sequence[Cell],
    commands: Sequence[str] = (MEASURE_COMMAND,),
) -> Block:
    """A figure of some cells with what it rests on; a sentence where there is nothing to draw."""
    says = " ".join([caption, *drawn.without])
    if not drawn.panels:
        return Text(f"{caption} There are no data for it.")
    folders = _folders(study.results, cells)
    journals = [
        f"{folder}/ ({format_count(count, 'journal')})" for folder, count in folders.items()
    ]
    commands = commands_of(list(folders), commands)
    return Figure(name, drawn.panels, drawn.legend, says, commands, journals)


def _folders(results: Results[Any, Any], cells: Sequence[Cell]) -> dict[str, int]:
    """The folders below the study's in which the journals of cells lie, and how many there are:
    one that holds nothing else stands for those in it.
    """

    def below(found: Sequence[Cell]) -> dict[str, int]:
        counts: dict[str, int] = {}
        for cell in found:
            for path in results.journals[cell]:
                parts = path.split("/")
                for depth in range(len(parts)):
                    folder = "/".join(parts[:depth]) or "."
                    counts[folder] = counts.get(folder, 0) + 1
        return counts

    every, ours = below(list(results.by_cell)), below(cells)
    whole = {folder: count for folder, count in ours.items() if count == every[folder]}
    return {
        folder: count
        for folder, count in whole.items()
        if not any(_holds(other, folder) for other in whole)
    }


def _holds(outer: str, inner: str) -> bool:
    return inner != outer and (outer == "." or inner.startswith(f"{outer}/"))


def commands_of(folders: Sequence[str], commands: Sequence[str]) -> list[str]:
    """The commands, to be typed in the study's folder, that give the figures of a picture."""
    return [f"goldrush {command.format(shlex.join(folders))}" for command in commands]


def _ranges(numbers: Sequence[int]) -> str:
    """Whole numbers, ascending, with runs of them drawn together."""
    runs: list[list[int]] = []
    for one in numbers:
        if runs and one == runs[-1][-1] + 1:
            runs[-1].append(one)
        else:
            runs.append([one])
    return ", ".join(f"{run[0]}–{run[-1]}" if len(run) > 1 else str(run[0]) for run in runs)
