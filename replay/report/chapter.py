"""What a world adds to the report of a study, and what its sections are given."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import attrs

from goldrush.kernel.text import format_count
from goldrush.replay.data.measures import Measure
from goldrush.replay.report.page import number
from goldrush.replay.report.styles import Style
from goldrush.replay.study.comparisons import Against
from goldrush.replay.study.records import Cell
from goldrush.replay.study.results import Results, Studied
from goldrush.replay.study.verdicts import Assessment

if TYPE_CHECKING:
    from goldrush.replay.report.figures import Drawn
    from goldrush.replay.report.page import Block


@attrs.frozen
class ReportedStudy:
    """The results of a study, with what several sections need: `groups`, the cells by treatment and
    horizon; `against`, comparisons with the baseline; `assessment`, findings and verdicts; the
    styles by roster; the world's own part of the report; `hrefs`, addresses of the pages of runs,
    by cell and seed, if there are any.
    """

    results: Results[Any, Any]
    groups: Mapping[tuple[str, int], Sequence[Cell]]
    against: Sequence[Against]
    assessment: Assessment
    styles: Mapping[str, Style]
    chapter: Chapter | None = None
    hrefs: Mapping[tuple[Cell, int], str] = attrs.field(factory=dict)

    @property
    def runs(self) -> str:
        """The number of runs as text: "80 runs"."""
        return format_count(sum(map(len, self.results.by_cell.values())), "run")

    @property
    def title(self) -> str:
        """The title of its page."""
        return f"{self.of.studies.title} A study of {self.runs}"

    @property
    def of(self) -> Studied:
        """The world that was studied."""
        return self.results.of

    @property
    def units(self) -> str:
        """The plural of its units: "rounds"."""
        return self.of.units

    def horizon(self, rounds: int) -> str:
        """A number of units as text: "1 round", "200 rounds"."""
        return format_count(rounds, self.of.world.vocabulary.unit)

    @property
    def covariates(self) -> list[str]:
        """The heading of the covariate's column, or nothing without a covariate."""
        covariate = self.of.studies.covariate
        return [] if covariate is None else [covariate.name]

    def covariate(self, *cells: Cell, joint: str = " and ") -> list[str]:
        """The entry of that column for some cells."""
        covariate = self.of.studies.covariate
        if covariate is None:
            return []
        return [joint.join(number(covariate.of(self.results.config(cell))) for cell in cells)]

    def shown(self, names: Iterable[str] | None) -> dict[str, Measure]:
        """Measures of these names; None: all."""
        known = self.of.measures.known
        return dict(known) if names is None else {name: known[name] for name in names}

    @property
    def same(self) -> dict[Cell, Cell]:
        """Cells that are identical to their baseline by construction."""
        return {one.cell: one.baseline for one in self.against if one.identical}


@attrs.frozen
class OwnFigure:
    """A figure of each treatment that only one world has, drawn by `draw(cells, styles)`; the
    commands print its numbers, with {} for the journals.
    """

    name: str
    draw: Callable[..., Drawn]
    title: str
    text: str
    commands: Sequence[str]


@attrs.frozen
class Chapter:
    """The part of a report that only one world has.

    Attributes:
        tables: the noun for its tables.
        head: `head(study)`, the blocks after the description of the study.
        sections: `sections(study)`, the blocks after the comparisons.
        figures: the figures of each treatment.
        caveat: `caveat(study)`, the limits of comparisons with the baseline.
        settings: `settings(treatment, configuration, agents)`, a treatment as text; `agents` is
            text, too.
        whole: the meaning of the value of a whole run.
        summary: `summary(study)`, the blocks at the top: tiles, the finding as a sentence, a
            figure; None: those of the criteria.
    """

    tables: str
    head: Callable[[ReportedStudy], Sequence[Block]]
    sections: Callable[[ReportedStudy], Sequence[Block]]
    settings: Callable[[str, Any, str], str]
    whole: str
    figures: Sequence[OwnFigure] = ()
    caveat: Callable[[ReportedStudy], str] = lambda study: ""
    summary: Callable[[ReportedStudy], Sequence[Block]] | None = None
