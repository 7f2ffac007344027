"""Verdicts on a world's criteria: first half against second, compared with the null, by size.

A criterion has one or more sub-measures, each with the direction in which it is expected to change
from the first half of a run to the second. Holm's correction covers the sub-measures of all
criteria of a cell. Filling the map resembles learning, so a change that the null (`random`, which
cannot learn) also shows is not counted. Sizes are numbers of agents (see Criteria).
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from functools import cached_property
from typing import Any

from goldrush.kernel.measures import Value
from goldrush.kernel.settings import hashable
from goldrush.replay.studies import Criterion
from goldrush.replay.study.comparisons import nulls
from goldrush.replay.study.judging import (
    UNDECIDED,
    CriterionVerdict,
    Finding,
    SizeVerdict,
    Verdicts,
    beyond_null,
    outcome_of,
    tested,
    verdict_of,
)
from goldrush.replay.study.records import Cell, Result
from goldrush.replay.study.results import Results


class Assessment:
    """The criteria of a world, tested on the results of a study; `burn_in`: whether the halves
    exclude the burn-in.
    """

    def __init__(self, results: Results[Any, Any], *, burn_in: bool = True) -> None:
        self.results = results
        self.criteria = results.of.studies.criteria
        self._titles = {
            name: measure.title.partition(",")[0]
            for name, measure in results.measures.known.items()
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
        return self._nulls.get(cell) == cell

    def judged(self, cell: Cell) -> list[SizeVerdict]:
        findings = self.findings(cell)
        agents = self.results.config(cell).agents
        null = self._nulls.get(cell)
        judgements = []
        for criterion in self.criteria.every:
            tests = [findings[name] for name in criterion.expected]
            outcome, reason = outcome_of(test.shows for test in tests), self._reason(tests)
            nothing = self._nothing(criterion, cell, tests)
            note = nothing or reason
            if null is None or self.is_null(cell):
                outcome = UNDECIDED
                missing = f"the study has no null (roster {self.results.of.studies.null})"
                why = "the null itself" if null else missing
                note = f"{nothing}; {why}" if nothing else why
            judgements.append(SizeVerdict(criterion.name, agents, cell, tests, outcome, note))
        return judgements

    @cached_property
    def verdicts(self) -> Verdicts:
        """A verdict on each criterion for each family of cells (see `families`) but the null's, or
        those of `Studies.verdicts`.
        """
        if (own := self.results.of.studies.verdicts) is not None:
            return own(self.results)
        verdicts = [
            _verdict(criterion.name, [of_cell[index] for of_cell in judged])
            for family in families(self.results)
            if not self.is_null(family[0])
            for judged in [[self.judged(cell) for cell in family]]
            for index, criterion in enumerate(self.criteria.every)
        ]
        treatments = {cell.treatment for cell in self.results.by_cell}
        return Verdicts(verdicts, self.criteria.needs(treatments, self.results.of.studies.null))

    def _halves(self, result: Result[Any, Any]) -> Mapping[str, tuple[Value, Value]]:
        return result.halves if self._burn_in else result.halves_whole

    def _without_null(self, results: Sequence[Result[Any, Any]]) -> dict[str, Finding]:
        return tested(
            {
                name: (
                    name, [self._halves(result)[name] for result in results], expected,
                    [result.draw for result in results],
                )
                for name, expected in self.criteria.expected.items()
            }
        )  # fmt: skip

    def _nothing(self, criterion: Criterion, cell: Cell, findings: Sequence[Finding]) -> str:
        """A sentence if there was nothing to reduce: no sub-measure changes in any seed, and the
        measure of `Criterion.nothing` is 0 in both halves of all runs.
        """
        nothing = criterion.nothing
        if nothing is None or any(finding.change.same < finding.change.n for finding in findings):
            return ""
        results = self.results.by_cell[cell]
        values = [value for result in results for value in self._halves(result)[nothing.measure]]
        if any(values) or any(nothing.uncounted(result) for result in results):
            return ""
        return nothing.text if any(value is not None for value in values) else ""

    def _reason(self, findings: Sequence[Finding]) -> str:
        return ", ".join(
            f"{self._titles[finding.measure]}: {finding.shows}" for finding in findings
        )


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


def _verdict(criterion: str, judged: Sequence[SizeVerdict]) -> CriterionVerdict:
    verdict = verdict_of(at_size.outcome for at_size in judged)
    note = "; ".join(f"N = {at_size.size}: {at_size.note}" for at_size in judged)
    if len({at_size.note for at_size in judged}) == 1:
        note = judged[0].note
    return CriterionVerdict(criterion, {at_size.size: at_size for at_size in judged}, verdict, note)
