"""A study as its report takes it: the results with what sections and figures need of them."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Mapping, Sequence
from operator import attrgetter
from pathlib import Path
from typing import Any, Final

import attrs

from goldrush.agents.given import games
from goldrush.agents.llm.models import Models
from goldrush.kernel.grouping import grouped
from goldrush.kernel.text import format_count
from goldrush.replay.data.measures import AgentMeasure, Measure
from goldrush.replay.journal.source import other_code_among
from goldrush.replay.report.answer import StudyAnswer, answer_of
from goldrush.replay.report.failures import shortened
from goldrush.replay.report.figure import Figure
from goldrush.replay.report.numbers import NONE, number
from goldrush.replay.report.plot import LINES_MAX, Row, Style, styles_of
from goldrush.replay.study.comparisons import against_baseline
from goldrush.replay.study.inference import Interval
from goldrush.replay.study.records import Cell
from goldrush.replay.study.results import AnyResults
from goldrush.replay.study.verdicts import Assessment
from goldrush.replay.text import capitalized, format_ranges
from goldrush.replay.tools import Tools

_UNSAFE: Final = re.compile(r"[^\w.*,=+-]+")  # in the name of a file


@attrs.frozen
class ReportedStudy:
    """The results of a study, with what several sections need.

    Attributes:
        asked: the name of the outcome; None: that of the world.
        judges: whether change over time and the criteria of the world have a section.
        models: how language models are reached, for prices and, if `names_hosts`, hosts.
    """

    asked: str | None
    judges: bool
    answer: StudyAnswer
    against: Mapping[Cell, Mapping[str, Interval]]
    assessment: Assessment
    styles: Mapping[str, Style]
    models: Models | None = None
    names_hosts: bool = False

    @property
    def results(self) -> AnyResults:
        return self.answer.results

    @property
    def runs(self) -> str:
        return format_count(len(self.results.runs), "run")

    @property
    def title(self) -> str:
        if self.judges:
            return f"{self.of.studies.title} A study of {self.runs}"
        title = self.answer.outcome.title
        by = "treatment and roster" if self.is_played else "treatment"
        return f"{capitalized(title)} by {by}: a study of {self.runs}"

    @property
    def is_played(self) -> bool:
        """Whether anybody plays: cells without a roster are of models that run by themselves."""
        return any(cell.roster for cell in self.results.by_cell)

    @property
    def of(self) -> Tools:
        return self.results.of

    @property
    def other_code(self) -> str:
        """Which runs other code of their game recorded, as text; empty: none."""
        folder = self.results.folder
        paths = [Path(folder, run.path) for run in self.results.runs]
        return other_code_among(paths, folder) if games() else ""

    @property
    def cells(self) -> list[Cell]:
        """Those that are not identical to their baseline by construction."""
        return [cell for cell in self.results.by_cell if cell not in self.answer.same]

    @property
    def json_command(self) -> str:
        """The command that prints the numbers of this page, to be typed in the study's folder."""
        folder = self.results.folder
        outcome = "" if self.asked is None else f" --outcome {self.asked}"
        criteria = " --criteria" if self.judges else ""
        criteria += "".join(f" --contrast {shlex.quote(each)}" for each in self.answer.contrasts)
        users = "".join(
            f" --measure {shlex.quote(user.typed(folder))}" for user in self.results.users
        )
        world = self.of.code_option(folder)
        return f"goldrush report . --json{outcome}{criteria}{users}{world}"

    @property
    def units(self) -> str:
        return self.of.vocabulary.units

    def horizon(self, rounds: int) -> str:
        return format_count(rounds, self.of.vocabulary.unit)

    def labelled(self, name: str, rounds: int) -> str:
        """A name, and the horizon where there are several."""
        return ", ".join([name, *self.if_several(rounds).values()])

    def named(self, figure: str, rounds: int) -> str:
        """The name of a figure of one horizon, which has it at its end where there are several."""
        return f"{figure}-{rounds}" if len(self.results.horizons) > 1 else figure

    def if_several(self, rounds: int) -> dict[str, str]:
        """The column of horizons, which only a study of several has."""
        return {self.units: str(rounds)} if len(self.results.horizons) > 1 else {}

    def of_cell(self, cell: Cell) -> dict[str, str]:
        """What a row of a table says of its cell, by column."""
        where = {"treatment": cell.treatment, "roster": self.answer.label(cell.roster)}
        several = self.if_several(cell.rounds)
        return {**where, **several, **self.covariate(cell), **self.failed(cell)}

    def failed(self, *cells: Cell) -> dict[str, str]:
        """The column of the share of models' failed answers for some cells; none without models."""
        if not any(run.taken for run in self.results.runs):
            return {}
        shares = [self.results.failed(cell) for cell in dict.fromkeys(cells)]
        texts = [NONE if share is None else f"{share:.0%}" for share in shares]
        return {"failed answers": " and ".join(texts)}

    def covariate(self, *cells: Cell) -> dict[str, str]:
        """The column of the covariate for some cells; none without a covariate."""
        if not (name := self.of.studies.covariate):
            return {}
        values = [number(getattr(self.results.config(cell), name)) for cell in cells]
        return {name: " and ".join(values)}

    def shown(self, names: Iterable[str] | None) -> dict[str, Measure]:
        """Measures of these names, and those of the user; None: all."""
        known = self.results.measures.known
        if names is None:
            return dict(known)
        users = (user.name for user in self.results.users)
        return {name: known[name] for name in dict.fromkeys([*names, *users])}

    def treatments(self, cells: Sequence[Cell]) -> list[str]:
        """The treatments of cells, each with its rosters unless all of them are among the cells."""
        return [
            treatment
            if all(c in cells for c in self.results.by_cell if c.treatment == treatment)
            else f"{treatment} (for {', '.join(dict.fromkeys(c.roster for c in of_it))})"
            for treatment, of_it in grouped(cells, attrgetter("treatment")).items()
        ]

    def lines(self, cells: Sequence[Cell]) -> tuple[dict[Cell, tuple[str, str]], dict[str, Style]]:
        """How lines of cells of one horizon are told apart: by cell the name of its panel and that
        of its series, with the styles of these. One panel (without a name) has up to LINES_MAX
        lines, of treatments, of rosters, or of both; of more, each roster has a panel.
        """
        treatments, rosters = {cell.treatment for cell in cells}, {cell.roster for cell in cells}
        by_panel = len(cells) > LINES_MAX and len(treatments) > 1 < len(rosters)
        by_roster = len(rosters) > 1 and not by_panel
        names = {}
        for cell in cells:
            parts = [cell.treatment] * (len(treatments) > 1 or not by_roster)
            parts += [cell.roster] * by_roster
            names[cell] = cell.roster if by_panel else "", ", ".join(parts)
        if len(treatments) == 1 and by_roster:
            return names, dict(self.styles)
        return names, styles_of(list(dict.fromkeys(name for _, name in names.values())))

    def figure(
        self,
        name: str,
        kind: str,
        rows: Sequence[Row],
        caption: str,
        cells: Sequence[Cell],
        styles: Mapping[str, Style] | None = None,
        **look: Any,
    ) -> list[Figure]:
        """A figure of some cells, without the panels that have no value; none if all are so."""
        shown = {row.panel for row in rows if row.y is not None}
        if not shown:
            return []
        rows = [row for row in rows if row.panel in shown]
        runs = self._runs(cells, has_intervals=any(row.low is not None for row in rows))
        used = self.styles if styles is None else styles
        name = _UNSAFE.sub("-", name)
        return [
            Figure(name=name, shows=caption, kind=kind, rows=rows, styles=used, runs=runs, **look)
        ]

    def _runs(self, cells: Sequence[Cell], *, has_intervals: bool) -> str:
        """The runs of a figure, and what its intervals are, if it has any."""
        every = [run for cell in cells for run in self.results.by_cell[cell]]
        seeds = format_ranges(sorted({run.seed for run in every})).replace("-", "–")
        horizons = " or ".join(map(str, sorted({cell.rounds for cell in cells})))
        treatments = list(dict.fromkeys(cell.treatment for cell in cells))
        rosters = list(dict.fromkeys(cell.roster for cell in cells))
        intervals = " Intervals of means are by Student's t over seeds." if has_intervals else ""
        players = f" {_listed('Roster', rosters)}" if any(rosters) else ""
        shares = [(share, cell) for cell in cells if (share := self.results.failed(cell))]
        lines = shortened([f"{share:.0%} in {cell.format(self.units)}" for share, cell in shares])
        failed = f" Failed answers of models: {'; '.join(lines)}." if lines else ""
        return (
            f"{format_count(len(every), 'run')} of {horizons} {self.units}, with seeds {seeds} in "
            f"each cell. {_listed('Treatment', treatments)}{players}{failed}{intervals}"
        )


