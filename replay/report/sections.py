"""What a report says, section by section, from the results of a study."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from typing import Any, Final

import attrs

from kernel.mining.config import MiningConfig
from kernel.mining.treatments import TREATMENTS
from replay.measures import MEASURES
from replay.report.drawing import Drawing
from replay.report.looks import Look, labels_of, looks_of
from replay.report.page import (
    NONE,
    TOGETHER,
    Block,
    Content,
    Heading,
    Marked,
    Table,
    Text,
    number,
    p_value,
)
from replay.study.comparisons import NULL, Against, against_baseline, trade_offs
from replay.study.inference import SIGNIFICANT, Correlation, Interval, interval, smallest_p
from replay.study.plan import Cell
from replay.study.results import Results
from replay.study.verdicts import CRITERIA, EXPECTED, SIZES, Assessment, Finding, Verdict

Part = Block | Drawing

# What gives the figures of a picture, from the folders of its journals.
FIGURES: Final = "measure {} --json"
BY_ROUND: Final = "measure {} --by-round --json"
SPELLS: Final = "measure {} --spells --json"
GOLD: Final = "export {} --format csv --table agents"

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
    slack = _named(study, [c for c in cells if results.config(c).pressure < SCARCE])
    scarce = _named(study, [c for c in cells if results.config(c).pressure >= SCARCE])
    return [
        Heading(1, f"Does property emerge among miners? A study of {_count(runs, 'run')}", "top"),
        Text(
            f"{_count(len({c.treatment for c in cells}), 'treatment')}, "
            f"{_count(len({c.roster for c in cells}), 'roster')} "
            f"({', '.join(dict.fromkeys(c.roster for c in cells))}), "
            f"{_count(len(seeds), 'seed')} ({_ranges(seeds)}), "
            f"{' and '.join(str(r) for r in sorted({c.rounds for c in cells}))} rounds. "
            "Every run is a journal in the folder of this study; every figure below is worked out "
            "from these journals, and says from which."
        ),
        Text(_pressure_says(pressures, slack, scarce)),
    ]


def _named(study: Study, cells: Sequence[Cell]) -> list[str]:
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
            "is the same in both halves of every run, be it with 10 agents or with 20. Else "
            f"undecided. What {NULL} shows too, which cannot learn, counts for nobody."
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
            f"{_count(fewest, 'seed')}: the smallest p that the test can give is then "
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
        _with_interval(change.difference),
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
            str(now.rounds), _pressures(study.results, now), now.criterion, Marked(now.verdict),
            Marked(then.verdict),
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
                    *(Marked(one.outcome) for one in study.assessment.judged(cell)),
                ]
            )  # fmt: skip
    return [
        Heading(2, "Every treatment", "every-treatment"),
        Text(
            "The same rule, with the one number of agents that a treatment has; a verdict needs "
            "both. " + _identical_says(study)
        ),
        Table(["treatment", "roster", "rounds", "N", "pressure", *CRITERIA], rows),
    ]


def _identical_says(study: Study) -> str:
    if not study.same:
        return ""
    return (
        "Identical by construction to the baseline, and so not shown: "
        f"{', '.join(_named(study, list(study.same)))}. The policies that play here look at "
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
            "and 95% interval. Pressure stands behind each treatment. " + _identical_says(study)
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
            "goes together need not be cause and effect. "
            f"{NONE}: one of the two does not vary, or there are fewer than four runs."
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
        ("halves", "half_against_half", "Half against half, after the burn-in", (FIGURES,)),
        ("rounds", "over_rounds", "Each measure over the rounds", (BY_ROUND,)),
        ("stamina", "stamina", "What stamina was spent on", (BY_ROUND,)),
        ("holdings", "lorenz_and_survival", "Who has the gold, and how long plots are held",
         (GOLD, SPELLS)),
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


_EXPLAINED: Final = {
    "half_against_half": "Mean over seeds and 95% interval; a seed counts where both halves have "
    "data.",
    "over_rounds": "Mean over seeds and 95% interval, in windows of equal length.",
    "stamina": "Mean share over seeds.",
    "lorenz_and_survival": "Lorenz curves are means over seeds; survival is Kaplan–Meier over the "
    "spells of all seeds, those still running at the end censored.",
}


def _settings_say(treatment: str, config: MiningConfig, agents: str) -> str:
    says = f"{TREATMENTS[treatment].says}. " if treatment in TREATMENTS else ""
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
    commands: Sequence[str] = (FIGURES,),
) -> Drawing:
    folders = _folders(study.results, cells)
    journals = [f"{folder}/ ({_count(count, 'journal')})" for folder, count in folders.items()]
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


def _with_interval(found: Interval) -> str:
    if found.low is None:
        return number(found.mean)
    return f"{number(found.mean)} [{number(found.low)},{TOGETHER}{number(found.high)}]"


def _count(count: int, what: str) -> str:
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
