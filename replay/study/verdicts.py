"""The verdicts: four criteria, judged half against half, against the null, at N = 10 and N = 20.

A criterion is a few sub-measures, each with the direction in which it is to change from the first
half of a run to the second. Holm's correction is over the sub-measures of all criteria of a cell.
Filling the map looks like learning: what `random`, which cannot learn, shows too, counts for
nobody.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import attrs

from replay.measures import MEASURES
from replay.study.inference import SIGN_SHARE, SIGNIFICANT, Change, change, holm
from replay.study.plan import Cell
from replay.study.results import Result, Results

NULL: Final = "random"
SIZES: Final = (10, 20)  # numbers of agents at which a criterion must hold

STABILITY, EFFICIENCY, CONFLICT, NORMS = "stability", "efficiency", "conflict", "norms"
CRITERIA: Final[Mapping[str, Mapping[str, int]]] = {
    STABILITY: {"turnover": -1, "survival": +1},
    EFFICIENCY: {"efficiency": +1, "idle": -1},
    CONFLICT: {"raid_rate": -1, "targeting": +1},
    NORMS: {"respect": -1},
}
EXPECTED: Final = {name: sign for parts in CRITERIA.values() for name, sign in parts.items()}

SUPPORTED, NOT_SUPPORTED, UNDECIDED = "supported", "not supported", "undecided"

# What a sub-measure shows in a cell.
AS_EXPECTED, OPPOSITE, NO_CHANGE, UNCLEAR, NO_DATA, LIKE_NULL = SHOWS = (
    "as expected", "opposite", "no change at all", "unclear", "no data", "as the null",
)  # fmt: skip


@attrs.frozen
class Finding:
    """A sub-measure in a cell: its change, the corrected p-values of both directions, and what it
    `shows`, before and after it is held against the null.
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
    a verdict as far as one number of agents can tell. `note` says why, in words.
    """

    cell: Cell
    agents: int
    criterion: str
    findings: Sequence[Finding]
    outcome: str
    note: str


@attrs.frozen
class Verdict:
    """A criterion over cells that differ in the number of agents alone, `cells` by that number."""

    criterion: str
    roster: str
    rounds: int
    cells: Mapping[int, Judged]
    verdict: str
    note: str


class Assessment:
    """The criteria held against a study's results, halves being taken after the burn-in or without
    one.
    """

    def __init__(self, results: Results, *, burn_in: bool = True) -> None:
        self.results = results
        self._alone = {
            cell: _alone(runs, burn_in=burn_in) for cell, runs in results.by_cell.items()
        }

    def findings(self, cell: Cell) -> dict[str, Finding]:
        """What the sub-measures of all criteria show in a cell, held against the null there."""
        ours = self._alone[cell]
        theirs = self._alone.get(attrs.evolve(cell, roster=NULL))
        if theirs is None:
            return ours
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
        runs = self.results.by_cell[cell]
        raids = sum(run.totals.raids + run.totals.speculative for run in runs)
        judgements = []
        for criterion, parts in CRITERIA.items():
            found = [findings[name] for name in parts]
            outcome, note = _outcome(found)
            if not raids and criterion in (CONFLICT, NORMS):
                note = "no conflict to reduce"
            elif cell.roster == NULL:
                outcome, note = UNDECIDED, "the null itself"
            elif attrs.evolve(cell, roster=NULL) not in self._alone:
                outcome, note = UNDECIDED, f"the study has no null (roster {NULL})"
            judgements.append(Judged(cell, agents, criterion, found, outcome, note))
        return judgements

    def verdicts(self) -> list[Verdict]:
        """A verdict for each criterion of cells that differ in the number of agents alone, where
        the study has them with 10 and with 20.
        """
        return [
            _verdict(criterion, [of_cell[place] for of_cell in pair])
            for family in families(self.results)
            for pair in [[self.judged(cell) for cell in family]]
            for place, criterion in enumerate(CRITERIA)
        ]


def _alone(results: Sequence[Result], *, burn_in: bool) -> dict[str, Finding]:
    """What a cell's sub-measures show, whatever the null does."""
    changes = {
        name: change([(r.halves if burn_in else r.halves_whole)[name] for r in results], expected)
        for name, expected in EXPECTED.items()
    }
    corrected = holm([found.p for found in changes.values()])
    opposite = holm([found.p_opposite for found in changes.values()])
    findings = {}
    for (name, found), p, p_opposite in zip(changes.items(), corrected, opposite, strict=True):
        shows = _shows(found, p, p_opposite)
        findings[name] = Finding(name, found, p, p_opposite, shows, shows)
    return findings


def _shows(found: Change, p: float | None, p_opposite: float | None) -> str:
    if not found.n:
        return NO_DATA
    if found.is_all_zero:
        return NO_CHANGE
    enough = SIGN_SHARE * found.seeds
    if p is not None and p < SIGNIFICANT and found.right >= enough:
        return AS_EXPECTED
    if p_opposite is not None and p_opposite < SIGNIFICANT and found.wrong >= enough:
        return OPPOSITE
    return UNCLEAR


def _outcome(findings: Sequence[Finding]) -> tuple[str, str]:
    """What the sub-measures of a criterion come to in one cell, and why."""
    shows = [found.shows for found in findings]
    titles = [MEASURES[found.measure].title.partition(",")[0] for found in findings]
    says = ", ".join(f"{title} {show}" for title, show in zip(titles, shows, strict=True))
    if all(one == AS_EXPECTED for one in shows):
        return SUPPORTED, says
    if any(one in (OPPOSITE, NO_CHANGE) for one in shows):
        return NOT_SUPPORTED, says
    return UNDECIDED, says


def families(results: Results) -> list[list[Cell]]:
    """Cells of one roster and horizon whose configurations differ in the number of agents alone,
    10 and 20, in that order; each treatment with 10 that has its double with 20.
    """
    by_land: dict[Any, dict[int, Cell]] = {}
    for cell in results.by_cell:
        config = results.config(cell)
        if config.agents in SIZES and config.stamina_by_agent is None:
            land = attrs.evolve(config, agents=SIZES[0], seed=0, rounds=cell.rounds)
            by_land.setdefault((cell.roster, land), {}).setdefault(config.agents, cell)
    return [
        [found[size] for size in SIZES] for found in by_land.values() if len(found) == len(SIZES)
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
