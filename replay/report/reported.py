"""A study as its report takes it: the results with what sections and figures need of them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from operator import attrgetter
from typing import Any, Final

import attrs

from goldrush.agents.llm.models import Models
from goldrush.kernel.grouping import grouped
from goldrush.kernel.text import format_count
from goldrush.replay.data.measures import AgentMeasure, Measure
from goldrush.replay.report.answer import StudyAnswer, answer_of, said
from goldrush.replay.report.figure import Figure
from goldrush.replay.report.numbers import NONE, number
from goldrush.replay.report.plot import LINES_MAX, Row, Style, styles_of
from goldrush.replay.study.comparisons import against_baseline
from goldrush.replay.study.inference import Interval
from goldrush.replay.study.records import Cell
from goldrush.replay.study.results import AnyResults
from goldrush.replay.study.verdicts import Assessment
from goldrush.replay.text import capitalized
from goldrush.replay.tools import Tools

_UNSAFE: Final = re.compile(r"[^\w.*,=+-]+")  # in the name of a file


@attrs.frozen(repr=False, slots=False, kw_only=True)
class ReportedStudy(StudyAnswer):
    """The answer of a study, with what several sections of its report need.

    Attributes:
        asked: the name of the outcome; None: that of the world.
        judges: whether change over time and the criteria of the world have a section.
        models: how language models are reached, for prices and, if `names_hosts`, hosts.
    """

    asked: str | None
    judges: bool
    models: Models | None = None
    names_hosts: bool = False

    @cached_property
    def against(self) -> Mapping[Cell, Mapping[str, Interval]]:
        return against_baseline(self.results)

    @cached_property
    def assessment(self) -> Assessment:
        return Assessment(self.results)

    @cached_property
    def styles(self) -> Mapping[str, Style]:
        """A style for each roster, and for each policy by its label: the same in all figures,
        whatever they show.
        """
        played: dict[str, set[str]] = {}
        for cell, runs in self.results.by_cell.items():
            played.setdefault(cell.roster, set()).update(*(run.policies for run in runs))
        policies = {roster: min(labels) for roster, labels in played.items() if len(labels) == 1}
        labels = (label for run in self.results.runs for label in run.policies)
        return styles_of(list(dict.fromkeys([*played, *labels])), policies, self.of.studies)

    @property
    def is_played(self) -> bool:
        """Whether anybody plays: cells without a roster are of models that run by themselves."""
        return any(cell.roster for cell in self.results.by_cell)

    @property
    def of(self) -> Tools:
        return self.results.of

    @property
    def cells(self) -> list[Cell]:
        """Those that are not identical to their baseline by construction."""
        return [cell for cell in self.results.by_cell if cell not in self.same]

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
        where = {"treatment": cell.treatment, "roster": self.label(cell.roster)}
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
        runs = said("runs", self, cells, any(row.low is not None for row in rows))
        used = self.styles if styles is None else styles
        name = _UNSAFE.sub("-", name)
        return [
            Figure(name=name, shows=caption, kind=kind, rows=rows, styles=used, runs=runs, **look)
        ]


def study_of(
    results: AnyResults,
    outcome: str | None = None,
    contrasts: Sequence[str] = (),
    *,
    criteria: bool = False,
) -> ReportedStudy:
    """A study as its report takes it. Raises BadInput as `answer_of`."""
    answer = attrs.asdict(answer_of(results, outcome, contrasts), recurse=False)
    return ReportedStudy(**answer, asked=outcome, judges=criteria)


def defined(measure: AgentMeasure | Measure) -> str:
    """The definition of a measure as sentences on one line; empty if its title says as much."""
    text = " ".join(measure.definition.split()).rstrip(".")
    return "" if text in ("", measure.title) else f"{capitalized(text)}."
