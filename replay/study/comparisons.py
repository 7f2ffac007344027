"""Treatments against the baseline, run by run of the same seed; and what goes with what.

Where a treatment cannot change anything for a roster, there is nothing to compare: it is said to be
identical by construction.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

import attrs

from goldrush.agents.mining.roster import POLICIES
from goldrush.kernel.mining.config import NO_AUTHORITY, MiningConfig
from goldrush.kernel.treatments import BASELINE
from goldrush.replay.mining.measures import MEASURES
from goldrush.replay.study.inference import Correlation, Interval, paired, spearman
from goldrush.replay.study.plan import Cell
from goldrush.replay.study.results import Results

NULL: Final = "random"  # the policy that cannot learn
# Scripted policies look at last round and at the map alone, and say and hear nothing.
_UNSEEN: Final = ("visibility", "communication")
_SPECULATORS: Final = ("raid",)  # the scripted policies that raid nobody's plots


@attrs.frozen
class Against:
    """A cell against the baseline of its roster and horizon: ours − theirs by measure, over the
    seeds that both have. `identical`: by construction, so that there are no differences.
    """

    cell: Cell
    baseline: Cell
    differences: Mapping[str, Interval]
    identical: bool


def against_baseline(results: Results) -> list[Against]:
    """Every cell that is not of the baseline against the one that is, where the study has it."""
    identical = identical_cells(results)
    return [
        Against(
            cell,
            baseline,
            {} if cell in identical else _differences(results, cell, baseline),
            cell in identical,
        )
        for cell, baseline in _pairs(results)
    ]


def identical_cells(results: Results) -> dict[Cell, Cell]:
    """The cells that are their baseline once more by construction, and that baseline."""
    return {
        cell: baseline
        for cell, baseline in _pairs(results)
        if same_by_construction(
            results.config(cell), results.config(baseline), results.by_cell[cell][0].policies
        )
    }


def nulls(results: Results) -> dict[Cell, Cell]:
    """For each cell the one in which `random` alone plays the same, whatever that roster is called;
    of a cell of the null itself it is that cell. Cells without a null are left out.
    """

    def land(cell: Cell) -> tuple[str, MiningConfig]:
        return cell.treatment, attrs.evolve(results.config(cell), seed=0)

    blind = [c for c, runs in results.by_cell.items() if set(runs[0].policies) == {NULL}]
    by_land = {land(cell): cell for cell in reversed(blind)}
    by_land_of = {cell: by_land.get(land(cell)) for cell in results.by_cell}
    return {
        cell: cell if cell in blind else null
        for cell, null in by_land_of.items()
        if null is not None
    }


def _pairs(results: Results) -> Iterator[tuple[Cell, Cell]]:
    for cell in results.by_cell:
        baseline = attrs.evolve(cell, treatment=BASELINE)
        if cell != baseline and baseline in results.by_cell:
            yield cell, baseline


def _differences(results: Results, cell: Cell, baseline: Cell) -> dict[str, Interval]:
    ours = {result.seed: result for result in results.by_cell[cell]}
    theirs = {result.seed: result for result in results.by_cell[baseline]}
    seeds = [seed for seed in ours if seed in theirs]
    return {
        name: paired(
            [ours[seed].run[name] for seed in seeds], [theirs[seed].run[name] for seed in seeds]
        )
        for name in MEASURES
    }


def same_by_construction(ours: MiningConfig, theirs: MiningConfig, policies: Sequence[str]) -> bool:
    """Whether two configurations must lead to the same derived events with these policies, the
    seed being the same.

    Only with scripted policies: what they see of the past is last round, they hear no messages, and
    a truce of 1 keeps off nothing but speculative raids. The chance of an authority that is not
    there, and its fine, change nothing either.
    """
    if not all(policy in POLICIES for policy in policies):
        return False
    idle = {*_UNSEEN}
    if ours.authority == theirs.authority == NO_AUTHORITY:
        idle |= {"detection", "fine"}
    if {ours.truce, theirs.truce} <= {0, 1} and not set(policies) & set(_SPECULATORS):
        idle.add("truce")
    return all(
        getattr(ours, name) == getattr(theirs, name)
        for name in attrs.fields_dict(MiningConfig)
        if name not in idle and name != "seed"
    )


@attrs.frozen
class TradeOff:
    """The concentration–stability trade-off over the runs of a roster (None: of all): how Gini and
    HHI go with turnover.
    """

    roster: str | None
    rounds: int
    gini: Correlation
    hhi: Correlation


def trade_offs(results: Results) -> list[TradeOff]:
    """The trade-off by horizon, of all rosters together and of each, over all runs; treatments that
    are identical by construction count once.
    """
    same = identical_cells(results)
    found = []
    for rounds in dict.fromkeys(cell.rounds for cell in results.by_cell):
        cells = [c for c in results.by_cell if c.rounds == rounds and c not in same]
        for roster in (None, *dict.fromkeys(cell.roster for cell in cells)):
            runs = [
                result.run
                for cell in cells
                if roster in (None, cell.roster)
                for result in results.by_cell[cell]
            ]
            turnover = [run["turnover"] for run in runs]
            gini, hhi = (
                spearman([run[name] for run in runs], turnover) for name in ("gini", "hhi")
            )
            found.append(TradeOff(roster, rounds, gini, hhi))
    return found
