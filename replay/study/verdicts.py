"""The verdicts: a world's criteria, judged half against half, against the null, by size.

A criterion is a few sub-measures, each with the direction in which it is to change from the first
half of a run to the second. Holm's correction is over the sub-measures of all criteria of a cell,
those without data counted. Filling the map looks like learning: what `random`, which cannot learn,
shows too, counts for nobody.

A criterion says that all of its sub-measures change, with few agents and with many (see Criteria).
`not supported` is one of which a sub-measure passes the test the other way round, or of which
nothing changes at all: every sub-measure that has data stays exactly the same. With one of the
numbers of agents is enough.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import attrs

from goldrush.kernel.rosters import Config
from goldrush.replay.studies import Criterion
from goldrush.replay.study.comparisons import nulls
from goldrush.replay.study.inference import SIGN_SHARE, SIGNIFICANT, Change, Value, change, holm
from goldrush.replay.study.plan import Cell
from goldrush.replay.study.results import Result, Results

SUPPORTED, NOT_SUPPORTED, UNDECIDED = "supported", "not supported", "undecided"

# What a sub-measure shows in a cell.
AS_EXPECTED, OPPOSITE, NO_CHANGE, UNCLEAR, NO_DATA, LIKE_NULL = (
    "as expected", "opposite", "no change at all", "unclear", "no data", "as the null",
)  # fmt: skip


@attrs.frozen
class Finding:
    """A sub-measure in a cell: its change, the p-values of both directions after Holm's correction,
    and what it shows: `alone`, and (`shows`) after it was held against the null.

    It shows `as expected` what passes: p < 0.05 after the correction, and the right sign in three
    quarters of all seeds (15 of 20); a seed without data has no sign. `opposite`: the same the
    other way round. `no change at all`: it is the same in both halves wherever there are data, and
    that is in three quarters of all seeds. `no data`: in no seed have both halves any.
    """

    measure: str
    change: Change
    holm: float | None
    holm_opposite: float | None
    alone: str
    shows: str


@attrs.frozen
class Judged:
    """A criterion in one cell: what each of its sub-measures shows, and the `outcome` of the cell:
    a verdict as far as one number of agents can tell. `note` says why, in words; `nothing` is said
    in it: what there was none of to reduce, empty where there was some.
    """

    cell: Cell
    agents: int
    criterion: str
    findings: Sequence[Finding]
    outcome: str
    note: str
    nothing: str


@attrs.frozen
class Verdict:
    """A criterion over cells that differ in the number of agents alone, `cells` by that number."""

    criterion: str
    roster: str
    rounds: int
    cells: Mapping[int, Judged]
    verdict: str
    note: str

    @property
    def nothing(self) -> str:
        """What there was none of to reduce, be it with one number of agents; else empty."""
        return next((one.nothing for one in self.cells.values() if one.nothing), "")


class Assessment:
    """The criteria held against a study's results, halves being taken after the burn-in or without
    one.
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
        """What the sub-measures of all criteria show in a cell, held against the null there."""
        ours = self._alone[cell]
        null = self._nulls.get(cell)
        if null is None:
            return ours
        theirs = self._alone[null]
        return {
            name: attrs.evolve(found, shows=LIKE_NULL)
            if found.alone in (AS_EXPECTED, OPPOSITE) and theirs[name].alone == found.alone
            else found
            for name, found in ours.items()
        }

    def judged(self, cell: Cell) -> list[Judged]:
        """All criteria in a cell."""
        findings = self.findings(cell)
        agents = self.results.config(cell).agents
        null = self._nulls.get(cell)
        judgements = []
        for criterion in self.criteria.every:
            found = [findings[name] for name in criterion.expected]
            outcome, says = self._outcome(found)
            nothing = self._nothing(criterion, cell, found)
            note = nothing or says
            if null is None or null == cell:
                outcome = UNDECIDED
                missing = f"the study has no null (roster {self.criteria.null})"
                why = "the null itself" if null else missing
                note = f"{nothing}; {why}" if nothing else why
            judgements.append(Judged(cell, agents, criterion.name, found, outcome, note, nothing))
        return judgements

    def verdicts(self) -> list[Verdict]:
        """A verdict for each criterion of cells that differ in the number of agents alone, where
        the study has them with all of the sizes.
        """
        return [
            _verdict(criterion.name, [of_cell[place] for of_cell in judged])
            for family in families(self.results)
            for judged in [[self.judged(cell) for cell in family]]
            for place, criterion in enumerate(self.criteria.every)
        ]

    def _halves(self, result: Result[Any, Any]) -> Mapping[str, tuple[Value, Value]]:
        return result.halves if self._burn_in else result.halves_whole

    def _without_null(self, results: Sequence[Result[Any, Any]]) -> dict[str, Finding]:
        """What a cell's sub-measures show, whatever the null does."""
        changes = {
            name: change([self._halves(result)[name] for result in results], expected)
            for name, expected in self.criteria.expected.items()
        }
        corrected = holm([found.p for found in changes.values()])
        opposite = holm([found.p_opposite for found in changes.values()])
        findings = {}
        for (name, found), p, p_opposite in zip(changes.items(), corrected, opposite, strict=True):
            shows = _shows(found, p, p_opposite)
            findings[name] = Finding(name, found, p, p_opposite, shows, shows)
        return findings

    def _nothing(self, criterion: Criterion, cell: Cell, findings: Sequence[Finding]) -> str:
        """What there was none of to reduce: where no sub-measure changes in any seed, and it is 0
        in the halves of all runs.
        """
        nothing = criterion.nothing
        if nothing is None or any(found.change.same < found.change.n for found in findings):
            return ""
        results = self.results.by_cell[cell]
        values = [value for result in results for value in self._halves(result)[nothing.measure]]
        if any(values) or any(nothing.uncounted(result) for result in results):
            return ""
        return nothing.text if any(value is not None for value in values) else ""

    def _outcome(self, findings: Sequence[Finding]) -> tuple[str, str]:
        """What the sub-measures of a criterion come to in one cell, and why."""
        shows = [found.shows for found in findings]
        says = ", ".join(f"{self._titles[one.measure]}: {one.shows}" for one in findings)
        if all(one == AS_EXPECTED for one in shows):
            return SUPPORTED, says
        with_data = {one for one in shows if one != NO_DATA}
        if OPPOSITE in shows or with_data == {NO_CHANGE}:
            return NOT_SUPPORTED, says
        return UNDECIDED, says