def study_of(
    results: AnyResults,
    outcome: str | None = None,
    contrasts: Sequence[str] = (),
    *,
    criteria: bool = False,
) -> ReportedStudy:
    """A study as its report takes it. Raises BadInput as `answer_of`."""
    answer = answer_of(results, outcome, contrasts)
    against, assessment = against_baseline(answer.results), Assessment(answer.results)
    styles = _styles(answer.results)
    return ReportedStudy(outcome, criteria, answer, against, assessment, styles)


def defined(measure: AgentMeasure | Measure) -> str:
    """The definition of a measure as sentences on one line; empty if its title says as much."""
    text = " ".join(measure.definition.split()).rstrip(".")
    return "" if text in ("", measure.title) else f"{capitalized(text)}."


def _styles(results: AnyResults) -> dict[str, Style]:
    """A style for each roster, and for each policy by its label: the same in all figures, whatever
    they show.
    """
    played: dict[str, set[str]] = {}
    for cell, runs in results.by_cell.items():
        played.setdefault(cell.roster, set()).update(*(run.policies for run in runs))
    policies = {roster: min(labels) for roster, labels in played.items() if len(labels) == 1}
    labels = (label for run in results.runs for label in run.policies)
    names = list(dict.fromkeys([*played, *labels]))
    return styles_of(names, policies, results.of.studies)


def _listed(noun: str, names: Sequence[str]) -> str:
    return f"{noun}{'s' if len(names) > 1 else ''}: {'; '.join(names)}."
