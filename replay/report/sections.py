"""What a report says, section by section, from the results of a study."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final

import attrs

from goldrush.kernel.rosters import Config
from goldrush.replay.measures import Measure
from goldrush.replay.report import figures
from goldrush.replay.report.drawing import Drawing
from goldrush.replay.report.looks import Look, labels_of, looks_of
from goldrush.replay.report.page import (
    Block,
    Heading,
    Table,
    Text,
    number,
)
from goldrush.replay.report.panels import Drawn
from goldrush.replay.studies import Chapter, OwnFigure, Studied
from goldrush.replay.study.comparisons import Against, against_baseline
from goldrush.replay.study.inference import interval
from goldrush.replay.study.plan import Cell
from goldrush.replay.study.results import Results
from goldrush.replay.study.verdicts import Assessment

Part = Block | Drawing

# What gives the figures of a picture, from the folders of its journals.
MEASURE_COMMAND: Final = "measure {} --json"
BY_UNIT_COMMAND: Final = "measure {} --by-round --json"

CUT: Final = "Intervals are drawn no further than the measure can go."


@attrs.frozen
class Study:
    """A study's results with what all sections need: its cells by treatment and horizon, what is
    compared with the baseline, and how each roster is drawn.
    """

    results: Results[Any, Any]
    groups: Mapping[tuple[str, int], Sequence[Cell]]
    against: Sequence[Against]
    assessment: Assessment
    looks: Mapping[str, Look]

    @property
    def of(self) -> Studied:
        """The world that was studied."""
        return self.results.of

    @property
    def units(self) -> str:
        """The word for its units."""
        return self.of.units

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


def study_of(results: Results[Any, Any]) -> Study:
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
    )


def head(study: Study) -> list[Part]:
    """What was studied."""
    results, chapter = study.results, study.chapter
    cells = list(results.by_cell)
    runs = sum(map(len, results.by_cell.values()))
    seeds = sorted({result.seed for cell in results.by_cell.values() for result in cell})
    judged = ["verdict"] if study.of.studies.criteria.every else []
    tables = [*judged, "comparison", *([chapter.tables] if chapter else [])]
    return [
        Heading(1, f"{study.of.studies.title} A study of {count_of(runs, 'run')}", "top"),
        Text(
            f"{count_of(len({c.treatment for c in cells}), 'treatment')}, "
            f"{count_of(len({c.roster for c in cells}), 'roster')} "
            f"({', '.join(dict.fromkeys(c.roster for c in cells))}), "
            f"{count_of(len(seeds), 'seed')} ({_ranges(seeds)}), "
            f"{' and '.join(str(r) for r in sorted({c.rounds for c in cells}))} {study.units}. "
            "Every run is a journal in the folder of this study; every figure below is worked out "
            "from these journals, and says from which. Commands are typed in the study's folder; "
            f"`goldrush report . --json` has the figures of the {_listed(tables)} tables."
        ),
        *(chapter.head(study) if chapter else ()),
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


def comparison_section(study: Study) -> list[Part]:
    """Treatments against the baseline, a forest plot for each roster."""
    parts: list[Part] = [
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
    by_roster: dict[tuple[str, int], list[Against]] = {}
    for one in study.against:
        if not one.identical:
            by_roster.setdefault((one.cell.roster, one.cell.rounds), []).append(one)
    for place, ((roster, rounds), compared) in enumerate(by_roster.items()):
        short = labels_of(one.cell.treatment for one in compared)
        labels = {
            one.cell: " ".join(
                [short[one.cell.treatment], *(f"({it})" for it in study.covariate(one.cell))]
            )
            for one in compared
        }
        cells = [compared[0].baseline, *(one.cell for one in compared)]
        parts.append(
            drawing(
                study, f"forest-{place + 1}", figures.forest,
                (compared, labels, study.looks[roster], shown),
                f"{roster}, {rounds} {study.units}: treatments against the baseline.", cells,
            )
        )  # fmt: skip
    return parts


def treatment_sections(study: Study) -> list[Part]:
    """A section for each treatment and horizon that is not the baseline once more."""
    parts: list[Part] = []
    for number_, ((treatment, rounds), every) in enumerate(study.groups.items(), 1):
        cells = [cell for cell in every if cell not in study.same]
        if cells:
            parts += _treatment(study, f"t{number_}", treatment, rounds, cells)
    return parts


def _treatment(
    study: Study, anchor: str, treatment: str, rounds: int, cells: Sequence[Cell]
) -> list[Part]:
    configs = [study.results.config(cell) for cell in cells]
    agents = " or ".join(dict.fromkeys(str(config.agents) for config in configs))
    covariate = [
        f"{name} {' or '.join(dict.fromkeys(it for c in cells for it in study.covariate(c)))}"
        for name in study.covariates
    ]
    runs = {cell: study.results.by_cell[cell] for cell in cells}
    where = f"{treatment}, {rounds} {study.units} ({', '.join([f'N = {agents}', *covariate])})"
    title = ", ".join([f"Treatment {treatment}", f"{rounds} {study.units}", *covariate])
    return [
        Heading(2, title, anchor),
        Text(_settings_say(study, treatment, configs[0], agents)),
        *(
            drawing(
                study, f"{anchor}-{one.name}", one.draw, (runs, study.looks, *arguments),
                f"{one.title}: {where}. {one.says}", cells, one.commands,
            )
            for one, arguments in _figures(study)
        ),
        _means(study, where, cells),
    ]  # fmt: skip


def _figures(study: Study) -> list[tuple[OwnFigure, tuple[Any, ...]]]:
    """The figures of each treatment, and what they are given beside cells and looks."""
    studies, unit = study.of.studies, study.of.world.vocabulary.unit
    expected = studies.criteria.expected
    halves = [name for name, measure in study.shown(None).items() if measure.by_half]
    curves = [name for name, measure in study.shown(studies.curves).items() if measure.by_unit]
    of_all = [
        (
            OwnFigure(
                "halves", figures.half_against_half, "Half against half, after the burn-in",
                "Mean over seeds and 95% interval; a seed counts where both halves have data. "
                f"{CUT}",
                [MEASURE_COMMAND],
            ),
            (study.shown(expected or halves), expected),
        ),
        (
            OwnFigure(
                study.units, figures.over_units, f"Each measure over the {study.units}",
                f"Mean over seeds and 95% interval, in windows of equal length. {CUT}",
                [BY_UNIT_COMMAND],
            ),
            (study.shown(curves), unit),
        ),
    ]  # fmt: skip
    return [*of_all, *((one, ()) for one in (study.chapter.figures if study.chapter else ()))]


def _settings_say(study: Study, treatment: str, config: Config, agents: str) -> str:
    """A treatment in words: what it is, and the settings that are not those by default."""
    if study.chapter is not None:
        return study.chapter.settings(treatment, config, agents)
    known = study.of.treatments.get(treatment)
    says = f"{known.says[:1].upper()}{known.says[1:]}. " if known and known.says else ""
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
        f"{where}: values of whole runs, mean ± half the 95% interval over seeds, and how many "
        "seeds have a value where not all do."
    )
    return Table(["measure", *(cell.roster for cell in cells)], rows, caption)


def _plus_minus(values: Sequence[float | None]) -> str:
    found = interval(values)
    says = number(found.mean)
    if found.mean is not None and found.high is not None:
        says = f"{says} ± {number(found.high - found.mean, 2)}"
    return says if found.n in (0, len(values)) else f"{says} ({found.n} of {len(values)})"


def definitions(study: Study) -> list[Part]:
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
            [[measure.title, measure.definition] for measure in known],
        ),
    ]


def drawing(
    study: Study,
    name: str,
    draw: Callable[..., Drawn],
    arguments: tuple[Any, ...],
    caption: str,
    cells: Sequence[Cell],
    commands: Sequence[str] = (MEASURE_COMMAND,),
) -> Drawing:
    folders = _folders(study.results, cells)
    journals = [f"{folder}/ ({count_of(count, 'journal')})" for folder, count in folders.items()]
    return Drawing(name, draw, arguments, caption, commands_of(list(folders), commands), journals)


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


def count_of(count: int, what: str) -> str:
    return f"{count:,} {what}{'' if count == 1 else 's'}"


def _ranges(numbers: Sequence[int]) -> str:
    """Whole numbers, ascending, with runs of them drawn together."""
    runs: list[list[int]] = []
    for one in numbers:
        if runs and one == runs[-1][-1] + 1:
            runs[-1].append(one)
        else:
            runs.append([one])
    return ", ".join(f"{run[0]}–{run[-1]}" if len(run) > 1 else str(run[0]) for run in runs)
