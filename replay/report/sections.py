"""What a report says, section by section, from the results of a study."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from typing import Any, Final

import attrs

from goldrush.kernel.mining.config import MiningConfig
from goldrush.kernel.mining.treatments import TREATMENTS
from goldrush.replay.mining.measures import MEASURES
from goldrush.replay.report.drawing import Drawing
from goldrush.replay.report.looks import Look, labels_of, looks_of
from goldrush.replay.report.page import (
    MINUS,
    NONE,
    TITLE,
    TOGETHER,
    Block,
    Heading,
    Table,
    Text,
    number,
)
from goldrush.replay.study.comparisons import Against, against_baseline, trade_offs
from goldrush.replay.study.inference import Correlation, interval
from goldrush.replay.study.plan import Cell
from goldrush.replay.study.results import Results
from goldrush.replay.study.verdicts import Assessment

Part = Block | Drawing

# What gives the figures of a picture, from the folders of its journals.
MEASURE_COMMAND: Final = "measure {} --json"
BY_ROUND_COMMAND: Final = "measure {} --by-round --json"
SPELLS_COMMAND: Final = "measure {} --spells --json"
GOLD_COMMAND: Final = "export {} --format csv --table agents"

SCARCE: Final = 1.0  # the pressure from which on somebody goes without


@attrs.frozen
class Study:
    """A study's results with what all sections need: its cells by treatment and horizon, what is
    compared with the baseline, and how each roster is drawn.
    """

    results: Results
    groups: Mapping[tuple[str, int], Sequence[Cell]]
    against: Sequence[Against]
    assessment: Assessment
    looks: Mapping[str, Look]

    @property
    def same(self) -> dict[Cell, Cell]:
        """Cells that are identical to their baseline by construction."""
        return {one.cell: one.baseline for one in self.against if one.identical}


def study_of(results: Results) -> Study:
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
    results = study.results
    cells = list(results.by_cell)
    runs = sum(map(len, results.by_cell.values()))
    seeds = sorted({result.seed for cell in results.by_cell.values() for result in cell})
    pressures = sorted({results.config(cell).pressure for cell in cells})
    slack = named(study, [c for c in cells if results.config(c).pressure < SCARCE])
    scarce = named(study, [c for c in cells if results.config(c).pressure >= SCARCE])
    return [
        Heading(1, f"{TITLE} A study of {count_of(runs, 'run')}", "top"),
        Text(
            f"{count_of(len({c.treatment for c in cells}), 'treatment')}, "
            f"{count_of(len({c.roster for c in cells}), 'roster')} "
            f"({', '.join(dict.fromkeys(c.roster for c in cells))}), "
            f"{count_of(len(seeds), 'seed')} ({_ranges(seeds)}), "
            f"{' and '.join(str(r) for r in sorted({c.rounds for c in cells}))} rounds. "
            "Every run is a journal in the folder of this study; every figure below is worked out "
            "from these journals, and says from which. Commands are typed in the study's folder; "
            "`goldrush report . --json` has the figures of the verdict, comparison and theory "
            "tables."
        ),
        Text(_pressure_says(pressures, slack, scarce)),
    ]


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
    parts.append(
        Text(
            "Treatment − baseline, of the values of whole runs, paired by seed: mean difference "
            "and 95% interval; the intervals stand one by one, uncorrected. Pressure stands behind "
            f"each treatment. {_resized_says(study)}{identical_says(study)}"
        )
    )
    by_roster: dict[tuple[str, int], list[Against]] = {}
    for one in study.against:
        if not one.identical:
            by_roster.setdefault((one.cell.roster, one.cell.rounds), []).append(one)
    for place, ((roster, rounds), compared) in enumerate(by_roster.items()):
        short = labels_of(one.cell.treatment for one in compared)
        labels = {
            one.cell: f"{short[one.cell.treatment]} "
            f"({number(study.results.config(one.cell).pressure)})"
            for one in compared
        }
        cells = [compared[0].baseline, *(one.cell for one in compared)]
        parts.append(
            _drawing(
                study, f"forest-{place + 1}", "forest", (compared, labels, study.looks[roster]),
                f"{roster}, {rounds} rounds: treatments against the baseline.", cells,
            )
        )  # fmt: skip
    return parts


def _resized_says(study: Study) -> str:
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


def trade_off_section(study: Study) -> list[Part]:
    """Concentration against stability."""
    rows = [
        [
            one.roster or "all", str(one.rounds), f"{one.gini.n:,}",
            *(_correlation(found) for found in (one.gini, one.hhi)),
        ]
        for one in trade_offs(study.results)
    ]  # fmt: skip
    parts: list[Part] = [
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
        Table(["roster", "rounds", "runs", "Gini with turnover", "HHI with turnover"], rows),
    ]
    for rounds in dict.fromkeys(cell.rounds for cell in study.results.by_cell):
        cells = [c for c in study.results.by_cell if c.rounds == rounds and c not in study.same]
        parts.append(
            _drawing(
                study, f"trade-off-{rounds}", "trade_off",
                ({c: study.results.by_cell[c] for c in cells}, study.looks),
                f"A point for each run of {rounds} rounds.", cells,
            )
        )  # fmt: skip
    return parts


def _correlation(found: Correlation) -> str:
    if found.rho is None:
        return NONE
    if found.low is None:
        return number(found.rho, 2)
    low, high = number(found.low, 2), number(found.high, 2)
    return f"{number(found.rho, 2)} [{low},{TOGETHER}{high}]"


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
    agents, pressures = (
        " or ".join(dict.fromkeys(each))
        for each in ((str(c.agents) for c in configs), (number(c.pressure) for c in configs))
    )
    runs = {cell: study.results.by_cell[cell] for cell in cells}
    where = f"{treatment}, {rounds} rounds (N = {agents}, pressure {pressures})"
    drawn = (
        ("halves", "half_against_half", "Half against half, after the burn-in",
         (MEASURE_COMMAND,)),
        ("rounds", "over_rounds", "Each measure over the rounds", (BY_ROUND_COMMAND,)),
        ("stamina", "stamina", "What stamina was spent on", (BY_ROUND_COMMAND,)),
        ("holdings", "lorenz_and_survival", "Who has the gold, and how long plots are held",
         (GOLD_COMMAND, SPELLS_COMMAND)),
    )  # fmt: skip
    return [
        Heading(2, f"Treatment {treatment}, {rounds} rounds, pressure {pressures}", anchor),
        Text(_settings_say(treatment, configs[0], agents)),
        *(
            _drawing(
                study, f"{anchor}-{name}", draw, (runs, study.looks),
                f"{title}: {where}. {_EXPLAINED[draw]}", cells, commands,
            )
            for name, draw, title, commands in drawn
        ),
        _means(study, where, cells),
    ]  # fmt: skip


_CUT: Final = "Intervals are drawn no further than the measure can go."
_EXPLAINED: Final = {
    "half_against_half": "Mean over seeds and 95% interval; a seed counts where both halves have "
    f"data. {_CUT}",
    "over_rounds": f"Mean over seeds and 95% interval, in windows of equal length. {_CUT}",
    "stamina": "Mean share over seeds.",
    "lorenz_and_survival": "Lorenz curves are means over seeds; survival is Kaplan–Meier over the "
    "spells of all seeds, those still running at the end censored.",
}


# Settings of which a treatment's words say no more than the line of settings does.
_PLAIN: Final = {"rows", "cols", "agents", "stamina"}


def _settings_say(treatment: str, config: MiningConfig, agents: str) -> str:
    known = TREATMENTS.get(treatment)
    says = ""
    if known is not None and not (known.settings and set(known.settings) <= _PLAIN):
        says = f"{known.says}. "
    stamina = "stamina by agent" if config.stamina_by_agent else f"{config.stamina} stamina each"
    return (
        f"{says[:1].upper()}{says[1:]}{config.rows} x {config.cols} plots, {agents} agents, "
        f"{stamina}, cap {config.mining_cap}, truce {config.truce}, {config.defense} defence, "
        f"authority: {config.authority}."
    )


def _means(study: Study, where: str, cells: Sequence[Cell]) -> Table:
    rows = []
    for name, measure in MEASURES.items():
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


def definitions() -> list[Part]:
    """What the measures mean."""
    return [
        Heading(2, "What the measures mean", "measures"),
        Text(
            "A run's value is the mean over the rounds in which a measure is defined; for Gini and "
            "HHI the value at the end."
        ),
        Table(
            ["measure", "definition"],
            [[measure.title, measure.definition] for measure in MEASURES.values()],
        ),
    ]


def _drawing(
    study: Study,
    name: str,
    draw: str,
    arguments: tuple[Any, ...],
    caption: str,
    cells: Sequence[Cell],
    commands: Sequence[str] = (MEASURE_COMMAND,),
) -> Drawing:
    folders = _folders(study.results, cells)
    journals = [f"{folder}/ ({count_of(count, 'journal')})" for folder, count in folders.items()]
    return Drawing(name, draw, arguments, caption, commands_of(list(folders), commands), journals)


def _folders(results: Results, cells: Sequence[Cell]) -> dict[str, int]:
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
