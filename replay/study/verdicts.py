"""Verdicts on a world's criteria: first half against second, compared with the null, by size.

A criterion has one or more sub-measures, each with the direction in which it is expected to change
from the first half of a run to the second. Holm's correction covers the sub-measures of all
criteria of a cell. Filling the map resembles learning, so a change that the null (`random`, which
cannot learn) also shows is not counted. Sizes are numbers of agents (see Criteria).
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any

import attrs

from goldrush.replay.levelled import hashable
from goldrush.replay.studies import Criterion
from goldrush.replay.study.comparisons import nulls
from goldrush.replay.study.inference import Value
from goldrush.replay.study.judging import (
    UNDECIDED,
    Finding,
    beyond_null,
    outcome_of,
    tested,
    verdict_of,
)
from goldrush.replay.study.records import Cell, Result
from goldrush.replay.study.results import Results


@attrs.frozen
class JudgedCriterion:
    """A criterion in one cell of so many agents: a finding for each of its sub-measures, the
    verdict for this number of agents, and the reason; `nothing`: a sentence if there was nothing to
    reduce (`Criterion.nothing`), else empty.
    """

    cell: Cell
    agents: int
    criterion: str
    findings: Sequence[Finding]
    outcome: str
    note: str
    nothing: str


@attrs.frozen
class CriterionVerdict:
    """A verdict on a criterion, with the reason, over cells that differ only in the number of
    agents, by which they are listed.
    """

    criterion: str
    roster: str
    rounds: int
    cells: Mapping[int, JudgedCriterion]
    verdict: str
    note: str

    @property
    def treatments(self) -> str:
        """The treatments of its cells as text."""
        return " and ".join(judged.cell.treatment for judged in self.cells.values())

    @property
    def nothing(self) -> str:
        """A sentence if there was nothing to reduce at one size, else empty."""
        return next((one.nothing for one in self.cells.values() if one.nothing), "")


class Verdicts(list[CriterionVerdict]):
    """A list of verdicts.

    Attributes:
        reason: what a verdict would need, if there are none; else empty.
    """

    def __init__(self, verdicts: Iterable[CriterionVerdict], needs: str) -> None:
        super().__init__(verdicts)
        self.reason = "" if self else needs

    def __repr__(self) -> str:
        return f"no verdicts: {self.reason}" if self.reason else super().__repr__()


class Assessment:
    """The criteria of a world, tested on the results of a study; `burn_in`: whether the halves
    exclude the burn-in.
    """

    def __init__(self, results: Results[Any, Any], *, burn_in: bool = True) -> None:
        self.results = results
        self.criteria = results.of.studies.criteria
        self._titles = {
            name: measure.title.partition(",")[0]
            for name, measure in results.of.measures.known.items()
        }
        self._burn_in = burn_in
        self._alone = {cell: self._without_null(runs) for cell, runs in results.by_cell.items()}
        self._nulls = nulls(results)

    def findings(self, cell: Cell) -> dict[str, Finding]:
        """The findings of all sub-measures in a cell, compared with the null there."""
        ours = self._alone[cell]
        null = self._nulls.get(cell)
        return ours if null is None else beyond_null(ours, self._alone[null])

    def is_null(self, cell: Cell) -> bool:
        """Whether all agents of a cell play the null."""
        return self._nulls.get(cell) == cell

    def judged(self, cell: Cell) -> list[JudgedCriterion]:
        """All criteria in a cell."""
        findings = self.findings(cell)
        agents = self.results.config(cell).agents
        null = self._nulls.get(cell)
        judgements = []
        for criterion in self.criteria.every:
            found = [findings[name] for name in criterion.expected]
            outcome, reason = outcome_of(one.shows for one in found), self._reason(found)
            nothing = self._nothing(criterion, cell, found)
            note = nothing or reason
            if null is None or self.is_null(cell):
                outcome = UNDECIDED
                missing = f"the study has no null (roster {self.criteria.null})"
                why = "the null itself" if null else missing
                note = f"{nothing}; {why}" if nothing else why
            judgements.append(
                JudgedCriterion(cell, agents, criterion.name, found, outcome, note, nothing)
            )
        return judgements

    def verdicts(self) -> Verdicts:
        """A verdict on each criterion for each family of cells (see `families`) but the null's: it
        is what the others are compared with.
        """
        verdicts = [
            _verdict(criterion.name, [of_cell[index] for of_cell in judged])
            for family in families(self.results)
            if not self.is_null(family[0])
            for judged in [[self.judged(cell) for cell in family]]
            for index, criterion in enumerate(self.criteria.every)
        ]
        treatments = {cell.treatment for cell in self.results.by_cell}
        return Verdicts(verdicts, self.criteria.needs(treatments))

    def _halves(self, result: Result[Any, Any]) -> Mapping[str, tuple[Value, Value]]:
        return result.halves if self._burn_in else result.halves_whole

    def _without_null(self, results: Sequence[Result[Any, Any]]) -> dict[str, Finding]:
        """The findings of a cell's sub-measures without regard to the null."""
        return tested(
            {
                name: (name, [self._halves(result)[name] for result in results], expected)
                for name, expected in self.criteria.expected.items()
            }
        )

    def _nothing(self, criterion: Criterion, cell: Cell, findings: Sequence[Finding]) -> str:
        """A sentence if there was nothing to reduce: no sub-measure changes in any seed, and the
        measure of `Criterion.nothing` is 0 in both halves of all runs.
        """
        nothing = criterion.nothing
        if nothing is None or any(found.change.same < found.change.n for found in findings):
            return ""
        results = self.results.by_cell[cell]
        values = [value for result in results for value in self._halves(result)[nothing.measure]]
        if any(values) or any(nothing.uncounted(result) for result in results):
            return ""
        return nothing.text if any(value is not None for value in values) else ""

    def _reason(self, findings: Sequence[Finding]) -> str:
        return ", ".join(f"{self._titles[one.measure]}: {one.shows}" for one in findings)


def families(results: Results[Any, Any]) -> list[list[Cell]]:
    """Families of cells: one roster and horizon, configurations that differ only in the number of
    agents, and one cell for each size of the criteria, in that order.

    Of cells with equal configurations, the first counts. Configurations with a setting for each
    agent form no family.
    """
    studies = results.of.studies
    sizes = studies.criteria.sizes
    by_setup: dict[tuple[str, Hashable], dict[int, Cell]] = {}
    for cell in results.by_cell:
        agents = results.config(cell).agents
        if agents in sizes:
            setup = hashable({**results.settings(cell), studies.size: sizes[0]})
            by_setup.setdefault((cell.roster, setup), {}).setdefault(agents, cell)
    return [
        [found[size] for size in sizes] for found in by_setup.values() if len(found) == len(sizes)
    ]


def _verdict(criterion: str, cells: Sequence[JudgedCriterion]) -> CriterionVerdict:
    verdict = verdict_of(one.outcome for one in cells)
    note = "; ".join(f"N = {one.agents}: {one.note}" for one in cells)
    if len({one.note for one in cells}) == 1:
        note = cells[0].note
    first = cells[0].cell
    by_size = {one.agents: one for one in cells}
    return CriterionVerdict(criterion, first.roster, first.rounds, by_size, verdict, note)