def _shows(found: Change, p: float | None, p_opposite: float | None) -> str:
    if not found.n:
        return NO_DATA
    enough = SIGN_SHARE * found.seeds
    if found.is_all_zero:
        return NO_CHANGE if found.same >= enough else UNCLEAR
    if p is not None and p < SIGNIFICANT and found.right >= enough:
        return AS_EXPECTED
    if p_opposite is not None and p_opposite < SIGNIFICANT and found.wrong >= enough:
        return OPPOSITE
    return UNCLEAR


def families(results: Results[Any, Any]) -> list[list[Cell]]:
    """Cells of one roster and horizon whose configurations differ in the number of agents alone, a
    cell for each size of the criteria, in that order; of several cells with the same configuration
    the first. Where each agent has a setting of its own, more agents have other ones, and there is
    no such family.
    """
    sizes = results.of.studies.criteria.sizes
    by_setup: dict[tuple[str, Config], dict[int, Cell]] = {}
    for cell in results.by_cell:
        config = results.config(cell)
        if config.agents in sizes:
            setup = attrs.evolve(config, agents=sizes[0], seed=0)
            by_setup.setdefault((cell.roster, setup), {}).setdefault(config.agents, cell)
    return [
        [found[size] for size in sizes] for found in by_setup.values() if len(found) == len(sizes)
    ]


def _verdict(criterion: str, cells: Sequence[Judged]) -> Verdict:
    outcomes = [one.outcome for one in cells]
    if all(outcome == SUPPORTED for outcome in outcomes):
        verdict = SUPPORTED
    elif NOT_SUPPORTED in outcomes:
        verdict = NOT_SUPPORTED
    else:
        verdict = UNDECIDED
    note = "; ".join(f"N = {one.agents}: {one.note}" for one in cells)
    if len({one.note for one in cells}) == 1:
        note = cells[0].note
    first = cells[0].cell
    by_size = {one.agents: one for one in cells}
    return Verdict(criterion, first.roster, first.rounds, by_size, verdict, note)
